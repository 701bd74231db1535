"""Mentions: models trained for different losses beside the pair classifier; half of the documents train.

Of each loss the scaling, C and the predictor are chosen on held-out training documents, by the score that the
loss is for; and of each score the loss, too. Test documents are looked at by the chosen models alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from clustruct import SupervisedCorrelationClustering
from clustruct.data import Table
from clustruct.estimators.baselines import PairwiseClassifierClustering
from clustruct.evaluate.metrics import compare_paired, compare_with_best, evaluate
from clustruct.features import PairFeatures, guess_blocks
from clustruct.learning.model_selection import split_sets
from clustruct.learning.model_selection.task_choice import mean_direction
from clustruct.search.oracles import make_predictor
from studies import raw_data
from studies.records.folds import labels_of
from studies.results import Results

SCORES = {
    "MUC": "muc_f1",
    "B-cubed": "b_cubed_f1",
    "CEAF-m": "ceaf_mention_f1",
    "CEAF-e": "ceaf_entity_f1",
    "LEA": "lea_f1",
    "CoNLL": "conll_f1",
    "pairwise F": "pairwise_f1",
}
# Lower is better: in percent, and in nats.
ERRORS = ("wrong pairs %", "VI")
SCALINGS = ("margin", "slack")
C_VALUES = (1.0, 10.0, 100.0, 1000.0)
# All up to this one are tried; a larger one where the one before it is the best of its scaling.
FEWEST_C = 100.0
# Where trainings end, those that are chosen among and those that are tested: the LEA of held-out documents
# moved by 0.8 between 1e-2 and 1e-3.
RTOL = 1e-2
PREDICTORS = ("greedy", "local_search")
FOLDS = 3
# How many trainings are averaged: settled on training documents.
AVERAGED = 5
Keep = Callable[[str, Callable[[], Any]], Any]


class Trained(NamedTuple):
    """A loss by its name, and the score that it is for."""

    loss: str
    own: str


LOSSES = {
    "pairwise": Trained("pairwise", "wrong pairs %"),
    "pairwise F": Trained("pairwise_f", "pairwise F"),
    "MITRE": Trained("mitre", "MUC"),
    "B-cubed": Trained("b_cubed", "B-cubed"),
    "CEAF-m": Trained("ceaf_mention", "CEAF-m"),
    "CEAF-e": Trained("ceaf_entity", "CEAF-e"),
    "LEA": Trained("lea", "LEA"),
    "VI": Trained("variation_of_information", "VI"),
}
CLASSIFIER = "pair classifier"


class Setting(NamedTuple):
    """What is chosen for a loss."""

    scaling: str
    C: float
    predictor: str


class Key(NamedTuple):
    """A loss, by its title, with a setting."""

    title: str
    setting: Setting


# Mean scores by what was tried, and the scores of each document.
Tried = dict[Key, dict[str, float]]
Found = dict[str, list[float]]


@dataclass(frozen=True)
class Halves:
    """Documents 0, 2, 4, ... train, the others test. Features are made when first needed."""

    train: list[Table]
    test: list[Table]

    @cached_property
    def tables(self) -> tuple[Any, Any]:
        features = PairFeatures(guess_blocks(self.train)).fit(self.train)
        return features.transform(self.train), features.transform(self.test)

    def held_out(self, loss: str, scaling: str, C: float) -> dict[str, dict[str, float]]:
        """By predictor, the mean scores of training documents, each by a training that has not seen it."""
        X, y = self.tables[0], labels_of(self.train)
        found: dict[str, list[Any]] = {predictor: [None] * len(X) for predictor in PREDICTORS}
        for seen, rest in split_sets(len(X), FOLDS):
            model = learner(loss, scaling, C).fit([X[i] for i in seen], [y[i] for i in seen])
            for predictor in PREDICTORS:
                labels = model.set_params(predictor=predictor).predict([X[i] for i in rest])
                for i, one in zip(rest, labels, strict=True):
                    found[predictor][i] = one
        return {predictor: _means(_scores(labels, y)) for predictor, labels in found.items()}

    def weights(self, loss: str, scaling: str, C: float) -> dict[str, Any]:
        """What trainings on all training documents and without each fold of them learn."""
        X, y = self.tables[0], labels_of(self.train)
        whole = learner(loss, scaling, C).fit(X, y)
        seen = [chosen for chosen, _ in split_sets(len(X), FOLDS)]
        parts = [learner(loss, scaling, C).fit([X[i] for i in some], [y[i] for i in some]) for some in seen]
        return {"w": [model.w_ for model in (whole, *parts)], "scale": whole.feature_scale_}

    def scores_by_mean(self, learned: Sequence[dict[str, Any]]) -> Found:
        """Of each test document, by the mean of the weights."""
        weights = [np.array(w) for one in learned for w in one["w"]]
        w = mean_direction(weights, np.array(learned[0]["scale"]))
        search = make_predictor("local_search", "correlation", random_state=0)
        found = [search.clusters(search.scores(x, w)) for x in self.tables[1]]
        return _scores(found, labels_of(self.test))

    def scores(self, model: Any) -> dict[str, list[float]]:
        """Of each test document, after training on the others."""
        X, Z = self.tables
        return _scores(model.fit(X, labels_of(self.train)).predict(Z), labels_of(self.test))


def learner(loss: str, scaling: str, C: float, **options: Any) -> SupervisedCorrelationClustering:
    return SupervisedCorrelationClustering(
        C, loss=loss, scaling=scaling, max_iter=200, rtol=RTOL, calibrate=False, **options
    )


def compare(
    results: Results, halves: Halves, losses: Sequence[str] = tuple(LOSSES), Cs: Sequence[float] = C_VALUES
) -> dict[str, list[dict[str, Any]]]:
    """By loss, what was chosen for it by its own score, and the pair classifier; by score, the loss and its
    setting that were chosen for it, and the mean of the five best trainings (as ``surrogates`` makes it).
    """
    tried = {key: means for title in losses for key, means in held_out(results.get, halves, title, Cs)}
    by_loss = {title: best_of(tried, LOSSES[title].own, title) for title in losses}
    by_score = {own: best_of(tried, own) for own in (*SCORES, *ERRORS)}
    made = {CLASSIFIER: results.get(CLASSIFIER, partial(halves.scores, _classifier()))}
    for key in dict.fromkeys([*by_loss.values(), *by_score.values()]):
        made[key] = results.get(f"{_told(key)}, tested", partial(halves.scores, _model(key)))
    means = {own: best_trainings(tried, own) for own in by_score}
    for own, keys in means.items():
        made[_mean_of(own)] = _averaged(results.get, halves, keys)
    rows = [
        {
            "trained for": title,
            **key.setting._asdict(),
            **_means(made[key]),
            **_behind(key, made, LOSSES[title].own),
        }
        for title, key in by_loss.items()
    ]
    rows.append({"trained for": CLASSIFIER, **_means(made[CLASSIFIER])})
    return {
        "losses": rows,
        "scores": [_chosen_row(own, key, tried, made) for own, key in by_score.items()],
        "means": [_mean_row(own, keys, made) for own, keys in means.items()],
    }


def _averaged(keep: Keep, halves: Halves, keys: Sequence[Key]) -> Found:
    """Scores of test documents by the mean of the weights of some trainings."""
    learned = []
    for title, (scaling, C, _) in keys:
        make = partial(halves.weights, LOSSES[title].loss, scaling, C)
        learned.append(keep(f"{title}, {scaling}, C = {C:g}, weights", make))
    return keep(f"mean of {'; '.join(map(_training, keys))}", partial(halves.scores_by_mean, learned))


def _mean_of(own: str) -> str:
    return f"mean for {own}"


def _mean_row(own: str, keys: Sequence[Key], made: dict[Any, Found]) -> dict[str, Any]:
    """The mean of the best trainings for a score, and what test documents say of it."""
    told = {"judged by": own, "mean of": "; ".join(map(_training, keys))}
    return {**told, "test": _means(made[_mean_of(own)])[own], **_behind(_mean_of(own), made, own)}


def _chosen_row(own: str, key: Key, tried: Tried, made: dict[Any, Found]) -> dict[str, Any]:
    """What was chosen for a score by held-out documents, and what test documents say of it."""
    told = {"judged by": own, "trained for": key.title, **key.setting._asdict()}
    here = {"held out": tried[key][own], "test": _means(made[key])[own]}
    return {**told, **here, **_behind(key, made, own)}


def _classifier() -> PairwiseClassifierClustering:
    return PairwiseClassifierClustering(predictor="local_search")


def _model(key: Key) -> SupervisedCorrelationClustering:
    s = key.setting
    return learner(LOSSES[key.title].loss, s.scaling, s.C, predictor=s.predictor)


def _told(key: Key) -> str:
    return f"{key.title}, {key.setting.scaling}, C = {key.setting.C:g}, {key.setting.predictor}"


def _training(key: Key) -> str:
    return f"{key.title} {key.setting.scaling} {key.setting.C:g}"


def held_out(
    keep: Keep, halves: Halves, title: str, Cs: Sequence[float]
) -> Iterator[tuple[Key, dict[str, float]]]:
    """The mean scores of held-out training documents, of each setting of a loss.

    A C above 100 is tried where the one before it is the best so far, by the score that the loss is for.
    """
    for scaling in SCALINGS:
        tried: Tried = {}
        for C in Cs:
            if C > FEWEST_C and best_of(tried, LOSSES[title].own).setting.C < C / 10.0:
                break
            make = partial(halves.held_out, LOSSES[title].loss, scaling, C)
            for predictor, means in keep(f"{title}, {scaling}, C = {C:g}, held out", make).items():
                tried[Key(title, Setting(scaling, C, predictor))] = means
        yield from tried.items()


def best_of(tried: Tried, own: str, title: str | None = None) -> Key:
    """What is best by a score on held-out training documents, of one loss or of all."""
    return _best({key: m[own] for key, m in tried.items() if title in (None, key.title)}, own)


def best_trainings(tried: Tried, own: str) -> list[Key]:
    """The best ones of all losses by a score on held-out training documents, clustered by local search."""
    found = {key: m[own] for key, m in tried.items() if key.setting.predictor == "local_search"}
    return sorted(found, key=lambda key: found[key] if own in ERRORS else -found[key])[:AVERAGED]


def _best(tried: dict[Any, float], own: str) -> Any:
    return min(tried, key=lambda key: tried[key] if own in ERRORS else -tried[key])


def _scores(found: Any, truth: Any) -> dict[str, list[float]]:
    """Of each document."""
    scored = evaluate(truth, found).per_set
    percent = {title: (100.0 * scored[score]).tolist() for title, score in SCORES.items()}
    return {
        **percent,
        "wrong pairs %": (100.0 * (1.0 - scored["rand"])).tolist(),
        "VI": scored["variation_of_information"].tolist(),
    }


def _means(found: dict[str, list[float]]) -> dict[str, float]:
    return {title: float(np.mean(values)) for title, values in found.items()}


def _behind(key: Key | str, made: dict[Any, Found], own: str) -> dict[str, Any]:
    """How far a model is behind the best one on a score.

    "p" is the two-tailed level of Wilcoxon's signed ranks over documents, as if the best had been named
    beforehand; "p of all" is that of being behind any, which takes into account that it was picked.
    """
    lower = own in ERRORS
    means = {other: _means(found)[own] for other, found in made.items()}
    best = _best(means, own)
    test = compare_paired(made[key][own], made[best][own], lower_wins=lower)
    all_of_them = compare_with_best([found[own] for found in made.values()], lower_wins=lower)
    levels = {"p": test.p_two_tailed, "p of all": all_of_them[[*made].index(key)].p}
    title = best.title if isinstance(best, Key) else best
    return {"behind the best": abs(means[key] - means[best]), "best": title, **levels}


def by_loss(results: Results, quick: bool, *, name: str, documents: int) -> dict[str, list[dict[str, Any]]]:
    """At most 120 mentions of so many documents; --quick: 30 of six documents, and less is tried."""
    most, documents = (30, 6) if quick else (120, documents)
    sets = [table for table in raw_data.documents(name, most)[:documents] if len(table) > 1]
    halves = Halves(sets[::2], sets[1::2])
    return compare(results, halves, ("pairwise", "LEA"), (1.0,)) if quick else compare(results, halves)
