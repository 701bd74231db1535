"""The tables of chapter 4 as Markdown and pictures, ours beside the published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clustruct.evaluate.metrics import compare_paired
from studies.kmeans2008.published import DATA_SETS, METHODS, NEWS, SYNTH, WEBKB, WINS, mean_of
from studies.kmeans2008.timing import CURVES
from studies.rendering import beside, grid

Rows = Sequence[Mapping[str, Any]]


def data_sets(rows: Rows) -> str:
    """Sizes and grids; news that is to be had stands beside the papers' news."""
    lines = []
    for row in rows:
        n, k, m, nodes, pairs, low, high = DATA_SETS.get(row["data"], DATA_SETS["News"])
        least, most = row["C"]
        lines.append(
            [
                row["data"],
                f"{row['n']} ({n})",
                f"{row['k']} ({k})",
                f"{row['m']:.0f} ({m})",
                f"{row['N_n']} ({nodes})",
                f"{row['N_p']} ({pairs})",
                f"{least:g} to {most:g} ({low:g} to {high:g})",
            ]
        )
    return grid(["data", "sets n", "clusters k", "items m", "node features", "pair features", "C"], lines)


def wins(rows: Rows) -> str:
    """Means of Tables 4.3 and 4.4, then Table 4.5: Iterative against Spectral."""
    published: dict[str, dict[str, float]] = {
        "WebKB-L": mean_of(tuple(WEBKB["l"].values())),
        "WebKB-N": mean_of(tuple(WEBKB["n"].values())),
        "News": mean_of(tuple(row for day in NEWS.values() for row in day)),
        "Synth": mean_of(SYNTH),
    }
    methods = list(dict.fromkeys((*METHODS, *(m for row in rows for m in row["means"]))))
    means = [
        [
            row["data"],
            *(
                beside(row["means"][m], published.get(row["data"], {}).get(m), 1) if m in row["means"] else ""
                for m in methods
            ),
        ]
        for row in rows
    ]
    counts = [
        [
            row["data"],
            *(f"{row[key]:g}{_then(row['data'], i)}" for i, key in enumerate(("won", "tied", "lost", "W"))),
            str(row["trials"]),
            f"{row['p']:.3f}",
        ]
        for row in rows
        if "won" in row
    ]
    head = ["data", "won", "tied", "lost", "W", "trials without ties", "p, one tail"]
    return f"{grid(['mean test loss', *methods], means)}\n\n{grid(head, counts)}"


def _then(name: str, place: int) -> str:
    return f" ({WINS[name][place]})" if name in WINS else ""


def by_method(columns: Mapping[str, Rows], published: Any = None) -> str:
    """A table like 4.3: a line per test set, a column per method, means and seconds; then the comparison.

    ``published`` has the published loss by test set and method, "mean" among the sets.
    """
    columns = {m: columns[m] for m in (*METHODS, *columns) if m in columns}
    then = published or {}
    names = [row["test"] for row in next(iter(columns.values()))]
    lines = [
        [str(name), *(_cell(rows[i], then.get(name, {}).get(method)) for method, rows in columns.items())]
        for i, name in enumerate(names)
    ]
    means = {m: float(np.mean([row["loss"] for row in rows])) for m, rows in columns.items()}
    lines.append(["mean", *(beside(x, then.get("mean", {}).get(m), 1) for m, x in means.items())])
    seconds = [float(np.mean([row["seconds"] for row in rows])) for rows in columns.values()]
    lines.append(["CPU s of a training", *(f"{s:.1f}" for s in seconds)])
    lines.append(["duality gap left, at most", *(_gap(rows) for rows in columns.values())])
    text = grid(["test set", *columns], lines)
    if {"Iterative", "Spectral"} <= set(columns):
        text += f"\n\n{_against(columns['Iterative'], columns['Spectral'])}"
    return text


