"""The tables of chapter 3, ours beside the published; the reasons stand in the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ttest_rel

from studies.correlation2005.published import COREFERENCE, COSINES, LOSSES, NEWS, WITHOUT_LOSS
from studies.rendering import beside, grid

TEST = {"C_G": "C_G", "C_R*": "C_R*, Algorithm 5", "C_R*, ball": "C_R*, ball growing"}


def p_value(first: Sequence[float], second: Sequence[float], groups: Sequence[str] | None = None) -> float:
    """Two-tailed paired t-test over sets; over the means of groups where sets of a group share stories."""
    a, b = np.array(first), np.array(second)
    if groups is not None:
        of = np.array(groups)
        a, b = (np.array([v[of == g].mean() for g in sorted(set(groups))]) for v in (a, b))
    if np.allclose(a, b):
        return 1.0
    return float(ttest_rel(a, b).pvalue)


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """The inner product of w/|w|."""
    a, b = np.array(first), np.array(second)
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def news(rows: dict[str, Any]) -> str:
    """Tables 3.2 and 3.5, 3.4, significance, and the cosines of Figure 3.3."""
    models, mean = rows["models"], lambda key, test: float(np.mean(rows["models"][key]["losses"][test]))
    columns = [key for key in models if "without" not in key]
    lines = [
        [
            f"test with {TEST[test]}",
            *(beside(mean(key, test), NEWS[test[:4].rstrip(",")].get(key)) for key in columns),
            f"{np.mean(rows['default']):.2f} ({NEWS[test[:4].rstrip(',')]['default']:.2f})",
        ]
        for test in TEST
    ]
    head = ["trained with", *columns, "default"]
    then, alone = NEWS["C_R*"], float(np.mean(rows["default"]))
    over = [f"{mean(k, 'C_R*') / alone:.2f}{_share(then, k)}" for k in columns]
    chosen = [["C_R*, over default", *over, "1"]]
    chosen += [["C chosen", *(", ".join(f"{C:g}" for C in models[key]["C"]) for key in columns), ""]]
    parts = [
        "**Tables 3.2 and 3.5: wrong pairs in percent. Ours (published)**",
        grid(head, [*lines, *chosen]),
    ]
    with_and_without = [
        [f"train {train}, test {TEST[test]}", *_pair(mean, train, test)]
        for train, test in (("C_G", "C_G"), ("C_R", "C_R*"))
        if f"{train} without loss" in models and train in models
    ]
    parts += ["**Table 3.4: with the loss in the search, and without. Ours (published)**"]
    parts += [grid(["", "with loss", "without loss"], with_and_without)]
    parts += ["**Significance (paired t-test, p) over sets and over groups**", _tests(rows)]
    if cosines := _cosines(models):
        parts += ["**Figure 3.3: cosines of the weights, mean of both halves. Ours (published)**", cosines]
    return "\n\n".join(parts)


def _share(then: dict[str, float], key: str) -> str:
    return f" ({then[key] / then['default']:.2f})" if key in then else ""


def _pair(mean: Any, train: str, test: str) -> list[str]:
    then = WITHOUT_LOSS[f"news, {train}"]
    return [beside(mean(train, test), then[0]), beside(mean(f"{train} without loss", test), then[1])]


def _tests(rows: dict[str, Any]) -> str:
    models, lines = rows["models"], []
    pairs = [
        ("C_G", "C_R"),
        ("C_G", "PCC"),
        ("C_R", "PCC"),
        ("C_G", "C_G without loss"),
        ("C_R", "C_R without loss"),
    ]
    for first, second in pairs:
        if first not in models or second not in models:
            continue
        for test in ("C_G", "C_R*"):
            a, b = models[first]["losses"][test], models[second]["losses"][test]
            by = [f"{p_value(a, b):.3f}", f"{p_value(a, b, rows['groups']):.3f}"]
            lines.append([f"{first} and {second}", TEST[test], f"{np.mean(a) - np.mean(b):+.2f}", *by])
    sizes = [f"p, {len(rows['groups'])} sets", f"p, {len(set(rows['groups']))} groups"]
    return grid(["models", "test with", "difference", *sizes], lines)


def _cosines(models: dict[str, Any]) -> str:
    lines = []
    for name, then in COSINES.items():
        first, second = name.split(" and ")
        if first in models and second in models:
            halves = zip(models[first]["weights"], models[second]["weights"], strict=True)
            found = [cosine(a, b) for a, b in halves]
            each = ", ".join(f"{c:.3f}" for c in found)
            lines.append([name, f"{np.mean(found):.3f} ({then:.3f})", each])
    return grid(["weights trained with", "cosine", "each half"], lines) if lines else ""


def mentions(rows: dict[str, Any]) -> str:
    """Tables 3.1, 3.3 and 3.4, significance over documents."""
    losses = {key: model["losses"] for key, model in rows["models"].items()}
    mean = {key: {k: float(np.mean(v)) for k, v in found.items()} for key, found in losses.items()}
    parts = ["**Table 3.1: tested with C_G. Ours (published)**", _table_31(mean)]
    trained = {"mitre": "C_G, mitre", "pairwise": "C_G, pairwise"}
    lines = [
        [
            f"counted: {counted}",
            *(beside(mean[key][counted], LOSSES[counted][by]) for by, key in trained.items()),
        ]
        + [beside(mean["C_G, mitre, slack scaling"][counted], None)]
        for counted in ("mitre", "pairwise")
    ]
    head = ["", "trained for mitre", "trained for pairwise", "trained for mitre, slack scaling"]
    parts += ["**Table 3.3: trained for one loss, counted on both. Ours (published)**", grid(head, lines)]
    lines = [
        [loss, beside(mean[key][loss], then[0]), beside(mean[f"{key}, without loss"][loss], then[1])]
        for loss, key in trained.items()
        for then in [WITHOUT_LOSS[f"coreference, {loss}"]]
    ]
    parts += ["**Table 3.4: with the loss in the search, and without. Ours (published)**"]
    parts += [grid(["loss", "with loss", "without loss"], lines)]
    parts += [
        f"**Significance (paired t-test over {rows['documents'][1]} documents)**",
        _document_tests(losses),
    ]
    return "\n\n".join(parts)


def _table_31(mean: dict[str, dict[str, float]]) -> str:
    lines = []
    for loss, default in (("mitre", "together"), ("pairwise", "alone")):
        then = COREFERENCE[loss]
        ours = {"C_G": mean[f"C_G, {loss}"], "PCC": mean["PCC"]}
        cells = [beside(ours[key][loss], then[key]) for key in ("C_G", "PCC")]
        cells.append(f"{mean[default][loss]:.2f} ({then['default']:.2f})")
        share = (
            f"{mean[f'C_G, {loss}'][loss] / mean[default][loss]:.2f} ({then['C_G'] / then['default']:.2f})"
        )
        chains = [f"{mean[key][loss]:.2f}" for key in ("chain", "chain, pronouns as mates")]
        lines.append([loss, *cells, share, *chains])
    head = ["loss", "C_G", "PCC", "default", "C_G over default", "chain of 1.3.2", "chain, pronouns as mates"]
    return grid(head, lines)


def _document_tests(losses: dict[str, Any]) -> str:
    cases = [
        ("C_G, mitre", "PCC", "mitre"),
        ("C_G, pairwise", "PCC", "pairwise"),
        ("C_G, mitre", "C_G, pairwise", "mitre"),
        ("C_G, mitre, slack scaling", "C_G, pairwise", "mitre"),
        ("C_G, pairwise", "C_G, mitre", "pairwise"),
        ("C_G, mitre", "C_G, mitre, without loss", "mitre"),
        ("C_G, pairwise", "C_G, pairwise, without loss", "pairwise"),
    ]
    lines = []
    for first, second, loss in cases:
        a, b = losses[first][loss], losses[second][loss]
        difference = f"{np.mean(a) - np.mean(b):+.2f}"
        lines.append([f"{first}; {second}", loss, difference, f"{p_value(a, b):.4f}"])
    return grid(["models", "counted", "difference", "p"], lines)


def draw_weights(rows: dict[str, Any], docs: Path) -> None:
    """Figure 3.3: w/|w| of the first half, a bar for each feature and model."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    names, models = rows["features"], [key for key in ("C_G", "C_R", "PCC") if key in rows["models"]]
    with plt.rc_context({"svg.hashsalt": "clustruct", "font.size": 8}):
        figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
        for k, key in enumerate(models):
            w = np.array(rows["models"][key]["weights"][0])
            axes.bar(np.arange(len(w)) + 0.27 * (k - 1), w / np.linalg.norm(w), 0.27, label=key)
        axes.set_xticks(np.arange(len(names)), names, rotation=60, ha="right")
        axes.axhline(0.0, c="black", lw=0.5)
        axes.set_ylabel("w / |w|")
        axes.legend(frameon=False)
        figure.savefig(docs / "correlation-weights.svg", metadata={"Date": None})
        plt.close(figure)
