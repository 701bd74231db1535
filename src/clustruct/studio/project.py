"""A project as the pages see it: its folder, its store, and the engine beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from clustruct.core.exceptions import DataError
from clustruct.groups import Store
from clustruct.groups.stored import Item

from .asking import Agreement, is_enough
from .data import PROJECT_END, Folder, begin, open_project, preview
from .deciding import redo_of, undo_of
from .engine_client import EngineClient

# Letters of a value, and items of a group, that are sent to a page.
LONGEST, MOST_MEMBERS = 600, 500


class Project:
    """What is open: a folder, perhaps a store in it.

    chosen : the data file that the start proposes
    exported : names of files that were written here, and may be fetched
    """

    def __init__(self, folder: Path, path: Path | None = None, chosen: str | None = None) -> None:
        self.folder, self.path, self.chosen = Folder(folder), path, chosen
        self.store: Store | None = None
        self.engine: EngineClient | None = None
        self.exported: set[str] = set()

    @asynccontextmanager
    async def lifespan(self, app: object) -> AsyncIterator[None]:
        """From the start of the server to its end."""
        if self.path is not None:
            self._use(self.path)
        try:
            yield
        finally:
            await self.close()

    def _use(self, path: Path) -> None:
        self.store, self.path, self.engine = open_project(path), path, EngineClient(path)
        self.engine.warm_up()

    async def close(self) -> None:
        """Give everything free."""
        if self.engine is not None:
            await self.engine.close()
        if self.store is not None:
            self.store.close()
        self.store = self.engine = None

    def need(self) -> Store:
        """The store; `DataError` where none is open."""
        if self.store is None:
            raise DataError("no project is open: choose a file first")
        return self.store

    @property
    def stem(self) -> str:
        """What names of exported files begin with."""
        name = "project" if self.path is None else self.path.name
        return name.removesuffix(PROJECT_END).removesuffix(".db")

    def preview(self, name: str) -> dict[str, Any]:
        """What a data file of the folder holds."""
        path = self.folder.file(name)
        if not path.is_file():
            raise DataError(f"there is no file {name!r:.60}")
        return {"file": name, **preview(path)}

    async def begin(self, sent: Mapping[str, Any]) -> None:
        """A project of a data file, which is then open."""
        fields, kind = sent.get("fields"), sent.get("kind", "auto")
        if not isinstance(fields, list) or not all(isinstance(f, str) for f in fields):
            raise DataError("fields must be a list of names")
        if kind not in ("auto", "records", "text", "vectors"):
            raise DataError(f"{kind!r:.40} is no kind of items")
        named = {name: sent.get(name) or None for name in ("id", "cluster")}
        if not all(isinstance(value, str | None) for value in (*named.values(), sent.get("file"))):
            raise DataError("columns and files are named by texts")
        path = begin(self.folder, sent.get("file") or "", fields=fields, kind=kind, **named)
        await self.close()
        self._use(path)

    async def open(self, name: str) -> None:
        """A project of the folder."""
        path = self.folder.file(name)
        if not path.is_file():
            raise DataError(f"there is no project {name!r:.60}")
        await self.close()
        self._use(path)

    def status(self) -> dict[str, Any]:
        """How things stand, in numbers."""
        if self.store is None:
            return {"project": None}
        decisions = self.store.decisions()
        models = self.store.models()
        seen = models[-1].about.get("at", 0) if models else 0
        engine = self.engine
        return {
            "project": self.store.path.name,
            **self.counts(decisions),
            "model": models[-1].number if models else None,
            "since": sum(d.number > seen for d in decisions),
            "learning": None if engine is None else engine.progress,
            "learned": None if engine is None else engine.last,
        }

    def counts(self, decisions: list[Any]) -> dict[str, Any]:
        """Items, groups, decisions, and what could be undone."""
        store = self.need()
        total, _ = store.page(0, 1)
        return {
            "items": total,
            "groups": store.count_groups(),
            "decisions": sum(d.kind != "undo" for d in decisions),
            "undo": undo_of(decisions),
            "redo": redo_of(decisions),
            "at": store.next_number() - 1,
        }

    def curve(self) -> dict[str, Any]:
        """How well answers were foretold, model by model, and whether that is enough."""
        held = [m.about["agreement"] for m in self.need().models() if m.about.get("agreement")]
        curve = [Agreement(**one) for one in held if one["n"]]
        enough, reason = is_enough(curve)
        return {"points": [one.__dict__ for one in curve], "enough": enough, "reason": reason}

    def named(self, names: Iterable[str]) -> list[dict[str, Any]]:
        """Items by their names, in this order."""
        wanted = list(names)
        found = {item.id: item for item in self.need().items(dict.fromkeys(wanted))}
        return [self._item(found[name]) for name in wanted if name in found]

    def page(self, offset: int, limit: int, search: str) -> tuple[int, list[dict[str, Any]]]:
        """Some of all items."""
        total, items = self.need().page(offset, limit, search)
        return total, [self._item(item) for item in items]

    def group(self, name: str) -> dict[str, Any]:
        """A group with its items; one that is no more, with what became of it."""
        store = self.need()
        members = store.members(name)
        return {
            "group": name,
            "size": len(members),
            "now": list(store.resolve(name)),
            "items": self.named(members[:MOST_MEMBERS]),
        }

    def _item(self, item: Item) -> dict[str, Any]:
        fields = {str(k): _shown(v) for k, v in item.fields.items()}
        return {"id": item.id, "fields": fields, "group": self.need().group_of(item.id)}

    def last_decisions(self, most: int) -> list[dict[str, Any]]:
        """What was decided last, the newest first."""
        store = self.need()
        out = store.undone()
        found = []
        for d in reversed(store.decisions()[-min(most, 200) :]):
            about = {"number": d.number, "kind": d.kind, "items": list(d.items[:5]), "group": d.group}
            more = {"into": d.into, "note": d.note, "author": d.author, "time": d.time, "undoes": d.undoes}
            piles = [list(pile[:5]) for pile in d.piles[:5]]
            found.append({**about, "piles": piles, **more, "undone": d.number in out})
        return found


def _shown(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
