"""What people decide about items and groups: one record per decision, in files as in the store."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeGuard, get_args

from clustruct.core.exceptions import DataError
from clustruct.core.formatting import place
from clustruct.core.storage.targets import replacing
from clustruct.data.io.csv_files import csv_rows
from clustruct.data.io.formats import suffix_of, text_lines

Kind = Literal["same", "different", "unsure", "sort", "move", "merge", "split", "confirm", "note", "undo"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# What a pair of items is said to be.
ANSWERS = ("same", "different", "unsure")
# What is said of items alone, whatever groups there are: it moves nothing, and binds the runs that follow.
JUDGEMENTS = (*ANSWERS, "sort")
COLUMNS = (
    *("number", "decision", "a", "b", "group", "into", "items", "piles"),
    *("undoes", "author", "time", "note"),
)
LONGEST_LINE = 32 * 2**20
# Items that can be sorted at once: all their pairs are spoken of, twenty thousand of so many.
MOST_SORTED = 200


@dataclass(frozen=True)
class Decision:
    """One decision.

    Attributes
    ----------
    kind : Kind
        What is decided:

        - "same", "different", "unsure": two items belong together, or not, or nobody knows;
        - "sort": items were sorted into ``piles``: those of one pile belong together, those of different
          piles do not, and of others nothing is said;
        - "move": items belong to the group ``into``; without it, to a new group of their own;
        - "merge": the group ``group`` is the same as ``into``, which keeps its id;
        - "split": items of the group ``group`` are another group (``into``: its id, where it has one
          already);
        - "confirm": the group ``group`` is right as it stands. With ``items``, which were shown beside it: it
          belongs together, these do not belong to it, and of others nothing is said;
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
        told = ", ".join(part for part in (where, f"by {self.author}" if self.author else "") if part)
        kept = f" of {self.store}" if self.store else ""
        return f"decision {self.number}{kept}" + (f" ({told})" if told else "")

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
    if kind not in KINDS:
        return f"a decision is one of {', '.join(KINDS)}, not {kind!r}"
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


def read_decisions(path: str | PathLike[str]) -> list[Decision]:
    """The decisions of a CSV, TSV or JSONL file, in order. What is wrong is named by file and line.

    Tables have the column ``decision`` and those of ``a``, ``b`` (items), ``group``, ``into``, ``items``
    (a JSON list), ``piles`` (a JSON list of lists), ``undoes``, ``author``, ``time``, ``note`` that are
    needed; JSONL has these keys. A decision is numbered by its row where there is no column ``number``.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    list of Decision
        The decisions.
    """
    found: list[Decision] = []
    taken: dict[int, int] = {}
    for row, (line, values) in enumerate(rows_of(Path(path)), 1):
        if row == 1 and "decision" not in values:
            told = ", ".join(values)
            raise DataError(f"{place(path, line)}: there is no column (key) 'decision'; there are {told}")
        decision = decision_of(values, row, path, line)
        first = taken.setdefault(decision.number, line)
        if first != line:
            raise DataError(f"{place(path, line)}: the number {decision.number} is also that of line {first}")
        found.append(decision)
    return found


def decision_of(values: Mapping[str, Any], row: int, path: str | PathLike[str], line: int) -> Decision:
    """The decision that a row (an object) says, numbered by its row where it has no number."""
    try:
        return replace(_decision(values, row), source=str(path), line=line)
    except ValueError as error:
        raise DataError(f"{place(path, line)}: {error}") from None


def rows_of(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(line, values by name) of each row of a table, of each object of a JSONL file."""
    if suffix_of(path) in (".csv", ".tsv"):
        yield from csv_rows(path)
    elif suffix_of(path) == ".jsonl":
        for line, text in text_lines(path, LONGEST_LINE):
            if text.strip():
                yield line, _object(text, path, line)
    else:
        raise DataError(f"{path}: unknown kind of file; .csv, .tsv or .jsonl are read here")


def _object(text: str, path: Path, line: int) -> Mapping[str, Any]:
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        raise DataError(f"{place(path, line)}: not JSON") from None
    if not isinstance(held, dict):
        raise DataError(f"{place(path, line)}: not a JSON object")
    return held


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
        value = _listed(value, "items") if value.startswith("[") else [value]
    if not _are_ids(value):
        raise ValueError("'items' must be a list of ids")
    return [str(v) for v in value]


def _pile_list(value: object) -> tuple[tuple[str, ...], ...]:
    """A JSON list of piles, each a list of items."""
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        value = _listed(value, "piles")
    if not isinstance(value, list) or not all(map(_are_ids, value)):
        raise ValueError("'piles' must be a list of lists of ids")
    return tuple(tuple(map(str, pile)) for pile in value)


def _listed(text: str, name: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"{name!r} is not a JSON list: {text!r:.40}") from None


def _are_ids(value: object) -> TypeGuard[list[str | int]]:
    return isinstance(value, list) and all(isinstance(v, str | int) for v in value)


def write_decisions(path: str | PathLike[str], decisions: Iterable[Decision]) -> None:
    """Write decisions to a .csv, .tsv or .jsonl file, from which `read_decisions` gives them back.

    Parameters
    ----------
    path : path
        The file to be written.
    decisions : iterable of Decision
        The decisions, in order.
    """
    suffix = written_suffix(path, "decisions")
    lines = _json_lines(decisions) if suffix == ".jsonl" else _csv_lines(decisions, suffix)
    with replacing(Path(path)) as f:
        f.writelines(line.encode("utf-8", "surrogatepass") for line in lines)


def is_unicode(text: str) -> bool:
    """Whether a text has no halves of characters, which no file of text can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def written_suffix(path: str | PathLike[str], what: str) -> str:
    """The end of a name of a file that is to be written; `DataError` where it says nothing."""
    suffix = suffix_of(path)
    if suffix not in (".csv", ".tsv", ".jsonl"):
        raise DataError(f"{path}: {what} are written as .csv, .tsv or .jsonl")
    return suffix


def _record(decision: Decision) -> dict[str, Any]:
    told = {"author": decision.author, "time": decision.time}
    more = {name: value for name, value in told.items() if value}
    return {"number": decision.number, "decision": decision.kind, **decision.content(), **more}


def _json_lines(decisions: Iterable[Decision]) -> Iterator[str]:
    for decision in decisions:
        yield json.dumps(_record(decision), ensure_ascii=False) + "\n"


def _csv_lines(decisions: Iterable[Decision], suffix: str) -> Iterator[str]:
    text = io.StringIO()
    writer = csv.DictWriter(
        text, COLUMNS, restval="", delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n"
    )
    writer.writeheader()
    for decision in decisions:
        record = _record(decision)
        items = record.pop("items", [])
        # Two columns for what people look at; a list where there are more.
        if len(items) <= 2:
            record.update(zip(("a", "b"), items, strict=False))
        else:
            record["items"] = json.dumps(items, ensure_ascii=False)
        if decision.piles:
            record["piles"] = json.dumps(record["piles"], ensure_ascii=False)
        writer.writerow(record)
        yield text.getvalue()
        text.seek(0)
        text.truncate()
    yield text.getvalue()
