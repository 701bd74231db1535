"""A project as the pages see it: its folder, its store, and the engine beside it.

Each decision of a page is kept once, on the disk before the page has an answer.
"""

from __future__ import annotations

import getpass
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from clustruct.core.exceptions import DataError
from clustruct.groups import Decision, Item, Store
from clustruct.groups.log_replay import undone

from .asking import Agreement, is_enough
from .engine_process import EngineClient
from .folder import PROJECT_END, Folder, begin, preview

# Letters of a value, and items of a group, that are sent to a page.
MOST_LETTERS, MOST_MEMBERS = 600, 500
# What a page may send as a decision, and how long a text in it may be.
PAGE_DECISIONS = ("same", "different", "unsure", "sort", "move", "merge", "split", "confirm", "note")
TEXTS = ("group", "into", "note")
LONGEST, MOST_ITEMS = 2000, 5000
# A decision that comes twice (the page did not get the answer) is known by its key, among the last so many.
MOST_RECENT = 50


class Project:
    """What is open: a folder, perhaps a store in it.

    chosen : the data file that the start proposes
    exported_files : names of files that were written here, and may be fetched
    """

    def __init__(self, folder: Path, path: Path | None = None, chosen: str | None = None) -> None:
        self.folder, self.path, self.chosen = Folder(folder), path, chosen
        self.store: Store | None = None
        self.engine: EngineClient | None = None
        self.exported_files: set[str] = set()
        try:
            self.author = getpass.getuser()
        except (OSError, KeyError, ImportError):
            self.author = ""

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
        self.store, self.path, self.engine = Store(path, shared=True), path, EngineClient(path)
        self.engine.warm_up()

    async def close(self) -> None:
        """End the engine and close the store."""
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

    def need_engine(self) -> EngineClient:
        """The engine; `DataError` where no project is open."""
        self.need()
        assert self.engine is not None
        return self.engine

    async def ask(self, command: str, **arguments: Any) -> Any:
        """The engine's answer to a command."""
        return await self.need_engine().ask(command, **arguments)

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

    async def begin(self, request: Mapping[str, Any]) -> None:
        """Make a project of a data file, and open it."""
        fields, kind = request.get("fields"), request.get("kind", "auto")
        if not isinstance(fields, list) or not all(isinstance(f, str) for f in fields):
            raise DataError("fields must be a list of names")
        if kind not in ("auto", "records", "text", "vectors"):
            raise DataError(f"{kind!r:.40} is no kind of items")
        columns = {name: request.get(name) or None for name in ("id", "cluster")}
        if not all(isinstance(value, str | None) for value in (*columns.values(), request.get("file"))):
            raise DataError("columns and files are named by texts")
        path = begin(self.folder, request.get("file") or "", fields=fields, kind=kind, **columns)
        await self.close()
        self._use(path)

    async def open(self, name: str) -> None:
        """Open a project of the folder."""
        path = self.folder.file(name)
        if not path.is_file():
            raise DataError(f"there is no project {name!r:.60}")
        await self.close()
        self._use(path)

    def status(self) -> dict[str, Any]:
        """How things stand, in numbers."""
        if self.store is None:
            return {"project": None}
        store, engine = self.store, self.engine
        decisions, models = store.decisions(), store.models()
        seen = models[-1].about.get("at", 0) if models else 0
        return {
            "project": store.path.name,
            "items": store.page(0, 1)[0],
            "groups": store.count_groups(),
            "decisions": sum(d.kind != "undo" for d in decisions),
            "undo": undo_of(decisions),
            "redo": redo_of(decisions),
            "at": store.next_number() - 1,
            "model": models[-1].number if models else None,
            "since": sum(d.number > seen for d in decisions),
            "learning": None if engine is None else engine.progress,
            "learned": None if engine is None else engine.last,
        }

    def curve(self) -> dict[str, Any]:
        """How well answers were foretold, model by model, and whether that is enough."""
        found = [m.about["agreement"] for m in self.need().models() if m.about.get("agreement")]
        curve = [Agreement(**one) for one in found if one["n"]]
        enough, reason = is_enough(curve)
        return {"points": [one.__dict__ for one in curve], "enough": enough, "reason": reason}

    def items(self, ids: Iterable[str]) -> list[dict[str, Any]]:
        """Items by their ids, in this order; ids that nothing has are left out."""
        wanted = list(ids)
        found = {item.id: item for item in self.need().items(dict.fromkeys(wanted))}
        return [self._record(found[name]) for name in wanted if name in found]

    def page(self, offset: int, limit: int, search: str) -> tuple[int, list[dict[str, Any]]]:
        """How many items have the text searched for, and some of them."""
        total, items = self.need().page(offset, limit, search)
        return total, [self._record(item) for item in items]

    def _record(self, item: Item) -> dict[str, Any]:
        fields = {str(name): _shorten(value) for name, value in item.fields.items()}
        return {"id": item.id, "fields": fields, "group": self.need().group_of(item.id)}

    def group(self, name: str) -> dict[str, Any]:
        """A group with its items; one that has ended, with the groups that followed it."""
        store = self.need()
        members = store.members(name)
        return {
            "group": name,
            "size": len(members),
            "now": list(store.resolve(name)),
            "items": self.items(members[:MOST_MEMBERS]),
        }

    def last_decisions(self, most: int) -> list[dict[str, Any]]:
        """What was decided last, the newest first."""
        store = self.need()
        out = store.undone()
        return [
            {
                **{name: getattr(d, name) for name in ("number", "kind", "group", "into", "note", "author")},
                "items": list(d.items[:5]),
                "piles": [list(pile[:5]) for pile in d.piles[:5]],
                "time": d.time,
                "undoes": d.undoes,
                "undone": d.number in out,
            }
            for d in reversed(store.decisions()[-min(most, 200) :])
        ]

    def take_back(
        self, request: Mapping[str, Any], which: Callable[[Sequence[Decision]], int | None], nothing: str
    ) -> dict[str, Any]:
        """Undo the decision that ``which`` finds, once for each key that a page sends."""
        store, source = self.need(), key_of(request)
        with store.transaction():
            number = _number_of_key(store, source)
            if number is None:
                last = which(store.decisions())
                if last is None:
                    raise DataError(nothing)
                number = store.decide(Decision("undo", undoes=last, author=self.author, source=source))
        return {"number": number, **self.status()}


