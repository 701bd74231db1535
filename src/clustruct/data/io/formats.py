"""Files of sets, whatever their format: the end of a file's name says which one it is.

A format is a class below `FileFormat` (or `TextFormat`, which can also be written), entered by ``@register``.
Whatever is wrong with a file is a `DataError` that names file and line.
"""

from __future__ import annotations

import gzip
import warnings
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple, TypeVar

from clustruct.core.exceptions import DataError, DataWarning
from clustruct.core.formatting import place
from clustruct.core.storage.targets import is_stream, replacing
from clustruct.data import Source, Table

from .tables import ColumnRoles, LabelUse

# A set of a hundred thousand records is one line of JSONL of this order. A line beyond it is no line.
LONGEST_LINE = 256 * 2**20


class Prediction(NamedTuple):
    """A set, the label of each of its items, and further columns by name, one value for each item."""

    table: Table
    labels: Sequence[Any]
    more: Mapping[str, Sequence[Any]] = {}


@dataclass(frozen=True)
class Reading:
    """How a file is to be read: which columns are what, what becomes of labels, what separates cells.

    Without a ``delimiter`` that is a comma, or a tab in .tsv.
    """

    columns: ColumnRoles
    labels: LabelUse = "required"
    delimiter: str | None = None


class FileFormat(ABC):
    """A format that can be read. Files of a table have one item per row, others one set per record."""

    suffixes: ClassVar[tuple[str, ...]]
    is_table: ClassVar[bool] = False

    @abstractmethod
    def read(self, path: Path, reading: Reading) -> Iterator[Table]:
        """The sets of a file, as they are asked for."""


class TextFormat(FileFormat):
    """A format that can be written, too, piece by piece."""

    @abstractmethod
    def set_lines(self, sets: Iterable[Table], suffix: str) -> Iterator[str]:
        """The text of a file of sets that `read` gives back."""

    @abstractmethod
    def prediction_lines(self, prediction: Prediction, suffix: str, first: Prediction) -> Iterator[str]:
        """The text for one set in a file of predictions, which can be read as labelled data.

        ``first`` is what the file begins with; it comes with the head of the file, if there is one.
        """


F = TypeVar("F", bound=type[FileFormat])
_FORMATS: dict[str, FileFormat] = {}


def register(kind: F) -> F:
    """Class decorator: files whose names end as the class says are of this format."""
    held = kind()
    _FORMATS.update(dict.fromkeys(kind.suffixes, held))
    return kind


def suffixes(kind: type[FileFormat] = FileFormat) -> tuple[str, ...]:
    """The ends of names of the files that can be read; with `TextFormat`, those that can be written."""
    return tuple(suffix for suffix, held in _FORMATS.items() if isinstance(held, kind))


def is_table(path: str | PathLike[str]) -> bool:
    """Whether files of this name have one item per row."""
    kind = _FORMATS.get(suffix_of(path))
    return kind is not None and kind.is_table


def suffix_of(path: str | PathLike[str]) -> str:
    """The end of a file's name that says its format: .csv for a.CSV and a.csv.gz."""
    return Path(Path(path).name.lower().removesuffix(".gz")).suffix


def read_sets(
    *paths: str | PathLike[str],
    columns: ColumnRoles | None = None,
    labels: LabelUse = "required",
    delimiter: str | None = None,
    **named: str,
) -> Iterator[Table]:
    """The sets of one or more files, read as they are asked for.

    ``set``, ``id``, ``cluster`` and ``group`` name columns; `ColumnRoles` can say more. The end of the name
    says the format: .jsonl (one set per line), .csv, .tsv (rows, grouped by the column of the sets),
    .parquet, .npy and .npz (arrays, their rows being vectors); text may end in .gz. A fault is a
    `DataError` that names file and line. Sets of different files are different sets: of several files, a
    set without a name is named after its file, and one whose name an earlier file has used becomes "file:
    name".

    Parameters
    ----------
    *paths : path
        The files.
    columns : ColumnRoles, optional
        Which columns are what, where four names do not say all.
    labels : {"required", "partial", "skip", "ignored"}, default="required"
        "partial": None for an item without a label; "skip": such items are left out; "ignored": no labels.
    delimiter : str, optional
        What separates cells, where it is not a comma or a tab.
    **named : str
        The columns ``set``, ``id``, ``cluster`` and ``group``.

    Yields
    ------
    Table
        The next set.
    """
    reading = Reading(columns or ColumnRoles(**named), labels, delimiter)  # type: ignore[arg-type]
    labelled = _labelled_paths(paths)
    names: dict[str, Path] = {}
    for path, label in labelled.items():
        kind = _FORMATS.get(suffix_of(path))
        if kind is None:
            raise DataError(
                f"{path}: unknown kind of file; known are {', '.join(_FORMATS)} (and .gz of text)"
            )
        for table in _not_empty(path, kind.read(path, reading)):
            name = table.name or (label if len(labelled) > 1 else "")
            while names.setdefault(name, path) != path:
                name = f"{label}: {name}"
            yield table if name == table.name else replace(table, name=name)


