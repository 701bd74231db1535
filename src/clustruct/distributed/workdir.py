"""The directory in which a prediction on many machines keeps what each stage has made.

Every machine sees it. A stage is a folder; piece k of it is a Parquet file and a line of JSON, which is
written last and says that the piece is done: work that was cut short is taken up from there.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from clustruct.core import storage
from clustruct.core.exceptions import DataError
from clustruct.core.typing import Ints
from clustruct.features import PairFeatures

ABOUT, MODEL, STARTS = "about.json", "model", "starts.json"
Stats = dict[str, Any]


class Span(NamedTuple):
    """Rows of a file."""

    path: str
    first: int
    last: int


@dataclass(frozen=True)
class About:
    """What a directory belongs to.

    identity : digests of the model and of the data, and settings
    spans : for each partition of the table the rows of files that it is made of; none where it came otherwise
    columns : the columns that are kept of the table
    id : the column of names
    token : of this run alone
    """

    identity: Mapping[str, str]
    spans: Sequence[Sequence[Span]]
    columns: Sequence[str]
    id: str | None
    token: str


@dataclass(frozen=True)
class WorkDirectory:
    """A directory of stages. It is cheap to send: a task reads from it what it needs, once for each process.

    ``token`` tells it from an earlier directory of the same name, of which a worker may remember something.
    """

    folder: str
    token: str

    @classmethod
    def begun(cls, folder: Path, model: Any, about: About) -> WorkDirectory:
        """A new directory, or one that was begun by the same work."""
        known = folder / ABOUT
        if known.exists():
            before = _read_about(folder)
            if differences := [n for n in about.identity if before.identity.get(n) != about.identity[n]]:
                raise DataError(
                    f"{folder}: belongs to another run, not the same {', '.join(differences)}; remove it, or "
                    "name another directory"
                )
            return cls(str(folder), before.token)
        folder.mkdir(parents=True, exist_ok=True)
        storage.save(folder / MODEL, model)
        write_text(known, json.dumps(asdict(about)))
        return cls(str(folder), about.token)

    @classmethod
    def partitions_of(cls, folder: Path) -> int | None:
        """Into how many partitions a run that was begun in a directory is cut; None where there is none."""
        return len(_read_about(folder).spans) if (folder / ABOUT).exists() else None

    @cached_property
    def about(self) -> About:
        return _about(self)

    @property
    def model(self) -> Any:
        """The pipeline, read once by each process."""
        return _model(self)

    @property
    def features(self) -> PairFeatures:
        found: PairFeatures = self.model[0]
        return found

    @cached_property
    def starts(self) -> Ints:
        """The number of the first row of each partition, and that of all rows."""
        return np.asarray(json.loads((Path(self.folder) / STARTS).read_text()), np.int64)

    def set_sizes(self, sizes: Sequence[int]) -> None:
        """So many rows has each partition."""
        write_text(Path(self.folder) / STARTS, json.dumps(np.cumsum([0, *sizes]).tolist()))

    @property
    def n_items(self) -> int:
        """The rows of the whole table."""
        return int(self.starts[-1])

    @property
    def n_partitions(self) -> int:
        """Into how many parts the table is cut."""
        return len(self.starts) - 1

    def owner(self, items: Ints) -> Ints:
        """The partition of each item."""
        return np.asarray(np.searchsorted(self.starts, items, side="right") - 1)

    def path(self, stage: str, k: int) -> Path:
        """The file of a piece."""
        return Path(self.folder) / stage / f"part-{k:05d}.parquet"

    def is_done(self, stage: str, k: int) -> bool:
        """Whether a piece was made."""
        return self.path(stage, k).with_suffix(".json").exists()

    def stats(self, stage: str, k: int) -> Stats:
        """What was said of a piece when it was made."""
        found: Stats = json.loads(self.path(stage, k).with_suffix(".json").read_text())
        return found

    def finish(self, stage: str, k: int, stats: Stats) -> Stats:
        """A piece is made, and this is to be said of it."""
        write_text(self.path(stage, k).with_suffix(".json"), json.dumps(stats))
        return stats

    def note(self, stage: str, k: int, cost: Stats) -> None:
        """What it took to make the rows of piece k that are exchanged in a stage."""
        write_text(Path(self.folder) / f"{stage}.made" / f"{k:05d}.json", json.dumps(cost))

    def made_path(self, stage: str, k: int) -> Path:
        """The file of the rows of piece k that are exchanged in a stage."""
        return Path(self.folder) / f"{stage}.made" / f"{k:05d}.arrow"

    def is_made(self, stage: str, k: int) -> bool:
        """Whether the rows of piece k were written."""
        path = self.made_path(stage, k)
        return path.exists() and path.with_suffix(".json").exists()

    def drop_made(self, stage: str) -> None:
        """The rows that were exchanged in a stage are not needed any more."""
        for path in Path(self.folder, f"{stage}.made").glob("*.arrow"):
            path.unlink(missing_ok=True)

    def notes(self, stage: str) -> list[Stats]:
        """What was noted of a stage."""
        return [
            json.loads(path.read_text()) for path in sorted(Path(self.folder, f"{stage}.made").glob("*.json"))
        ]

    def write(self, stage: str, k: int, columns: Mapping[str, Any]) -> None:
        """The columns of a piece."""
        import pyarrow as pa

        self.write_table(stage, k, pa.table(dict(columns)))

    def write_table(self, stage: str, k: int, table: Any) -> None:
        """A piece: whole, or not there."""
        from pyarrow import parquet

        path = self.path(stage, k)
        path.parent.mkdir(parents=True, exist_ok=True)
        passing = path.with_suffix(f".{uuid4().hex[:8]}.tmp")
        try:
            parquet.write_table(table, passing, compression="zstd")
            os.replace(passing, path)
        finally:
            passing.unlink(missing_ok=True)

    def write_arrays(self, stage: str, k: int, arrays: Mapping[str, Any]) -> None:
        """Arrays of different lengths: whole, or not there."""
        path = self.path(stage, k).with_suffix(".npz")
        path.parent.mkdir(parents=True, exist_ok=True)
        passing = path.with_suffix(f".{uuid4().hex[:8]}.tmp")
        try:
            with passing.open("wb") as sink:
                np.savez(sink, allow_pickle=False, **arrays)
            os.replace(passing, path)
        finally:
            passing.unlink(missing_ok=True)

    def read_arrays(self, stage: str, k: int) -> dict[str, Any]:
        """What `write_arrays` wrote."""
        with np.load(self.path(stage, k).with_suffix(".npz")) as held:
            return dict(held)

    def read(self, stage: str, k: int, columns: Sequence[str] | None = None) -> dict[str, Any]:
        """The columns of a piece as arrays."""
        table = self.read_table(stage, k, columns)
        return {name: table.column(name).to_numpy() for name in table.column_names}

    def read_table(self, stage: str, k: int, columns: Sequence[str] | None = None) -> Any:
        """A piece as it was written."""
        from pyarrow import parquet

        return parquet.ParquetFile(self.path(stage, k)).read(columns, use_threads=False)

    def publish(self, stage: str, out: Path) -> None:
        """The files of a stage become the directory ``out``, at once."""
        made = Path(self.folder) / stage
        for note in made.glob("*.json"):
            note.unlink()
        os.rename(made, out)

    def remove(self) -> None:
        """All is done."""
        shutil.rmtree(self.folder)


def _read_about(folder: Path) -> About:
    return About(**json.loads((folder / ABOUT).read_text()))


@lru_cache(maxsize=8)
def _about(work: WorkDirectory) -> About:
    return _read_about(Path(work.folder))


@lru_cache(maxsize=2)
def _model(work: WorkDirectory) -> Any:
    return storage.load(Path(work.folder) / MODEL)


def write_text(path: Path, text: str) -> None:
    """Whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    passing = path.with_suffix(f".{uuid4().hex[:8]}.tmp")
    passing.write_text(text)
    os.replace(passing, path)
