"""Figures 1 to 4: the toy, and accuracy as one parameter changes; SVG files in docs/."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from examples import universum_toy
from studies.results import Results
from studies.universum2011.corpora import CORPORA, Corpus, load
from studies.universum2011.tables import Starts, trial_scores

DEFAULT = {"C": 2.0, "C_universum": 1.0, "balance": 0.1}
SWEEPS = {
    "C_universum": (0.001, 0.01, 0.1, 1.0, 10.0),
    "C": (2.0, 4.0, 8.0, 16.0, 32.0, 64.0),
    "balance": (0.001, 0.01, 0.1, 1.0, 10.0),
}
NAMES = {"C_universum": "universum-weight.svg", "C": "universum-c.svg", "balance": "universum-balance.svg"}
LINES = {"with": ("#d1622b", "with Universum"), "without": ("#1f6fb4", "without")}


def toy(results: Results, quick: bool) -> list[dict[str, Any]]:
    """Figure 1."""
    with TemporaryDirectory() as there:
        without, with_universum = universum_toy.picture(Path(there) / "toy.svg")
    return [{"points": 80, "wrong without Universum": without, "wrong with Universum": with_universum}]


def draw_toy(rows: list[dict[str, Any]], docs: Path) -> None:
    """Figure 1 as a picture."""
    universum_toy.picture(docs / "universum-toy.svg")


def sensitivity(results: Results, quick: bool, *, seeds: int = 2) -> list[dict[str, Any]]:
    """Figures 2 to 4 on both corpora: defaults with one parameter changed, with and without U_select."""
    return [row for name in CORPORA for row in _sweeps(results, load(name, quick), seeds)]


def draw_sensitivity(rows: list[dict[str, Any]], docs: Path) -> None:
    """A picture for each parameter."""
    for parameter, values in SWEEPS.items():
        _plot(parameter, values, rows, docs)


def _sweeps(results: Results, corpus: Corpus, seeds: int) -> list[dict[str, Any]]:
    name, rows = corpus.name, []
    make = Starts(corpus, seeds, principal=True)
    for parameter, values in SWEEPS.items():
        for value in values:
            for which in LINES:
                setting = {**DEFAULT, parameter: value}
                if which == "without":
                    setting["C_universum"] = 0.0
                key = ", ".join([name, *(f"{k} = {v:g}" for k, v in setting.items())])
                found = results.get(key, lambda s=setting: trial_scores(corpus, "select", s, make()))[
                    "accuracy"
                ]
                row = {"corpus": name, "varied": parameter, "value": value, "Universum": which}
                rows.append({**row, "principal": found[0], "k-means starts": float(np.mean(found[1:]))})
    return rows


def _plot(parameter: str, values: tuple[float, ...], rows: list[dict[str, Any]], docs: Path) -> None:
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
        figure.savefig(docs / NAMES[parameter], metadata={"Date": None})
        plt.close(figure)
