"""Rows of features with labels, for learners of rows: SVM^light files, and tables of numbers or texts."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from clustruct.core import memory
from clustruct.core.exceptions import DataError
from clustruct.core.formatting import place
from clustruct.core.typing import Floats, Ints
from clustruct.data import ItemSet, Table, as_number, as_text

from .formats import is_table, read_sets, suffix_of, text_lines
from .tables import ColumnRoles, check_present

ENTRY = re.compile(r"([0-9]+):(\S+)$")
LABEL = re.compile(r"-?[0-9]{1,18}")
# Refuses a target that is none; path and line are where it stands.
CheckTarget: TypeAlias = Callable[[str, Path, int], object]


class SvmLight(NamedTuple):
    """Rows (CSR), the target or the labels of each, the set (qid) of each (None without), and its line."""

    X: Any
    y: Any
    qid: NDArray[np.int64] | None
    lines: list[int]


def read_svmlight(path: str | PathLike[str], n_features: int | None = None) -> SvmLight:
    """Read a file of examples, packed or not; `DataError` names the line at fault.

    Feature numbers count from 1; by default ``n_features`` is the largest number.
    """
    found = examples(Path(path), n_features, check_number)
    return found._replace(y=np.array([float(target) for target in found.y]))


def read_svmlight_labels(path: str | PathLike[str], n_features: int | None = None) -> SvmLight:
    """Read a file of examples with any number of labels each: ``1,3 4:0.5 7:1``, or ``4:0.5`` for none.

    ``y`` holds the labels of each row as a tuple; the rest as for `read_svmlight`.
    """
    found = examples(Path(path), n_features, check_labels)
    return found._replace(y=[labels_of(target) for target in found.y])


def examples(path: Path, n_features: int | None, check: CheckTarget) -> SvmLight:
    """All lines of a file, each checked; ``y`` has the targets as written, "" where there is none."""
    kept, targets, queries, lines = [], [], [], []
    for line, text in text_lines(path):
        words = text.split("#", 1)[0].split()
        if words:
            targets.append("" if ":" in words[0] else words.pop(0))
            check(targets[-1], path, line)
            queries.append(_check(words, path, line, n_features))
            kept.append(" ".join(["0", *words]))
            lines.append(line)
    if not kept:
        raise DataError(f"{path}: there are no examples")
    named = [q is not None for q in queries]
    if any(named) and not all(named):
        raise DataError(f"{path}: some examples have a qid, example {named.index(False) + 1} has none")
    X, _ = load_svmlight_file(io.BytesIO("\n".join(kept).encode()), n_features=n_features, zero_based=False)
    return SvmLight(X, targets, np.array(queries, dtype=np.int64) if all(named) else None, lines)


def labels_of(target: str) -> tuple[int, ...]:
    """The labels of a target, each once and in order."""
    return tuple(sorted({int(label) for label in target.split(",")})) if target else ()


def check_labels(target: str, path: Path, line: int) -> None:
    """Refuse a target that is no list of labels."""
    for label in target.split(",") if target else ():
        if not LABEL.fullmatch(label):
            raise DataError(f"{place(path, line)}: labels are whole numbers, as in 1,3; not {target[:40]!r}")


def check_number(target: str, path: Path, line: int) -> None:
    """Refuse a target that is no number."""
    if not target:
        raise DataError(f"{place(path, line)}: there is no target before the features")
    _number(target, "the target", path, line)


def _check(entries: list[str], path: Path, line: int, n_features: int | None) -> int | None:
    """Refuse a line that is no example; gives its qid, which is taken from the entries that are read."""
    entries, query = list(entries), None
    if entries and entries[0].startswith("qid:"):
        given = entries.pop(0)[4:]
        if not given.isascii() or not given.isdigit() or len(given) > 18:
            raise DataError(f"{place(path, line)}: the qid must be a whole number, not {given!r}")
        query = int(given)
    before = 0
    for entry in entries:
        found = ENTRY.match(entry)
        if found is None:
            raise DataError(f"{place(path, line)}: expected index:value, not {entry[:40]!r}")
        index = int(found[1]) if len(found[1]) <= 10 else 2**31
        _number(found[2], f"the value of feature {found[1]}", path, line)
        if not before < index < 2**31 or (n_features is not None and index > n_features):
            what = "feature numbers count from 1 and rise" + (
                f" to {n_features} at most" if n_features else ""
            )
            raise DataError(f"{place(path, line)}: {what}; here is {found[1]} after {before}")
        before = index
    return query


def _number(text: str, what: str, path: Path, line: int) -> None:
    try:
        value = float(text if text.isascii() and "_" not in text else "no number")
    except ValueError:
        raise DataError(f"{place(path, line)}: {what} is no number: {text[:40]!r}") from None
    if not np.isfinite(value):
        raise DataError(f"{place(path, line)}: {what} is not finite")


def sets_from_svmlight(
    path: str | PathLike[str], n_features: int | None = None
) -> tuple[list[ItemSet], list[NDArray[np.int64]]]:
    """Item sets with node features, one per qid, and the targets as labels of their items.

    ``model.fit(*sets_from_svmlight(file))`` learns from a file; parameters as for `read_svmlight`.
    """
    X, y, qid, _ = read_svmlight(path, n_features)
    owner = np.zeros(len(y), np.int64) if qid is None else qid
    _, first = np.unique(owner, return_index=True)
    rows = [np.flatnonzero(owner == owner[a]) for a in np.sort(first)]
    return [ItemSet(nodes=X[r]) for r in rows], [np.unique(y[r], return_inverse=True)[1] for r in rows]


@dataclass(frozen=True)
class RowColumns:
    """Which columns of a table are what. SVM^light rows have none of them."""

    id: str | None = None  # names a row ("id" where not given and there; else a row is known by its line)
    label: str | None = None  # the group or class of a row
    labels: Sequence[str] = ()  # columns of 0 and 1, one for each label that a row may have
    features: Sequence[str] | None = None  # columns of numbers, or of vectors; None: all that are left
    text: Sequence[str] = ()  # columns of text, read instead of features
    remembered_id: bool = False  # the id was that of the training, and counts where it is there

    def has_names(self) -> bool:
        """Whether a table is expected."""
        own_id = None if self.remembered_id else self.id
        return bool(own_id or self.label or self.labels or self.features or self.text)


@dataclass(frozen=True)
class FeatureRows:
    """Rows of a file."""

    path: Path  # the file
    X: Any  # numbers (an array, or CSR of an SVM^light file), or a list of texts
    names: tuple[str, ...] | None  # the columns that X was made of; None for SVM^light
    ids: Sequence[Hashable]  # what names each row
    lines: Ints = field(repr=False)  # the line of each row
    label: list[str | None] | None = None
    label_sets: list[frozenset[str]] | None = None  # the labels of each row, where labels were asked for
    label_names: tuple[str, ...] = ()  # all labels, where labels were asked for

    def __len__(self) -> int:
        return len(self.lines)

    def place(self, row: int) -> str:
        """File and line of a row."""
        return place(self.path, int(self.lines[row]))

    def take(self, rows: Sequence[int] | Ints) -> FeatureRows:
        """Some of the rows."""
        numbers = np.asarray(rows, dtype=np.int64)
        picked = numbers.tolist()

        def some(values: Any) -> Any:
            return None if values is None else [values[a] for a in picked]

        X = some(self.X) if isinstance(self.X, list) else self.X[numbers]
        parts = {"ids": some(self.ids), "label": some(self.label), "label_sets": some(self.label_sets)}
        return replace(self, X=X, lines=self.lines[numbers], **parts)


def is_svmlight(path: str | PathLike[str]) -> bool:
    """Whether a file is read as SVM^light rows: one whose name is not that of a table."""
    return not is_table(path)


def read_rows(
    path: str | PathLike[str],
    columns: RowColumns | None = None,
    *,
    n_features: int | None = None,
    several_labels: bool = False,
    delimiter: str | None = None,
) -> FeatureRows:
    """The rows of a table (.csv, .tsv, .parquet, .npz) or of an SVM^light file (any other name).

    ``several_labels`` reads ``1,3 4:0.5`` as labels 1 and 3; otherwise the target of a line is one label.
    With ``n_features`` rows are as wide as those of an earlier file, and wider ones are refused.
    """
    where, named = Path(path), columns or RowColumns()
    if is_svmlight(where):
        if suffix_of(where) == ".jsonl":
            raise DataError(f"{where}: rows are read from .csv, .tsv, .parquet, .npz or SVM^light files")
        return _svmlight_rows(where, named, n_features, several_labels)
    return _table_rows(where, named, n_features, delimiter)


def _svmlight_rows(
    path: Path, named: RowColumns, n_features: int | None, several_labels: bool
) -> FeatureRows:
    if named.has_names():
        reason = "columns are named (or known from the model), but SVM^light rows have none"
        raise DataError(f"{path}: {reason}; tables end in .csv, .tsv, .parquet or .npz")
    found = examples(path, n_features, check_labels if several_labels else check_number)
    if found.X.nnz == 0:
        raise DataError(f"{path}: no row has a feature")
    rows = FeatureRows(path, found.X, None, found.lines, np.array(found.lines, dtype=np.int64))
    if not several_labels:
        return replace(rows, label=[f"{float(target):.15g}" for target in found.y])
    sets = [labels_of(target) for target in found.y]
    names = tuple(str(label) for label in sorted({label for held in sets for label in held}))
    return replace(rows, label_sets=[frozenset(map(str, held)) for held in sets], label_names=names)


def _table_rows(path: Path, named: RowColumns, n_features: int | None, delimiter: str | None) -> FeatureRows:
    roles = [name for name in (named.label, *named.labels) if name is not None]
    taken = named.text or named.features
    wanted = None if not taken else list(dict.fromkeys([*taken, *roles]))
    remembered = frozenset([named.id] if named.id and named.remembered_id else [])
    columns = ColumnRoles(id=named.id, fields=wanted, remembered=remembered)
    table = next(read_sets(path, columns=columns, labels="ignored", delimiter=delimiter))
    check_present(table.fields(), roles, path, 1)
    names = tuple(taken or [name for name in table.fields() if name not in roles])
    if not names:
        raise DataError(f"{path}: no column is left for features")
    X = _texts(table, names) if named.text else _numbers(table, names, path, n_features)
    assert table.source is not None
    lines = np.arange(len(table)) if table.source.lines is None else np.asarray(table.source.lines, np.int64)
    rows = FeatureRows(path, X, names, list(table.item_ids), lines)
    if named.label is not None:
        codes, values = table.factorize(named.label)
        words = [*map(as_text, values), None]
        rows = replace(rows, label=[words[code] for code in codes.tolist()])
    if named.labels:
        rows = replace(
            rows, label_sets=_label_sets(table, named.labels, path), label_names=tuple(named.labels)
        )
    return rows


def _texts(table: Table, names: Sequence[str]) -> list[str]:
    parts = zip(*(table.column(name) for name in names), strict=True)
    return ["\n".join(filter(None, map(as_text, row))) for row in parts]


def _numbers(table: Table, names: Sequence[str], path: Path, n_features: int | None) -> Floats:
    vectors = {name: table.matrix(name) for name in names}
    width = sum(1 if held is None else held.shape[1] for held in vectors.values())
    memory.require(8.0 * len(table) * width, f"{path}: a table of {len(table):,} rows and {width:,} numbers")
    if n_features is not None and width != n_features:
        raise DataError(f"{path}: rows have {width:,} numbers, the model takes {n_features:,}")
    X, at = np.empty((len(table), width)), 0
    for name, held in vectors.items():
        block = _column(table, name, path)[:, None] if held is None else np.asarray(held, np.float64)
        X[:, at : at + block.shape[1]] = block
        at += block.shape[1]
    return X


def _column(table: Table, name: str, path: Path) -> Floats:
    """A column of numbers, each distinct value looked at once."""
    codes, values = table.factorize(name)
    found = np.array([*map(as_number, values), np.nan])[codes]
    if np.isnan(found).any():
        row = int(np.argmax(np.isnan(found)))
        what = (
            "is empty"
            if codes[row] < 0
            else f"holds {as_text(values[codes[row]])[:40]!r}, which is no number"
        )
        advice = "--features names the columns of numbers, --text those of text"
        raise DataError(f"{_at(table, row, path)}: the column {name!r} {what} ({advice})")
    return found


def _label_sets(table: Table, names: Sequence[str], path: Path) -> list[frozenset[str]]:
    held = np.zeros((len(table), len(names)), dtype=bool)
    for column, name in enumerate(names):
        codes, values = table.factorize(name)
        found = np.array([*map(as_number, values), np.nan])[codes]
        wrong = ~np.isin(found, (0.0, 1.0))
        if wrong.any():
            row = int(np.argmax(wrong))
            shown = "nothing" if codes[row] < 0 else repr(as_text(values[codes[row]])[:40])
            reason = f"the column {name!r} says by 0 or 1 whether a row has the label, here is {shown}"
            raise DataError(f"{_at(table, row, path)}: {reason}")
        held[:, column] = found == 1.0
    return [frozenset(names[a] for a in np.flatnonzero(row).tolist()) for row in held]


def _at(table: Table, row: int, path: Path) -> str:
    return str(path) if table.source is None else table.source.place(row)


def widen_rows(X: Any, n_features: int) -> Any:
    """Rows of an SVM^light file, with further features that are zero."""
    if not sparse.issparse(X) or X.shape[1] >= n_features:
        return X
    return sparse.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features))
