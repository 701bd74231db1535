"""Files of decisions, of labelled pairs and of groups: as people and tools write them, through one reader."""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

from clustruct.core.exceptions import DataError, DataWarning, NoLabels
from clustruct.core.formatting import count, place
from clustruct.core.storage.targets import replacing
from clustruct.data import Table
from clustruct.data.io import ColumnRoles, read_sets
from clustruct.data.io.csv_files import csv_rows
from clustruct.data.io.formats import is_table, suffix_of, text_lines

from .decisions import Decision, Kind, PairJudgement, decision_of, judgements_of
from .record_pairs import RecordPair, read_record_pairs
from .schema import is_store
from .store import Store

# (line, values by column) of each row.
Rows: TypeAlias = Sequence[tuple[int, Mapping[str, Any]]]
COLUMNS = (
    *("number", "decision", "a", "b", "group", "into", "items", "piles"),
    *("undoes", "author", "time", "note"),
)
LONGEST_LINE = 32 * 2**20
ROWS_AT_ONCE = 10_000
# Names that people and tools give to the two columns of a pair, and what tells two names apart that are the
# same otherwise and speak of ids ("unique_id_l", "rec_id_1").
PAIR_COLUMNS = (("a", "b"), ("left", "right"), ("item1", "item2"), ("level_0", "level_1"), ("0", "1"))
SIDES = (("1", "2"), ("l", "r"), ("left", "right"), ("a", "b"), ("x", "y"), ("source", "target"))
ANSWER_COLUMNS = (
    *("answer", "label", "same", "match", "is_match", "gold", "verdict", "judgement", "judgment"),
    *("clerical_match_score", "is_duplicate", "duplicate", "true_match", "matched"),
)
# The tables of the two items of a pair, beside their ids.
TABLE_COLUMNS = ("source_dataset_l", "source_dataset_r")
CLUSTER_COLUMNS = ("cluster", "group", "label", "entity")
AUTHOR_COLUMNS = ("author", "rater", "annotator", "user", "by")
WORDS: dict[str, Kind] = {
    **dict.fromkeys(("yes", "y", "true", "1", "1.0", "same", "match", "duplicate"), "same"),
    **dict.fromkeys(
        ("no", "n", "false", "0", "0.0", "-1", "different", "distinct", "nonmatch", "non-match"), "different"
    ),
    **dict.fromkeys(("unsure", "?", "maybe", "unknown", "skip", "don't know"), "unsure"),
}
# Pairs of a cluster that several people may have put together or not.
MOST_PAIRS = 5_000_000


GROUP_COLUMNS = ("cluster", "group")


@dataclass(frozen=True)
class LabelFile:
    """What a file of labels says."""

    form: Literal["decisions", "pairs", "clusters", "records"]
    clusters: Mapping[str, str]
    unlabelled: tuple[str, ...]
    decisions: tuple[Decision, ...]
    records: tuple[RecordPair, ...] = ()

    def judgements(self) -> list[PairJudgement]:
        """Judgements of pairs."""
        return [judged for decision in self.decisions for judged in judgements_of(decision)]


def read_labels(
    path: str | PathLike[str],
    *,
    pair: tuple[str, str] | None = None,
    answer: str | None = None,
    id: str | None = None,
    cluster: str | None = None,
    author: str | None = None,
) -> LabelFile:
    """The labels of a .csv, .tsv, .jsonl or .json file, whichever of four forms it has.

    - *decisions*: a column ``decision`` (see `read_decisions`);
    - *pairs*: two columns of ids (a and b, id1 and id2, left and right, unique_id_l and unique_id_r, ...)
      and one of answers: yes, no or unsure (also true and false, same and different, a probability of at
      most 1, ...). A pair without an answer is passed over; in a file of two columns all are the same;
    - *clusters*: ids and the group of each (``id`` and ``cluster``); an empty group means that it is not
      known;
    - *records*: JSON with lists "match" and "distinct" of pairs of records, as dedupe writes its training.

    A column ``author`` (or rater, annotator, ...) says whose label it is. Groups by several people become
    pairs: for every two items that one of them has put together, what each of them says. `settle`
    then names who disagrees, or takes the majority.
    """
    if suffix_of(Path(path)) == ".json":
        return LabelFile("records", {}, (), (), read_record_pairs(Path(path)))
    rows = list(_rows_of(Path(path), unnamed=True))
    if not rows:
        raise DataError(f"{path}: there are no labels")
    header = list(dict.fromkeys(name for _, values in rows for name in values))
    writer = author or _first(AUTHOR_COLUMNS, header)
    ends = _pair_columns(pair, header, path)
    if "decision" in header and answer is None and cluster is None:
        decisions = (decision_of(values, n, path, line) for n, (line, values) in enumerate(rows, 1))
        return LabelFile("decisions", {}, (), tuple(decisions))
    if ends is not None and cluster is None:
        alone = answer is None and not set(header) - {*ends, *TABLE_COLUMNS, writer}
        held = None if alone else _column(answer, ANSWER_COLUMNS, header, path, "answers")
        return LabelFile("pairs", {}, (), tuple(_pairs(rows, ends, held, writer, path)))
    name = _column(id, ("id",), header, path, "ids")
    group = _column(cluster, CLUSTER_COLUMNS, header, path, "groups")
    return _read_clusters(rows, name, group, writer, path)


