"""A simulated person who answers from the truth what Studio's page asks, click by click.

- Two items: yes or no, one decision.
- A board of cards in piles: each card that is in a wrong pile is moved, and then "as shown". The piles become
  groups of the truth, as many cards as can be staying where they are: a decision for each card that is moved,
  and one for "as shown". The person sees no more than that: of other items nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from clustruct.core.partitions import canonical_labels, chained_pairs
from clustruct.core.typing import Ints
from clustruct.data import Evidence

Pairs = list[tuple[int, int]]


@dataclass(frozen=True)
class Answer:
    """What one answer says of the items of a set."""

    set: int
    same: Pairs
    different: Pairs


@dataclass
class Person:
    """Who answers, and what was said.

    truth : the clusters of each set
    decisions : how many moves and answers it took; read : how many items were looked at
    """

    truth: Sequence[Ints]
    said: list[Answer] = field(default_factory=list)
    decisions: int = 0
    read: int = 0

    def answer(self, s: int, piles: Sequence[Sequence[int]]) -> None:
        """One question about items of a set, in piles."""
        items = np.array([item for pile in piles for item in pile])
        shown = np.repeat(np.arange(len(piles)), [len(pile) for pile in piles])
        right = canonical_labels(self.truth[s][items])
        self.read += len(items)
        self.decisions += 1 if len(items) == 2 else n_moved(shown, right) + 1
        first = [int(items[np.argmax(right == k)]) for k in range(int(right.max()) + 1)]
        same = [(int(items[a]), int(items[b])) for a, b in chained_pairs(right).tolist()]
        self.said.append(Answer(s, same, [(a, b) for k, a in enumerate(first) for b in first[k + 1 :]]))

    def marks(self, which: Sequence[int] | None = None) -> list[Evidence]:
        """What is known of each set, from all answers or some."""
        chosen = self.said if which is None else [self.said[i] for i in which]
        return [self._marks(s, [one for one in chosen if one.set == s]) for s in range(len(self.truth))]

    def _marks(self, s: int, chosen: Sequence[Answer]) -> Evidence:
        return Evidence.of_pairs(
            len(self.truth[s]),
            [pair for one in chosen for pair in one.same],
            [pair for one in chosen for pair in one.different],
        )


def n_moved(shown: Ints, right: Ints) -> int:
    """How many cards must be moved for piles to become groups, at least.

    >>> n_moved(np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 2]))
    2
    """
    stay = np.zeros((int(shown.max()) + 1, int(right.max()) + 1), np.int64)
    np.add.at(stay, (shown, right), 1)
    return len(shown) - int(stay[linear_sum_assignment(-stay)].sum())
