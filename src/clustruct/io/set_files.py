"""Raw sets written to files that the readers take."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from clustruct.exceptions import DataError
from clustruct.records import RawSet
from clustruct.storage.atomic import replacing

from .lines import bare_suffix
from .predictions import item_ids

__all__ = ["write_sets"]


def write_sets(path: str | PathLike[str], sets: Iterable[RawSet]) -> None:
    """Write sets to .jsonl (all that they hold) or .csv (columns set, id, cluster, and the fields).

    >>> import os, tempfile
    >>> from clustruct.io import read_sets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sets(os.path.join(folder, "a.jsonl"), [RawSet([{"n": 1}], labels=[5], name="s", ids=["x"])])
    ...     next(read_sets(os.path.join(folder, "a.jsonl")))
    RawSet(items=[{'n': 1}], labels=[5], name='s', ids=['x'], group=None, context={})
    """
    where = Path(path)
    kind = bare_suffix(where)
    if where.suffix == ".gz" or kind not in (".jsonl", ".csv"):
        raise DataError(f"{path}: sets are written as .jsonl or .csv")
    lines = map(_json_line, sets) if kind == ".jsonl" else _csv_lines(list(sets))
    with replacing(where) as f:
        for line in lines:
            f.write(line.encode())


def _json_line(raw: RawSet) -> str:
    document = "tokens" in raw.context
    items = [dict(item) for item in raw.items]
    if raw.ids is not None:
        items = [{"id": name, **item} for name, item in zip(raw.ids, items, strict=True)]
    whole: dict[str, Any] = {"id": raw.name, "group": raw.group, **raw.context}
    whole["mentions" if document else "items"] = items
    whole["clusters" if document else "labels"] = None if raw.labels is None else list(raw.labels)
    return json.dumps({k: v for k, v in whole.items() if v is not None}, ensure_ascii=False) + "\n"


def _csv_lines(sets: list[RawSet]) -> Iterator[str]:
    fields = list(dict.fromkeys(name for raw in sets for name in raw.fields()))
    yield _row(["set", "id", "cluster", *fields])
    for raw in sets:
        labels = raw.labels or [None] * len(raw)
        for name, label, item in zip(item_ids(raw), labels, raw.items, strict=True):
            yield _row([raw.name, name, label, *(item.get(field) for field in fields)])


def _row(cells: list[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()
