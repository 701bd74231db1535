"""Files of groups: items with the group that each is in, as predictions, tables and stores have them."""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path

from clustruct.core.exceptions import DataError, DataWarning, NoLabels
from clustruct.core.storage.targets import replacing
from clustruct.data import Table
from clustruct.data.io import ColumnRoles, read_sets
from clustruct.data.io.formats import is_table

from .decisions import written_suffix
from .schema import MAGIC
from .store import Store

GROUP_COLUMNS = ("cluster", "group")


def is_store(path: str | PathLike[str]) -> bool:
    """Whether a file is a database (of a store, one may hope) and not a file of text.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    bool
        True where it begins as a database does.
    """
    try:
        if not Path(path).is_file():  # what comes down a pipe can be read once
            return False
        with open(path, "rb") as f:
            return f.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_groups(
    path: str | PathLike[str], *, id: str | None = None, cluster: str | None = None
) -> dict[str, str]:
    """The group of each item of a file: predictions or any table with ids and groups, JSONL, or a store.

    ``id`` and ``cluster`` name columns ("id", and "cluster" or else "group"). Rows without a group are
    left out. Items of several sets are called "set: item", and their groups likewise: a number means
    nothing outside its set.

    Parameters
    ----------
    path : path
        The file.
    id : str, optional
        The column of the ids.
    cluster : str, optional
        The column of the groups.

    Returns
    -------
    dict
        The group by the name of the item.
    """
    if is_store(path):
        with Store(path) as store:
            return store.groups()
    found: dict[str, str] = {}
    sets = _labelled(path, id, cluster)
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

    Parameters
    ----------
    old, new : path
        The files.

    Returns
    -------
    tuple of str or None
        A name for each file; None where it is no table.
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


def _labelled(path: str | PathLike[str], id: str | None, cluster: str | None) -> list[Table]:
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
    """Write the group of each item to a .csv or .tsv file (columns id and cluster) or a .jsonl file.

    Parameters
    ----------
    path : path
        The file to be written.
    groups : mapping
        The group of each item.
    """
    suffix = written_suffix(path, "groups")
    lines = _json_line(groups) if suffix == ".jsonl" else _csv_lines(groups, suffix)
    with replacing(Path(path)) as f:
        f.writelines(line.encode("utf-8", "surrogatepass") for line in lines)


def _json_line(groups: Mapping[str, str]) -> Iterator[str]:
    items = [{"id": item} for item in groups]
    yield json.dumps({"id": "", "items": items, "labels": list(groups.values())}, ensure_ascii=False) + "\n"


def _csv_lines(groups: Mapping[str, str], suffix: str) -> Iterator[str]:
    line = io.StringIO()
    writer = csv.writer(line, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
    for row in [("id", "cluster"), *groups.items()]:
        writer.writerow(row)
        yield line.getvalue()
        line.seek(0)
        line.truncate()
