"""The report as a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clustruct.plot._drawing import need_matplotlib
from clustruct.records import RawSet
from clustruct.storage.atomic import check_target, replacing

from .findings import look_at
from .page import page
from .sections import sections

__all__ = ["write_report"]


def write_report(
    path: str | Path, pipeline: Any, sets: Sequence[RawSet], *, title: str | None = None
) -> None:
    """Write a self-contained HTML page about a fitted model and the sets it groups.

    Data and model in short, scores for each set, weights, convergence, similarity matrices of the worst,
    middle and best set, clusters split and merged, the least sure items and clusters, and
    wrong pairs explained. What needs the truth is left out for sets without labels. The page holds its
    pictures and loads nothing.

    Parameters
    ----------
    path : where; the file appears when all is written, or not at all
    pipeline : a fitted scikit-learn Pipeline: steps from raw sets to item sets, then a clusterer
    sets : raw sets, with labels or without
    title : of the page

    Sets are looked at one by one: memory is that of the largest.

    >>> import tempfile
    >>> from sklearn.pipeline import make_pipeline
    >>> from clustruct import PairFeatures, RawSet, SupervisedCorrelationClustering
    >>> sets = [RawSet([{"n": 1}, {"n": 2}, {"n": 9}], labels=["a", "a", "b"], name="first")]
    >>> model = make_pipeline(PairFeatures([]), SupervisedCorrelationClustering(C=1.0))
    >>> _ = model.fit(sets, [raw.labels for raw in sets])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Path(folder) / "report.html", model, sets)
    ...     (Path(folder) / "report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    need_matplotlib()
    check_target(Path(path))
    if not sets:
        raise ValueError("a report needs at least one set")
    findings = look_at(pipeline, sets)
    text = page(title or "How this model groups", sections(findings))
    with replacing(Path(path)) as file:
        file.write(text.encode("utf-8"))
