"""What people decide about items and groups, one record per decision, and what that says of pairs of items:
as `Evidence`, or a message that names who contradicts whom.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from os import PathLike
from typing import Any, Literal, TypeGuard, get_args

import numpy as np

from clustruct.core.exceptions import DataError
from clustruct.core.formatting import count, place
from clustruct.core.typing import Ints
from clustruct.data import Evidence, PairScores
from clustruct.data.evidence import Contradiction

Kind = Literal["same", "different", "unsure", "sort", "move", "merge", "split", "confirm", "note", "undo"]
DECISION_KINDS: tuple[Kind, ...] = get_args(Kind)
# How a pair of items can be judged.
ANSWERS = ("same", "different", "unsure")
# Judgements of items alone, whatever groups there are: they move nothing, and bind the runs that follow.
JUDGEMENTS = (*ANSWERS, "sort")
# Items that can be sorted at once: all their pairs are judged, twenty thousand of so many.
MOST_SORTED = 200
# People who say different things of one pair contradict each other, or the majority decides.
Disagreement = Literal["error", "majority"]
SHOWN_STEPS = 4


@dataclass(frozen=True)
class Decision:
    """One decision.

    Attributes
    ----------
    kind : Kind
        What is decided:

        - "same", "different", "unsure": two items belong together, or not, or it is not known;
        - "sort": items were sorted into ``piles``: those of one pile belong together, those of different
          piles do not, and others are not judged;
        - "move": items belong to the group ``into``; without it, to a new group of their own;
        - "merge": the group ``group`` is the same as ``into``, which keeps its id;
        - "split": items of the group ``group`` are another group (``into``: its id, where it has one
          already);
        - "confirm": the group ``group`` is right as it stands. With ``items``, which were shown beside it: it
          belongs together, these do not belong to it, and others are not judged;
        - "note": something to remember;
        - "undo": the decision with the number ``undoes`` does not count.
    items : tuple of str, default=()
        The items that it is about; of "sort" those of all piles, in order.
    group : str, optional
        The id of the group that it is about.
    into : str, optional
        The id of the group that items or the group go into.
    undoes : int, optional
        The number of the decision that does not count any more.
    author, time, note : str, default=""
        By whom, when (ISO 8601) and why.
    number : int, default=0
        Its place in the log; in a file its row, counted from 1.
    source, line
        The file it was read from, for messages.
    store : str, default=""
        The store that keeps it, for messages, too.
    piles : tuple of tuple of str, default=()
        The piles of "sort": the items of each.

    Examples
    --------
    >>> str(Decision("same", ("a", "b"), author="ann", number=12, source="fix.csv", line=13))
    'decision 12 (line 13 of fix.csv, by ann)'
    >>> str(Decision("same", ("a", "b"), number=12, store="people.db"))
    'decision 12 of people.db'
    >>> Decision("sort", piles=(("a", "b"), ("c",))).items
    ('a', 'b', 'c')
    """

    kind: Kind
    items: tuple[str, ...] = ()
    group: str | None = None
    into: str | None = None
    undoes: int | None = None
    author: str = ""
    time: str = ""
    note: str = ""
    number: int = 0
    source: str = ""
    line: int | None = None
    store: str = field(default="", compare=False)
    piles: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        if self.kind == "sort" and not self.items:
            object.__setattr__(self, "items", tuple(chain.from_iterable(self.piles)))
        if fault := _fault(self):
            raise ValueError(fault)

    def __str__(self) -> str:
        where = f"line {self.line} of {self.source}" if self.line else self.source
        about = ", ".join(part for part in (where, f"by {self.author}" if self.author else "") if part)
        store = f" of {self.store}" if self.store else ""
        return f"decision {self.number}{store}" + (f" ({about})" if about else "")

    def content(self) -> dict[str, Any]:
        """All that is not empty, without number and place: what is kept of it."""
        held = {
            "items": [] if self.piles else list(self.items),  # they follow from the piles
            "piles": [list(pile) for pile in self.piles],
            "group": self.group,
            "into": self.into,
            "undoes": self.undoes,
            "note": self.note,
        }
        return {name: value for name, value in held.items() if value not in (None, "", [])}


def _fault(decision: Decision) -> str | None:
    """What is wrong with the shape of a decision."""
    kind, items = decision.kind, decision.items
    if kind not in DECISION_KINDS:
        return f"a decision is one of {', '.join(DECISION_KINDS)}, not {kind!r}"
    if decision.piles and kind != "sort":
        return f"{kind} takes no piles"
    if len(set(items)) < len(items):
        return f"{kind}: the item {next(i for i in items if items.count(i) > 1)!r} is named twice"
    if kind in ANSWERS and len(items) != 2:
        return f"{kind} takes two items (a and b), not {len(items)}"
    if kind == "sort":
        return _fault_of_piles(decision)
    if kind in ("move", "split") and not items:
        return f"{kind} takes items (items)"
    if kind in ("merge", "split", "confirm") and decision.group is None:
        return f"{kind} takes a group (group)"
    if kind == "merge" and decision.into in (None, decision.group):
        return "merge takes two groups (group and into)"
    if kind == "undo" and decision.undoes is None:
        return "undo takes the number of a decision (undoes)"
    return None


def _fault_of_piles(decision: Decision) -> str | None:
    """What is wrong with the piles of a "sort"."""
    items, piles = decision.items, decision.piles
    if not piles:
        return "sort takes piles (piles)"
    if not all(piles):
        return "sort: a pile is empty"
    if len(items) > MOST_SORTED:
        return f"sort takes at most {MOST_SORTED} items, not {len(items):,}"
    if items != tuple(chain.from_iterable(piles)):
        return "sort: its items are not those of its piles"
    if len(items) < 2:
        return f"sort takes two items or more, not {len(items)}"
    return None


def decision_of(values: Mapping[str, Any], row: int, path: str | PathLike[str], line: int) -> Decision:
    """The decision that a row (an object) says, numbered by its row where it has no number."""
    try:
        return replace(_decision(values, row), source=str(path), line=line)
    except ValueError as error:
        raise DataError(f"{place(path, line)}: {error}") from None


def _decision(values: Mapping[str, Any], row: int) -> Decision:
    kind = _word(values, "decision")
    items = [name for name in (_word(values, "a"), _word(values, "b")) if name is not None]
    return Decision(
        kind if kind is None else kind.strip().lower(),  # type: ignore[arg-type]
        (*items, *_item_list(values.get("items"))),
        group=_word(values, "group"),
        into=_word(values, "into"),
        undoes=_number(values, "undoes"),
        author=_word(values, "author") or "",
        time=_word(values, "time") or "",
        note=_word(values, "note") or "",
        number=_number(values, "number") or row,
        piles=_pile_list(values.get("piles")),
    )


def _word(values: Mapping[str, Any], name: str) -> str | None:
    value = values.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, bool | list | dict):
        raise ValueError(f"{name!r} must be a text, not {json.dumps(value):.40}")
    return str(value)


def _number(values: Mapping[str, Any], name: str) -> int | None:
    text = _word(values, name)
    if text is not None and not (text.isascii() and text.isdecimal() and 0 < int(text[:20]) < 2**53):
        raise ValueError(f"{name!r} must be a number from 1 on, not {text!r:.40}")
    return None if text is None else int(text)


def _item_list(value: object) -> list[str]:
    """A JSON list of items, or one item that is no list."""
    if value is None or value == "":
        return []
    if isinstance(value, str):
        value = _json_list(value, "items") if value.startswith("[") else [value]
    if not _are_ids(value):
        raise ValueError("'items' must be a list of ids")
    return [str(v) for v in value]


def _pile_list(value: object) -> tuple[tuple[str, ...], ...]:
    """A JSON list of piles, each a list of items."""
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        value = _json_list(value, "piles")
    if not isinstance(value, list) or not all(map(_are_ids, value)):
        raise ValueError("'piles' must be a list of lists of ids")
    return tuple(tuple(map(str, pile)) for pile in value)


def _json_list(text: str, name: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"{name!r} is not a JSON list: {text!r:.40}") from None


def _are_ids(value: object) -> TypeGuard[list[str | int]]:
    return isinstance(value, list) and all(isinstance(v, str | int) for v in value)


@dataclass(frozen=True)
class PairJudgement:
    """What a decision says of two items: "same", "different" or "unsure"."""

    a: str
    b: str
    answer: str
    by: Decision

    def __str__(self) -> str:
        answer = "the same" if self.answer == "same" else self.answer
        if self.by.kind in ANSWERS:
            return f"{self.by} says {self.a!r} and {self.b!r} are {answer}"
        same = self.answer == "same"
        if self.by.kind == "sort":
            return f"{self.by} sorts {self.a!r} and {self.b!r} into {'one pile' if same else 'two piles'}"
        verb = {"confirm": "confirms", "merge": "merges", "split": "splits", "move": "moves"}[self.by.kind]
        where = "one group" if same else "two groups"
        return f"{self.by} {verb} so that {self.a!r} and {self.b!r} are in {where}"


def judgements_of(decision: Decision) -> list[PairJudgement]:
    """What a judgement says of pairs of items; nothing for what is about groups.

    Of sorted items every pair is judged, though some would do, from which the rest follows: so who sorts
    the same items anew takes back all that was said of them before.

    >>> judged = judgements_of(Decision("sort", piles=(("a", "b"), ("c",))))
    >>> [(j.a, j.b, j.answer) for j in judged]
    [('a', 'b', 'same'), ('a', 'c', 'different'), ('b', 'c', 'different')]
    """
    if decision.kind == "sort":
        pile = {item: n for n, items in enumerate(decision.piles) for item in items}
        return [
            PairJudgement(a, b, "same" if pile[a] == pile[b] else "different", decision)
            for a, b in combinations(decision.items, 2)
        ]
    if decision.kind in ANSWERS:
        a, b = decision.items
        return [PairJudgement(a, b, decision.kind, decision)]
    return []


def settle(
    judgements: Iterable[PairJudgement],
    items: Collection[str] | None = None,
    *,
    disagreement: Disagreement = "error",
) -> list[PairJudgement]:
    """The judgements that hold, one for a pair, or a `DataError` that names who contradicts whom.

    Parameters
    ----------
    judgements : iterable of PairJudgement
        What was said, in order. Of one author the last word about a pair counts; "unsure" gives way to
        any answer of another author.
    items : collection of str, optional
        The items that there are; None: any.
    disagreement : {"error", "majority"}, default="error"
        Two authors who say different things of one pair are an error, or the majority decides (a tie:
        nothing is said of the pair).

    Returns
    -------
    list of PairJudgement
        What holds of pairs.

    Examples
    --------
    >>> from clustruct.groups import Decision
    >>> judged = [PairJudgement("a", "b", "same", Decision("same", ("a", "b"), number=1, author="ann")),
    ...           PairJudgement("b", "a", "different", Decision("different", ("b", "a"), number=2))]
    >>> settle(judged)
    Traceback (most recent call last):
    ...
    clustruct.core.exceptions.DataError: decision 2 says 'b' and 'a' are different, but decision 1 (by ann)
    says they are the same
    """
    holding = settle_pairs(judgements, items, disagreement)
    try:
        evidence_of(holding, _numbers_of(holding))
    except Contradiction as found:
        raise DataError(_explain(found, holding)) from None
    return holding


def settle_pairs(
    judgements: Iterable[PairJudgement], items: Collection[str] | None, disagreement: Disagreement
) -> list[PairJudgement]:
    """One judgement for each pair; what follows from several pairs is not looked at."""
    by_pair: dict[tuple[str, str], dict[str, PairJudgement]] = {}
    for judged in judgements:
        for item in (judged.a, judged.b):
            if items is not None and item not in items:
                raise DataError(f"{judged.by} names {item!r}, and there is no such item")
        by_author = by_pair.setdefault((min(judged.a, judged.b), max(judged.a, judged.b)), {})
        by_author.pop(judged.by.author, None)
        by_author[judged.by.author] = judged
    settled = [_settle_pair(list(by_author.values()), disagreement) for by_author in by_pair.values()]
    return [judged for judged in settled if judged is not None]


def most_consistent(holding: Sequence[PairJudgement]) -> list[PairJudgement]:
    """Without those that contradict the grouping which most of them agree with.

    >>> from clustruct.groups import Decision
    >>> words = [("a", "b", "same"), ("b", "c", "same"), ("a", "c", "same"), ("c", "d", "different"),
    ...          ("a", "d", "same"), ("b", "d", "different")]
    >>> judged = [PairJudgement(a, b, word, Decision(word, (a, b))) for a, b, word in words]
    >>> [(j.a, j.b, j.answer) for j in judged if j not in most_consistent(judged)]
    [('a', 'd', 'same')]
    """
    numbers = _numbers_of(holding)
    try:
        evidence_of(holding, numbers)
    except Contradiction:  # rare: what groups is loaded for it alone
        from clustruct.learning.grouping import search_groups
        from clustruct.search.oracles import make_predictor

        sure = [j for j in holding if j.answer != "unsure"]
        ends = np.sort([[numbers[j.a], numbers[j.b]] for j in sure], axis=1)
        votes = np.array([1.0 if j.answer == "same" else -1.0 for j in sure])
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        scores = PairScores(len(numbers), index=ends[order], values=votes[order])
        labels = search_groups(make_predictor("local_search", "correlation"), scores).tolist()
        return [
            j
            for j in holding
            if j.answer == "unsure" or (labels[numbers[j.a]] == labels[numbers[j.b]]) == (j.answer == "same")
        ]
    return list(holding)


def _numbers_of(holding: Sequence[PairJudgement]) -> dict[str, int]:
    """The items named, numbered in alphabetical order."""
    return {item: a for a, item in enumerate(sorted({item for j in holding for item in (j.a, j.b)}))}


def _settle_pair(judged: Sequence[PairJudgement], disagreement: str) -> PairJudgement | None:
    """The judgement that holds for a pair, of one by each author."""
    sure = [j for j in judged if j.answer != "unsure"]
    if not sure:
        return judged[0]
    votes = Counter(j.answer for j in sure).most_common()
    if len(votes) == 1:
        return sure[0]
    if disagreement == "error":
        last = sure[-1]
        other = next(j for j in sure if j.answer != last.answer)
        answer = "the same" if other.answer == "same" else other.answer
        raise DataError(f"{last}, but {other.by} says they are {answer}")
    if votes[0][1] == votes[1][1]:
        return None
    return next(j for j in sure if j.answer == votes[0][0])


def _explain(found: Contradiction, holding: Sequence[PairJudgement]) -> str:
    """Who says that two items differ, and by what chain others say that they are the same."""
    same, different = ([j for j in holding if j.answer == answer] for answer in ("same", "different"))
    steps, more = [str(same[pair]) for pair in found.same[:SHOWN_STEPS]], len(found.same) - SHOWN_STEPS
    rest = f" and {count(more, 'further decision')}" if more > 0 else ""
    return f"{different[found.different]}, but {', '.join(steps)}{rest}"


def contradiction(judgements: Iterable[PairJudgement], disagreement: Disagreement = "error") -> str | None:
    """Which judgements cannot all hold, and who made them; None where all can.

    >>> from clustruct.groups import Decision
    >>> judged = [PairJudgement("a", "b", "same", Decision("same", ("a", "b"), number=1, author="ann")),
    ...           PairJudgement("a", "b", "different", Decision("different", ("a", "b"), number=2))]
    >>> contradiction(judged), contradiction(judged, "majority")
    ("decision 2 says 'a' and 'b' are different, but decision 1 (by ann) says they are the same", None)
    """
    try:
        settle(judgements, disagreement=disagreement)
    except DataError as error:
        return str(error)
    return None


def evidence_of(
    holding: Iterable[PairJudgement],
    numbers: Mapping[str, int],
    *,
    labels: Ints | None = None,
    complete: Collection[str] = (),
    labels_complete: bool = False,
) -> Evidence:
    """Settled judgements as evidence of the items that have these numbers; others are passed over."""
    pairs: dict[str, list[tuple[int, int]]] = {answer: [] for answer in ANSWERS}
    for judged in holding:
        if judged.a in numbers and judged.b in numbers:
            pairs[judged.answer].append((numbers[judged.a], numbers[judged.b]))
    return Evidence.of_pairs(
        len(numbers) if labels is None else len(labels),
        pairs["same"],
        pairs["different"],
        unsure=pairs["unsure"],
        labels=labels,
        complete=[numbers[item] for item in complete if item in numbers],
        labels_complete=labels_complete,
    )
