"""Clustering with a Universum: CPU time of a fit on 20 Newsgroups (CLUSTRUCT_DATA).

Against k-means with 50 starts, on words without SVD, and as n grows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.printing import command
from clustruct.evaluate.metrics import matched_accuracy
from clustruct.papers.universum import UniversumClustering
from studies.data import NoData
from studies.universum2011.corpora import load
from studies.universum2011.methods import chosen_universum


def _cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    done = work()
    return time.process_time() - began, done


def speed(quick: bool) -> list[dict[str, Any]] | str:
    """Rows with CPU seconds; ratios are k-means' time over ours, in this run. --quick: without growth."""
    try:
        corpus = load("20news")
    except NoData as why:
        return f"not run: {why}"
    universum = chosen_universum(corpus, "select")
    UniversumClustering(2, random_state=0).fit(corpus.X[:200], universum=universum[:20])  # compiles
    peer = KMeans(corpus.k, n_init=5 if quick else 50, random_state=0)
    slow, model = _cpu(lambda: peer.fit(corpus.X))
    rows = [_row(f"KMeans(n_init={peer.n_init})", corpus.X.shape, slow, slow, corpus.y, model.labels_)]
    cases = {
        "M2DCU-0": (corpus.X, None),
        "M2DCU, U_select": (corpus.X, universum),
        "M2DCU, U_rest": (corpus.X, corpus.rest),
        "M2DCU-0, words": (corpus.words, None),
        "M2DCU, words, U_rest": (corpus.words, corpus.rest_words),
    }
    for name, (X, U) in cases.items():
        seconds, model = _cpu(
            lambda X=X, U=U: UniversumClustering(corpus.k, random_state=0).fit(X, universum=U)
        )
        rows.append(_row(name, X.shape, seconds, slow, corpus.y, model.labels_))
    return rows if quick else [*rows, growth(corpus.X, universum, 5)]


def _row(name: str, shape: Any, seconds: float, slow: float, y: Any, labels: Any) -> dict[str, Any]:
    accuracy = 100.0 * matched_accuracy(y, labels)
    size = f"{shape[0]} x {shape[1]}"
    return {"fit": name, "size": size, "seconds": seconds, "ratio": slow / seconds, "accuracy": accuracy}


def growth(X: np.ndarray, universum: np.ndarray, repeats: int) -> dict[str, Any]:
    """The exponent of CPU time in n, from 1,000 documents to three copies of all (with a little noise)."""
    rng = np.random.default_rng(0)
    sizes = [1000, 2000, 4000, 8000, 16000, 32000, 48000]
    times = []
    for n in sizes:
        rows = rng.permutation(np.arange(n) % len(X))
        Z = X[rows] + 1e-3 * rng.normal(size=(n, X.shape[1]))
        fits = [
            _cpu(lambda Z=Z, s=s: UniversumClustering(4, random_state=s).fit(Z, universum=universum))[0]
            for s in range(repeats)
        ]
        times.append(float(np.median(fits)))
    exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    late = float(np.polyfit(np.log(sizes[3:]), np.log(times[3:]), 1)[0])
    text = ", ".join(f"{n}: {t:.2f} s" for n, t in zip(sizes, times, strict=True))
    return {"fit": f"exponent in n {exponent:.2f}, from 8,000 on {late:.2f} ({text})"}


PARTS = {"universum": speed}

if __name__ == "__main__":
    command(PARTS, __doc__)
