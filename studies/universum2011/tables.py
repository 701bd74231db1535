"""Tables 3 to 6 and the grid, with parameters as in the paper and chosen without labels."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from clustruct.papers.cpm3c import CPM3C
from clustruct.papers.universum.label_free import RULES, choose_by_scores, kmeans_starts, try_grid
from clustruct.papers.universum.margin_problem import principal_labels
from studies.results import Results
from studies.universum2011.corpora import Corpus, load
from studies.universum2011.methods import METHODS, chosen_universum, run, scores

MEASURES = ("accuracy", "nmi", "rand", "seconds")
GRID_C = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
GRID_U = (0.0, 0.001, 0.01, 0.1, 1.0, 10.0)
GRID_BALANCE = (0.001, 0.01, 0.1, 1.0, 10.0)
# Seeds of what takes long, by collection; all else has ten.
FEWER = {"20news": {"GMM": 1, "CPM3C": 1}, "webkb": {"GMM": 1}, "reuters21578-1": {"GMM": 1}}


def tables(
    results: Results, quick: bool, *, name: str, seeds: int = 10, fewer: bool = True
) -> list[dict[str, Any]]:
    """A row per method: means over seeds at default settings, CPU seconds. In the paper's dimensions, but for
    20 Newsgroups. Without ``fewer`` every method has all seeds.
    """
    corpus, rows = load(name, quick, "stems" if name == "20news" else "paper"), []
    for method in METHODS:
        count = 1 if quick else FEWER.get(name, {}).get(method, seeds) if fewer else seeds
        runs = [
            results.get(f"{method}, seed {s}", lambda m=method, s=s: _one(corpus, m, s)) for s in range(count)
        ]
        row: dict[str, Any] = {"collection": name, "method": method, "seeds": count}
        row |= {key: float(np.mean([r[key] for r in runs])) for key in MEASURES}
        rows.append({**row, "spread": float(np.std([r["accuracy"] for r in runs]))})
    return rows


def _one(corpus: Corpus, method: str, seed: int) -> dict[str, float]:
    if method.startswith("M2DCU") and not method.startswith("M2DCU-0"):
        chosen_universum(corpus, "rest" if "U_rest" in method else "select")  # not part of the time
    began = time.process_time()
    labels = run(method, corpus, seed)
    return {**scores(corpus.y, labels), "seconds": time.process_time() - began}


def tuned_cpm3c(results: Results, quick: bool, *, name: str) -> list[dict[str, Any]]:
    """CPM3C with every C of the grid, one seed each."""
    corpus, rows = load(name, quick, "stems" if name == "20news" else "paper"), []
    for C in GRID_C[:2] if quick else GRID_C:

        def make(C: float = C) -> dict[str, float]:
            return scores(corpus.y, CPM3C(corpus.k, C=C, random_state=0).fit(corpus.X).labels_)

        rows.append({"C": f"{C:g}", **results.get(f"C = {C:g}", make)})
    return rows


def grid(
    results: Results,
    quick: bool,
    *,
    name: str,
    seeds: int = 10,
    source: str = "select",
    balance: float = 0.1,
) -> list[dict[str, Any]]:
    """Every setting from the same k-means starts, one per seed; the best, and what each rule chooses."""
    corpus, rows = load(name, quick), []
    make = Starts(corpus, 2 if quick else seeds)
    for C in GRID_C:
        for u in GRID_U:
            if u == 0.0 and source != "select":
                continue
            setting = {"C": C, "C_universum": u, "balance": balance}
            key = f"C = {C:g}, C_u = {u:g}"
            rows.append(results.get(key, lambda s=setting: trial_scores(corpus, source, s, make())))
    # The balance moves little: its grid is searched at the best of the other settings only.
    for mine in ([r for r in rows if r["C_universum"] == 0.0], [r for r in rows if r["C_universum"] > 0.0]):
        best = max(mine, key=lambda r: np.mean(r["accuracy"]))
        for other in (b for b in GRID_BALANCE if b != balance):
            setting = {"C": best["C"], "C_universum": best["C_universum"], "balance": other}
            key = f"C = {best['C']:g}, C_u = {best['C_universum']:g}, balance = {other:g}"
            rows.append(results.get(key, lambda s=setting: trial_scores(corpus, source, s, make())))
    return summary(rows)


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
        picks["default"] = next(r for r in mine if r["C"] == 2.0 and r["C_universum"] in (0.0, 1.0))
        for how, row in picks.items():
            lowest = int(np.argmin(row["objectives"]))
            out.append(
                {
                    "method": method,
                    "chosen by": how,
                    "C": row["C"],
                    "C_u": row["C_universum"],
                    "balance": row["balance"],
                    "accuracy": float(np.mean(row["accuracy"])),
                    "nmi": float(np.mean(row["nmi"])),
                    "rand": float(np.mean(row["rand"])),
                    "lowest objective": row["accuracy"][lowest],
                }
            )
    return out
