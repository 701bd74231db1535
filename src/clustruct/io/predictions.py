"""Predictions as files: CSV rows or JSONL sets, each readable as labelled data again."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, NamedTuple

from clustruct.exceptions import DataError
from clustruct.records import RawSet
from clustruct.storage.atomic import replacing

from .columns import Columns
from .lines import bare_suffix
from .readers import read_sets

__all__ = ["Prediction", "match_predictions", "prediction_file", "prediction_lines", "write_predictions"]


class Prediction(NamedTuple):
    """A set, the cluster of each of its items, and further columns by name."""

    raw: RawSet
    labels: Sequence[Hashable]
    more: Mapping[str, Sequence[object]] = {}


def write_predictions(path: str | PathLike[str], predictions: Iterable[Prediction]) -> None:
    """Write predictions as they come; see `prediction_file`."""
    with prediction_file(path) as write:
        for prediction in predictions:
            write(prediction)


@contextmanager
def prediction_file(path: str | PathLike[str]) -> Iterator[Callable[[Prediction], None]]:
    """A file to which predictions are written one by one; it appears at the end, or not at all.

    .csv and .tsv have the columns set (where sets have names), id, cluster and any further ones; .jsonl has
    one set per line, ``{"id", "items": [{"id", ...}], "labels"}``. A name that ends in .gz is packed.
    """
    where = Path(path)
    text = _Text(bare_suffix(where))
    if text.kind not in (".csv", ".tsv", ".jsonl", ".ndjson"):
        raise DataError(f"{path}: predictions are written as .csv, .tsv or .jsonl")
    with replacing(where) as f, _packed(f) if where.suffix.lower() == ".gz" else nullcontext(f) as out:
        yield lambda prediction: _written(out, text.of(prediction))


def _packed(f: IO[bytes]) -> gzip.GzipFile:
    return gzip.GzipFile(fileobj=f, mode="wb", mtime=0)


def _written(out: IO[bytes] | gzip.GzipFile, text: str) -> None:
    out.write(text.encode("utf-8", "surrogatepass"))


def prediction_lines(predictions: Iterable[Prediction], kind: str = ".csv") -> Iterator[str]:
    """The text of a predictions file, set by set."""
    text = _Text(kind)
    return (text.of(prediction) for prediction in predictions)


@dataclass
class _Text:
    """Predictions as the text of a kind of file; what was written first decides on the header."""

    kind: str
    header: list[str] | None = None

    def of(self, prediction: Prediction) -> str:
        raw, labels, more = prediction
        if self.kind in (".jsonl", ".ndjson"):
            return _json_line(raw, labels, more)
        mark = "\t" if self.kind == ".tsv" else ","
        lines = []
        if self.header is None:
            self.header = [*(["set"] if raw.name else []), "id", "cluster", *more]
            lines.append(_row(self.header, mark))
        named = [raw.name] if self.header[0] == "set" else []
        for a, name in enumerate(item_ids(raw)):
            cells = [_plain(labels[a]), *(_plain(column[a]) for column in more.values())]
            lines.append(_row([*named, name, *cells], mark))
        return "".join(lines)


def _row(cells: Sequence[object], mark: str) -> str:
    line = io.StringIO()
    csv.writer(line, delimiter=mark, lineterminator="\n").writerow(cells)
    return line.getvalue()


def _json_line(raw: RawSet, labels: Sequence[Hashable], more: Mapping[str, Sequence[object]]) -> str:
    items = [
        {"id": name, **{k: _plain(v[a]) for k, v in more.items()}} for a, name in enumerate(item_ids(raw))
    ]
    found = {"id": raw.name, "items": items, "labels": [_plain(v) for v in labels]}
    return json.dumps(found, ensure_ascii=False) + "\n"


def item_ids(raw: RawSet) -> Sequence[Hashable]:
    """The names of the items, or their numbers from 1."""
    return raw.ids if raw.ids is not None else range(1, len(raw) + 1)


def _plain(value: object) -> object:
    plain = value.item() if hasattr(value, "item") else value
    return f"{plain:.6g}" if isinstance(plain, float) else plain


def match_predictions(
    path: str | PathLike[str], sets: Sequence[RawSet], delimiter: str | None = None
) -> list[list[Hashable]]:
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
