"""Rows of features with labels, for learners of rows: SVM^light files, and tables of numbers or texts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from clustruct.core import memory
from clustruct.core.exceptions import DataError
from clustruct.core.text import place
from clustruct.core.typing import Floats, Ints
from clustruct.data.records import RawSet, as_number, as_text

from .files import is_table, read_sets, suffix_of
from .svmlight import check_labels, check_number, examples, labels_of
from .tables import Columns, check_present

__all__ = ["FeatureRows", "RowColumns", "read_rows", "widened"]


@dataclass(frozen=True)
class RowColumns:
    """Which columns of a table are what. SVM^light rows have none of them.

    Attributes
    ----------
    id : str, optional
        Names a row ("id" where not given and there; else a row is known by its line).
    label : str, optional
        The group or class of a row.
    labels : sequence of str, default=()
        Columns of 0 and 1, one for each label that a row may have.
    features : sequence of str, optional
        Columns of numbers, or of vectors; None: all that are left.
    text : sequence of str, default=()
        Columns of text, read instead of features.
    remembered_id : bool, default=False
        The id was that of the training, and counts where it is there.
    """

    id: str | None = None
    label: str | None = None
    labels: Sequence[str] = ()
    features: Sequence[str] | None = None
    text: Sequence[str] = ()
    remembered_id: bool = False

    def any_named(self) -> bool:
        """Whether a table is expected."""
        own_id = None if self.remembered_id else self.id
        return bool(own_id or self.label or self.labels or self.features or self.text)


@dataclass(frozen=True)
class FeatureRows:
    """Rows of a file.

    Attributes
    ----------
    path : path
        The file.
    X : object
        Numbers (an array, or CSR of an SVM^light file), or a list of texts.
    names : tuple of str or None
        The columns that X was made of; None for SVM^light.
    ids : sequence of hashable
        What names each row.
    lines : array of int
        The line of each row.
    label : list of str, optional
        The label of each row as text, None where it has none; None where no label was asked for.
    label_sets : list of frozenset of str, optional
        The labels of each row, where labels were asked for.
    label_names : tuple of str, default=()
        All labels, where labels were asked for.
    """

    path: Path
    X: Any
    names: tuple[str, ...] | None
    ids: Sequence[Hashable]
    lines: Ints = field(repr=False)
    label: list[str | None] | None = None
    label_sets: list[frozenset[str]] | None = None
    label_names: tuple[str, ...] = ()

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
    """Read the rows of a table (.csv, .tsv, .parquet, .npz) or of an SVM^light file (any other name).

    ``several_labels`` reads ``1,3 4:0.5`` as labels 1 and 3; otherwise the target of a line is one label.
    With ``n_features`` rows are as wide as those of an earlier file, and wider ones are refused. Whatever is
    wrong is a `DataError` that names file and line.

    Parameters
    ----------
    path : path
        The file.
    columns : RowColumns, optional
        Which columns are what.
    n_features : int, optional
        How many features rows have, where an earlier file says so.
    several_labels : bool, default=False
        Whether the target of a line may be several labels.
    delimiter : str, optional
        What separates cells, where it is not a comma or a tab.

    Returns
    -------
    FeatureRows
        The rows, with names, ids and labels.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     where = os.path.join(folder, "a.csv")
    ...     with open(where, "w") as f:
    ...         _ = f.write("a,b,kind\\n1,2,x\\n3,4.5,y\\n")
    ...     rows = read_rows(where, RowColumns(label="kind"))
    >>> rows.X.tolist(), rows.names, rows.label
    ([[1.0, 2.0], [3.0, 4.5]], ('a', 'b'), ['x', 'y'])
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
    if named.any_named():
        told = "columns are named (or known from the model), but SVM^light rows have none"
        raise DataError(f"{path}: {told}; tables end in .csv, .tsv, .parquet or .npz")
    found = examples(path, n_features, check_labels if several_labels else check_number)
    if found.X.nnz == 0:
        raise DataError(f"{path}: no row has a feature")
    rows = FeatureRows(path, found.X, None, found.lines, np.array(found.lines, dtype=np.int64))
    if not several_labels:
        return replace(rows, label=[f"{float(target):.15g}" for target in found.targets])
    sets = [labels_of(target) for target in found.targets]
    names = tuple(str(label) for label in sorted({label for held in sets for label in held}))
    return replace(rows, label_sets=[frozenset(map(str, held)) for held in sets], label_names=names)


