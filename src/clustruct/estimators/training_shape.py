"""What a model was shown in training, and whether a set to be clustered is like it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clustruct.core.exceptions import ReliabilityWarning, UnfamiliarDataWarning
from clustruct.core.partitions import UNKNOWN
from clustruct.core.storage import DataclassState, register
from clustruct.core.typing import Floats, Ints, Labels
from clustruct.data import ItemSet, PairScores

# Least, quarters, most; and for scores the ends of the distribution, too.
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
LEVELS = (0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
# Scores are looked at for so many pairs at most, of so many sets.
MOST_PAIRS, MOST_SETS = 2000, 20
# A set this many times larger than the largest of the training is unlike it, but small ones never are.
TIMES_LARGER, SMALL = 3.0, 30
# A group of so many times the rows of the largest one of the training is larger than any group should be.
TIMES_LARGER_GROUP = 10.0
# From this share of items on that were compared with nothing, what was found says little of the set.
MOST_UNCOMPARED = 0.5
# Fewer scores tell nothing.
FEWEST_SCORES = 20
# Scores are near zero within this share of the usual size of training scores. They crowd there where most
# are, and so many times as many as in training.
BAND, CROWD, TIMES_MORE = 0.1, 0.5, 3.0
# Scores are far outside where more than this share is so many times larger than any of the training.
SHARE_OUTSIDE, TIMES_OUTSIDE = 0.1, 3.0

# Scores of pairs (p x 2) of a set.
PairScorer: TypeAlias = Callable[[ItemSet, Ints], Floats]


@register("TrainingShape")
@dataclass(frozen=True)
class TrainingShape(DataclassState):
    """Sizes, pairs and scores of the training sets: least, quarters and most of ``set_sizes`` and
    ``cluster_sizes``, the share of pairs that were ``compared``, quantiles of ``scores`` by the model, and
    the share ``near_zero``.

    >>> x = ItemSet(pairs=[[2.0], [-1.0], [-3.0]])
    >>> shape = TrainingShape.of([x], [np.array([0, 0, 1])], lambda x, pairs: x.pairs[:, 0])
    >>> shape.set_sizes.tolist(), shape.compared, shape.scores[[0, 4, 8]].tolist()
    ([3.0, 3.0, 3.0, 3.0, 3.0], 1.0, [-3.0, -1.0, 2.0])
    """

    set_sizes: NDArray[np.float64]
    cluster_sizes: NDArray[np.float64]
    compared: float
    scores: NDArray[np.float64]
    usual_score: float
    near_zero: float

    def __post_init__(self) -> None:
        wanted = {"set_sizes": QUARTERS, "cluster_sizes": QUARTERS, "scores": LEVELS}
        fitting = [np.shape(getattr(self, name)) == (len(levels),) for name, levels in wanted.items()]
        known = all(fitting) and min(self.set_sizes[0], self.cluster_sizes[0]) >= 1.0
        shares = (self.compared, self.near_zero)
        if (
            not known
            or not all(0.0 <= share <= 1.0 for share in shares)
            or not 0.0 <= self.usual_score < np.inf
        ):
            raise ValueError("what is known of the training does not fit")

    @classmethod
    def of(cls, sets: Sequence[ItemSet], labels: Sequence[Labels], score: PairScorer) -> Self:
        """The shape of training sets with their labels and the scores of the trained model."""
        found = sampled_scores(sets, score)
        found = found if len(found) else np.zeros(1)
        usual = float(np.median(np.abs(found)))
        pairs = sum(map(_count_judged_pairs, labels))
        compared = sum(x.n_pairs for x in sets)
        return cls(
            _quantiles([x.n_items for x in sets], QUARTERS),
            _quantiles(np.concatenate([np.bincount(y[y != UNKNOWN]) for y in labels]), QUARTERS),
            min(compared / pairs, 1.0) if pairs else 1.0,
            _quantiles(found, LEVELS),
            usual,
            _share(np.abs(found) < BAND * usual),
        )

    def with_set_sizes(self, sizes: Sequence[int]) -> Self:
        """The same where the sets shown were of other sizes: they were cut for the training."""
        return replace(self, set_sizes=_quantiles(sizes, QUARTERS))

    def warn(
        self, sets: Sequence[ItemSet | PairScores], score: PairScorer, *, zero_counts: bool = True
    ) -> None:
        """Warn, once, of sets (or of scores of sets) that are far from what was shown; ``zero_counts`` says
        whether zero is where the model separates together from apart.
        """
        reasons = [self._size(max(x.n_items for x in sets))]
        found = sampled_scores(sets, score)
        if self.usual_score > 0.0 and len(found) >= FEWEST_SCORES:
            reasons += [self._outside(found), self._crowd(found) if zero_counts else ""]
        if any(reasons):
            warnings.warn("; ".join(filter(None, reasons)), UnfamiliarDataWarning, stacklevel=4)

    def warn_of_groups(self, largest: int, n_uncompared: int, n_items: int) -> None:
        """Warn of groups that say themselves that the model is of little use here: ``largest`` is the number
        of different rows of the largest one.
        """
        shown = int(self.cluster_sizes[-1])
        reasons = []
        if largest > max(TIMES_LARGER_GROUP * shown, SMALL):
            reasons.append(
                f"the largest group has {largest:,} different rows, the largest that the model learned from "
                f"{shown:,}: chains of wrong links make such groups; look at it, ask for a precision, or "
                "label some of this data and learn from it, too"
            )
        if n_items >= SMALL and n_uncompared > MOST_UNCOMPARED * n_items:
            reasons.append(
                f"{n_uncompared:,} of {n_items:,} items were compared with nothing: check that the columns "
                "are filled and named as in training"
            )
        if reasons:
            warnings.warn("; ".join(reasons), ReliabilityWarning, stacklevel=4)

    def _size(self, largest: int) -> str:
        shown = int(self.set_sizes[-1])
        if largest < SMALL or largest <= TIMES_LARGER * shown:
            return ""
        return (
            f"a set of {largest:,} items is {largest / shown:.1f} times as large as the largest set that the "
            f"model learned from ({shown:,} items), and wrong links add up in large sets: learn from sets as "
            "large as those to be grouped"
        )

    def _crowd(self, scores: Floats) -> str:
        share = _share(np.abs(scores) < BAND * self.usual_score)
        if share <= max(CROWD, TIMES_MORE * self.near_zero):
            return ""
        return (
            f"{share:.0%} of the similarities are near zero ({self.near_zero:.0%} in training), so that the "
            "model hardly tells these pairs apart: check that the fields are filled as in training, or label "
            "some of this data and learn from it, too"
        )

    def _outside(self, scores: Floats) -> str:
        most = float(np.abs(self.scores[[0, -1]]).max())
        share = _share(np.abs(scores) > TIMES_OUTSIDE * most)
        if share <= SHARE_OUTSIDE:
            return ""
        return (
            f"{share:.0%} of the similarities are more than {TIMES_OUTSIDE:g} times as large as any in "
            f"training ({np.abs(scores).max():.3g} against {most:.3g}): check the units of the numbers"
        )


def sampled_scores(sets: Sequence[ItemSet | PairScores], score: PairScorer) -> Floats:
    step = max(1, len(sets) // MOST_SETS)
    chosen = [x for x in sets[::step] if x.n_items > 1]
    each = max(50, MOST_PAIRS // max(len(chosen), 1))
    return np.concatenate([np.zeros(0), *(_some_scores(x, each, score) for x in chosen)])


def _some_scores(x: ItemSet | PairScores, most: int, score: PairScorer) -> Floats:
    """About ``most`` scores of a set, or of the scores that are given for it."""
    if isinstance(x, PairScores) and x.values is not None:
        return x.values[:: max(1, len(x.values) // most)]
    pairs = _some_pairs(x, most)
    if isinstance(x, PairScores):
        assert x.matrix is not None
        return np.asarray(x.matrix[pairs[:, 0], pairs[:, 1]])
    return score(x, pairs) if len(pairs) else np.zeros(0)


def _some_pairs(x: ItemSet | PairScores, most: int) -> Ints:
    """Pairs that have features, about ``most`` of them."""
    if x.index is not None:
        return x.index[:: max(1, len(x.index) // most)]
    if x.n_pairs <= most:
        return x.pair_list
    drawn = np.random.default_rng(0).integers(0, x.n_items, (most, 2))
    return np.sort(drawn[drawn[:, 0] != drawn[:, 1]], axis=1)


def _count_judged_pairs(labels: Labels) -> float:
    m, unknown = len(labels), int(np.count_nonzero(labels == UNKNOWN))
    return (m * (m - 1) - unknown * (unknown - 1)) / 2


def _share(which: NDArray[np.bool_]) -> float:
    return float(np.mean(which))


def _quantiles(values: ArrayLike, levels: Sequence[float]) -> Floats:
    return np.asarray(np.quantile(np.asarray(values, np.float64), levels), np.float64)
