"""Results that survive a kill: one JSON file per table, with every cell computed and what made it."""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import clustruct
from studies.data import data_folder

DIGITS = 12


def digest_of_words(*words: str) -> str:
    """One digest of some words."""
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:DIGITS]


def digest_of_files(paths: Iterable[Path]) -> str:
    """One digest of the contents of some files, whatever folder they lie in."""
    return digest_of_words(*(f"{path.name}: {_file_digest(path)}" for path in paths))


@cache
def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of_data(names: Iterable[str]) -> str | None:
    """The digest of files below CLUSTRUCT_DATA; None where one of them is not to be had."""
    folder = data_folder()
    paths = [folder / name if folder else None for name in names]
    if any(path is None or not path.exists() for path in paths):
        return None
    return digest_of_files(path for path in paths if path is not None)


def library_stamp() -> dict[str, str]:
    """A digest of each part of clustruct that this process has loaded, by its name below the package."""
    names = [name.split(".") for name in sys.modules if name.startswith("clustruct.")]
    return {part: digest_of_part(part) for part in sorted({name[1] for name in names})}


@cache
def digest_of_part(part: str) -> str:
    """Of all sources of a package or module below clustruct; "" where there is none any more."""
    where = Path(clustruct.__file__).parent / part
    files = sorted(where.rglob("*.py")) or [where.with_suffix(".py")]
    return digest_of_files(files) if files[0].exists() else ""


def package_commit() -> str:
    """The commit of the sources; "+" after it where files differ from it."""
    here = Path(__file__).parent
    try:
        commit = _git("rev-parse", "--short", "HEAD", at=here)
        return commit + ("+" if _git("status", "--porcelain", "--", "../src", at=here) else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*words: str, at: Path) -> str:
    return subprocess.run(["git", *words], cwd=at, capture_output=True, text=True, check=True).stdout.strip()


class Results:
    """The results of one table in a file.

    ``get(key, make)`` gives a cell: from the file where it was computed before, else by ``make()``, and then
    it is on file before the call returns. ``finish(rows)`` adds the rows that the table is rendered from, and
    drops cells that were not asked for. A cell made by other sources is kept unless ``again`` is set.

    With ``confirm`` some of the cells made by other sources are made anew, drawn by chance until so many
    seconds are full. Where all of them come out as they are kept, every cell counts as made by the
    present sources.
    """

    def __init__(
        self, path: Path, sources: str = "", again: bool = False, loud: bool = False, confirm: float = 0.0
    ) -> None:
        self.path, self.sources, self.again, self.loud = path, sources, again, loud
        self.held: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
        self.asked: set[str] = set()
        self.confirmed: dict[str, bool] = {}
        self._drawn = self._sample(confirm)

    @property
    def rows(self) -> Any:
        """What `finish` was given; None where the table was never finished."""
        return self.held.get("rows")

    @property
    def made(self) -> dict[str, Any]:
        """Package version, commit and digests of the run that finished the table."""
        return self.held.get("made", {})

    @property
    def about(self) -> str:
        """Version and commit of that run, and of how many cells it made sure."""
        sure = f"; {self.made['confirmed']} confirmed" if "confirmed" in self.made else ""
        return f"{self.made['clustruct']}, {self.made['commit']}{sure}"

    @property
    def cells(self) -> dict[str, Any]:
        """Cells by key: value, seconds, and the digest of the sources that made it."""
        return self.held.setdefault("cells", {})

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        """The value of a cell, computed if it is not on file."""
        self.asked.add(key)
        cell = self.cells.get(key)
        if cell is None:
            self._compute(key, make)
        elif cell["sources"] != self.sources and (self.again or key in self._drawn):
            self._compute(key, make)
            self.confirmed[key] = same_values(cell["value"], self.cells[key]["value"])
            if self.loud and not self.confirmed[key]:
                print(f"  {key}: not as before", flush=True)
        return self.cells[key]["value"]

    def _compute(self, key: str, make: Callable[[], Any]) -> None:
        started = time.process_time()
        value = make()
        seconds = time.process_time() - started
        # What is returned is what a later run will read: JSON, not NumPy.
        cell = json.loads(json.dumps({"value": value, "seconds": seconds}, default=_plain))
        self.cells[key] = {**cell, "sources": self.sources}
        self._write()
        if self.loud and seconds > 1.0:
            print(f"  {key}: {seconds:.1f} s", flush=True)

    def finish(self, rows: Any, **about: Any) -> None:
        """Keep the rows of the finished table, and what made them."""
        for key in set(self.cells) - self.asked:
            del self.cells[key]
        if self.confirmed and all(self.confirmed.values()) and self._others():
            about["confirmed"] = f"{len(self.confirmed)} of {len(self.confirmed) + len(self._others())} cells"
            for cell in self._others():
                cell["sources"] = self.sources
        elif self.made.get("sources") == self.sources and "confirmed" in self.made:
            about["confirmed"] = self.made["confirmed"]
        version = {"clustruct": clustruct.__version__, "commit": package_commit()}
        stamps = {"sources": self.sources, "library": library_stamp()}
        self.held["made"] = {**version, **stamps, **about}
        self.held["rows"] = json.loads(json.dumps(rows, default=_plain))
        self._write()

    def stale_cells(self) -> int:
        """How many cells were made by other sources."""
        return len(self._others())

    def _sample(self, seconds: float) -> set[str]:
        """Cells of other sources, by chance, until so many seconds are full."""
        keys = [key for key, cell in self.cells.items() if cell["sources"] != self.sources]
        random.Random(0).shuffle(keys)
        before = accumulate((self.cells[key]["seconds"] for key in keys), initial=0.0)
        return {key for key, sofar in zip(keys, before, strict=False) if sofar < seconds}

    def _others(self) -> list[dict[str, Any]]:
        return [cell for cell in self.cells.values() if cell["sources"] != self.sources]

    def library_since(self) -> list[str]:
        """The parts of the library that the table was made with and that have changed since."""
        return [part for part, then in self.made.get("library", {}).items() if digest_of_part(part) != then]

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(f".{os.getpid()}.part")
        part.write_text(_text({key: self.held[key] for key in ("made", "rows", "cells") if key in self.held}))
        part.replace(self.path)


def same_values(old: Any, new: Any) -> bool:
    """Whether two values of a cell are equal but for seconds and the last digits."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = (old.keys() | new.keys()) - {"seconds"}
        return all(key in old and key in new and same_values(old[key], new[key]) for key in keys)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(same_values, old, new))
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-12)
    return bool(old == new)


def _text(held: dict[str, Any]) -> str:
    """JSON with a line for each row and each cell, so that changes can be read."""
    return "{" + ",".join(f"\n{json.dumps(key)}: {_lines(value)}" for key, value in held.items()) + "\n}\n"


def _lines(value: Any) -> str:
    if isinstance(value, dict) and value:
        return "{" + ",".join(f"\n {json.dumps(k)}: {json.dumps(v)}" for k, v in value.items()) + "\n}"
    if isinstance(value, list) and value:
        return "[" + ",".join(f"\n {json.dumps(v)}" for v in value) + "\n]"
    return json.dumps(value)


def _plain(value: Any) -> Any:
    """NumPy's scalars and arrays as JSON."""
    return value.tolist() if hasattr(value, "tolist") else float(value)