def _table_rows(path: Path, named: RowColumns, n_features: int | None, delimiter: str | None) -> FeatureRows:
    roles = [name for name in (named.label, *named.labels) if name is not None]
    taken = named.text or named.features
    wanted = None if not taken else list(dict.fromkeys([*taken, *roles]))
    remembered = frozenset([named.id] if named.id and named.remembered_id else [])
    columns = Columns(id=named.id, fields=wanted, remembered=remembered)
    raw = next(read_sets(path, columns=columns, labels="ignored", delimiter=delimiter))
    check_present(raw.fields(), roles, path, 1)
    names = tuple(taken or [name for name in raw.fields() if name not in roles])
    if not names:
        raise DataError(f"{path}: no column is left for features")
    X = _texts(raw, names) if named.text else _numbers(raw, names, path, n_features)
    assert raw.source is not None
    lines = np.arange(len(raw)) if raw.source.lines is None else np.asarray(raw.source.lines, np.int64)
    rows = FeatureRows(path, X, names, list(raw.item_ids), lines)
    if named.label is not None:
        codes, values = raw.coded(named.label)
        words = [*map(as_text, values), None]
        rows = replace(rows, label=[words[code] for code in codes.tolist()])
    if named.labels:
        rows = replace(rows, label_sets=_label_sets(raw, named.labels, path), label_names=tuple(named.labels))
    return rows


def _texts(raw: RawSet, names: Sequence[str]) -> list[str]:
    parts = zip(*(raw.column(name) for name in names), strict=True)
    return ["\n".join(filter(None, map(as_text, row))) for row in parts]


def _numbers(raw: RawSet, names: Sequence[str], path: Path, n_features: int | None) -> Floats:
    vectors = {name: raw.matrix(name) for name in names}
    width = sum(1 if held is None else held.shape[1] for held in vectors.values())
    memory.require(8.0 * len(raw) * width, f"{path}: a table of {len(raw):,} rows and {width:,} numbers")
    if n_features is not None and width != n_features:
        raise DataError(f"{path}: rows have {width:,} numbers, the model takes {n_features:,}")
    X, at = np.empty((len(raw), width)), 0
    for name, held in vectors.items():
        block = _column(raw, name, path)[:, None] if held is None else np.asarray(held, np.float64)
        X[:, at : at + block.shape[1]] = block
        at += block.shape[1]
    return X


def _column(raw: RawSet, name: str, path: Path) -> Floats:
    """A column of numbers, each distinct value looked at once."""
    codes, values = raw.coded(name)
    found = np.array([*map(as_number, values), np.nan])[codes]
    if np.isnan(found).any():
        row = int(np.argmax(np.isnan(found)))
        what = (
            "is empty"
            if codes[row] < 0
            else f"holds {as_text(values[codes[row]])[:40]!r}, which is no number"
        )
        advice = "--features names the columns of numbers, --text those of text"
        raise DataError(f"{_at(raw, row, path)}: the column {name!r} {what} ({advice})")
    return found


def _label_sets(raw: RawSet, names: Sequence[str], path: Path) -> list[frozenset[str]]:
    held = np.zeros((len(raw), len(names)), dtype=bool)
    for column, name in enumerate(names):
        codes, values = raw.coded(name)
        found = np.array([*map(as_number, values), np.nan])[codes]
        wrong = ~np.isin(found, (0.0, 1.0))
        if wrong.any():
            row = int(np.argmax(wrong))
            shown = "nothing" if codes[row] < 0 else repr(as_text(values[codes[row]])[:40])
            told = f"the column {name!r} says by 0 or 1 whether a row has the label, here is {shown}"
            raise DataError(f"{_at(raw, row, path)}: {told}")
        held[:, column] = found == 1.0
    return [frozenset(names[a] for a in np.flatnonzero(row).tolist()) for row in held]


def _at(raw: RawSet, row: int, path: Path) -> str:
    return str(path) if raw.source is None else raw.source.place(row)


def widened(X: Any, n_features: int) -> Any:
    """Rows of an SVM^light file, with further features that are zero."""
    if not sparse.issparse(X) or X.shape[1] >= n_features:
        return X
    return sparse.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features))
