"""The counts of a run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from .cases import Case
from .checks import Verdict
from .oddities import ODDITIES

FINDINGS = ("stop", "equal", "lie", "difference", "form")


def summary(verdicts: Sequence[Verdict]) -> str:
    """Findings by family of oddities, and the figures of all cases."""
    counts: dict[str, Counter[str]] = {}
    for verdict in verdicts:
        case = Case.of_word(verdict.case)
        family = ODDITIES[case.oddities[0]].family if len(case.oddities) == 1 else "several"
        count = counts.setdefault(family, Counter())
        count["cases"] += 1
        count["refused"] += bool(verdict.refused)
        for finding in verdict.findings:
            count[finding.kind] += 1
    head = ["oddities", "cases", "refused", *FINDINGS]
    rows = [[family, *(str(count[word]) for word in head[1:])] for family, count in counts.items()]
    total = Counter[str]()
    for count in counts.values():
        total += count
    rows.append(["all", *(str(total[word]) for word in head[1:])])
    lines = [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]]
    return "\n".join([*lines, "", *_figures(verdicts)])


def _figures(verdicts: Sequence[Verdict]) -> list[str]:
    lines = []
    for model in ("labels", "none"):
        costs = [v.figures[f"cost ({model})"] for v in verdicts if f"cost ({model})" in v.figures]
        if costs:
            over = sum(cost > 1.0 for cost in costs)
            lines.append(
                f"cost in points of F ({model}): mean {sum(costs) / len(costs):.2f}, "
                f"over 1: {over} of {len(costs)}"
            )
    forms = [v.figures["forms"] for v in verdicts if "forms" in v.figures]
    if forms:
        lines.append(f"other formats, orders, ids, frames: {sum(forms):g} tried in {len(forms)} cases")
    held = [v.figures for v in verdicts if "held out" in v.figures]
    if held:
        error = sum(abs(f["held out"] - f["true"]) for f in held) / len(held)
        lines.append(
            f"held-out figure: {len(held)} printed, {error:.1f} points from the true one in the mean"
        )
    with_interval = [f for f in held if not math.isnan(f["low"])]
    if with_interval:
        inside = sum(f["low"] - 0.05 <= f["true"] <= f["high"] + 0.05 for f in with_interval)
        width = sum(f["high"] - f["low"] for f in with_interval) / len(with_interval)
        lines.append(
            f"interval: holds the true F in {inside} of {len(with_interval)}, mean width {width:.1f} points"
        )
    return lines
