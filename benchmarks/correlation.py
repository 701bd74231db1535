"""Correlation clustering against its peers: value and seconds, side by side in one process, one thread.

    python -m benchmarks.correlation            tables (some minutes, most of them spent in the peers)
    python -m benchmarks.correlation --quick    without m = 3000 and without all the rows at m = 100

Seconds are CPU seconds of this process. bioimage-cpp and igraph are needed only for the columns about them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.printing import command
from clustruct.search import correlation

Result = dict[str, Any]


def planted(m: int, kind: str, seed: int, n_clusters: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Scores and labels: +-0.5 plus N(0, 1) ("gauss"), or +-1 with a quarter of the signs flipped ("pm1")."""
    rng = np.random.default_rng([seed, m, 1 if kind == "pm1" else 0])
    labels = rng.integers(n_clusters or max(m // 20, 1), size=m)
    pairs = np.triu_indices(m, 1)
    sign = np.where(labels[pairs[0]] == labels[pairs[1]], 1.0, -1.0)
    if kind == "pm1":
        weights = np.where(rng.random(len(sign)) < 0.25, -sign, sign)
    else:
        weights = 0.5 * sign + rng.standard_normal(len(sign))
    K = np.zeros((m, m))
    K[pairs] = weights
    return K + K.T, labels


def noisy(m: int, noise: float) -> np.ndarray:
    """Scores of a planted partition with clusters of about 20 and Gaussian noise of the given size."""
    rng = np.random.default_rng(0)
    labels = rng.integers(max(m // 20, 1), size=m)
    K = np.where(labels[:, None] == labels, 0.5, -0.5) + noise * np.triu(rng.standard_normal((m, m)), 1)
    return np.triu(K, 1) + np.triu(K, 1).T


def sparse_planted(m: int, n_edges: int, n_clusters: int) -> tuple[sparse.coo_array, np.ndarray]:
    """A signed graph, half of whose edges lie inside planted clusters; +-0.5 plus N(0, 1)."""
    rng = np.random.default_rng(0)
    labels = np.sort(rng.integers(n_clusters, size=m))
    sizes = np.bincount(labels, minlength=n_clusters)
    starts = np.cumsum(sizes) - sizes
    a, anywhere = rng.integers(m, size=n_edges), rng.integers(m, size=n_edges)
    inside = starts[labels[a]] + (rng.random(n_edges) * sizes[labels[a]]).astype(int)
    b = np.where(rng.random(n_edges) < 0.5, inside, anywhere)
    keys = np.unique(np.minimum(a, b)[a != b] * m + np.maximum(a, b)[a != b])
    a, b = keys // m, keys % m
    weights = np.where(labels[a] == labels[b], 0.5, -0.5) + rng.standard_normal(len(a))
    return sparse.coo_array((weights, (a, b)), shape=(m, m)), labels


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and its CPU seconds."""
    start = time.process_time()
    answer = function()
    return answer, time.process_time() - start


def bioimage(K: np.ndarray, with_kl: bool) -> Result:
    """Value and seconds of bioimage-cpp's greedy contraction (GAEC) and of Kernighan-Lin after it."""
    try:
        from bioimage_cpp.graph import UndirectedGraph
        from bioimage_cpp.graph.multicut import (
            GreedyAdditiveMulticut,
            KernighanLinMulticut,
            MulticutObjective,
        )
    except ImportError:
        return {"bioimage": "not installed"}
    pairs = np.triu_indices(len(K), 1)
    graph = UndirectedGraph.from_unique_edges(len(K), np.stack(pairs, axis=1).astype(np.uint64))
    out: Result = {}
    solvers = {"gaec": GreedyAdditiveMulticut, **({"kl": KernighanLinMulticut} if with_kl else {})}
    for name, solver in solvers.items():
        problem = MulticutObjective(graph, K[pairs])
        labels, seconds = timed(lambda s=solver, p=problem: s().optimize(p))
        out |= {f"{name}_value": correlation.objective(K, labels.astype(int)), f"{name}_seconds": seconds}
    return out


def leiden(K: np.ndarray) -> Result:
    """Value and seconds of igraph's Leiden (CPM, resolution 0), and the seconds to build its graph."""
    try:
        import igraph
    except ImportError:
        return {"igraph": "not installed"}
    pairs = np.triu_indices(len(K), 1)
    graph, build = timed(lambda: igraph.Graph(n=len(K), edges=np.stack(pairs, axis=1)))
    graph.es["weight"] = K[pairs]
    found, seconds = timed(
        lambda: graph.community_leiden("CPM", weights="weight", resolution=0.0, n_iterations=-1)
    )
    value = correlation.objective(K, np.array(found.membership))
    return {"leiden_value": value, "leiden_seconds": seconds, "leiden_build_seconds": build}


def searches(m: int, kind: str, seed: int, n_clusters: int | None = None) -> Result:
    """Greedy and local search (default, and descent alone) on one planted instance, and the peers."""
    K, labels = planted(m, kind, seed, n_clusters)
    row: Result = {"m": m, "kind": kind, "seed": seed, "clusters": n_clusters or m // 20}
    row["planted_value"] = correlation.objective(K, labels)
    ours = {
        "greedy": correlation.greedy,
        "descent": lambda K: correlation.local_search(K, sweeps=0),
        "local_search": correlation.local_search,
    }
    for name, search in ours.items():
        found, seconds = timed(lambda search=search: search(K))
        row |= {f"{name}_value": correlation.objective(K, found), f"{name}_seconds": seconds}
    return row | (leiden(K) if n_clusters else bioimage(K, with_kl=True))


def all_rows_programme(K: np.ndarray) -> tuple[float, float]:
    """Value and seconds of HiGHS (its own choice of solver) on the relaxation with every triangle row."""
    import highspy

    m = len(K)
    pairs = np.triu_indices(m, 1)
    number = np.zeros((m, m), np.int32)
    number[pairs] = np.arange(len(pairs[0]))
    number += number.T
    a, b, c = (x.ravel() for x in np.meshgrid(*[np.arange(m)] * 3, indexing="ij"))
    keep = (a < b) & (c != a) & (c != b)
    a, b, c = a[keep], b[keep], c[keep]
    n = len(a)
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.addVars(len(pairs[0]), np.zeros(len(pairs[0])), np.ones(len(pairs[0])))
    highs.changeColsCost(len(pairs[0]), np.arange(len(pairs[0]), dtype=np.int32), K[pairs])
    highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
    places = np.stack([number[a, c], number[b, c], number[a, b]], axis=1).ravel()
    starts = np.arange(0, 3 * n, 3, dtype=np.int32)
    highs.addRows(n, np.full(n, -np.inf), np.ones(n), 3 * n, starts, places, np.tile([1.0, 1.0, -1.0], n))
    _, seconds = timed(highs.run)
    return float(highs.getObjectiveValue()), seconds


def relaxation(m: int, noise: float, with_all_rows: bool) -> Result:
    """The lazy relaxation, and the one with all rows where asked for."""
    K = noisy(m, noise)
    e, seconds = timed(lambda: correlation.lp_relaxation(K))
    fractional = float(np.mean(np.minimum(e.degrees, 1 - e.degrees) > 1e-6))
    row: Result = {"m": m, "noise": noise, "value": e.value, "seconds": seconds, "rounds": e.rounds}
    row |= {"converged": e.converged, "fractional": fractional}
    if with_all_rows:
        row["all_rows_value"], row["all_rows_seconds"] = all_rows_programme(K)
    return row


def small_calls() -> Result:
    """Microseconds per call on the sizes that a learning oracle sees."""
    out: Result = {}
    for m in (20, 50, 100):
        K = noisy(m, 0.6)
        for name, settings in {"descent": {"sweeps": 0}, "default": {}}.items():
            _, seconds = timed(lambda K=K, s=settings: [correlation.local_search(K, **s) for _ in range(200)])
            out[f"local_search_{name}_{m}_microseconds"] = 5e3 * seconds
        _, seconds = timed(lambda K=K: [correlation.greedy(K) for _ in range(200)])
        out[f"greedy_{m}_microseconds"] = 5e3 * seconds
    return out


def large_sparse() -> list[Result]:
    """24,000 items and half a million edges."""
    graph, labels = sparse_planted(24_000, 500_000, 1200)
    rows = []
    for name, search in (("greedy", correlation.greedy), ("local_search", correlation.local_search)):
        found, seconds = timed(lambda search=search: search(graph))
        ratio = correlation.objective(graph, found) / correlation.objective(graph, labels)
        rows.append({"search": name, "edges": graph.nnz, "over_planted": ratio, "seconds": seconds})
    return rows


def hard(quick: bool) -> list[Result]:
    """Many small clusters with much noise, beside bioimage-cpp; --quick: without m = 3000, one seed."""
    cases = [
        (m, kind, seed) for m in (300, 1000) for kind in ("gauss", "pm1") for seed in range(1 if quick else 3)
    ]
    cases += [] if quick else [(3000, "gauss", 0), (3000, "pm1", 0)]
    return [_over_planted(searches(*case)) for case in cases]


def easy(quick: bool) -> list[Result]:
    """Ten clusters, beside igraph."""
    return [
        _over_planted(searches(m, "gauss", 0, n_clusters=10)) for m in ((1000,) if quick else (1000, 3000))
    ]


def _over_planted(row: Result) -> Result:
    """Values over the planted one."""
    planted_value = row.pop("planted_value")
    return {k: v / planted_value if k.endswith("_value") else v for k, v in row.items()}


def relaxations(quick: bool) -> list[Result]:
    """Lazy triangle rows beside all of them (--quick: at m = 50 alone)."""
    cases = [(50, 0.6), (50, 1.0), (100, 0.6), (100, 1.0), (150, 0.5), (150, 0.6)]
    cases += [] if quick else [(300, 0.5)]
    return [relaxation(m, noise, with_all_rows=m == 50 or (m == 100 and not quick)) for m, noise in cases]


def compile_all(quick: bool) -> str:
    """Before anything is timed."""
    small, _ = planted(30, "gauss", 0)
    for K in (small, sparse.csr_array(small)):
        correlation.local_search(K)
    correlation.lp_relaxation(small)
    return "done"


PARTS = {
    "compilation": compile_all,
    "planted partitions": hard,
    "ten clusters": easy,
    "relaxation": relaxations,
    "small calls": lambda quick: small_calls(),
    "sparse": lambda quick: large_sparse(),
}


if __name__ == "__main__":
    command(PARTS, __doc__)
