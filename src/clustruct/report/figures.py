"""The pictures of a report: what was learned, and a few sets."""

from __future__ import annotations

import base64
import io
import warnings
from typing import TYPE_CHECKING, NamedTuple

from clustruct.explain import SetFindings, model_weights
from clustruct.plot import (
    ConvergenceDisplay,
    PrecisionDisplay,
    SimilarityMatrixDisplay,
    SplitMergeDisplay,
    WeightsDisplay,
)
from clustruct.plot.drawing import Display

from .findings import Findings

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Picture(NamedTuple):
    """An SVG image as data of a page, where it cannot run scripts or clash with the page."""

    describe: str
    data: str


def new_axes(width: float, height: float) -> Axes:
    """Axes of a figure of its own, which pyplot does not know: nothing stays open."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").subplots()


def picture(display: Display, describe: str) -> Picture:
    """A drawn display as an image."""
    import matplotlib

    buffer = io.BytesIO()
    style = {"svg.fonttype": "none", "svg.hashsalt": "clustruct"}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # The browser has letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph")
        display.figure_.savefig(buffer, format="svg", metadata={"Date": None})
    return Picture(describe, base64.b64encode(buffer.getvalue()).decode("ascii"))


def learned(findings: Findings) -> list[Picture]:
    """Weights and convergence, where the model has them."""
    model, made = findings.model, []
    try:
        w, _, names = model_weights(model)
        ax = new_axes(6.8, 1.1 + 0.27 * max(min(len(names), 20), 2))
        made.append(picture(WeightsDisplay(names, w, findings.scale).plot(ax=ax), "the largest weights"))
    except ValueError:  # a model without weights of features
        pass
    result = getattr(model, "result_", None)
    if result is not None and result.history:
        display: Display = ConvergenceDisplay.from_estimator(model, ax=new_axes(6.4, 3.6))
        made.append(picture(display, "bounds on the training objective against seconds"))
    if getattr(model, "calibration_", None) is not None:
        display = PrecisionDisplay.from_estimator(model, ax=new_axes(5.6, 4.2))
        made.append(picture(display, "precision against recall on held-out clusters"))
    return made


def sets(findings: Findings) -> dict[str, object] | None:
    """Similarity matrices and flows of the worst, middle and best set."""
    if not hasattr(findings.model, "decision_function"):
        return None
    known = bool(findings.labelled)
    made = []
    for word, one in _chosen(findings.ranked, known):
        loss = "" if one.loss is None else f"loss {one.loss:.3g}"
        note = ", ".join(filter(None, (word, loss)))
        made.append({"name": one.name, "note": note, "pictures": _pictures_of(findings, one)})
    return {"known": known, "sets": made}


def _chosen(ranked: list[SetFindings], known: bool) -> list[tuple[str, SetFindings]]:
    """First, middle and last of the ranking, each set once."""
    if len(ranked) == 1:
        return [("", ranked[0])]
    first, last = ("the worst", "the best") if known else ("least confident", "most confident")
    # Of two sets the first is in the middle, too: what is named later gives way.
    words = {len(ranked) - 1: last, (len(ranked) - 1) // 2: "in the middle", 0: first}
    return [(word, ranked[place]) for place, word in sorted(words.items())]


def _pictures_of(findings: Findings, one: SetFindings) -> list[Picture]:
    K = findings.model.decision_function(findings.item_set(one))
    display = SimilarityMatrixDisplay.from_predictions(
        K, one.labels, truth=one.truth, ids=one.raw.ids, ax=new_axes(6.2, 5.2)
    )
    made = [picture(display, f"similarities of set {one.name}")]
    if one.truth is not None and one.errors is not None and (one.errors.splits or one.errors.merges):
        flow = SplitMergeDisplay(one.truth, one.labels)
        made.append(picture(flow.plot(ax=new_axes(6.6, 4.4)), f"splits and merges of set {one.name}"))
    return made
