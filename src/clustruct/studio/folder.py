"""The folder of a project: data files in it, what they hold, and a project made of one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clustruct.core.exceptions import DataError
from clustruct.core.formatting import short
from clustruct.data import Table
from clustruct.data.io import ColumnRoles, read_sets
from clustruct.data.io.formats import suffixes
from clustruct.groups import Decision, Item, Store, is_store

PROJECT_END = ".clustruct.db"
# What leaves a project is named after it, with these ends.
EXPORTED = {
    "groups": "groups.csv",
    "model": "model",
    "corrections": "corrections.csv",
    "report": "report.html",
}
# Rows that are looked at for a guess, and shown.
LOOKED_AT, SHOWN, LONGEST = 2000, 5, 80
ID_NAMES = ("id", "nr", "no", "key", "record_id", "item", "uid")
LABEL_NAMES = ("cluster", "cluster_id", "group", "label", "entity")


@dataclass(frozen=True)
class Folder:
    """A folder, outside of which nothing is read or written.

    >>> Folder(Path(".")).file("../secret.csv")
    Traceback (most recent call last):
    ...
    clustruct.core.exceptions.DataError: '../secret.csv' is no name of a file in the folder of the project
    """

    path: Path

    def file(self, name: str) -> Path:
        """The file of this name in the folder, there or not; `DataError` for any other way to name one."""
        plain = name and name == Path(name).name and "\\" not in name and not name.startswith(".")
        found = self.path / name if plain and name.isprintable() else None
        if found is None or found.resolve().parent != self.path.resolve():
            raise DataError(f"{short(name, 60)!r} is no name of a file in the folder of the project")
        return found

    def list_files(self) -> list[dict[str, Any]]:
        """Data files and projects, by name; not what projects have exported."""
        ends = tuple(suffixes()) + tuple(f"{end}.gz" for end in suffixes())
        paths = sorted(self.path.iterdir())
        stems = [p.name.removesuffix(PROJECT_END) for p in paths if p.name.endswith(PROJECT_END)]
        exported = {f"{stem}.{end}" for stem in stems for end in EXPORTED.values()}
        found = []
        for path in paths:
            if path.name in exported:
                continue
            is_project = path.name.endswith(".db") and path.is_file() and is_store(path)
            if path.is_file() and not path.is_symlink() and (path.name.lower().endswith(ends) or is_project):
                size = path.stat().st_size
                found.append({"name": path.name, "size": size, "project": is_project})
        return found

    def keep(self, name: str, content: bytes) -> Path:
        """Write a file that came through the page; one that is there is not replaced."""
        path = self.file(name)
        if not path.name.lower().endswith(tuple(suffixes())):
            raise DataError(f"{short(name, 60)!r}: data files end in {', '.join(suffixes())}")
        try:
            with open(path, "xb") as f:
                f.write(content)
        except FileExistsError:
            raise DataError(f"there is a file {short(name, 60)!r} already: give it another name") from None
        return path


def preview(path: Path) -> dict[str, Any]:
    """What a data file holds, with a guess of what its columns are."""
    from clustruct.features import guess_kind

    table = _table(path, ColumnRoles(id=None), most=LOOKED_AT)
    fields = table.fields()
    kind, kinds = guess_kind([table])
    columns = [list(map(_shorten, table.some(f, slice(0, SHOWN)))) for f in fields]
    name = _first_unique(table, fields)
    label = next((f for f in fields if f.lower() in LABEL_NAMES), None)
    used = [f for f in fields if f not in (name, label) and kinds.get(f) not in ("nothing", "id")]
    guess = {"id": name, "cluster": None, "kind": kind, "fields": used or [f for f in fields if f != name]}
    held = [{"name": f, "holds": kinds.get(f, "nothing")} for f in fields]
    return {"fields": held, "rows": list(map(list, zip(*columns, strict=True))), "guess": guess}


def _shorten(value: Any) -> str:
    return "" if value is None else short(value, LONGEST)


def _first_unique(table: Table, fields: Sequence[str]) -> str | None:
    """A column that may name items: of such a name, with another value in each row."""
    named = [f for f in fields if f.lower() in ID_NAMES or f.lower().endswith(("_id", " id"))]
    for field in named:
        values = [value for value in table.column(field) if value is not None]
        if len(values) == len(table) == len(set(map(str, values))):
            return field
    return None


def _table(path: Path, columns: ColumnRoles, most: int | None = None) -> Table:
    """All items of a file as one set; rows without ids are numbered from 1."""
    from clustruct.groups.known import one_set  # which loads much that the server does without

    sets = list(read_sets(path, columns=columns, labels="ignored"))
    if all(table.ids is None or _are_lines(table) for table in sets):
        first, numbered = 1, []
        for table in sets:
            numbered.append(replace(table, ids=[str(first + a) for a in range(len(table))]))
            first += len(table)
        sets = [replace(table, source=None) for table in numbered]
    found = one_set(path, iter(sets))
    return found if most is None or len(found) <= most else found.take(list(range(most)))


def _are_lines(table: Table) -> bool:
    lines = None if table.source is None else table.source.lines
    return lines is not None and list(table.ids or ()) == list(lines)


def begin(
    folder: Folder, name: str, *, id: str | None, fields: Sequence[str], kind: str, cluster: str | None = None
) -> Path:
    """Make a project of a data file: a store of its items, each alone or in the group that a column says."""
    source = folder.file(name)
    path = folder.path / f"{source.name.split('.')[0]}{PROJECT_END}"
    if path.exists():
        raise DataError(f"there is a project {path.name} already: open it, or move it away")
    if not fields:
        raise DataError("choose a field at least: items are compared by them")
    table = _table(source, ColumnRoles(id=id or None))
    for field in [*fields, *filter(None, [cluster])]:
        if not table.has(field):
            raise DataError(f"{source.name}: no item has the field {short(field)!r}")
    settings = {"source": source.name, "id": id, "fields": list(fields), "kind": kind, "cluster": cluster}
    store = Store.create(path)
    try:
        with store.transaction():
            _fill(store, table, cluster, source.name)
            store.set_up(**settings)
    except BaseException:
        store.remove()
        raise
    store.close()
    return path


def _fill(store: Store, table: Table, cluster: str | None, source: str) -> None:
    names = [f for f in table.fields() if f != cluster]
    values = zip(*(table.column(f) for f in names), strict=True)
    ids = [str(i) for i in table.item_ids]
    held = ({f: v for f, v in zip(names, row, strict=True) if v is not None} for row in values)
    store.add_items(Item(i, fields, source) for i, fields in zip(ids, held, strict=True))
    labels = table.column(cluster) if cluster is not None else [None] * len(table)
    groups = {i: str(y) for i, y in zip(ids, labels, strict=True) if y not in (None, "")}
    alone = {i: f"{i} alone" if i in groups.values() else i for i in ids if i not in groups}
    store.record_run({**groups, **alone}, note=f"items of {source}")
    for name, size in Counter(groups.values()).items():
        if size > 1:  # what the file says is known is right until somebody says otherwise
            store.decide(Decision("confirm", group=name, author=source))
