"""What people said of pairs, as constraints: items that must, and items that must not share a group.

"same" is transitive: its closure gives pieces of items. A "different" inside a piece is a contradiction,
and is told with every decision that has part in it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from clustruct.core.exceptions import DataError
from clustruct.core.formatting import count
from clustruct.core.typing import Ints

from .decisions import ANSWERS
from .statements import Statement

Disagreement = Literal["error", "majority"]
SHOWN_STEPS = 4


@dataclass(frozen=True)
class Constraints:
    """Pairs of items that must, and must not be together, without contradiction.

    Attributes
    ----------
    same, different : tuple of Statement, default=()
        The statements that hold.
    unsure : tuple of tuple of str, str, default=()
        Pairs of which somebody said that it cannot be told, and nobody said more.
    piece : mapping, optional
        For each item that must be with another, the first item of all those that must be together.
    unknown : tuple of Statement, default=()
        Statements about items that are not known, left out.
    """

    same: tuple[Statement, ...] = ()
    different: tuple[Statement, ...] = ()
    unsure: tuple[tuple[str, str], ...] = ()
    piece: Mapping[str, str] | None = None
    unknown: tuple[Statement, ...] = ()

    def __len__(self) -> int:
        return len(self.same) + len(self.different)

    def items(self) -> set[str]:
        """All items that a constraint names."""
        return {item for said in (*self.same, *self.different) for item in (said.a, said.b)}

    def must_link(self, numbers: Mapping[str, int]) -> Ints:
        """The pairs of item numbers that must share a cluster, as searches take them."""
        return _pairs(self.same, numbers)

    def cannot_link(self, numbers: Mapping[str, int]) -> Ints:
        """The pairs of item numbers that must not."""
        return _pairs(self.different, numbers)

    def broken(self, groups: Mapping[str, str]) -> list[Statement]:
        """The statements that a grouping does not hold; items without a group break nothing."""
        apart = [s for s in self.same if _both(s, groups) and groups[s.a] != groups[s.b]]
        joined = [s for s in self.different if _both(s, groups) and groups[s.a] == groups[s.b]]
        return [*apart, *joined]


def _both(said: Statement, groups: Mapping[str, str]) -> bool:
    return said.a in groups and said.b in groups


def _pairs(statements: Sequence[Statement], numbers: Mapping[str, int]) -> Ints:
    found = [(numbers[s.a], numbers[s.b]) for s in statements if s.a in numbers and s.b in numbers]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def constraints(
    statements: Iterable[Statement],
    known: Collection[str] | None = None,
    *,
    unknown: Literal["error", "skip"] = "error",
    disagreement: Disagreement = "error",
) -> Constraints:
    """The constraints that follow from what people said, or a `DataError` that names who contradicts whom.

    Parameters
    ----------
    statements : iterable of Statement
        What was said, in order. Of one author the last word about a pair counts; "unsure" gives way to
        any answer of another author.
    known : collection of str, optional
        The items that there are; None: any.
    unknown : {"error", "skip"}, default="error"
        What becomes of statements about other items.
    disagreement : Disagreement, default="error"
        Two authors who say different things of one pair are an error, or the majority decides (a tie:
        nothing is said of the pair).

    Returns
    -------
    Constraints
        Pairs that must, and pairs that must not share a group.

    Notes
    -----
    Cost O(statements).

    Examples
    --------
    >>> from clustruct.groups import Decision
    >>> said = [Statement("a", "b", "same", Decision("same", ("a", "b"), number=1, author="ann")),
    ...         Statement("b", "a", "different", Decision("different", ("b", "a"), number=2, author="bob"))]
    >>> constraints(said)
    Traceback (most recent call last):
    ...
    clustruct.core.exceptions.DataError: decision 2 (by bob) says 'b' and 'a' are different, but decision 1
    (by ann) says they are the same
    """
    heard, strange = _heard(statements, known, unknown)
    settled = [_settled(said, disagreement) for said in heard.values()]
    same = [s for s in settled if s is not None and s.answer == "same"]
    different = [s for s in settled if s is not None and s.answer == "different"]
    unsure = tuple((s.a, s.b) for s in settled if s is not None and s.answer == "unsure")
    piece = _pieces(same)
    for said in different:
        if piece.get(said.a, said.a) == piece.get(said.b, said.b):
            raise DataError(_contradiction(said, same))
    return Constraints(tuple(same), tuple(different), unsure, piece, tuple(strange))


def contradiction(statements: Iterable[Statement], disagreement: Disagreement = "error") -> str | None:
    """Which statements cannot all hold, and who made them; None where all can.

    Parameters
    ----------
    statements : iterable of Statement
        What was said, in order.
    disagreement : Disagreement, default="error"
        Whether people who disagree contradict each other, or the majority decides.

    Returns
    -------
    str or None
        A sentence that names the statements, or None.

    Examples
    --------
    >>> from clustruct.groups import Decision
    >>> said = [Statement("a", "b", "same", Decision("same", ("a", "b"), number=1)),
    ...         Statement("a", "b", "different", Decision("different", ("a", "b"), number=2, author="bob"))]
    >>> contradiction(said)
    "decision 2 (by bob) says 'a' and 'b' are different, but decision 1 says they are the same"
    >>> contradiction(said, "majority"), contradiction(said[:1])
    (None, None)
    """
    try:
        constraints(statements, disagreement=disagreement)
    except DataError as error:
        return str(error)
    return None


def _heard(
    statements: Iterable[Statement], known: Collection[str] | None, unknown: str
) -> tuple[dict[tuple[str, str], list[Statement]], list[Statement]]:
    """What was said of each pair, the last word of each author; and what was said of unknown items."""
    heard: dict[tuple[str, str], dict[str, Statement]] = {}
    strange = []
    for said in statements:
        missing = [item for item in (said.a, said.b) if known is not None and item not in known]
        if missing and unknown == "error":
            raise DataError(f"{said.by} names {missing[0]!r}, and there is no such item")
        if missing:
            strange.append(said)
            continue
        words = heard.setdefault((min(said.a, said.b), max(said.a, said.b)), {})
        words.pop(said.by.author, None)
        words[said.by.author] = said
    return {pair: list(words.values()) for pair, words in heard.items()}, strange


def _settled(heard: Sequence[Statement], disagreement: str) -> Statement | None:
    """The statement that holds for a pair."""
    sure = [s for s in heard if s.answer != "unsure"]
    if not sure:
        return heard[0]
    votes = Counter(s.answer for s in sure).most_common()
    if len(votes) == 1:
        return sure[0]
    if disagreement == "error":
        last = sure[-1]
        other = next(s for s in sure if s.answer != last.answer)
        raise DataError(f"{_told(last)}, but {other.by} says they are {_answer(other)}")
    if votes[0][1] == votes[1][1]:
        return None
    return next(s for s in sure if s.answer == votes[0][0])


def _answer(said: Statement) -> str:
    return "the same" if said.answer == "same" else said.answer


def _told(said: Statement) -> str:
    if said.by.kind in ANSWERS:
        return f"{said.by} says {said.a!r} and {said.b!r} are {_answer(said)}"
    if said.by.kind == "sort":
        piles = "one pile" if said.answer == "same" else "two piles"
        return f"{said.by} sorts {said.a!r} and {said.b!r} into {piles}"
    verb = {"confirm": "confirms", "merge": "merges", "split": "splits", "move": "moves"}[said.by.kind]
    where = "one group" if said.answer == "same" else "two groups"
    return f"{said.by} {verb} so that {said.a!r} and {said.b!r} are in {where}"


def _pieces(same: Iterable[Statement]) -> dict[str, str]:
    """The first item of each item's piece, by union-find."""
    parent: dict[str, str] = {}

    def root(item: str) -> str:
        parent.setdefault(item, item)
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for said in same:
        a, b = sorted((root(said.a), root(said.b)))
        parent[b] = a
    return {item: root(item) for item in parent}


def _contradiction(said: Statement, same: Sequence[Statement]) -> str:
    """Who says that two items differ, and by what chain others say that they are the same."""
    chain = _chain(said.a, said.b, same)
    told = [_told(step) for step in chain[:SHOWN_STEPS]]
    more = f" and {count(len(chain) - SHOWN_STEPS, 'further decision')}" if len(chain) > SHOWN_STEPS else ""
    return f"{_told(said)}, but {', '.join(told)}{more}"


def _chain(a: str, b: str, same: Sequence[Statement]) -> list[Statement]:
    """The fewest statements that tie two items of one piece."""
    near: dict[str, list[tuple[str, Statement]]] = {}
    for said in same:
        near.setdefault(said.a, []).append((said.b, said))
        near.setdefault(said.b, []).append((said.a, said))
    came: dict[str, tuple[str, Statement]] = {}
    waiting = deque([a])
    while waiting and b not in came:
        here = waiting.popleft()
        for there, said in near.get(here, ()):
            if there != a and there not in came:
                came[there] = (here, said)
                waiting.append(there)
    steps = []
    while b != a:
        b, said = came[b]
        steps.append(said)
    return steps[::-1]
