"""k leading eigenvectors against full eigh: ``python -m benchmarks.eigen``."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.linalg import subspace_angles

from benchmarks.printing import command
from clustruct.search import spectral


def eigen(quick: bool, k: int = 6) -> list[dict[str, Any]]:
    """For a similarity with clusters and for pure noise, 1,000 items; --quick: 300."""
    m = 300 if quick else 1000
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(m, m))
    noise = (noise + noise.T) / 2
    groups = (rng.integers(0, k, m)[:, None] == np.arange(k)) * 1.0
    rows = []
    for name, K in {"clusters": groups @ groups.T + noise, "noise": noise}.items():
        full, (_, vectors) = _fastest(lambda K=K: np.linalg.eigh(K))
        part, relaxed = _fastest(lambda K=K: spectral.relax(K, k))
        angle = float(subspace_angles(relaxed.Y, vectors[:, -k:]).max())
        rows.append({"matrix": name, "m": m, "k": k, "eigh's time over ours": full / part, "angle": angle})
    return rows


def _fastest(call: Any, repeats: int = 5) -> tuple[float, Any]:
    best, answer = np.inf, None
    for _ in range(repeats):
        started = time.process_time()
        answer = call()
        best = min(best, time.process_time() - started)
    return best, answer


PARTS = {"eigenvectors": eigen}

if __name__ == "__main__":
    command(PARTS, __doc__)
