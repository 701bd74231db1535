"""What decisions say of pairs of items."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from .decisions import ANSWERS, Decision


@dataclass(frozen=True)
class Statement:
    """What a decision says of two items: "same", "different" or "unsure".

    Attributes
    ----------
    a : str
        The name of one item.
    b : str
        The name of the other.
    answer : str
        "same", "different" or "unsure".
    by : Decision
        The decision that says so.
    """

    a: str
    b: str
    answer: str
    by: Decision


def statements_of(decision: Decision) -> list[Statement]:
    """What a judgement says of pairs of items; nothing for what is about groups.

    Of sorted items every pair is spoken of, though some would do, from which the rest follows: so who sorts
    the same items anew takes back all that was said of them before.

    >>> said = statements_of(Decision("sort", piles=(("a", "b"), ("c",))))
    >>> [(s.a, s.b, s.answer) for s in said]
    [('a', 'b', 'same'), ('a', 'c', 'different'), ('b', 'c', 'different')]
    """
    if decision.kind == "sort":
        pile = {item: n for n, held in enumerate(decision.piles) for item in held}
        return [
            Statement(a, b, "same" if pile[a] == pile[b] else "different", decision)
            for a, b in combinations(decision.items, 2)
        ]
    if decision.kind in ANSWERS:
        a, b = decision.items
        return [Statement(a, b, decision.kind, decision)]
    return []