def _shorten(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"


def decision_of(request: Mapping[str, Any], author: str) -> Decision:
    """A decision from what a page has sent; `DataError` where it is none."""
    kind, items, piles = request.get("kind"), request.get("items", []), request.get("piles", [])
    if kind not in PAGE_DECISIONS:
        raise DataError(f"{kind!r:.40} is no decision")
    if not _are_names(items) or len(items) > MOST_ITEMS:
        raise DataError("items must be a list of names")
    if not isinstance(piles, list) or not all(map(_are_names, piles)):
        raise DataError("piles must be a list of lists of names")
    texts: dict[str, Any] = {}
    for name in TEXTS:
        value = request.get(name)
        if value is not None and (not isinstance(value, str) or len(value) > LONGEST):
            raise DataError(f"{name} must be a text of at most {LONGEST} letters")
        texts[name] = value or None
    texts["note"] = texts["note"] or ""
    source = key_of(request)
    try:
        return Decision(
            kind, tuple(items), piles=tuple(map(tuple, piles)), author=author, source=source, **texts
        )
    except ValueError as error:
        raise DataError(str(error)) from None


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def key_of(request: Mapping[str, Any]) -> str:
    """The key by which a page distinguishes a decision from all others."""
    key = request.get("key")
    if not isinstance(key, str) or not (8 <= len(key) <= 40 and key.isascii() and key.isalnum()):
        raise DataError("a decision needs a key of 8 to 40 letters and digits")
    return f"studio {key}"


def decide(store: Store, decision: Decision) -> int:
    """Keep a decision, unless one of its key is kept already; its number."""
    with store.transaction():
        number = _number_of_key(store, decision.source)
        return store.decide(decision) if number is None else number


def _number_of_key(store: Store, source: str) -> int | None:
    return next((d.number for d in reversed(store.recent(MOST_RECENT)) if d.source == source), None)


def undo_of(decisions: Sequence[Decision]) -> int | None:
    """The decision that an undo would take back: the last that counts, undos aside."""
    out = undone(decisions)
    return max((d.number for d in decisions if d.kind != "undo" and d.number not in out), default=None)


def redo_of(decisions: Sequence[Decision]) -> int | None:
    """The undo that a redo would take back: the last that counts, if nothing was decided since.

    >>> log = [Decision("note", note="a", number=1), Decision("undo", undoes=1, number=2)]
    >>> undo_of(log), redo_of(log)
    (None, 2)
    """
    out = undone(decisions)
    last = max((d.number for d in decisions if d.kind != "undo"), default=0)
    by_number = {d.number: d for d in decisions}
    able = [
        d.number
        for d in decisions
        if d.kind == "undo"
        and d.number not in out
        and d.number > last
        and by_number[d.undoes or 0].kind != "undo"
    ]
    return able[-1] if able else None
