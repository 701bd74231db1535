"""Tables 3 to 6 and the grid, with parameters as in the paper and chosen without labels."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.mrf_tables import Store
from benchmarks.universum_corpora import CORPORA, OUT, Corpus, load
from benchmarks.universum_methods import FEWER, METHODS, chosen_universum, run, scores
from clustruct.model_selection.label_free import RULES, choose_by_scores, kmeans_starts, try_grid
from clustruct.universum.problem import principal_labels

MEASURES = ("accuracy", "nmi", "rand", "seconds")
GRID_C = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
GRID_U = (0.0, 0.001, 0.01, 0.1, 1.0, 10.0)
# Accuracy in the paper: Table 3.
PUBLISHED = {
    "20news": {"M2DCU": 69.0, "M2DCU-0": 63.1, "k-means": 60.7, "NMF": 64.3, "Ncut": 54.9, "GMM": 51.9}
    | {"CPM3C": 56.6, "CLGR": 45.8, "PLSA": 66.5},
    "webkb": {"M2DCU": 62.6, "M2DCU-0": 59.2, "k-means": 48.3, "NMF": 47.8, "Ncut": 47.2, "GMM": 60.4}
    | {"CPM3C": 51.4, "CLGR": 48.9, "PLSA": 52.7},
}


def tables(seeds: int, corpora: tuple[str, ...] = CORPORA, only: str | None = None) -> list[dict[str, Any]]:
    """A row per corpus and method: means over seeds at default settings, CPU seconds."""
    store, rows = Store(OUT / "parts"), []
    for name in corpora:
        corpus = load(name)
        for method in [only] if only else METHODS:
            count = min(seeds, FEWER.get(method, seeds))
            runs = [
                store.get(_key(name, method, s), lambda c=corpus, m=method, s=s: _one(c, m, s))
                for s in range(count)
            ]
            row = {"corpus": name, "method": method, "seeds": count}
            row |= {
                key: float(np.mean([r[key] for r in runs])) for key in ("accuracy", "nmi", "rand", "seconds")
            }
            row["spread"] = float(np.std([r["accuracy"] for r in runs]))
            rows.append({**row, "paper": PUBLISHED[name].get(method, "")})
    return rows


def _key(name: str, method: str, seed: int) -> str:
    return f"{name}-{method.replace(' ', '_').replace(',', '')}-{seed}"


def _one(corpus: Corpus, method: str, seed: int) -> dict[str, float]:
    if method.startswith("M2DCU") and not method.startswith("M2DCU-0"):
        chosen_universum(corpus, "rest" if "U_rest" in method else "select")  # not part of the time
    began = time.process_time()
    labels = run(method, corpus, seed)
    return {**scores(corpus.y, labels), "seconds": time.process_time() - began}


def grid(name: str, seeds: int, source: str = "select", balance: float = 0.1) -> list[dict[str, Any]]:
    """Every setting from the same k-means starts, one per seed: accuracies, objectives, and the rules."""
    corpus, store, rows = load(name), Store(OUT / "parts"), []
    make = Starts(corpus, seeds)
    for C in GRID_C:
        for u in GRID_U:
            if u == 0.0 and source != "select":
                continue
            setting = {"C": C, "C_universum": u, "balance": balance}
            key = f"{name}-grid-{source}-{C:g}-{u:g}-{balance:g}-{seeds}"
            rows.append(store.get(key, lambda s=setting: trial_scores(corpus, source, s, make())))
    return rows


class Starts:
    """The starts of a study, made when first asked for: k-means per seed, before them the principal one."""

    def __init__(self, corpus: Corpus, seeds: int, principal: bool = False) -> None:
        self.corpus, self.seeds, self.principal = corpus, seeds, principal
        self.made: list[Any] = []

    def __call__(self) -> list[Any]:
        if not self.made:
            X, k = self.corpus.X, self.corpus.k
            first = [principal_labels(X, k, np.random.RandomState(0))] if self.principal else []
            self.made = [*first, *kmeans_starts(X, k, self.seeds)]
        return self.made


def trial_scores(corpus: Corpus, source: str, setting: dict[str, float], starts: list[Any]) -> dict[str, Any]:
    """One setting from every start, scored by the true classes and by the rules that do not see them."""
    trial = try_grid(corpus.X, chosen_universum(corpus, source), corpus.k, [setting], starts)[0]
    found = [scores(corpus.y, labels) for labels in trial.labelings]
    return {
        **setting,
        "source": source,
        **{key: [f[key] for f in found] for key in ("accuracy", "nmi", "rand")},
        "objectives": trial.objectives,
        "rules": trial.scores,
    }


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Best on the grid by the true classes, and what each rule chooses, for M2DCU and M2DCU-0."""
    out = []
    for method, mine in (
        ("M2DCU-0", [r for r in rows if r["C_universum"] == 0.0]),
        ("M2DCU", [r for r in rows if r["C_universum"] > 0.0]),
    ):
        picks = {"best on the grid": max(mine, key=lambda r: np.mean(r["accuracy"]))}
        picks |= {rule: mine[choose_by_scores([r["rules"] for r in mine], rule)] for rule in RULES}
        picks["default"] = next(r for r in mine if r["C"] == 8.0 and r["C_universum"] in (0.0, 1.0))
        for how, row in picks.items():
            lowest = int(np.argmin(row["objectives"]))
            out.append(
                {
                    "method": method,
                    "chosen by": how,
                    "C": row["C"],
                    "C_u": row["C_universum"],
                    "accuracy": float(np.mean(row["accuracy"])),
                    "nmi": float(np.mean(row["nmi"])),
                    "rand": float(np.mean(row["rand"])),
                    "lowest objective": row["accuracy"][lowest],
                }
            )
    return out