def _pair_columns(
    given: tuple[str, str] | None, header: Sequence[str], path: str | PathLike[str]
) -> tuple[str, str] | None:
    """The columns of the two items of a pair: those named, or those that are called so."""
    if given is not None:
        for name in given:
            _column(name, (), header, path, "ids")
        return given
    for two in PAIR_COLUMNS:
        if set(two) <= set(header):
            return two
    for one, other in SIDES:
        for name in header:
            for left, right in ((f"{{}}{one}", f"{{}}{other}"), (f"{one}{{}}", f"{other}{{}}")):
                stem = _stem(name, left)
                if stem is not None and _is_of_ids(stem) and right.format(stem) in header:
                    return name, right.format(stem)
    return None


def _stem(name: str, form: str) -> str | None:
    """What stands for the braces of a form that the name has."""
    start, end = form.split("{}")
    fits = name.startswith(start) and name.endswith(end) and len(name) > len(start) + len(end)
    return name[len(start) : len(name) - len(end)] if fits else None


def _is_of_ids(stem: str) -> bool:
    """Whether a name speaks of ids.

    >>> [_is_of_ids(stem) for stem in ("unique_id_", "id", "table_id", "recId", "width", "idea_")]
    [True, True, True, True, False, False]
    """
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", stem).lower().replace("-", "_").replace(" ", "_").split("_")
    return "id" in words or stem.lower() in ("ltable_id", "rtable_id")


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


def _text(values: Mapping[str, Any], name: str | None) -> str:
    value = None if name is None else values.get(name)
    return "" if value is None else str(value).strip()


def _pairs(
    rows: Rows,
    ends: tuple[str, str],
    answer: str | None,
    author: str | None,
    path: str | PathLike[str],
) -> Iterator[Decision]:
    """The judgement of each row; without a column of answers all are the same."""
    tables = _tables_of(rows, ends)
    unanswered = 0
    for number, (line, values) in enumerate(rows, 1):
        items = tuple(_text(values, name) for name in ends)
        for name, item in zip(ends, items, strict=True):
            if not item:
                raise DataError(f"{place(path, line)}: the pair has no id in the column {name!r}")
        if tables is not None:
            items = tuple(f"{_text(values, t)}:{item}" for t, item in zip(tables, items, strict=True))
        word = "same" if answer is None else _text(values, answer).lower()
        kind = _kind_of(word)
        if not word:
            unanswered += 1
            continue
        if kind is None:
            raise DataError(f"{place(path, line)}: {word!r:.40} is no answer (yes, no or unsure)")
        try:
            yield Decision(
                kind, items, author=_text(values, author), number=number, source=str(path), line=line
            )
        except ValueError as error:
            raise DataError(f"{place(path, line)}: {error}") from None
    if unanswered:
        text = f"{path}: {count(unanswered, 'pair')} without an answer ({answer!r}) do not count"
        warnings.warn(text, DataWarning, stacklevel=2)


