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
    """What a directory belongs to: digests of model, data and settings; for each partition the rows of files
    that it is made of (none where it came otherwise); the columns kept of the table; a token of this run
    alone.
    """

    identity: Mapping[str, str]
    spans: Sequence[Sequence[Span]]
    columns: Sequence[str]
    id: str | None
    token: str


@dataclass(frozen=True)
class WorkDirectory:
    """A directory of stages. It is cheap to send: a task reads from it what it needs, once for each process.

    ``token`` distinguishes it from an earlier directory of the same name, of which a worker may remember
    something.
    """

    folder: str
    token: str

    @classmethod
    def begin(cls, folder: Path, model: Any, about: About) -> WorkDirectory:
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
        """Record how many rows each partition has."""
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
        """The stats of a piece that was made."""
        found: Stats = json.loads(self.path(stage, k).with_suffix(".json").read_text())
        return found

    def finish(self, stage: str, k: int, stats: Stats) -> Stats:
        """Record that a piece is made, with its stats."""
        write_text(self.path(stage, k).with_suffix(".json"), json.dumps(stats))
        return stats

    def note(self, stage: str, k: int, cost: Stats) -> None:
        """What it took to make the rows of piece k that are exchanged in a stage."""
        write_text(Path(self.folder) / f"{stage}.made" / f"{k:05d}.json", json.dumps(cost))

    def rows_path(self, stage: str, k: int) -> Path:
        """The file of the rows of piece k that are exchanged in a stage."""
        return Path(self.folder) / f"{stage}.made" / f"{k:05d}.arrow"

    def has_rows(self, stage: str, k: int) -> bool:
        """Whether the rows of piece k were written."""
        path = self.rows_path(stage, k)
        return path.exists() and path.with_suffix(".json").exists()

    def drop_exchanged_rows(self, stage: str) -> None:
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
        """Remove the directory."""
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
    """Write a file whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    passing = path.with_suffix(f".{uuid4().hex[:8]}.tmp")
    passing.write_text(text)
    os.replace(passing, path)


# Rows go from pieces of one stage to pieces of the next through this directory: each piece writes one Arrow
# file, whose batch k has the rows for piece k; piece k reads its batch of every file. Dask's shuffle packs
# rows, sends them and writes them to disk as well. With n pieces the files have n^2 batches: for many
# pieces Dask's shuffle is the better one (`stage_runner.MOST_FILES`). The column that says to which piece a
# row goes.
TO = "to"


def rows_to(to: Any, columns: dict[str, Any]) -> Any:
    """Rows on their way, as an Arrow table; ``to`` has the piece of each."""
    import pyarrow as pa

    return pa.table({TO: np.asarray(to, np.int32), **columns})


def arrays(table: Any) -> dict[str, Any]:
    """The columns of an Arrow table as NumPy arrays."""
    return {name: table.column(name).to_numpy() for name in table.column_names}


def write_rows(work: WorkDirectory, stage: str, k: int, table: Any, n_to: int) -> int:
    """Write the rows that piece k of a stage has for others; how many bytes they have."""
    import pyarrow as pa

    to = table.column(TO).to_numpy()
    order = np.argsort(to.astype(np.uint16), kind="stable")  # numbers of 16 bits are sorted by counting
    ends = np.cumsum(np.bincount(to, minlength=n_to)).tolist()
    moved = table.drop_columns([TO]).take(pa.array(order)).combine_chunks()
    path = work.rows_path(stage, k)
    path.parent.mkdir(parents=True, exist_ok=True)
    passing = path.with_suffix(f".{uuid4().hex[:8]}.tmp")
    try:
        with pa.OSFile(str(passing), "wb") as sink, pa.ipc.new_file(sink, moved.schema) as writer:
            for first, last in zip([0, *ends[:-1]], ends, strict=True):
                writer.write_batch(_batch(moved.slice(first, last - first)))
        os.replace(passing, path)
    finally:
        passing.unlink(missing_ok=True)
    return int(moved.nbytes)


def _batch(table: Any) -> Any:
    """The rows of a table as one batch, also where there are none."""
    import pyarrow as pa

    found = table.combine_chunks().to_batches()
    return found[0] if found else pa.RecordBatch.from_pylist([], table.schema)


def read_rows(work: WorkDirectory, stage: str, k: int, n_from: int) -> Any:
    """The rows for piece k, in the order of the pieces that they come from."""
    import pyarrow as pa

    batches = []
    for j in range(n_from):
        with pa.memory_map(str(work.rows_path(stage, j))) as source:
            batches.append(pa.ipc.open_file(source).get_batch(k))
    return pa.Table.from_batches(batches)
