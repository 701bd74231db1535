"""A study: its tables, what each needs, and whether what is kept of it is still right."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from studies import rendering
from studies.data import NoData, data_file
from studies.results import Results, digest_of_data, digest_of_files, digest_of_words

ROOT = Path(__file__).resolve().parents[1]
QUICK = Path("out/studies")
Compute = Callable[..., Any]


@dataclass(frozen=True)
class Table:
    """One table of the documents (or of the docs).

    ``compute(results, quick)`` asks ``results.get`` for its cells and returns the rows, as JSON; ``render``
    makes Markdown of the rows, ``draw`` pictures below docs/. ``data`` names the files below CLUSTRUCT_DATA.
    ``sources`` are the modules whose change makes the table stale, beside that of ``compute`` itself;
    ``reads`` the tables of the same study that it is put together from.
    """

    key: str
    title: str
    compute: Compute
    render: Callable[[Any], str] = rendering.markdown
    draw: Callable[[Any, Path], None] | None = None
    data: tuple[str, ...] = ()
    sources: tuple[ModuleType, ...] = ()
    reads: tuple[str, ...] = ()

    def digest(self) -> str:
        """Of the sources, and of the settings that ``functools.partial`` gives."""
        call, settings = self.compute, []
        while isinstance(call, partial):
            settings += [repr(call.args), repr(sorted(call.keywords.items()))]
            call = call.func
        own = sys.modules[call.__module__]
        files = dict.fromkeys(Path(str(module.__file__)) for module in (own, *self.sources))
        name = digest_of_files(files)
        return digest_of_words(name, *settings) if settings else name


@dataclass(frozen=True)
class State:
    """What is kept of a table: "fresh", "stale" or "missing", why, and what made it.

    A change of the library makes no table stale: most change no figure, and all of them would be stale
    always. It is said which parts changed, of those that the table was made with.
    """

    word: str
    why: str = ""
    made: str = ""


@dataclass(frozen=True)
class Study:
    """The tables of one paper or data family. ``small`` is the table whose quick run is a test."""

    name: str
    title: str
    tables: tuple[Table, ...]
    small: str = ""

    @property
    def folder(self) -> Path:
        """Where results are kept in the repository."""
        return ROOT / "studies" / self.name / "results"

    def command(self, key: str) -> str:
        """What makes a table."""
        return f"python -m studies.{self.name} --only {key}"

    def __getitem__(self, key: str) -> Table:
        return next(table for table in self.tables if table.key == key)

    def results(self, table: Table, folder: Path | None = None, **options: Any) -> Results:
        """The file of a table."""
        return Results((folder or self.folder) / f"{table.key}.json", table.digest(), **options)

    def run(self, table: Table, *, quick: bool = False, folder: Path | None = None, **options: Any) -> Any:
        """Make one table; what an earlier run computed is not computed again. Quick runs are kept apart."""
        for name in () if quick else table.data:
            data_file(name)
        results = self.results(table, folder or (QUICK / self.name if quick else None), **options)
        rows = table.compute(results, quick)
        results.finish(rows, data=digest_of_data(table.data), reads=self._digest_of_read(table))
        return results.rows

    def _digest_of_read(self, table: Table) -> str:
        return digest_of_words(*(json.dumps(self.results(self[key]).rows) for key in table.reads))

    def state(self, table: Table) -> State:
        """Fresh, stale or missing."""
        kept = self.results(table)
        if kept.rows is None:
            return State("missing", f"{len(kept.cells)} cells kept" if kept.cells else "")
        made = kept.about
        if old := kept.stale_cells():
            return State("stale", f"{old} of {len(kept.cells)} cells by other sources", made)
        if kept.made["sources"] != kept.sources:
            return State("stale", "by other sources", made)
        if table.reads and kept.made.get("reads") != self._digest_of_read(table):
            return State("stale", "from other tables", made)
        now = digest_of_data(table.data)
        if now is not None and now != kept.made["data"]:
            return State("stale", "with other data", made)
        changed = kept.library_since()
        since = [f"library changed since: {', '.join(changed)}"] if changed else []
        return State("fresh", "; ".join(["data not looked at"] * (now is None) + since), made)

    def render(self, docs: Path = ROOT / "docs") -> list[str]:
        """Write the tables that are kept into the page and draw their pictures; returns their keys.

        A table that has a place in the page and was never finished is said to be missing there.
        """
        done, page = [], docs / "studies" / f"{self.name}.md"
        text = page.read_text("utf-8") if page.exists() else f"# {self.title}\n"
        for table in self.tables:
            kept, name = self.results(table), f"{self.name}/{table.key}"
            if kept.rows is None:
                if name in rendering.names_in(text):
                    text = rendering.put(text, name, f"Not made yet: `{self.command(table.key)}`.")
                continue
            body = (
                f"{table.render(kept.rows)}\n\nMade by `{self.command(table.key)}` (clustruct {kept.about})."
            )
            text = rendering.put(text, name, body, table.title)
            if table.draw:
                table.draw(kept.rows, docs)
            done.append(table.key)
        if done:
            page.write_text(text, "utf-8")
        return done


__all__ = ["NoData", "Results", "State", "Study", "Table"]
