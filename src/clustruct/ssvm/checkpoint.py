"""Training state on disk: written atomically, taken up again after a crash."""

from __future__ import annotations

import json
import os
import time
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from clustruct._typing import Floats
from clustruct.callbacks import Iteration

from .planes import Planes
from .result import Incumbent

FORMAT = 1


@dataclass(frozen=True)
class Saved:
    """What a checkpoint holds."""

    planes: Planes
    best: Incumbent[Floats]
    history: list[Iteration]
    counters: dict[str, float]


class Checkpoint:
    """One file, replaced as a whole every few seconds. ``identity`` says which problem it belongs to."""

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, Any], every: float = 5.0) -> None:
        self.path, self.identity, self.every = Path(path), identity, every
        self._last = time.perf_counter()

    def due(self) -> bool:
        return time.perf_counter() - self._last >= self.every

    def write(self, saved: Saved) -> None:
        """Write beside the file, then rename over it: a reader sees the old state or the new one."""
        header = {
            "format": FORMAT,
            "identity": self.identity,
            "history": [asdict(h) for h in saved.history],
            "counters": saved.counters,
            "best": [saved.best.primal, saved.best.mean_slack],
        }
        planes = saved.planes
        vectors = sparse.csr_array(planes.vectors)
        arrays: dict[str, Any] = {"b": planes.b, "group": planes.group, "a": planes.a, "w": saved.best.w}
        parts = {"data": vectors.data, "indices": vectors.indices, "indptr": vectors.indptr}
        text = np.frombuffer(json.dumps(header).encode(), np.uint8)
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            with open(beside, "wb") as f:
                np.savez(f, header=text, **arrays, **parts)
                f.flush()
                os.fsync(f.fileno())
            os.replace(beside, self.path)
        finally:
            beside.unlink(missing_ok=True)
        self._last = time.perf_counter()

    def read(self) -> Saved | None:
        """The state saved, or None where there is no file yet."""
        if not self.path.exists():
            return None
        try:
            with np.load(self.path, allow_pickle=False) as held:
                x = {name: held[name] for name in held.files}
            header = json.loads(bytes(x["header"]).decode())
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise ValueError(f"{self.path} is not a readable checkpoint: {error}") from None
        if header.get("format") != FORMAT:
            raise ValueError(f"{self.path} has checkpoint format {header.get('format')}, not {FORMAT}")
        for name, value in self.identity.items():
            if header["identity"].get(name) != value:
                raise ValueError(
                    f"{self.path} belongs to another run: its {name} is {header['identity'].get(name)}, "
                    f"here it is {value}"
                )
        shape = (len(x["b"]), self.identity["n_features"])
        vectors = sparse.csr_array((x["data"], x["indices"], x["indptr"]), shape=shape)
        planes = Planes(vectors, x["b"], x["group"], x["a"])
        best = Incumbent(_read_only(x["w"]), *header["best"])
        return Saved(planes, best, [Iteration(**h) for h in header["history"]], header["counters"])


def _read_only(w: Floats) -> Floats:
    w.setflags(write=False)
    return w
