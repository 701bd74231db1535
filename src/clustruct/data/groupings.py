"""Groups of the items of one set, as a prediction gives them, and what may be asked of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from clustruct.core.formatting import count
from clustruct.core.typing import Bools, Floats, Ints

from .compared_pairs import PairScores


@dataclass(frozen=True)
class GroupingOptions:
    """What is asked of groups beside the highest score.

    Attributes
    ----------
    threshold : float, optional
        A probability: pairs that are less likely together speak against each other.
    precision : float, optional
        The share of pairs put together that is to be right, by held-out clusters.
    max_size : int, optional
        The largest number of items in a group.
    min_groups, max_groups : int, optional
        Bounds on the number of groups in a set.
    reject_below : float, optional
        Items whose place is right with a smaller probability stay alone.
    """

    threshold: float | None = None
    precision: float | None = None
    max_size: int | None = None
    min_groups: int | None = None
    max_groups: int | None = None
    reject_below: float | None = None

    def __post_init__(self) -> None:
        for name in ("threshold", "precision", "reject_below"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < 1.0:
                raise ValueError(f"{name} must be between 0 and 1, not {value}")
        for name, value in self.bounds.items():
            if value < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")
        if None not in (self.min_groups, self.max_groups) and self.min_groups > self.max_groups:  # type: ignore[operator]
            raise ValueError(f"min_groups is {self.min_groups}, above max_groups, {self.max_groups}")
        if self.threshold is not None and self.precision is not None:
            raise ValueError("threshold and precision both say where to cut: give one of them")
        if self.reject_below is not None and self.max_groups is not None:
            raise ValueError("max_groups does not go with reject_below: items that stay alone are groups")

    def __bool__(self) -> bool:
        return any(value is not None for value in vars(self).values())

    @property
    def bounds(self) -> dict[str, int]:
        """The bounds on sizes and numbers that are given, by name."""
        given = {name: getattr(self, name) for name in ("max_size", "min_groups", "max_groups")}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def cuts(self) -> bool:
        """Whether they say where pairs begin to speak for each other."""
        return self.threshold is not None or self.precision is not None

    def without_cut(self) -> Self:
        """The same for a model that was moved to the threshold or the precision already."""
        return replace(self, threshold=None, precision=None)


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups of a set, and how they were reached.

    Attributes
    ----------
    labels : array of int
        The group of each item.
    rejected : array of bool
        Items that stay alone since they are doubtful (``reject_below``).
    confidence : array of float, optional
        The probability that each item is in the right group; without probabilities the score lost by its best
        other place.
    is_probability : bool
        Whether the confidence is a probability.
    scores : PairScores, optional
        The scores of the compared pairs, above 0 where they speak for each other.
    score_map : callable, optional
        Makes probabilities of the scores.
    options : GroupingOptions
        The options of the grouping.
    search : str
        The search that found them; "" for a model that does not group by scores of pairs.
    n_uncompared : int
        How many items were compared with nothing.
    equal_apart : mapping
        How many items are not with all that are equal to them, by the reason: "evidence" says so, a "source"
        holds each thing once, the "score" of identical items is below zero, or "options" part them.

    Examples
    --------
    >>> found = Grouping(np.array([0, 0, 1]), np.zeros(3, bool), np.array([1.0, 0.5, 0.25]), True)
    >>> found.n_groups, found.group_confidence.tolist()
    (2, [0.75, 0.25])
    """

    labels: Ints
    rejected: Bools
    confidence: Floats | None = None
    is_probability: bool = False
    scores: PairScores | None = None
    score_map: Callable[[PairScores], Floats] | None = field(default=None, repr=False)
    options: GroupingOptions = field(default_factory=GroupingOptions)
    search: str = ""
    n_uncompared: int = 0
    equal_apart: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(np.unique(self.labels))

    @property
    def group_confidence(self) -> Floats | None:
        """The expected share of right items in each group; None without probabilities of items."""
        if self.confidence is None or not self.is_probability:
            return None
        of_item = np.unique(self.labels, return_inverse=True)[1]
        return np.asarray(np.bincount(of_item, weights=self.confidence) / np.bincount(of_item))

    @cached_property
    def pair_probabilities(self) -> Floats | None:
        """The probability that each pair of ``scores.list_pairs()`` belongs together; None without them."""
        if self.scores is None or self.score_map is None:
            return None
        return self.score_map(self.scores)

    @property
    def objective(self) -> float | None:
        """The sum of the scores of the pairs that are together; None without scores."""
        if self.scores is None:
            return None
        listed = self.scores.list_pairs()
        assert listed.index is not None
        assert listed.values is not None
        a, b = listed.index.T
        return float(listed.values[self.labels[a] == self.labels[b]].sum())


REASONS = {
    "evidence": "labels or decisions part them",
    "source": "a source holds each thing once",
    "score": "two identical ones score below zero, so little is known of them",
    "options": "the options of groups part them",
}


@dataclass
class Remarks:
    """What a person should know of the groups of some sets: items that were compared with nothing, and equal
    rows that are not together.

    >>> found = Remarks()
    >>> found.add(Grouping(np.array([0, 1]), np.zeros(2, bool), n_uncompared=2, equal_apart={"source": 1200}))
    >>> [line[:49] for line in found.lines]
    ['2 items were compared with nothing and stay alone', '1,200 items are apart from rows equal to them: a ']
    """

    n_uncompared: int = 0
    equal_apart: Counter[str] = field(default_factory=Counter)

    def add(self, found: Grouping) -> None:
        """Count the items of one more set."""
        self.n_uncompared += found.n_uncompared
        self.equal_apart.update(found.equal_apart)

    @property
    def lines(self) -> list[str]:
        """A sentence each."""
        lines = [uncompared_line(self.n_uncompared)] if self.n_uncompared else []
        for reason, n in sorted(self.equal_apart.items()):
            verb = "is" if n == 1 else "are"
            lines.append(f"{count(n, 'item')} {verb} apart from rows equal to them: {REASONS[reason]}")
        return lines

    def as_json(self) -> dict[str, Any]:
        """The counts, by name."""
        return {"compared_with_nothing": self.n_uncompared, "equal_rows_apart": dict(self.equal_apart)}


def uncompared_line(n: int) -> str:
    """So many items were compared with nothing, and what to do."""
    verb, stay = ("was", "stays") if n == 1 else ("were", "stay")
    return (
        f"{count(n, 'item')} {verb} compared with nothing and {stay} alone: no value in a field that is "
        "compared (fill them in, or learn with further columns)"
    )
