"""Predictions as files: CSV rows or JSONL sets, each readable as labelled data again."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from clustruct.exceptions import DataError
from clustruct.records import RawSet
from clustruct.storage.atomic import replacing

from .columns import Columns
from .lines import bare_suffix
from .readers import read_sets

__all__ = ["Prediction", "match_predictions", "prediction_lines", "write_predictions"]

# (set, label of each item, further columns by name)
Prediction = tuple[RawSet, Sequence[Any], Mapping[str, Sequence[Any]]]


def write_predictions(path: str | Path, predictions: Iterable[Prediction]) -> None:
    """Write predictions as they come; the file appears when all are written, or not at all.

    .csv and .tsv have the columns set (where sets have names), id, cluster and any further ones; .jsonl has
    one set per line, ``{"id", "items": [{"id", ...}], "labels"}``. A name that ends in .gz is packed.
    """
    where = Path(path)
    kind = bare_suffix(where)
    if kind not in (".csv", ".tsv", ".jsonl", ".ndjson"):
        raise DataError(f"{path}: predictions are written as .csv, .tsv or .jsonl")
    with replacing(where) as f:
        if where.suffix.lower() == ".gz":
            import gzip

            with gzip.GzipFile(fileobj=f, mode="wb", mtime=0) as packed:
                _write(packed, kind, predictions)
        else:
            _write(f, kind, predictions)


def _write(f: IO[bytes] | Any, kind: str, predictions: Iterable[Prediction]) -> None:
    for line in prediction_lines(predictions, kind):
        f.write(line.encode("utf-8", "surrogatepass"))


def prediction_lines(predictions: Iterable[Prediction], kind: str = ".csv") -> Iterator[str]:
    """The text of a predictions file, piece by piece."""
    if kind in (".jsonl", ".ndjson"):
        yield from (_json_line(*p) for p in predictions)
        return
    mark = "\t" if kind == ".tsv" else ","
    header: list[str] | None = None
    for raw, labels, more in predictions:
        if header is None:
            header = [*(["set"] if raw.name else []), "id", "cluster", *more]
            yield _row(header, mark)
        for a, name in enumerate(item_ids(raw)):
            named = [raw.name] if header[0] == "set" else []
            yield _row(
                [*named, name, _plain(labels[a]), *(_plain(column[a]) for column in more.values())], mark
            )


def _row(cells: Sequence[Any], mark: str) -> str:
    line = io.StringIO()
    csv.writer(line, delimiter=mark, lineterminator="\n").writerow(cells)
    return line.getvalue()


def _json_line(raw: RawSet, labels: Sequence[Any], more: Mapping[str, Sequence[Any]]) -> str:
    items = [
        {"id": name, **{k: _plain(v[a]) for k, v in more.items()}} for a, name in enumerate(item_ids(raw))
    ]
    found = {"id": raw.name, "items": items, "labels": [_plain(v) for v in labels]}
    return json.dumps(found, ensure_ascii=False) + "\n"


def item_ids(raw: RawSet) -> Sequence[Any]:
    """The names of the items, or their numbers from 1."""
    return raw.ids if raw.ids is not None else range(1, len(raw) + 1)


def _plain(value: Any) -> Any:
    plain = value.item() if hasattr(value, "item") else value
    return f"{plain:.6g}" if isinstance(plain, float) else plain


def match_predictions(
    path: str | Path, sets: Sequence[RawSet], delimiter: str | None = None
) -> list[list[Any]]:
    """The labels that a predictions file has for the items of the sets, in their order.

    Sets and items are matched by name; one that is not there is an error, one too many is not.
    """
    table = bare_suffix(Path(path)) in (".csv", ".tsv")
    named = Columns(set="set" if any(raw.name for raw in sets) else None, id="id", cluster="cluster")
    found = read_sets(path, columns=named if table else Columns(id="id"), delimiter=delimiter)
    by_set = {raw.name: dict(zip(map(str, item_ids(raw)), raw.labels or (), strict=True)) for raw in found}
    answers = []
    for raw in sets:
        held = by_set.get(raw.name)
        if held is None:
            raise DataError(f"{path}: there is no prediction for {raw.title}")
        for name in item_ids(raw):
            if str(name) not in held:
                raise DataError(f"{path}: there is no prediction for item {name!r} of {raw.title}")
        answers.append([held[str(name)] for name in item_ids(raw)])
    return answers
