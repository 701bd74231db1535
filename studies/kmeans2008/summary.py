"""Tables 4.1, 4.2 and 4.5: the data, and who won, from the results that are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from clustruct.data import ItemSet
from clustruct.data.datasets import make_synth
from clustruct.evaluate.metrics import compare_paired
from studies.kmeans2008 import news, synth, webkb
from studies.kmeans2008.webkb_pages import UNIVERSITIES
from studies.kmeans2008.webkb_pages import webkb as pages
from studies.results import Results
from studies.tasks import news as news_task

RESULTS = Path(__file__).parent / "results"


def data_sets(results: Results, quick: bool) -> list[dict[str, Any]]:
    """Sizes of the sets, and the grids of C."""
    made: dict[str, Callable[[], dict[str, Any]]] = {
        "WebKB-L": lambda: _sizes(*_webkb(linked=True)),
        "WebKB-N": lambda: _sizes(*_webkb(linked=False)),
        **{source: lambda s=source: _sizes(*_news(s)) for source in news.SOURCES},  # type: ignore[misc]
        "Synth": lambda: _sizes(*make_synth()),
    }
    grids = {"WebKB-L": webkb.GRIDS["l"], "WebKB-N": webkb.GRIDS["n"], "Synth": synth.GRID}
    names = ["Synth"] if quick else list(made)
    return [
        {"data": name, **results.get(name, made[name]), "C": _ends(grids.get(name, news.GRID))}
        for name in names
    ]


def _webkb(linked: bool) -> tuple[list[ItemSet], list[Any]]:
    task = pages("presence", linked=linked)
    return task.sets, task.labels


def _news(source: str) -> tuple[list[ItemSet], list[Any]]:
    task = news_task(source, news.SOURCES[source])
    return task.take(news.one_per_group(task, 7))


def _sizes(sets: list[ItemSet], labels: list[Any]) -> dict[str, Any]:
    clusters = sorted({len(set(y.tolist())) for y in labels})
    return {
        "n": len(sets),
        "k": "-".join(map(str, dict.fromkeys([clusters[0], clusters[-1]]))),
        "m": float(np.mean([x.n_items for x in sets])),
        "N_n": sets[0].n_features - sets[0].n_pair_features,
        "N_p": sets[0].n_pair_features,
    }


def _ends(grid: Any) -> list[float]:
    return [min(grid), max(grid)]


def wins(results: Results, quick: bool) -> list[dict[str, Any]]:
    """Iterative against Spectral on each kind of data, as far as results are kept."""
    rows = []
    for name, read in KINDS.items():
        losses = read()
        if losses is None:
            continue
        rows.append({"data": name, "means": _means(losses)})
        if {"Iterative", "Spectral"} <= set(losses):
            found = compare_paired(losses["Iterative"], losses["Spectral"])
            counts = {"won": found.wins, "tied": found.ties, "lost": found.losses, "W": found.W}
            rows[-1] |= counts | {"trials": found.n, "p": found.p_wilcoxon}
    return rows


def _means(losses: Mapping[str, list[float]]) -> dict[str, float]:
    return {method: float(np.mean(values)) for method, values in losses.items()}


def _kept(key: str) -> Any:
    path = RESULTS / f"{key}.json"
    return json.loads(path.read_text("utf-8")).get("rows") if path.exists() else None


def webkb_losses(kind: str) -> dict[str, list[float]] | None:
    """Losses by method, as far as they are kept; Spectral with the weighting of words chosen."""
    kept = {m: _kept(f"webkb-{kind}-{m.lower()}") for m in webkb.METHODS if m not in webkb.WEIGHTINGS}
    rows = {m: found["rows"] for m, found in kept.items() if found}
    if kind == "n" and "Spectral" in rows:
        rows["Spectral"] = _chosen()
    return {m: [row["loss"] for row in found] for m, found in rows.items()} or None


def chosen_words(results: Results, quick: bool) -> dict[str, Any]:
    """WebKB-N, Spectral: for each university the weighting of words with the lowest loss on held-out training
    sets, all at C = 1; then C and predictor from the table of that weighting.
    """
    return {"kind": "n", "method": "Spectral", "rows": _chosen()}


def weightings(results: Results, quick: bool) -> list[dict[str, Any]]:
    """What the weighting is chosen by: mean losses on held-out training sets at C = 1, the best predictor."""
    inner = _inner_by_weighting()
    names = {m: webkb.WEIGHTINGS.get(m, "places") for m in inner}
    return [
        {"test set": university, **{names[m]: inner[m][t] for m in inner}}
        for t, university in enumerate(UNIVERSITIES)
    ]


def _chosen() -> list[dict[str, Any]]:
    inner, kept = _inner_by_weighting(), {}
    best = [min(inner, key=lambda m: inner[m][t]) for t in range(len(UNIVERSITIES))]
    for method in set(best):
        kept[method] = _kept(f"webkb-n-{method.lower()}")["rows"]
    return [kept[method][t] for t, method in enumerate(best)]


def _inner_by_weighting() -> dict[str, list[float]]:
    """By weighting and test university, of those weightings whose trainings at C = 1 are all kept."""
    found = {m: _inner_losses(f"webkb-n-{m.lower()}") for m in ("Spectral", *webkb.WEIGHTINGS)}
    return {m: losses for m, losses in found.items() if losses is not None}


def _inner_losses(key: str, C: float = 1.0) -> list[float] | None:
    path, n = RESULTS / f"{key}.json", len(UNIVERSITIES)
    cells = json.loads(path.read_text("utf-8"))["cells"] if path.exists() else {}
    names = {pair: f"without {pair[0]} and {pair[1]}, C = {C:g}" for pair in combinations(range(n), 2)}
    if not set(names.values()) <= set(cells):
        return None
    losses = {pair: cells[name]["value"]["losses"] for pair, name in names.items()}
    # A training without t and s is judged on s where t is the test set.
    return [
        _lowest([found[str(sum(pair) - t)] for pair, found in losses.items() if t in pair]) for t in range(n)
    ]


def _lowest(held_out: list[dict[str, float]]) -> float:
    """The mean over held-out sets of the predictor that is best by it."""
    everywhere = set.intersection(*(set(losses) for losses in held_out))
    return min(float(np.mean([losses[p] for losses in held_out])) for p in everywhere)


def news_losses() -> dict[str, list[float]] | None:
    """Both sources together."""
    kept = [rows for source in news.SOURCES if (rows := _kept(source))]
    return {m: [row["loss"] for rows in kept for row in rows[m]] for m in kept[0]} if kept else None


def synth_losses(noise: float) -> dict[str, list[float]] | None:
    """All draws."""
    kept = _kept(f"synth-{noise}")
    return {row["method"]: row["losses"] for row in kept} if kept else None


KINDS: dict[str, Callable[[], dict[str, list[float]] | None]] = {
    "WebKB-L": lambda: webkb_losses("l"),
    "WebKB-N": lambda: webkb_losses("n"),
    "News": news_losses,
    "Synth": lambda: synth_losses(0.2),
    "Synth, noise 0.6": lambda: synth_losses(0.6),
    "Synth, noise 0.8": lambda: synth_losses(0.8),
}
