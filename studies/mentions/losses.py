"""Mentions: models trained for different losses beside the pair classifier; half of the documents train.

Of each loss the scaling, C and the predictor are chosen on held-out training documents, by the score that the
loss is for. Test documents are looked at by the chosen model alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from clustruct import SupervisedCorrelationClustering
from clustruct.baselines import PairwiseClassifierClustering
from clustruct.features import PairFeatures, guess_blocks
from clustruct.metrics import compare_paired, evaluate
from clustruct.model_selection import split_sets
from clustruct.records import RawSet
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
C_VALUES = (1.0, 10.0, 100.0)
PREDICTORS = ("greedy", "local_search")
FOLDS = 3
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


@dataclass(frozen=True)
class Halves:
    """Documents 0, 2, 4, ... train, the others test. Features are made when first needed."""

    train: list[RawSet]
    test: list[RawSet]

    @cached_property
    def tables(self) -> tuple[Any, Any]:
        features = PairFeatures(guess_blocks(self.train)).fit(self.train)
        return features.transform(self.train), features.transform(self.test)

    def held_out(self, loss: str, scaling: str, C: float) -> dict[str, dict[str, float]]:
        """By predictor, the mean scores of training documents, each by a training that has not seen it."""
        X, y = self.tables[0], labels_of(self.train)
        found: dict[str, list[Any]] = {predictor: [None] * len(X) for predictor in PREDICTORS}
        for seen, rest in split_sets(len(X), FOLDS):
            model = learner(loss, scaling, C, rtol=1e-2).fit([X[i] for i in seen], [y[i] for i in seen])
            for predictor in PREDICTORS:
                labels = model.set_params(predictor=predictor).predict([X[i] for i in rest])
                for i, one in zip(rest, labels, strict=True):
                    found[predictor][i] = one
        return {predictor: _means(_scores(labels, y)) for predictor, labels in found.items()}

    def scores(self, model: Any) -> dict[str, list[float]]:
        """Of each test document, after training on the others."""
        X, Z = self.tables
        return _scores(model.fit(X, labels_of(self.train)).predict(Z), labels_of(self.test))


def learner(loss: str, scaling: str, C: float, **options: Any) -> SupervisedCorrelationClustering:
    return SupervisedCorrelationClustering(C, loss=loss, scaling=scaling, max_iter=200, **options)


def compare(
    results: Results, halves: Halves, losses: Sequence[str] = tuple(LOSSES), Cs: Sequence[float] = C_VALUES
) -> list[dict[str, Any]]:
    """A row for each loss with what was chosen for it, and one for the pair classifier."""
    chosen = {title: choose(results.get, halves, title, Cs) for title in losses}
    models = {
        title: learner(LOSSES[title].loss, s.scaling, s.C, predictor=s.predictor)
        for title, s in chosen.items()
    }
    models[CLASSIFIER] = PairwiseClassifierClustering(predictor="local_search")
    made = {
        title: results.get(_key(title, chosen.get(title)), partial(halves.scores, model))
        for title, model in models.items()
    }
    return [
        {"trained for": title, **_told(chosen.get(title)), **_means(made[title]), **_behind(title, made)}
        for title in models
    ]


def _key(title: str, setting: Setting | None) -> str:
    return title if setting is None else f"{title}, {setting.scaling}, C = {setting.C:g}, {setting.predictor}"


def _told(setting: Setting | None) -> dict[str, Any]:
    return {} if setting is None else setting._asdict()


def choose(keep: Keep, halves: Halves, title: str, Cs: Sequence[float]) -> Setting:
    """The setting of the best own score on held-out training documents."""
    loss, own = LOSSES[title]
    tried = {
        Setting(scaling, C, predictor): means[own]
        for scaling in SCALINGS
        for C in Cs
        for predictor, means in keep(
            f"{title}, {scaling}, C = {C:g}, held out", partial(halves.held_out, loss, scaling, C)
        ).items()
    }
    return _best(tried, own)


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


def _behind(title: str, made: dict[str, dict[str, list[float]]]) -> dict[str, Any]:
    """How far the model is behind the best one on the score that it was trained for, and the two-tailed level
    of Wilcoxon's signed ranks over documents.
    """
    if title not in LOSSES:
        return {}
    own = LOSSES[title].own
    means = {other: _means(found)[own] for other, found in made.items()}
    best = _best(means, own)
    test = compare_paired(made[title][own], made[best][own], lower_wins=own in ERRORS)
    return {"behind the best": abs(means[title] - means[best]), "best": best, "p": test.p_two_tailed}


def by_loss(results: Results, quick: bool, *, name: str, documents: int) -> list[dict[str, Any]]:
    """At most 120 mentions of so many documents; --quick: 30 of six documents, and less is tried."""
    most, documents = (30, 6) if quick else (120, documents)
    sets = [raw for raw in raw_data.documents(name, most)[:documents] if len(raw) > 1]
    halves = Halves(sets[::2], sets[1::2])
    return compare(results, halves, ("pairwise", "LEA"), (1.0,)) if quick else compare(results, halves)