def _kind_of(word: str) -> Kind | None:
    """What an answer says; a number is the probability that two items are the same.

    >>> _kind_of("yes"), _kind_of("0.98"), _kind_of("0.5"), _kind_of("0.02"), _kind_of("2")
    ('same', 'same', 'unsure', 'different', None)
    """
    if word in WORDS:
        return WORDS[word]
    try:
        p = float(word)
    except ValueError:
        return None
    if not 0.0 <= p <= 1.0:
        return None
    return "unsure" if p == 0.5 else "same" if p > 0.5 else "different"


def _tables_of(rows: Rows, ends: tuple[str, str]) -> tuple[str, str] | None:
    """The columns of the tables that items are of, where ids alone do not say which item is meant."""
    owner: dict[str, str] = {}
    for _, values in rows:
        if not all(values.get(name) for name in TABLE_COLUMNS):
            return None
        for name, table in zip(ends, TABLE_COLUMNS, strict=True):
            if owner.setdefault(_text(values, name), _text(values, table)) != _text(values, table):
                return TABLE_COLUMNS
    return None


def _read_clusters(
    rows: Rows,
    name: str,
    group: str,
    author: str | None,
    path: str | PathLike[str],
) -> LabelFile:
    by: dict[str, dict[str, tuple[str, int]]] = {}
    listed: dict[str, None] = {}
    for line, values in rows:
        item, held, who = _text(values, name), _text(values, group), _text(values, author)
        if not item:
            raise DataError(f"{place(path, line)}: the row has no id (column {name!r} is empty)")
        listed[item] = None
        mine = by.setdefault(who, {})
        if item in mine:
            twice = f"the item {item!r} is labelled twice{f' by {who}' if who else ''}"
            raise DataError(f"{place(path, line)}: {twice} (line {mine[item][1]})")
        if held:
            mine[item] = (held, line)
    known = {item for mine in by.values() for item in mine}
    left = tuple(item for item in listed if item not in known)
    if len(by) == 1:
        (mine,) = by.values()
        return LabelFile("clusters", {item: held for item, (held, _) in mine.items()}, left, ())
    return LabelFile("clusters", {}, left, tuple(_votes(by, path)))


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


def read_decisions(path: str | PathLike[str]) -> list[Decision]:
    """The decisions of a CSV, TSV or JSONL file, in order. What is wrong is named by file and line.

    Tables have the column ``decision`` and those of ``a``, ``b`` (items), ``group``, ``into``, ``items``
    (a JSON list), ``piles`` (a JSON list of lists), ``undoes``, ``author``, ``time``, ``note`` that are
    needed; JSONL has these keys. A decision is numbered by its row where there is no column ``number``.
    """
    found: list[Decision] = []
    taken: dict[int, int] = {}
    for row, (line, values) in enumerate(_rows_of(Path(path)), 1):
        if row == 1 and "decision" not in values:
            names = ", ".join(values)
            raise DataError(f"{place(path, line)}: there is no column (key) 'decision'; there are {names}")
        decision = decision_of(values, row, path, line)
        first = taken.setdefault(decision.number, line)
        if first != line:
            raise DataError(f"{place(path, line)}: the number {decision.number} is also that of line {first}")
        found.append(decision)
    return found


def _rows_of(path: Path, *, unnamed: bool = False) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(line, values by name) of each row of a table, of each object of a JSONL file."""
    if suffix_of(path) in (".csv", ".tsv"):
        yield from csv_rows(path, unnamed=unnamed)
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


def write_decisions(path: str | PathLike[str], decisions: Iterable[Decision]) -> None:
    """Write decisions to a .csv, .tsv or .jsonl file, from which `read_decisions` gives them back."""
    suffix = written_suffix(path, "decisions")
    records = map(_record, decisions)
    if suffix == ".jsonl":
        _write_lines(path, (json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    else:
        _write_lines(path, csv_lines([COLUMNS, *map(_cells, records)], suffix))


def written_suffix(path: str | PathLike[str], what: str) -> str:
    """The end of a name of a file that is to be written; `DataError` where it says nothing."""
    suffix = suffix_of(path)
    if suffix not in (".csv", ".tsv", ".jsonl"):
        raise DataError(f"{path}: {what} are written as .csv, .tsv or .jsonl")
    return suffix


def _record(decision: Decision) -> dict[str, Any]:
    more = {name: value for name in ("author", "time") if (value := getattr(decision, name))}
    return {"number": decision.number, "decision": decision.kind, **decision.content(), **more}


def _cells(record: dict[str, Any]) -> list[Any]:
    """A record as a row; two columns for the items that people look at, a list where there are more."""
    items = record.pop("items", [])
    if len(items) <= 2:
        record.update(zip(("a", "b"), items, strict=False))
    else:
        record["items"] = json.dumps(items, ensure_ascii=False)
    if "piles" in record:
        record["piles"] = json.dumps(record["piles"], ensure_ascii=False)
    return [record.get(name, "") for name in COLUMNS]


def csv_lines(rows: Iterable[Iterable[Any]], suffix: str) -> Iterator[str]:
    """The text of the rows of a .csv or .tsv file, many at a time."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
    for n, row in enumerate(rows, 1):
        writer.writerow(row)
        if n % ROWS_AT_ONCE == 0:
            yield text.getvalue()
            text.seek(0)
            text.truncate()
    yield text.getvalue()