def _labelled_paths(paths: Sequence[str | PathLike[str]]) -> dict[Path, str]:
    """What stands for each file in names of sets: its name, or the whole path where two have one name."""
    given = [Path(path) for path in paths]
    for a, path in enumerate(given):
        if any(path == other or _is_same(path, other) for other in given[:a]):
            raise DataError(f"{path}: the file is given twice")
    times = Counter(path.name for path in given)
    return {path: path.name if times[path.name] == 1 else str(path) for path in given}


def _is_same(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except OSError:  # one of them is not there, which is said when it is read
        return False


def _not_empty(path: Path, sets: Iterable[Table]) -> Iterator[Table]:
    found = False
    for table in sets:
        found = True
        yield table if table.source is not None else replace(table, source=Source(str(path)))
    if not found:
        raise DataError(f"{path}: no sets to use" if path.stat().st_size else f"{path}: the file is empty")


def write_sets(path: str | PathLike[str], sets: Iterable[Table]) -> None:
    """Write sets to .jsonl (all that they hold) or .csv (columns set, id, cluster, and the fields)."""
    with sets_file(path, sets):
        pass


@contextmanager
def sets_file(path: str | PathLike[str], sets: Iterable[Table]) -> Iterator[None]:
    """Write sets to a file that appears at the end of the block, unless something fails in it."""
    lines = _text_format(path, "sets").set_lines(sets, suffix_of(path))
    with open_target(Path(path)) as f:
        f.writelines(map(encode_line, lines))
        yield


@contextmanager
def prediction_file(path: str | PathLike[str]) -> Iterator[Callable[[Prediction], None]]:
    """A file to which predictions are written one by one; it appears when all are written, or not at all.

    .csv and .tsv have the columns set (where sets have names), id, cluster and any further ones; .jsonl has
    one set per line, ``{"id", "items": [{"id", ...}], "labels"}``. A name that ends in .gz is packed.
    A device or a pipe, such as /dev/stdout, gets CSV.
    """
    text = _prediction_text(path)
    with open_target(Path(path)) as f:
        yield lambda prediction: f.writelines(map(encode_line, text(prediction)))


def prediction_lines(predictions: Iterable[Prediction], suffix: str = ".csv") -> Iterator[str]:
    """The text of a predictions file, piece by piece."""
    text = _prediction_text(f"predictions{suffix}")
    return (line for prediction in predictions for line in text(prediction))


def _prediction_text(path: str | PathLike[str]) -> Callable[[Prediction], Iterator[str]]:
    """What makes text of one prediction after the other; a device or a pipe has no name to go by."""
    path = "predictions.csv" if not suffix_of(path) and is_stream(Path(path)) else path
    kind, begun = _text_format(path, "predictions"), list[Prediction]()

    def text(prediction: Prediction) -> Iterator[str]:
        held = Prediction(*prediction)
        if not begun:
            begun.append(held)
        return kind.prediction_lines(held, suffix_of(path), begun[0])

    return text


def _text_format(path: str | PathLike[str], what: str) -> TextFormat:
    kind = _FORMATS.get(suffix_of(path))
    if not isinstance(kind, TextFormat):
        *most, last = suffixes(TextFormat)  # type: ignore[type-abstract]
        raise DataError(f"{path}: {what} are written as {', '.join(most)} or {last}")
    return kind


@contextmanager
def open_target(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """A file of bytes that takes the place of the target when all is written, packed where it ends in .gz."""
    with replacing(path) as f:
        if path.suffix.lower() != ".gz":
            yield f
        else:
            with gzip.GzipFile(fileobj=f, mode="wb", mtime=0) as packed:
                yield packed


def encode_line(line: str) -> bytes:
    return line.encode("utf-8", "surrogatepass")


def text_lines(path: Path, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """(number from 1, text) of each line, packed or not, its line end kept; without a byte order mark."""
    number = 0
    with _open(path) as f:
        while True:
            number += 1
            table = _next_line(f, path, number, longest)
            if not table:
                return
            bare = table[3:] if number == 1 and table[:3] == b"\xef\xbb\xbf" else table
            yield number, _decode(bare, path, number)


def _open(path: Path) -> IO[bytes]:
    if path.is_dir():
        raise DataError(f"{path}: is a folder, not a file")
    try:
        return gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")  # type: ignore[return-value]
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None


def _next_line(f: IO[bytes], path: Path, number: int, limit: int) -> bytes:
    try:
        table = f.readline(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{place(path, number)}: the file is damaged ({error})") from None
    if len(table) > limit:
        raise DataError(f"{place(path, number)}: the line is longer than {limit / 2**20:.0f} MiB")
    return table


def _decode(table: bytes, path: Path, number: int) -> str:
    try:
        return table.decode("utf-8")
    except UnicodeDecodeError as error:
        wrong = table[error.start]
        raise DataError(
            f"{place(path, number)}: byte {error.start + 1} of the line (0x{wrong:02x}) is not UTF-8; "
            "save the file as UTF-8"
        ) from None


def plain(values: Sequence[Any]) -> list[Any]:
    """Values as files show them: numbers of Python, six digits."""
    bare = values.tolist() if hasattr(values, "tolist") else [_bare(v) for v in values]
    return [f"{v:.6g}" if isinstance(v, float) else v for v in bare]


def _bare(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def match_predictions(
    path: str | PathLike[str], sets: Sequence[Table], delimiter: str | None = None
) -> list[list[Any]]:
    """The labels that a predictions file has for the items of the sets, in their order.

    Sets and items are matched by name; one that is not there is an error, one too many is not. A set of one
    of several files may be called "file: name" there. The ids 1 and "1" are the same where only one of
    them is there, as in tables, where all ids are text.
    """
    found = _predictions(path, delimiter)
    answers, taken = [], set[str]()
    for table in sets:
        name = next((n for n in _names(table) if n in found and n not in taken), None)
        if name is None and len(sets) == len(found) == 1 and not table.name:
            name = next(iter(found))
        if name is None:
            raise DataError(f"{path}: there is no prediction for {table.short_title}")
        taken.add(name)
        answers.append(_labels(path, table, found[name]))
    return answers


def _predictions(path: str | PathLike[str], delimiter: str | None) -> Mapping[str, Table]:
    columns = ColumnRoles(id="id")
    if is_table(path):
        columns = ColumnRoles(set="set", id="id", cluster="cluster", remembered=frozenset(["set"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # without the column there is one set
        return {table.name: table for table in read_sets(path, columns=columns, delimiter=delimiter)}


def _names(table: Table) -> list[str]:
    """What a set may be called in predictions: with its file where it was one of several, or by itself."""
    if table.source is None:
        return [table.name]
    files = [table.source.path, Path(table.source.path).name]
    bare = "" if table.name in files else table.name
    for file in files:
        bare = bare.removeprefix(f"{file}: ")
    # The name with its file comes first: the bare one may be that of another file's set.
    return [*([f"{file}: {bare}" for file in files] if bare else files), table.name, bare]


def _labels(path: str | PathLike[str], table: Table, found: Table) -> list[Any]:
    labels = list(found.labels or ())
    exact = {_exact(name): label for name, label in zip(found.item_ids, labels, strict=True)}
    alike = {str(name): label for name, label in zip(found.item_ids, labels, strict=True)}
    here, there = (Counter(map(str, one.item_ids)) for one in (table, found))
    answers = []
    for name in table.item_ids:
        if _exact(name) in exact:
            answers.append(exact[_exact(name)])
        elif here[str(name)] == there[str(name)] == 1:
            answers.append(alike[str(name)])
        else:
            raise DataError(f"{path}: there is no prediction for item {name!r} of {table.short_title}")
    return answers


def _exact(name: Hashable) -> tuple[bool, str]:
    """An id as JSON writes it: 1 and "1" are two."""
    return isinstance(name, str), str(name)
