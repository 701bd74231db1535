"""The sections of pictures: what was learned, and a few sets."""

from __future__ import annotations

from typing import Any

from clustruct.explain.pairs import model_weights
from clustruct.plot.convergence import ConvergenceDisplay
from clustruct.plot.similarity import SimilarityMatrixDisplay
from clustruct.plot.split_merge import SplitMergeDisplay
from clustruct.plot.weights import WeightsDisplay

from .findings import Findings, SetFindings
from .page import Html, picture, pictures, section, text


def new_axes(width: float, height: float) -> Any:
    """Axes of a figure of its own, which pyplot does not know: nothing stays open."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").subplots()


def learned_section(findings: Findings) -> tuple[str, Html] | None:
    """Weights and convergence."""
    model, made = findings.model, []
    try:
        w, _, names = model_weights(model)
        ax = new_axes(6.8, 1.1 + 0.27 * max(min(len(names), 20), 2))
        made.append(picture(WeightsDisplay(names, w, findings.scale).plot(ax=ax), "the largest weights"))
    except ValueError:  # a model without weights of features
        pass
    result = getattr(model, "result_", None)
    if result is not None and result.history:
        display = ConvergenceDisplay.from_estimator(model, ax=new_axes(6.4, 3.6))
        made.append(picture(display, "bounds on the training objective against seconds"))
    if not made:
        return None
    words = "<p>Blue weights speak for putting two items together, orange ones for keeping them apart.</p>"
    return section("What was learned", words, pictures(*made))


def set_section(findings: Findings) -> tuple[str, Html] | None:
    """Similarity matrices and flows of the worst, middle and best set."""
    if not hasattr(findings.model, "decision_function"):
        return None
    known = bool(findings.labelled)
    parts = []
    for word, one in _chosen(findings.ranked, known):
        loss = f"loss {one.loss:.3g}" if one.loss is not None else ""
        note = ", ".join(part for part in (word, loss) if part)
        parts.append(f"<h3>{text(one.name)} <span class=soft>{note}</span></h3>")
        parts.append(pictures(*_pictures_of(findings, one)))
    words = (
        "<p>Items ordered by predicted cluster, one frame per cluster; blue pairs are similar, red ones are "
        f"not.{' The strip at the left shows the true clusters.' if known else ''}</p>"
    )
    return section("Sets", words, *parts)


def _chosen(ranked: list[SetFindings], known: bool) -> list[tuple[str, SetFindings]]:
    """First, middle and last of the ranking, each set once."""
    if len(ranked) == 1:
        return [("", ranked[0])]
    words = (
        ("the worst", "in the middle", "the best") if known else ("least sure", "in the middle", "most sure")
    )
    chosen: dict[int, tuple[str, SetFindings]] = {}
    for word, place in zip(words, (0, (len(ranked) - 1) // 2, len(ranked) - 1), strict=True):
        chosen.setdefault(place, (word, ranked[place]))
    return list(chosen.values())


def _pictures_of(findings: Findings, one: SetFindings) -> list[Html]:
    K = findings.model.decision_function(findings.item_set(one))
    display = SimilarityMatrixDisplay.from_predictions(
        K, one.labels, truth=one.truth, ids=one.raw.ids, ax=new_axes(6.2, 5.2)
    )
    made = [picture(display, f"similarities of set {one.name}")]
    if one.truth is not None and one.errors is not None and (one.errors.splits or one.errors.merges):
        flow = SplitMergeDisplay(one.truth, one.labels)
        made.append(picture(flow.plot(ax=new_axes(6.6, 4.4)), f"splits and merges of set {one.name}"))
    return made
