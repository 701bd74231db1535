"""Whether labelled clusters are complete: whether items without a label look like members of them.

Where whole clusters were labelled, the nearest unlabelled item of a labelled one is a near miss; where items
were labelled as they came, it is often a mate, as like it as mates are. Which it is, is seen by a similarity
that knows no labels: one that was learned from them would tell what was assumed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clustruct.core.partitions import UNKNOWN
from clustruct.core.typing import Bools, Floats, Ints

# So large a share of labelled items with an unlabelled one as like them as usual mates, so many at least, and
# labelled clusters are not complete. Whole clusters of made people, products and of febrl2: 0 to 4 %; half of
# the clusters cut in two: 3 to 17 %; rows drawn at random: 22 to 74 %.
SHARE, FEWEST = 0.12, 3
# A similarity that does not find so many of the labelled pairs tells nothing.
FOUND = 0.5


class Completeness(NamedTuple):
    """How many labelled items there are, how many have an unlabelled one as like them as usual mates, and
    whether the similarity can tell.
    """

    n_labelled: int
    n_open: int
    is_decided: bool

    @property
    def is_borne_out(self) -> bool:
        """Whether labelled clusters may be taken as complete: nothing that can be seen speaks against it."""
        return not self.is_decided or self.n_open < max(FEWEST, SHARE * self.n_labelled)

    def summary(self) -> dict[str, Any]:
        """As plain values."""
        return {"labelled": self.n_labelled, "open": self.n_open, "decided": self.is_decided}


def judge_completeness(scores: Floats, pairs: Ints, labels: Ints) -> Completeness:
    """By the scores of the compared pairs of a set, and its labels, -1 where not known.

    >>> pairs, labels = np.array([[0, 1], [0, 2], [1, 3], [2, 3]]), np.array([0, 0, -1, -1])
    >>> judge_completeness(np.array([2.0, -1.0, -1.0, 3.0]), pairs, labels)
    Completeness(n_labelled=2, n_open=0, is_decided=True)
    """
    known = labels != UNKNOWN
    ends = known[pairs]
    mates = ends.all(axis=1) & (labels[pairs[:, 0]] == labels[pairs[:, 1]])
    n = int(np.count_nonzero(known))
    if not mates.any() or np.mean(scores[mates] > 0.0) < FOUND:
        return Completeness(n, 0, False)
    to_mate = _highest(scores, pairs, mates, len(labels))
    usual = np.median(to_mate[known & np.isfinite(to_mate)])
    to_unlabelled = _highest(scores, pairs, ends.sum(axis=1) == 1, len(labels))
    return Completeness(n, int(np.count_nonzero(to_unlabelled[known] >= usual)), True)


def _highest(scores: Floats, pairs: Ints, which: Bools, n: int) -> Floats:
    """The highest score of each item in some of the pairs."""
    found = np.full(n, -np.inf)
    for end in pairs[which].T:
        np.maximum.at(found, end, scores[which])
    return found
