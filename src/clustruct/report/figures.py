"""The pictures of a report: what was learned, and a few sets."""

from __future__ import annotations

import base64
import io
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from clustruct.explain import SetFindings, model_weights
from clustruct.plot.convergence import ConvergenceDisplay
from clustruct.plot.similarity import SimilarityMatrixDisplay
from clustruct.plot.split_merge import SplitMergeDisplay
from clustruct.plot.weights import WeightsDisplay

from .findings import Findings

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Drawn(Protocol):
    """A display that was drawn."""

    figure_: Any


class Picture(NamedTuple):
    """An SVG image as data of a page, where it cannot run scripts or clash with the page."""

    describe: str
    data: str


class SetPictures(NamedTuple):
    """One set: its name, what is special about it, and how it looks."""

    name: str
    note: str
    pictures: list[Picture]


def new_axes(width: float, height: float) -> Axes:
    """Axes of a figure of its own, which pyplot does not know: nothing stays open."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").subplots()


def picture(display: Drawn, describe: str) -> Picture:
    """A drawn display as an image."""
    import matplotlib

    buffer = io.BytesIO()
    with (
        matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "clustruct"}),
        warnings.catch_warnings(),
    ):
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
        display = ConvergenceDisplay.from_estimator(model, ax=new_axes(6.4, 3.6))
        made.append(picture(display, "bounds on the training objective against seconds"))
    return made


def sets(findings: Findings) -> dict[str, object] | None:
    """Similarity matrices and flows of the worst, middle and best set."""
    if not hasattr(findings.model, "decision_function"):
        return None
    known = bool(findings.labelled)
    made = []
    for word, one in _chosen(findings.ranked, known):
        loss = "" if one.loss is None else f"loss {one.loss:.3g}"
        note = ", ".join(part for part in (word, loss) if part)
        made.append(SetPictures(one.name, note, _pictures_of(findings, one)))
    return {"known": known, "sets": made}


def _chosen(ranked: list[SetFindings], known: bool) -> list[tuple[str, SetFindings]]:
    """First, middle and last of the ranking, each set once."""
    if len(ranked) == 1:
        return [("", ranked[0])]
    first, last = ("the worst", "the best") if known else ("least confident", "most confident")
    chosen: dict[int, tuple[str, SetFindings]] = {}
    places = {first: 0, "in the middle": (len(ranked) - 1) // 2, last: len(ranked) - 1}
    for word, place in places.items():
        chosen.setdefault(place, (word, ranked[place]))
    return list(chosen.values())


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
