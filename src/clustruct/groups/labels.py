"""Labels as people have them, through one reader: some items with their group, pairs with yes, no or
unsure, decisions, by one person or by several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

from clustruct.core.exceptions import DataError
from clustruct.core.formatting import place

from .decisions import Decision, Kind, decision_of, rows_of
from .statements import Statement, statements_of

# (line, values by column) of each row.
Rows: TypeAlias = Sequence[tuple[int, Mapping[str, Any]]]
# Names that people and tools give to the columns; those of one entry go together.
PAIRS = (
    ("a", "b"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("item1", "item2"),
    ("left", "right"),
    ("left_id", "right_id"),
    ("ltable_id", "rtable_id"),
    ("id_l", "id_r"),
    ("unique_id_l", "unique_id_r"),
)
ANSWERS = ("answer", "label", "same", "match", "is_match", "gold", "verdict", "judgement", "judgment")
CLUSTERS = ("cluster", "group", "label", "entity")
AUTHORS = ("author", "rater", "annotator", "user", "by")
WORDS: dict[str, Kind] = {
    **dict.fromkeys(("yes", "y", "true", "1", "1.0", "same", "match", "duplicate"), "same"),
    **dict.fromkeys(
        ("no", "n", "false", "0", "0.0", "-1", "different", "distinct", "nonmatch", "non-match"), "different"
    ),
    **dict.fromkeys(("unsure", "?", "maybe", "unknown", "skip", "don't know"), "unsure"),
}
# Pairs of a cluster that several people may have put together or not.
MOST_PAIRS = 5_000_000


@dataclass(frozen=True)
class Labels:
    """What a file of labels says.

    Attributes
    ----------
    form : "decisions"
        "pairs" or "clusters".
    clusters : mapping
        The group of each item that has one, where one person grouped items.
    unlabelled : tuple of str
        Items that are listed without a group.
    decisions : tuple of Decision
        Everything else: pairs, decisions, and pairs of items on which several people may differ.
    """

    form: Literal["decisions", "pairs", "clusters"]
    clusters: Mapping[str, str]
    unlabelled: tuple[str, ...]
    decisions: tuple[Decision, ...]

    def statements(self) -> list[Statement]:
        """What is said of pairs."""
        return [said for decision in self.decisions for said in statements_of(decision)]


def read_labels(
    path: str | PathLike[str],
    *,
    pair: tuple[str, str] | None = None,
    answer: str | None = None,
    id: str | None = None,
    cluster: str | None = None,
    author: str | None = None,
) -> Labels:
    """The labels of a .csv, .tsv or .jsonl file, whichever of three forms it has.

    - *decisions*: a column ``decision`` (see `read_decisions`);
    - *pairs*: two columns of ids (a and b, id1 and id2, left and right, ...) and one of answers: yes, no
      or unsure (also 1 and 0, true and false, same and different, ...);
    - *clusters*: ids and the group of each (``id`` and ``cluster``); an empty group means that it is not
      known.

    A column ``author`` (or rater, annotator, ...) says whose label it is. Groups by several people become
    pairs: for every two items that one of them has put together, what each of them says. `constraints`
    then names who disagrees, or takes the majority.

    Parameters
    ----------
    path : path
        The file.
    pair, answer, id, cluster, author
        Names of columns (keys), where they are others.

    Returns
    -------
    Labels
        What the file says, as decisions about pairs or as groups.
    """
    rows = list(rows_of(Path(path)))
    if not rows:
        raise DataError(f"{path}: there are no labels")
    header = list(dict.fromkeys(name for _, values in rows for name in values))
    writer = author or _first(AUTHORS, header)
    ends = pair or next((two for two in PAIRS if set(two) <= set(header)), None)
    if "decision" in header and answer is None and cluster is None:
        return Labels("decisions", {}, (), tuple(_decisions(rows, path)))
    if ends is not None and cluster is None:
        held = _column(answer, ANSWERS, header, path, "answers")
        return Labels("pairs", {}, (), tuple(_pairs(rows, ends, held, writer, path)))
    name = _column(id, ("id",), header, path, "ids")
    group = _column(cluster, CLUSTERS, header, path, "groups")
    return _grouped(rows, name, group, writer, path)


def _first(names: Sequence[str], header: Sequence[str]) -> str | None:
    return next((name for name in names if name in header), None)


def _column(
    given: str | None, known: Sequence[str], header: Sequence[str], path: str | PathLike[str], what: str
) -> str:
    found = given if given in header else _first(known, header) if given is None else None
    if found is None:
        wanted = repr(given) if given else " or ".join(map(repr, known))
        raise DataError(
            f"{place(path, 1)}: there is no column of {what} ({wanted}); there are {', '.join(header)}"
        )
    return found


def _decisions(rows: Rows, path: str | PathLike[str]) -> Iterator[Decision]:
    for number, (line, values) in enumerate(rows, 1):
        yield decision_of(values, number, path, line)


def _text(values: Mapping[str, Any], name: str | None) -> str:
    value = None if name is None else values.get(name)
    return "" if value is None else str(value).strip()


def _pairs(
    rows: Rows,
    ends: tuple[str, str],
    answer: str,
    author: str | None,
    path: str | PathLike[str],
) -> Iterator[Decision]:
    for number, (line, values) in enumerate(rows, 1):
        items = tuple(_text(values, name) for name in ends)
        for name, item in zip(ends, items, strict=True):
            if not item:
                raise DataError(f"{place(path, line)}: the pair has no id in the column {name!r}")
        said = _text(values, answer).lower()
        if said not in WORDS:
            raise DataError(f"{place(path, line)}: {said!r:.40} is no answer (yes, no or unsure)")
        try:
            yield Decision(
                WORDS[said], items, author=_text(values, author), number=number, source=str(path), line=line
            )
        except ValueError as error:
            raise DataError(f"{place(path, line)}: {error}") from None


def _grouped(
    rows: Rows,
    name: str,
    group: str,
    author: str | None,
    path: str | PathLike[str],
) -> Labels:
    by: dict[str, dict[str, tuple[str, int]]] = {}
    listed: dict[str, None] = {}
    for line, values in rows:
        item, held, who = _text(values, name), _text(values, group), _text(values, author)
        if not item:
            raise DataError(f"{place(path, line)}: the row has no id (column {name!r} is empty)")
        listed[item] = None
        mine = by.setdefault(who, {})
        if item in mine:
            told = f" by {who}" if who else ""
            raise DataError(
                f"{place(path, line)}: the item {item!r} is labelled twice{told} (line {mine[item][1]})"
            )
        if held:
            mine[item] = (held, line)
    known = {item for mine in by.values() for item in mine}
    left = tuple(item for item in listed if item not in known)
    if len(by) == 1:
        (mine,) = by.values()
        return Labels("clusters", {item: held for item, (held, _) in mine.items()}, left, ())
    return Labels("clusters", {}, left, tuple(_votes(by, path)))


def _votes(by: Mapping[str, Mapping[str, tuple[str, int]]], path: str | PathLike[str]) -> Iterator[Decision]:
    """What each person says of every two items that one of them has put together."""
    pairs: dict[tuple[str, str], None] = {}
    for mine in by.values():
        clusters: dict[str, list[str]] = {}
        for item, (held, _) in mine.items():
            clusters.setdefault(held, []).append(item)
        if sum(len(items) ** 2 for items in clusters.values()) > MOST_PAIRS:
            raise DataError(f"{path}: the groups are too large for labels of several people to be compared")
        for items in clusters.values():
            pairs.update(dict.fromkeys(combinations(sorted(items), 2)))
    number = 0
    for a, b in pairs:
        for who, mine in by.items():
            if a in mine and b in mine:
                number += 1
                kind: Kind = "same" if mine[a][0] == mine[b][0] else "different"
                line = max(mine[a][1], mine[b][1])
                yield Decision(kind, (a, b), author=who, number=number, source=str(path), line=line)