def _against(iterative: Rows, spectral: Rows) -> str:
    """Wilcoxon's test, as in Table 4.5."""
    found = compare_paired([row["loss"] for row in iterative], [row["loss"] for row in spectral])
    return (
        f"Iterative against Spectral: {found.wins} won, {found.ties} tied, {found.losses} lost, "
        f"W = {found.W:g} over {found.n} without ties, p = {found.p_wilcoxon:.2f} (one tail)."
    )


def _cell(row: Mapping[str, Any], published: float | None) -> str:
    C = "" if row["C"] is None else f", C = {row['C']:g}"
    return f"{beside(row['loss'], published, 1)} {row['predictor']}{C}"


def _gap(rows: Rows) -> str:
    gaps = [row["gap"] for row in rows if row["gap"] is not None]
    return f"{100 * max(gaps):.1f}%" if gaps else ""


def webkb(found: Mapping[str, Any]) -> str:
    """Ours (published), by university."""
    kind, method, rows = found["kind"], found["method"], found["rows"]
    then = {name: dict(zip(METHODS, losses, strict=True)).get(method) for name, losses in WEBKB[kind].items()}
    predictors = sorted(set.intersection(*(set(row["outer"]) for row in rows)))
    lines = [
        [
            row["test"],
            _cell(row, then[row["test"]]),
            row["weighting"],
            *(f"{row['outer'][p]:.1f}" for p in predictors),
            f"{row['seconds']:.1f}",
            _gap([row]),
        ]
        for row in rows
    ]
    mean = beside(
        float(np.mean([r["loss"] for r in rows])), mean_of(tuple(WEBKB[kind].values())).get(method), 1
    )
    by = [f"{np.mean([row['outer'][p] for row in rows]):.1f}" for p in predictors]
    lines.append(["mean", mean, "", *by, f"{np.mean([row['seconds'] for row in rows]):.1f}", _gap(rows)])
    head = ["test set", "loss, as chosen", "words", *predictors, "CPU s", "gap left"]
    return grid(head, lines)


def synth(rows: Rows) -> str:
    """Published figures stand beside noise 0.2, as printed."""
    then = mean_of(SYNTH) if rows[0]["noise"] == 0.2 else {}
    predictors = [p for p in rows[0]["by predictor"] if all(p in row["by predictor"] for row in rows)]
    lines = [
        [
            row["method"],
            beside(row["loss"], then.get(row["method"]), 1),
            *(f"{row['by predictor'][p]:.1f}" for p in predictors),
            f"{row['seconds']:.1f}",
            _gap([row]),
        ]
        for row in rows
    ]
    head = ["method", "loss, as chosen (published)", *predictors, "CPU s of a training", "gap left, at most"]
    return grid(head, lines)


def timing(rows: Rows) -> str:
    """A line per curve."""
    lines = [
        [
            row["oracle"],
            f"{row['varied']} ({CURVES[row['varied']]['label']})",
            ", ".join(f"{v}: {s:.2f}" for v, s in zip(row["values"], row["seconds"], strict=True)),
            f"{row['exponent']:.2f}",
            ", ".join(f"{r:.0f}" for r in row["rounds"]),
            f"{100 * max(row['gap']):.1f}%",
        ]
        for row in rows
    ]
    seconds = f"CPU seconds, median of {rows[0]['repeats']}"
    return grid(["oracle", "varied", seconds, "exponent", "rounds", "gap left"], lines)


def draw_timing(rows: Rows, docs: Path) -> None:
    """Figures 4.1 to 4.4."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    with plt.rc_context({"svg.hashsalt": "clustruct"}):
        figure, axes = plt.subplots(1, 4, figsize=(16, 3.5))
        for axis, (name, curve) in zip(axes, CURVES.items(), strict=True):
            for row in (row for row in rows if row["varied"] == name):
                label = f"{row['oracle']}, exponent {row['exponent']:.2f}"
                axis.plot(row["values"], row["seconds"], "o-", label=label)
            axis.set(xlabel=f"{curve['label']} ({name})", ylabel="CPU seconds")
            axis.legend()
        figure.tight_layout()
        figure.savefig(docs / "kmeans-timing.svg", metadata={"Date": None})
        plt.close(figure)
