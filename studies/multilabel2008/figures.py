"""Figures 5.1 and 5.2 of the dissertation again: time and quality of inference.

Figure 5.1: mean time of one inference against the number of nodes, complete graphs, standard normal
potentials. Figure 5.2: for 1000 random problems, how many labelings are better than the one found, sorted;
with 10 nodes (the text) and 18 (the caption).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from clustruct.papers.multilabel import mrf
from studies.results import Results

SEARCHES = {
    "Greedy": mrf.greedy,
    "LBP": mrf.loopy_bp,
    "Combine": mrf.combine,
    "Exact": mrf.exact,
    "LProg": mrf.linear_program,
    "Cut": mrf.graph_cut,
}
LARGEST = {"Exact": 20, "LProg": 100}
SIZES = (5, 10, 15, 20, 30, 50, 70, 100, 150, 200)


def random_problems(count: int, V: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng([seed, V])
    return rng.normal(size=(count, V)), np.triu(rng.normal(size=(count, V, V)), 1)


def times(results: Results, quick: bool) -> list[dict[str, Any]]:
    """Mean CPU milliseconds of one inference, a row per number of nodes."""
    return [
        {"nodes": V, **results.get(f"{V} nodes", lambda V=V: _times(V))}
        for V in SIZES[: 2 if quick else None]
    ]


def _times(V: int) -> dict[str, float]:
    unary, pairwise = random_problems(max(3, 2000 // V), V, 0)
    found = {}
    for name, search in SEARCHES.items():
        if LARGEST.get(name, 1000) < V:
            continue
        count = 3 if name in LARGEST and V > 18 else len(unary)
        search(unary[:1], pairwise[:1])
        started = time.process_time()
        search(unary[:count], pairwise[:count])
        found[name] = 1e3 * (time.process_time() - started) / count
    return found


def values_of_all(phi: Any, pairs: Any) -> Any:
    """The value of every labeling, number y standing for the bits of y, by doubling: O(2^V)."""
    values = np.zeros(1)
    for j in range(len(phi)):
        gain = np.full(1, phi[j])
        for i in range(j):
            gain = np.concatenate([gain, gain + pairs[i, j]])
        values = np.concatenate([values, values + gain])
    return values


def count_better(unary: Any, pairwise: Any, labelings: dict[str, Any]) -> dict[str, list[int]]:
    """How many of all labelings have a higher value than the one of each search, for each problem."""
    counts: dict[str, list[int]] = {name: [] for name in labelings}
    bits = 1 << np.arange(unary.shape[1], dtype=np.int64)
    for i, (phi, pairs) in enumerate(zip(unary, pairwise, strict=True)):
        values = values_of_all(phi, pairs)
        close = 1e-9 * np.abs(values).max()
        for name, labels in labelings.items():
            counts[name].append(int(np.sum(values > values[int(labels[i] @ bits)] + close)))
    return counts


def ranks(results: Results, quick: bool) -> list[dict[str, Any]]:
    """By nodes and search: how many of 1000 problems are solved, and how many labelings are better."""
    rows = []
    for V in (6,) if quick else (10, 18):
        found = results.get(f"{V} nodes", lambda V=V: _ranks(V, 20 if quick else 1000))
        rows += [{"nodes": V, "search": name, **of_search} for name, of_search in found.items()]
    return rows


def _ranks(V: int, count: int) -> dict[str, Any]:
    """Of the sorted numbers of better labelings; undecided labels of Cut are tossed."""
    unary, pairwise = random_problems(count, V, 1)
    found = {name: SEARCHES[name](unary, pairwise) for name in ("Greedy", "LBP", "Combine", "Cut")}
    labelings = {n: y.at_random(0) if isinstance(y, mrf.RelaxedLabeling) else y for n, y in found.items()}
    out = {}
    for name, mine in count_better(unary, pairwise, labelings).items():
        counts = sorted(mine)
        out[name] = {"solved": counts.count(0), "median": counts[len(counts) // 2], "worst": counts[-1]}
    return out


def draw_times(rows: list[dict[str, Any]], docs: Path) -> None:
    """Figure 5.1."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    with plt.rc_context({"svg.hashsalt": "clustruct"}):
        figure, axes = plt.subplots(figsize=(6, 4))
        for name in SEARCHES:
            points = [(row["nodes"], row[name]) for row in rows if name in row]
            axes.loglog(*zip(*points, strict=True), marker="o", label=name)
        axes.set(
            xlabel="nodes", ylabel="milliseconds per inference", title="Figure 5.1: time on complete graphs"
        )
        axes.legend()
        figure.savefig(docs / "multilabel-times.svg", metadata={"Date": None}, bbox_inches="tight")
        plt.close(figure)
