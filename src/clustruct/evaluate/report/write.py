"""The report as a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn.pipeline import Pipeline

from clustruct.core.formatting import count, short
from clustruct.core.storage.targets import check_target, replacing
from clustruct.data import Table
from clustruct.evaluate.explain.findings import Findings
from clustruct.evaluate.plot.drawing import need_matplotlib

from .contents import NamedItem, contents

if TYPE_CHECKING:
    from jinja2 import Template

# Letters of a value on the page.
LONGEST = 240


def write_report(
    path: str | Path, pipeline: Pipeline, sets: Sequence[Table], *, title: str = "How this model groups"
) -> None:
    """Write a self-contained HTML page about a fitted model and the sets it groups.

    Data and model in short, scores for each set, weights, convergence, similarity matrices of the worst,
    middle and best set, clusters split and merged, the least confident items and clusters, and
    wrong pairs explained. What needs the truth is left out for sets without labels. The page holds its
    pictures and loads nothing.

    Sets are looked at one by one: memory is that of the largest.

    The file appears when all is written, or not at all.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.pipeline import make_pipeline
    >>> from clustruct import PairFeatures, Table, SupervisedCorrelationClustering
    >>> from clustruct.features import guess_blocks
    >>> sets = [Table([{"n": 1}, {"n": 2}, {"n": 9}], labels=["a", "a", "b"], name="first")]
    >>> model = make_pipeline(PairFeatures(guess_blocks(sets)), SupervisedCorrelationClustering(C=1.0))
    >>> _ = model.fit(sets, [table.labels for table in sets])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Path(folder) / "report.html", model, sets)
    ...     (Path(folder) / "report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    need_matplotlib("report")
    template = page_template()
    check_target(Path(path))
    if not sets:
        raise ValueError("a report needs at least one set")
    text = template.render(title=title, **contents(Findings.of(pipeline, sets)))
    with replacing(Path(path)) as file:
        file.write(text.encode("utf-8"))


def page_template() -> Template:
    """The template of the page: every value is made printable and escaped on its way into it."""
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError as error:
        raise ImportError("reports need Jinja2: pip install clustruct[report]") from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("clustruct.evaluate.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else short(value, LONGEST),
    )
    environment.filters |= {"count": count, "decimal": _decimal, "short": short}
    environment.tests["item"] = lambda value: isinstance(value, NamedItem)
    return environment.get_template("report.html")


def _decimal(value: float) -> str:
    return "none" if math.isinf(value) else f"{value:.3f}".replace("-", "\N{MINUS SIGN}")
