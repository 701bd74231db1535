"""Figures 5.1, 5.2 and 5.3 of the dissertation again: time, quality, and known approximations.

    python -m benchmarks.mrf_figures

Figure 5.1: mean time of one inference against the number of nodes, complete graphs, standard normal
potentials. Figure 5.2: for 1000 random problems, how many labelings are better than the one found, sorted;
with 10 nodes (the text) and 18 (the caption). Figure 5.3: the rho table, where benchmarks.mrf_tables has
made it. Writes out/mrf_figures/*.png and figures.json.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from clustruct.inference import mrf

OUT = Path("out/mrf_figures")
TABLES = Path("out/mrf_tables/results.json")
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


def times() -> dict[str, list[tuple[int, float]]]:
    """Mean CPU milliseconds of one inference, by method and number of nodes."""
    found: dict[str, list[tuple[int, float]]] = {name: [] for name in SEARCHES}
    for V in SIZES:
        unary, pairwise = random_problems(max(3, 2000 // V), V, 0)
        for name, search in SEARCHES.items():
            if LARGEST.get(name, 1000) < V:
                continue
            count = 3 if name in LARGEST and V > 18 else len(unary)
            search(unary[:1], pairwise[:1])
            started = time.process_time()
            search(unary[:count], pairwise[:count])
            found[name].append((V, 1e3 * (time.process_time() - started) / count))
    return found


def count_better(unary: Any, pairwise: Any, labels: Any) -> list[int]:
    """How many of all labelings have a higher value than the one given, for each problem. O(2^V V^2)."""
    every = (np.arange(2 ** unary.shape[1])[:, None] >> np.arange(unary.shape[1]) & 1).astype(float)
    counts = []
    for phi, pairs, y in zip(unary, pairwise, labels, strict=True):
        values = every @ phi + np.einsum("yu,yu->y", every @ pairs, every)
        mine = values[int(y @ (1 << np.arange(len(y), dtype=np.int64)))]
        counts.append(int(np.sum(values > mine + 1e-9 * np.abs(values).max())))
    return counts


def ranks(V: int, count: int = 1000) -> dict[str, list[int]]:
    """Sorted numbers of better labelings; undecided labels of Cut are tossed."""
    unary, pairwise = random_problems(count, V, 1)
    found = {}
    for name in ("Greedy", "LBP", "Combine", "Cut"):
        labels = SEARCHES[name](unary, pairwise)
        if isinstance(labels, mrf.RelaxedLabeling):
            labels = labels.at_random(0)
        found[name] = sorted(count_better(unary, pairwise, labels))
    return found


def plot_times(found: dict[str, list[tuple[int, float]]]) -> None:
    figure, axes = plt.subplots(figsize=(6, 4))
    for name, points in found.items():
        axes.loglog(*zip(*points, strict=True), marker="o", label=name)
    axes.set(xlabel="nodes", ylabel="milliseconds per inference", title="Figure 5.1: time on complete graphs")
    axes.legend()
    figure.savefig(OUT / "figure_5_1.png", dpi=150, bbox_inches="tight")
    plt.close(figure)


def plot_ranks(found: dict[str, list[int]], V: int) -> None:
    figure, axes = plt.subplots(figsize=(6, 4))
    for name, counts in found.items():
        axes.plot(np.arange(1, len(counts) + 1), np.array(counts) + 1, label=name)
    axes.set_yscale("log")
    title = f"Figure 5.2: quality, {V} labels, lower is better"
    axes.set(xlabel="problem, sorted by rank", ylabel="rank of the labeling found", title=title)
    axes.legend()
    figure.savefig(OUT / f"figure_5_2_{V}.png", dpi=150, bbox_inches="tight")
    plt.close(figure)


def plot_rho(results: dict[str, Any]) -> None:
    figure, panels = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    for axes, kind in zip(panels, ("rho_below", "rho_above"), strict=True):
        for name, found in results.items():
            rows = found["rho"].get(kind, [])
            axes.plot([r["rho"] for r in rows], [r["test"]["exact"][0] for r in rows], marker="o", label=name)
        axes.invert_xaxis()
        axes.set(xlabel="rho", ylabel="test loss", title=f"Figure 5.3: {kind}")
    panels[0].legend()
    figure.savefig(OUT / "figure_5_3.png", dpi=150, bbox_inches="tight")
    plt.close(figure)


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    report: dict[str, Any] = {"milliseconds": times(), "ranks": {}}
    plot_times(report["milliseconds"])
    for V in (10, 18):
        found = ranks(V)
        plot_ranks(found, V)
        report["ranks"][V] = {
            name: {"perfect": counts.count(0), "median": counts[len(counts) // 2], "worst": counts[-1]}
            for name, counts in found.items()
        }
    if TABLES.exists():
        plot_rho(json.loads(TABLES.read_text()))
    (OUT / "figures.json").write_text(json.dumps(report, indent=1))
    print(json.dumps(report["ranks"], indent=1))
    for name, points in report["milliseconds"].items():
        print(name, ", ".join(f"{V}: {ms:.3g}" for V, ms in points))


if __name__ == "__main__":
    main()
