"""Figures 1 to 4: the toy, and accuracy as one parameter changes; SVG files in docs/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from benchmarks.mrf_tables import Store
from benchmarks.universum_corpora import CORPORA, OUT, load
from benchmarks.universum_tables import Starts, trial_scores
from examples import universum_toy

DOCS = Path("docs")
DEFAULT = {"C": 8.0, "C_universum": 1.0, "balance": 0.1}
SWEEPS = {
    "C_universum": (0.001, 0.01, 0.1, 1.0, 10.0),
    "C": (2.0, 4.0, 8.0, 16.0, 32.0, 64.0),
    "balance": (0.001, 0.01, 0.1, 1.0, 10.0),
}
NAMES = {"C_universum": "universum-weight.svg", "C": "universum-c.svg", "balance": "universum-balance.svg"}
LINES = {"with": ("#d1622b", "with Universum"), "without": ("#1f6fb4", "without")}


def toy() -> list[dict[str, Any]]:
    """Figure 1."""
    without, with_universum = universum_toy.picture(DOCS / "universum-toy.svg")
    return [{"points": 80, "wrong without Universum": without, "wrong with Universum": with_universum}]


def sensitivity(seeds: int) -> list[dict[str, Any]]:
    """Figures 2 to 4 on both corpora: defaults with one parameter changed, with and without U_select."""
    rows = [row for name in CORPORA for row in _sweeps(name, seeds)]
    for parameter, values in SWEEPS.items():
        _plot(parameter, values, rows)
    return rows


def _sweeps(name: str, seeds: int) -> list[dict[str, Any]]:
    corpus, store, rows = load(name), Store(OUT / "parts"), []
    make = Starts(corpus, seeds, principal=True)
    for parameter, values in SWEEPS.items():
        for value in values:
            for which in LINES:
                setting = {**DEFAULT, parameter: value}
                if which == "without":
                    setting["C_universum"] = 0.0
                key = f"{name}-line-{'-'.join(f'{v:g}' for v in setting.values())}-{seeds}"
                found = store.get(key, lambda s=setting: trial_scores(corpus, "select", s, make()))[
                    "accuracy"
                ]
                row = {"corpus": name, "varied": parameter, "value": value, "Universum": which}
                rows.append({**row, "principal": found[0], "k-means starts": float(np.mean(found[1:]))})
    return rows


def _plot(parameter: str, values: tuple[float, ...], rows: list[dict[str, Any]]) -> None:
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "clustruct", "font.size": 9}):
        figure, panels = plt.subplots(1, 2, figsize=(8, 2.6))
        for axes, name in zip(panels, CORPORA, strict=True):
            for which, (colour, label) in LINES.items():
                mine = [
                    r for r in rows if (r["corpus"], r["varied"], r["Universum"]) == (name, parameter, which)
                ]
                for start, style in (("principal", "-"), ("k-means starts", "--")):
                    axes.plot(
                        values, [r[start] for r in mine], style, c=colour, lw=1.2, label=f"{label}, {start}"
                    )
            axes.set_xscale("log")
            axes.set_title(name, fontsize=9)
            axes.set_xlabel(parameter)
        panels[0].set_ylabel("accuracy (%)")
        panels[1].legend(fontsize=6)
        figure.tight_layout()
        figure.savefig(DOCS / NAMES[parameter], metadata={"Date": None})
        plt.close(figure)