def _write_lines(path: str | PathLike[str], lines: Iterable[str]) -> None:
    with replacing(Path(path)) as f:
        f.writelines(line.encode("utf-8", "surrogatepass") for line in lines)


def read_groups(
    path: str | PathLike[str], *, id: str | None = None, cluster: str | None = None
) -> dict[str, str]:
    """The group of each item of a file: predictions or any table with ids and groups, JSONL, or a store.

    ``id`` and ``cluster`` name columns ("id", and "cluster" or else "group"). Rows without a group are
    left out. Items of several sets are called "set: item", and their groups likewise: a number means
    nothing outside its set.
    """
    if is_store(path):
        with Store(path) as store:
            return store.groups()
    found: dict[str, str] = {}
    sets = _read_with_groups(path, id, cluster)
    for table in sets:
        start = f"{table.name}: " if len(sets) > 1 else ""
        for item, group in zip(table.item_ids, table.labels or (), strict=True):
            name = f"{start}{item}"
            if name in found:
                raise DataError(f"{path}: the item {name!r} is there twice")
            found[name] = f"{start}{group}"
    return found


def id_columns(old: str | PathLike[str], new: str | PathLike[str]) -> tuple[str | None, str | None]:
    """The columns of the ids of two tables of groups: "id", or the first that is not about groups; one that
    both tables have, if it is the one of either.
    """
    first, second = _header(old), _header(new)
    one, other = _id_of(first), _id_of(second)
    if one in second:
        return one, one
    return (other, other) if other in first else (one, other)


def _header(path: str | PathLike[str]) -> list[str]:
    """The names of the columns; none for what is no table, or can be read only once."""
    if not is_table(path) or not Path(path).is_file():
        return []
    # Labels may be called anything, ids too: so no column is taken for that of the ids.
    columns = ColumnRoles(cluster="id", whole=True)
    return next(iter(read_sets(path, columns=columns, labels="ignored"))).fields()


def _id_of(header: list[str]) -> str | None:
    if "id" in header:
        return "id"
    return next((name for name in header if name not in ("set", "confidence", *GROUP_COLUMNS)), None)


def _read_with_groups(path: str | PathLike[str], id: str | None, cluster: str | None) -> list[Table]:
    if not is_table(path):
        return list(read_sets(path, columns=ColumnRoles(id=id or "id", cluster=cluster), labels="skip"))
    first, second = (cluster, cluster) if cluster else GROUP_COLUMNS
    try:
        return _rows(path, id, first)
    except NoLabels as error:
        try:
            return _rows(path, id, second)
        except NoLabels:
            raise error from None


def _rows(path: str | PathLike[str], id: str | None, cluster: str) -> list[Table]:
    columns = ColumnRoles(set="set", id=id or "id", cluster=cluster, remembered=frozenset(["set"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # without the column there is one set
        return list(read_sets(path, columns=columns, labels="skip"))


def write_groups(path: str | PathLike[str], groups: Mapping[str, str]) -> None:
    """Write the group of each item to a .csv or .tsv file (columns id and cluster) or a .jsonl file."""
    suffix = written_suffix(path, "groups")
    if suffix == ".jsonl":
        record = {"id": "", "items": [{"id": item} for item in groups], "labels": list(groups.values())}
        _write_lines(path, [json.dumps(record, ensure_ascii=False) + "\n"])
    else:
        _write_lines(path, csv_lines([("id", "cluster"), *groups.items()], suffix))
