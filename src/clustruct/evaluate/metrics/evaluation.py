"""All scores of many item sets at once, and scores by name as scikit-learn's searches take them."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np

from clustruct.core.formatting import format_table, html_table
from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Floats, Labels, LabelsLike
from clustruct.losses import Loss, as_loss

from . import scores
from .scores import Fractions, Scores
from .significance import PairedComparison, compare_paired, lower_is_better

# The scores that matter most, for those who do not want to read all of them.
LEADING = ("pairwise_precision", "pairwise_recall", "pairwise_f1", "b_cubed_f1", "adjusted_rand")

# Each family with its fractions and its value for 0/0.
FRACTIONS: dict[str, tuple[Callable[[LabelsLike, LabelsLike], Fractions], float]] = {
    "pairwise": (scores.pairwise_fractions, 1.0),
    "muc": (scores.muc_fractions, 0.0),
    "b_cubed": (scores.b_cubed_fractions, 0.0),
    "ceaf_mention": (scores.ceaf_mention_fractions, 0.0),
    "ceaf_entity": (scores.ceaf_entity_fractions, 0.0),
    "lea": (scores.lea_fractions, 0.0),
}
SINGLE: dict[str, Callable[[LabelsLike, LabelsLike], float]] = {
    "rand": scores.rand_index,
    "adjusted_rand": scores.adjusted_rand_index,
    "variation_of_information": scores.variation_of_information,
    "normalized_mutual_information": scores.normalized_mutual_information,
    "matched_accuracy": scores.matched_accuracy,
}
# The CoNLL score is the mean F of these three.
CONLL = ("muc", "b_cubed", "ceaf_entity")
_NEGATED = "variation_of_information"


@dataclass(frozen=True)
class Evaluation:
    """Scores of n item sets by name: ``per_set``, and their mean, every set counting alike.

    ``micro`` has the values of the pooled fractions (numerators and denominators summed over sets, as the
    CoNLL scorer pools documents), for scores that are fractions.
    """

    per_set: Mapping[str, Floats]
    mean: Mapping[str, float]
    micro: Mapping[str, float]

    def against(
        self, other: "Evaluation", groups: Sequence[Hashable] | None = None
    ) -> dict[str, PairedComparison]:
        """Each score compared set by set, or group by group, with that of another evaluation."""
        return {
            name: compare_paired(values, other.per_set[name], lower_wins=lower_is_better(name), groups=groups)
            for name, values in self.per_set.items()
        }

    def verdict(self) -> str:
        """How good the groups are, in one line: sets that are exactly right, and pairs of all sets.

        >>> print(evaluate([[0, 0, 1], ["a", "b", "b"]], [[0, 0, 1], [0, 0, 1]]).verdict())
        1 of 2 sets is exactly right; of the pairs put together 50 % are right, of those that belong together
        50 % were found
        >>> evaluate([[0, 0, 1]], [[1, 1, 0]]).verdict()
        'everything is exactly right'
        """
        exact = self.per_set["rand"] == 1.0
        n, right = len(exact), int(exact.sum())
        if right == n:
            return "everything is exactly right" if n == 1 else f"all {n} sets are exactly right"
        sets = "" if n == 1 else f"{right} of {n} sets {'is' if right == 1 else 'are'} exactly right; "
        together, found = (_percent(self.micro[f"pairwise_{side}"]) for side in ("precision", "recall"))
        return (
            f"{sets}of the pairs put together {together} are right, "
            f"of those that belong together {found} were found"
        )

    def _repr_html_(self) -> str:
        """What notebooks show: the verdict, and the scores that matter."""
        rows = [[name.replace("_", " "), self.mean[name], self.micro.get(name)] for name in LEADING]
        return html_table(self.verdict(), ["score", "mean", "pooled"], rows)

    def __str__(self) -> str:
        rows = [(name, value, self.micro.get(name)) for name, value in self.mean.items()]
        return format_table(["score", "mean", "micro"], rows, digits=4)


def _percent(share: float) -> str:
    """Rounded, but never to all or nothing where it is not.

    >>> _percent(0.5), _percent(0.9999), _percent(1.0)
    ('50 %', '99.9 %', '100 %')
    """
    shown = round(100.0 * share) if 0.01 <= share < 0.99 else min(max(round(100.0 * share, 1), 0.1), 99.9)
    return f"{100.0 * share if share in (0.0, 1.0) else shown:g} %"


def evaluate(
    y_trues: Sequence[LabelsLike],
    y_preds: Sequence[LabelsLike],
    losses: Mapping[str, str | Loss] | None = None,
) -> Evaluation:
    """Every score of each predicted labeling against its truth, averaged and pooled over sets.

    `y_trues` and `y_preds` are lists with one label vector per item set. Fractions give `_precision`,
    `_recall` and `_f1`; `conll_f1` is the mean F of MUC, B-cubed and CEAF over entities. NMI has the
    arithmetic mean, VI is in nats. ``losses`` are reported beside them, under the names given to them.

    Parameters
    ----------
    y_trues : sequence of array-like
        The true labels of each set.
    y_preds : sequence of array-like
        The predicted labels of each set.
    losses : mapping, optional
        Further losses by name.

    Returns
    -------
    Evaluation
        Scores per set, their means, and the scores pooled over sets.

    Examples
    --------
    >>> result = evaluate([[0, 0, 1], ["a", "b"]], [[0, 0, 1], [0, 0]])
    >>> result.mean["rand"], result.per_set["rand"].tolist()
    (0.5, [1.0, 0.0])
    >>> result.micro["muc_precision"], result.micro["muc_recall"]
    (0.5, 1.0)
    """
    sets = _check_sets(y_trues, y_preds)
    per_set: dict[str, Floats] = {
        name: np.array([loss(t, p) for t, p in sets])
        for name, loss in ((name, as_loss(loss)) for name, loss in (losses or {}).items())
    }
    micro: dict[str, float] = {}
    for family, (fractions, zero_division) in FRACTIONS.items():
        counted = [fractions(t, p) for t, p in sets]
        found = [f.scores(zero_division) for f in counted]
        pooled = reduce(Fractions.pooled_with, counted).scores(zero_division)
        for field in Scores._fields:
            per_set[f"{family}_{field}"] = np.array([getattr(s, field) for s in found])
            micro[f"{family}_{field}"] = float(getattr(pooled, field))
    per_set["conll_f1"] = np.mean([per_set[f"{family}_f1"] for family in CONLL], axis=0)
    micro["conll_f1"] = float(np.mean([micro[f"{family}_f1"] for family in CONLL]))
    for name, score in SINGLE.items():
        per_set[name] = np.array([score(t, p) for t, p in sets])
    return Evaluation(per_set, {name: float(values.mean()) for name, values in per_set.items()}, micro)


def _check_sets(y_trues: Sequence[LabelsLike], y_preds: Sequence[LabelsLike]) -> list[tuple[Labels, Labels]]:
    if len(y_trues) != len(y_preds):
        raise ValueError(f"{len(y_trues)} true labelings for {len(y_preds)} predicted ones")
    if len(y_trues) == 0:
        raise ValueError("nothing to evaluate: no labelings given")
    sets = []
    for i, (t, p) in enumerate(zip(y_trues, y_preds, strict=True)):
        truth = canonical_labels(t, name=f"y_trues[{i}]")
        if truth.size == 0:
            raise ValueError(f"y_trues[{i}] is empty")
        sets.append((truth, canonical_labels(p, n_items=truth.size, name=f"y_preds[{i}]")))
    return sets


def get_scorer(name: str) -> Callable[[Any, Sequence[object], Sequence[LabelsLike]], float]:
    """A scorer for ``scoring=`` of scikit-learn's `GridSearchCV`, `cross_val_score` and the like.

    A family of precision and recall ("pairwise", "muc", "b_cubed", "ceaf_mention", "ceaf_entity", "lea")
    means its F; "b_cubed_precision" and "b_cubed_recall" are the others. "conll" is the mean F of three.
    Further "rand", "adjusted_rand", "normalized_mutual_information", "matched_accuracy" and
    "neg_variation_of_information".

    Examples
    --------
    >>> class Alike:
    ...     def predict(self, X): return [[0] * len(x) for x in X]
    >>> get_scorer("b_cubed")(Alike(), ["ab", "abcd"], [[0, 0], [0, 0, 1, 1]])
    0.8333333333333333
    """
    score(name, [0], [0])
    return partial(_mean_score, name)


def _mean_score(name: str, estimator: Any, X: Sequence[object], y: Sequence[LabelsLike]) -> float:
    return float(np.mean([score(name, t, p) for t, p in zip(y, estimator.predict(X), strict=True)]))


def score(name: str, y_true: LabelsLike, y_pred: LabelsLike) -> float:
    """One score of one set; ValueError for a name that is none."""
    if name == "conll":
        return float(np.mean([score(family, y_true, y_pred) for family in CONLL]))
    if name == f"neg_{_NEGATED}":
        return -SINGLE[_NEGATED](y_true, y_pred)
    if name in SINGLE and name != _NEGATED:
        return SINGLE[name](y_true, y_pred)
    for family, (fractions, zero_division) in FRACTIONS.items():
        for field in Scores._fields:
            if name in (f"{family}_{field}", family if field == "f1" else None):
                return float(getattr(fractions(y_true, y_pred).scores(zero_division), field))
    known = [*FRACTIONS, "conll", *(n for n in SINGLE if n != _NEGATED), f"neg_{_NEGATED}"]
    raise ValueError(f"unknown score {name!r}; known are {', '.join(known)}")
