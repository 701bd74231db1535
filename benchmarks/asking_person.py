"""A simulated person who answers from the truth what Studio's page asks, click by click.

- Two items: yes or no, one decision.
- A group with items beside it, right as shown (all of one kind, none of that kind beside it): yes, one
  decision; its items belong together, what is beside it does not belong to it. The person sees no more than
  that: whether further items belong to it is not known.
- A group that is not: a click on each item of the less frequent kinds, and on each beside it that belongs to
  it, and "no, as marked": what is not marked is right as shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from clustruct._typing import Ints
from clustruct.problems import Marks

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
    decisions : how many clicks and keys it took; read : how many items were looked at
    n_groups : how many questions were about groups
    """

    truth: Sequence[Ints]
    said: list[Answer] = field(default_factory=list)
    decisions: int = 0
    read: int = 0
    n_groups: int = 0

    def answer(self, s: int, items: Sequence[int], beside: Sequence[int] = ()) -> None:
        """One question about some items of a set."""
        self.read += len(items) + len(beside)
        self.said.append(self._pair(s, *items) if len(items) == 2 else self._group(s, items, beside))

    def _pair(self, s: int, a: int, b: int) -> Answer:
        self.decisions += 1
        is_same = self.truth[s][a] == self.truth[s][b]
        return Answer(s, [(a, b)] if is_same else [], [] if is_same else [(a, b)])

    def _group(self, s: int, items: Sequence[int], beside: Sequence[int]) -> Answer:
        y = self.truth[s]
        kinds, sizes = np.unique(y[list(items)], return_counts=True)
        mine = kinds[np.argmax(sizes)]
        stay, leave = [i for i in items if y[i] == mine], [i for i in items if y[i] != mine]
        come = [i for i in beside if y[i] == mine]
        self.n_groups += 1
        self.decisions += len(leave) + len(come) + 1
        others = [*leave, *(i for i in beside if i not in come)]
        return Answer(s, [(stay[0], i) for i in [*stay[1:], *come]], [(stay[0], i) for i in others])

    def marks(self, which: Sequence[int] | None = None) -> list[Marks]:
        """What is known of each set, from all answers or some."""
        chosen = self.said if which is None else [self.said[i] for i in which]
        return [self._marks(s, [one for one in chosen if one.set == s]) for s in range(len(self.truth))]

    def _marks(self, s: int, chosen: Sequence[Answer]) -> Marks:
        return Marks.of_pairs(
            len(self.truth[s]),
            [pair for one in chosen for pair in one.same],
            [pair for one in chosen for pair in one.different],
        )
