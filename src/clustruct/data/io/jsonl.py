"""JSONL: one set per line, plain items or mentions in a document."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clustruct.core.exceptions import DataError, NoLabels
from clustruct.core.formatting import place
from clustruct.data import Source, Table, is_missing

from .formats import Prediction, Reading, TextFormat, plain, register, text_lines
from .tables import ColumnRoles, LabelUse, check_ids, check_labels

LABEL_KEYS = ("labels", "clusters")


@register
class JsonLines(TextFormat):
    """One set per line.

    ``{"id": ..., "items": [{...}, ...], "labels": [...], "group": ...}``; an item is an object with
    fields, a string (the field "text") or a list of numbers (the field "vector"). A document
    has "mentions" and "clusters" instead. All other keys of the line are the context of the set.
    """

    suffixes = (".jsonl", ".ndjson", ".json")

    def read(self, path: Path, reading: Reading) -> Iterator[Table]:
        columns, seen = reading.columns, dict[Hashable, int]()
        for line, text in text_lines(path):
            if not text.strip():
                continue
            given = _object(text, path, line)
            _check_keys(given, columns, path, line)
            if not columns.wants(given):
                continue
            held = columns.present([*given, *_item_keys(given)])
            table = _table(given, held, reading.labels, path, line)
            if table is None:
                continue
            first = seen.setdefault(table.name, line)
            if first != line:
                raise DataError(
                    f"{place(path, line)}: a second set is named {table.name!r} (first on line {first})"
                )
            yield table

    def set_lines(self, sets: Iterable[Table], suffix: str) -> Iterator[str]:
        return map(_set_line, sets)

    def prediction_lines(self, prediction: Prediction, suffix: str, first: Prediction) -> Iterator[str]:
        yield _prediction_line(*prediction)


def _set_line(table: Table) -> str:
    document = "tokens" in table.context
    items = [dict(item) for item in table.items]
    if table.ids is not None:
        items = [{"id": name, **item} for name, item in zip(table.ids, items, strict=True)]
    whole: dict[str, Any] = {"id": table.name, "group": table.group, **table.context}
    whole["mentions" if document else "items"] = items
    whole["clusters" if document else "labels"] = None if table.labels is None else list(table.labels)
    return json.dumps({k: v for k, v in whole.items() if v is not None}, ensure_ascii=False) + "\n"


def _prediction_line(table: Table, labels: Sequence[Any], more: Mapping[str, Sequence[Any]]) -> str:
    columns = {name: plain(values) for name, values in more.items()}
    items = [
        {"id": name, **dict(zip(columns, row, strict=True))}
        for name, *row in zip(table.item_ids, *columns.values(), strict=True)
    ]
    found = {"id": table.name, "items": items, "labels": plain(labels)}
    return json.dumps(found, ensure_ascii=False) + "\n"


def _object(text: str, path: Path, line: int) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except RecursionError:
        raise DataError(f"{place(path, line)}: the JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise DataError(f"{place(path, line)}: not JSON: {error.msg} (column {error.colno})") from None
    except ValueError as error:  # a number of thousands of digits
        raise DataError(f"{place(path, line)}: not JSON: {error}") from None
    if not isinstance(given, dict):
        raise DataError(f"{place(path, line)}: expected one set, an object {{...}}, not {_kind(given)}")
    return given


def _item_keys(given: Mapping[str, Any]) -> set[str]:
    items = given.get("items", given.get("mentions"))
    rows = items if isinstance(items, list) else []
    return {key for item in rows if isinstance(item, dict) for key in item}


def _check_keys(given: Mapping[str, Any], columns: ColumnRoles, path: Path, line: int) -> None:
    group = [] if columns.group in (None, *columns.remembered) else [columns.group]
    for name in (*columns.where, *columns.without, *group):
        if name not in given:
            keys = ", ".join(given)
            raise DataError(f"{place(path, line)}: the set has no key {name!r}; its keys are {keys}")


def _table(
    given: dict[str, Any], columns: ColumnRoles, labels: LabelUse, path: Path, line: int
) -> Table | None:
    here = place(path, line)
    key = "items" if "items" in given else "mentions" if "mentions" in given else None
    if key is None:
        raise DataError(f"{here}: the set has neither items nor mentions; its keys are {', '.join(given)}")
    items = given[key]
    if not isinstance(items, list) or not items:
        what = "has no items" if items == [] else f"has {_kind(items)} for {key}, not a list"
        raise DataError(f"{here}: the set {what}")
    name, title = _set_name(given, columns, path, line)
    rows = [_item(item, a, title, here) for a, item in enumerate(items)]
    found, label_key = _labels(given, rows, columns, labels, title, here)
    if labels == "skip" and found is not None:
        rows, found = _drop_missing_labels(rows, found)
    if labels == "skip" and not (found and rows):
        return None
    where = [here] * len(rows)
    ids = _ids(rows, columns, where, title)
    if labels != "ignored":
        found = check_labels(found or [], ids, where, labels)
    left_out = frozenset(["id"] if ids is not None and columns.id is None else [])
    return Table(
        [columns.fields_of(row, left_out) for row in rows],
        labels=found if labels != "ignored" else None,
        name=name,
        ids=ids,
        group=_group(given, columns, here),
        context=_context(given, columns, {key, label_key}),
        source=Source(str(path), line),
    )


def _set_name(given: Mapping[str, Any], columns: ColumnRoles, path: Path, line: int) -> tuple[str, str]:
    name = given.get(columns.set or "id")
    if columns.set is not None and is_missing(name):
        raise DataError(f"{place(path, line)}: the set has no key {columns.set!r} for its name")
    if is_missing(name) or isinstance(name, list | dict):
        return f"{path.name}:{line}", "the set"
    return str(name), f"set {name}"


def _item(item: object, a: int, title: str, here: str) -> dict[str, Any]:
    if isinstance(item, str):
        return {"text": item}
    if isinstance(item, list):
        item = {"vector": item}
    if not isinstance(item, dict):
        raise DataError(
            f"{here}: item {a + 1} of {title} is {_kind(item)}, not an object, a string or a list"
        )
    return item


def _labels(
    given: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    columns: ColumnRoles,
    use: LabelUse,
    title: str,
    here: str,
) -> tuple[list[Any] | None, str | None]:
    """The labels (of the set, or a field of each item), and the key of the set that held them."""
    keys = LABEL_KEYS if columns.cluster is None else (columns.cluster,)
    key = next((k for k in keys if k in given), None)
    if use == "ignored":
        return None, key
    if key is None and columns.cluster is not None and any(columns.cluster in row for row in rows):
        return [row.get(columns.cluster) for row in rows], None
    if key is None or given[key] is None:
        if use == "skip":
            return None, key
        raise NoLabels(
            f"{here}: {title} has no labels (key {' or '.join(keys)}); --skip-unlabelled leaves such sets out"
        )
    labels = given[key]
    if not isinstance(labels, list) or len(labels) != len(rows):
        count = len(labels) if isinstance(labels, list) else _kind(labels)
        raise DataError(f"{here}: {title} has {len(rows)} items but {count} labels")
    return labels, key


def _drop_missing_labels(
    rows: list[dict[str, Any]], labels: list[Any]
) -> tuple[list[dict[str, Any]], list[Any]]:
    kept = [a for a, label in enumerate(labels) if not is_missing(label)]
    return [rows[a] for a in kept], [labels[a] for a in kept]


def _ids(
    rows: Sequence[Mapping[str, Any]], columns: ColumnRoles, where: Sequence[str], title: str
) -> list[Hashable] | None:
    name = columns.id or "id"
    if columns.id is None and not all(name in row for row in rows):
        return None
    return check_ids([row.get(name) for row in rows], where, title, columns.repeated_ids)


def _group(given: Mapping[str, Any], columns: ColumnRoles, here: str) -> Hashable | None:
    group = given.get(columns.group or "group")
    if isinstance(group, list | dict):
        raise DataError(f"{here}: the group of a set must be a number or a string")
    return group


def _context(given: Mapping[str, Any], columns: ColumnRoles, used: set[str | None]) -> dict[str, Any]:
    """What is left of the line: no items, no labels, no names."""
    left = replace(columns, fields=None).fields_of(given, frozenset(k for k in used if k))
    return {name: value for name, value in left.items() if name not in ("id", "group", *LABEL_KEYS)}


def _kind(value: object) -> str:
    if value is None:
        return "null"
    kinds = {"str": "a string", "list": "a list", "dict": "an object", "bool": "true or false"}
    return kinds.get(type(value).__name__, "a number")
