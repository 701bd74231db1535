"""The pictures of a report: what was learned, and a few sets."""

from __future__ import annotations

import base64
import io
import warnings
from typing import TYPE_CHECKING

from clustruct.estimators.base import PairSimilarity
from clustruct.evaluate.explain import SetFindings
from clustruct.evaluate.explain.findings import Findings
from clustruct.evaluate.plot import (
    ConvergenceDisplay,
    PrecisionDisplay,
    SimilarityMatrixDisplay,
    SplitMergeDisplay,
    WeightsDisplay,
)
from clustruct.evaluate.plot.drawing import QUIET, Display
from clustruct.learning import symmetric_scores
from clustruct.pipeline import model_weights, score_set

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# The colour of lines and letters, by which they are known in the drawn image: in a dark page they are light.
INK, LIGHT_INK = "#1d1f24", "#e6e8eb"
INKED = ("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color")
NEARLY_BLACK = ("#000000", "#333333", "#4d4d4d")
DARK = f"<style>:root{{--ink:{INK}}}@media(prefers-color-scheme:dark){{:root{{--ink:{LIGHT_INK}}}}}</style>"


def new_axes(width: float, height: float) -> Axes:
    """Axes of a figure of its own, which pyplot does not know: nothing stays open. The ground is clear."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(dict.fromkeys(INKED, INK) | {"axes.facecolor": "none"}):
        return Figure(figsize=(width, height), layout="constrained", facecolor="none").subplots()


def picture(display: Display, describe: str) -> dict[str, str]:
    """A drawn display as SVG data of a page, where it cannot run scripts or clash with the page."""
    import matplotlib

    _set_ink(display.figure_)
    buffer = io.BytesIO()
    style = {"svg.fonttype": "none", "svg.hashsalt": "clustruct", **dict.fromkeys(INKED, INK)}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # The browser has letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph")
        display.figure_.savefig(buffer, format="svg", metadata={"Date": None})
    drawn = buffer.getvalue().replace(INK.encode(), b"var(--ink)")
    return {"describe": describe, "data": base64.b64encode(_with_style(drawn)).decode("ascii")}


def _set_ink(figure: Figure) -> None:
    """What is drawn in black, or nearly so, is drawn in ink; legends have no ground of their own."""
    from matplotlib.colors import to_hex
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

    for one in figure.findobj():
        if isinstance(one, Line2D | Text) and to_hex(one.get_color()) in NEARLY_BLACK:
            one.set_color(INK)
    for legend in figure.findobj(Legend):
        legend.get_frame().set_facecolor("none")


def _with_style(svg: bytes) -> bytes:
    """An image with the rule for light and dark pages, right after its first tag."""
    at = svg.index(b">", svg.index(b"<svg")) + 1
    return svg[:at] + DARK.encode() + svg[at:]


def learning_pictures(findings: Findings) -> list[dict[str, str]]:
    """Weights and convergence, where the model has them."""
    model, made = findings.model, []
    sizes = findings.field_sizes
    if sizes:
        made.append(_fields(sizes))
    try:
        w, _, names = model_weights(model)
        if findings.keeps_features or not sizes:
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


def _fields(sizes: dict[str, float]) -> dict[str, str]:
    """How much each field counts, for trees: they have no weights of features."""
    ax = new_axes(6.8, 1.1 + 0.27 * max(min(len(sizes), 20), 2))
    display = WeightsDisplay(list(sizes), list(sizes.values())).plot(ax=ax)
    for bar in ax.patches:
        bar.set_color(QUIET)  # sizes speak neither for nor against
    ax.set_xlabel("mean size of what the field adds to the similarity of a pair")
    return picture(display.drawn_on(ax, "how much each field counts"), "how much each field counts")


def sets(findings: Findings) -> dict[str, object] | None:
    """Similarity matrices and flows of the worst, middle and best set."""
    if not isinstance(findings.model, PairSimilarity):
        return None
    known = bool(findings.with_truth)
    made = []
    for word, one in _choose_sets(findings.worst_first, known):
        loss = "" if one.loss is None else f"loss {one.loss:.3g}"
        note = ", ".join(filter(None, (word, loss)))
        made.append({"name": one.name, "note": note, "pictures": _pictures_of(findings, one)})
    return {"known": known, "sets": made}


def _choose_sets(ranked: list[SetFindings], known: bool) -> list[tuple[str, SetFindings]]:
    """First, middle and last of the ranking, each set once."""
    if len(ranked) == 1:
        return [("", ranked[0])]
    first, last = ("the worst", "the best") if known else ("least confident", "most confident")
    # Of two sets the first is in the middle, too: what is named later gives way.
    words = {len(ranked) - 1: last, (len(ranked) - 1) // 2: "in the middle", 0: first}
    return [(word, ranked[place]) for place, word in sorted(words.items())]


def _pictures_of(findings: Findings, one: SetFindings) -> list[dict[str, str]]:
    K = symmetric_scores(score_set(findings.model, findings.item_set(one)).matrix_or_graph())
    display = SimilarityMatrixDisplay.from_predictions(
        K, one.labels, truth=one.truth, ids=one.table.ids, ax=new_axes(6.2, 5.2)
    )
    made = [picture(display, f"similarities of set {one.name}")]
    if one.truth is not None and one.errors is not None and (one.errors.splits or one.errors.merges):
        flow = SplitMergeDisplay(one.truth, one.labels)
        made.append(picture(flow.plot(ax=new_axes(6.6, 4.4)), f"splits and merges of set {one.name}"))
    return made
