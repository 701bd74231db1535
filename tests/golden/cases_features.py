"""Raw items to pair features; losses, scores and model files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline

from . import data, names
from .record import case

VECTORS = [[1.0, 0.0], [0.5, 0.5], None, [0.0, 0.0], [3.0, 1.0], [1.0, 2.0], [0.0, 1.0], [1.0, 1.0]]
ITEMS = [
    {"title": "Learning in the presence of malicious errors", "year": "1988.", "by": ["M. Kearns", "M. Li"]},
    {"title": "learning in the Présence of malicious errors.", "year": 1988, "by": ["m. kearns", "m. li"]},
    {"title": "", "year": None, "by": []},
    {"title": "日本語 の 題名 x-100", "year": "n/a", "by": None},
    {"title": "日本語 の 題名 X100", "year": float("nan"), "by": ["李"]},
    {"title": 12.0, "year": "1990", "by": ["M. Li"], "day": "1990-01-02"},
    {"title": 'He said "go on, errors"', "year": "1991", "day": "19900103"},
    {},
]


def hard_set():
    items = [{**item, "vec": vector} for item, vector in zip(ITEMS, VECTORS, strict=True)]
    return names.raw_set(items, name="hard", context={"links": [[0, 1], [9, 4], [9, 3]]})


def other_set():
    return names.raw_set([{"title": "quite other words", "vec": [0, 2]}, {"title": "quite other words"}])


@case
def features_blocks():
    table, sets = hard_set(), [hard_set(), other_set()]
    blocks = {
        "text": names.block("text", "title"),
        "quotations": names.block("text", "title", ngrams=[1], stemmed=False, quotations=True),
        "strings": names.block("strings", "title"),
        "terms": names.block("terms", ["title", "year"], name="record", missing_values=True),
        "letters": names.block("terms", ["title"], views=["letters"]),
        "numbers": names.block("numbers", "year"),
        "dates": names.block("dates", "day"),
        "lists": names.block("lists", "by"),
        "cut lists": names.block("lists", "title", separator=" "),
        "vectors": names.block("vectors", ["vec"], parts=["cosine", "nearness", "difference", "product"]),
        "links": names.block("links"),
        "constant": names.block("constant"),
    }
    return {name: names.block_values(block, table, sets).T for name, block in blocks.items()}


@case
def features_mentions():
    texts = names.make_mentions(n_sets=3, n_people=3, n_sentences=6)
    values = names.block_values(names.block("mentions"), texts[2], texts[:2])
    return data.summary(values)


@case
def features_guessed():
    """Which blocks are guessed for which items, and what they make of new sets."""
    vectors = [
        names.raw_set([{"x": float(v[0]), "y": float(v[1])} for v in rows])
        for rows in np.random.default_rng(0).normal(size=(3, 6, 2))
    ]
    made = {
        "records": names.make_records(n_sets=3, n_people=4),
        "text": names.make_news(n_sets=3, n_stories=3, most=3),
        "mentions": names.make_mentions(n_sets=3, n_people=3, n_sentences=5),
        "vectors": vectors,
    }
    found = {}
    for kind, sets in made.items():
        for asked in ("auto", kind):
            blocks = names.guess_blocks(sets[:2], asked)
            x = names.pair_features(blocks).fit(sets[:2]).transform(sets[2:])[0]
            blocks = [names.block_kind(block) for block in blocks]
            found[f"{kind} {asked}"] = {"blocks": blocks, **data.summary(names.pair_rows(x))}
    found["fields"] = names.field_kinds(made["records"])
    return found


@case
def features_candidates():
    """Likely pairs of a large set, products of features, and learning from listed pairs."""
    train, test = names.make_records(n_sets=2, n_people=30, most=3, random_state=5)
    found = {}
    made = {
        "words": {"neighbours": 4},
        "letters": {"view": "letters", "neighbours": 2, "rare": 2},
        "city": {"fields": ["name"]},
    }
    for name, options in made.items():
        likely = names.candidates(from_size=10, **options).fit([train])
        pairs = names.candidate_pairs(likely, test)
        count, recall = names.neighbours_taken(likely), names.pair_recall(test, pairs)
        found[name] = {
            "pairs": np.sort(pairs, axis=0)[:20],
            "count": len(pairs),
            "neighbours": count,
            "recall": recall,
        }
    features = names.pair_features(
        names.guess_blocks([train]),
        products=names.PRODUCTS,
        candidates=names.candidates(from_size=10, neighbours=4),
    ).fit([train])
    x, z = features.transform([train, test])
    model = names.make("correlation", C=10.0).fit([x], names.raw_labels([train]))
    found["features"] = data.summary(names.pair_rows(z))
    found["listed"] = len(names.pair_index(z))
    return {**found, **names.fit_numbers(names.result(model)), "labels": model.predict([z])}


@case
def features_documents():
    texts = [
        item["title"] + " " + item["text"]
        for table in names.make_news(n_sets=2, n_stories=3)
        for item in names.raw_items(table)
    ]
    thin = names.documents(n_words=30, n_components=None).fit_transform(texts)
    rows = names.documents(n_words=60, n_components=4).fit_transform(texts)
    return {"words": data.summary(thin.toarray()), "reduced": data.summary(rows @ rows.T)["sum"]}


@case
def losses_and_scores():
    rng = np.random.default_rng(0)
    truths = [rng.integers(0, 4, 15) for _ in range(4)]
    found = [np.where(rng.random(15) < 0.3, rng.integers(0, 5, 15), t) for t in truths]
    same = [np.concatenate([np.arange(3), rng.integers(0, 3, 9)]) for _ in range(2)]
    losses = {
        "pairwise": names.loss("pairwise"),
        "costs": names.loss("pairwise", merge_cost=2.0, split_cost=0.5),
        "mitre": names.loss("mitre"),
        "purity": names.loss("purity"),
    }
    values = {name: [loss(t, p) for t, p in zip(truths, found, strict=True)] for name, loss in losses.items()}
    values["normalised"] = names.loss("normalised")(*same)
    parts = names.split_by_clusters(truths[0], 3, random_state=0)
    return {**values, **names.scores(truths, found), "parts": [list(p) for p in parts]}


def pipelines():
    """Fitted pipelines of records, one for each kind of model that files hold."""
    sets = names.make_records(n_sets=4, n_people=5)
    made = {
        "correlation": names.make("correlation", C=1.0),
        "pair_classifier": names.make("pair_classifier"),
        "kmeans": names.make("kmeans", C=1.0),
    }
    for name, model in made.items():
        pipeline = make_pipeline(names.pair_features(names.guess_blocks(sets[:3])), model)
        yield name, pipeline.fit(sets[:3], names.raw_labels(sets[:3])), sets[3:]


@case
def model_files():
    """Predictions of a model are the same after it was written and read."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, pipeline, new in pipelines():
            names.save_model(Path(folder, "model"), pipeline)
            back = names.load_model(Path(folder, "model"))
            labels = [p.predict(new)[0] for p in (pipeline, back)]
            found[name] = {"labels": labels[1], "same": bool((labels[0] == labels[1]).all())}
            if name != "pair_classifier":
                found[name]["weights"] = names.weights(back[-1])
                held = names.fit_numbers(names.result(pipeline[-1]))
                kept = names.fit_numbers(names.result(back[-1]))
                found[name] |= {"same training": held == kept, **kept}
    return found


@case
def model_file_result_weights():
    """A known defect: the weights of the training's result after reading are in other units."""
    with tempfile.TemporaryDirectory() as folder:
        _, pipeline, _ = next(pipelines())
        names.save_model(Path(folder, "model"), pipeline)
        back = names.load_model(Path(folder, "model"))
        return {"weights": names.engine_weights(names.result(back[-1]))}
