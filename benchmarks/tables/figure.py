"""Cost against rows, log-log: ``python -m benchmarks.tables draw FIGURES.json ... --out docs/tables.svg``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

COLOURS = {"clustruct": "#0072b2", "splink": "#d55e00", "dedupe": "#009e73", "logistic": "#777777"}
PANELS = {"CPU s": "CPU seconds, learn and group", "GB": "peak memory, GB"}
Row = dict[str, Any]


def read(paths: Iterable[Path]) -> list[Row]:
    """The rows of figures that have a cost, of files that `made` wrote; a later file replaces an earlier."""
    found: dict[tuple[Any, ...], Row] = {}
    for path in paths:
        for row in json.loads(path.read_text())["rows"]:
            if "CPU s" in row and "remark" not in row:
                found[row["table"], row["rows"], row["labelled"], row["tool"]] = row
    return list(found.values())


def draw(rows: list[Row], out: Path, shape: str = "persons", labelled: int = 1250) -> None:
    """A panel for time and one for memory, a line for each tool."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    matplotlib.rcParams["svg.hashsalt"] = "tables"
    chosen = [row for row in rows if row["table"] == shape and row["labelled"] == labelled]
    if not chosen:
        raise SystemExit(f"no figures of {shape} with {labelled} labelled clusters")
    figure, panels = plt.subplots(1, len(PANELS), figsize=(9, 3.6), layout="constrained")
    for axes, (name, title) in zip(panels, PANELS.items(), strict=True):
        for tool in dict.fromkeys(row["tool"] for row in chosen):
            points = sorted((row["rows"], row[name]) for row in chosen if row["tool"] == tool)
            axes.plot(*zip(*points, strict=True), "o-", color=COLOURS.get(tool), label=tool)
        axes.set(xscale="log", yscale="log", xlabel="rows", title=title)
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.grid(True, which="major", alpha=0.3)
    panels[0].legend(frameon=False)
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, metadata={"Date": None})
    plt.close(figure)
