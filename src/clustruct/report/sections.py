"""The sections of the report, each a heading and HTML."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct.plot._drawing import counted

from .confidence import sureness_section
from .errors import pair_section, split_merge_section
from .figures import learned_section, set_section
from .findings import Findings
from .page import Html, section, table

__all__ = ["sections"]

# Per set the loss and these; the rest is in the table of means.
PER_SET = {"pairwise_f1": "pairwise F", "b_cubed_f1": "B-cubed F", "adjusted_rand": "adjusted Rand"}
MEANS = {
    "pairwise_precision": "pairwise precision",
    "pairwise_recall": "pairwise recall",
    "pairwise_f1": "pairwise F",
    "b_cubed_f1": "B-cubed F",
    "muc_f1": "MUC F",
    "ceaf_entity_f1": "CEAF-e F",
    "lea_f1": "LEA F",
    "adjusted_rand": "adjusted Rand index",
    "normalized_mutual_information": "normalised mutual information",
    "variation_of_information": "variation of information (0 is best)",
}
MOST_SETS = 40


def sections(findings: Findings) -> list[tuple[str, Html]]:
    """All that can be told of these sets, in the order of a first reading."""
    made = [
        summary_section(findings),
        score_section(findings),
        learned_section(findings),
        set_section(findings),
        split_merge_section(findings),
        pair_section(findings),
        sureness_section(findings),
    ]
    return [part for part in made if part is not None]


def summary_section(findings: Findings) -> tuple[str, Html]:
    """Data and model in short."""
    sizes = [len(s.raw) for s in findings.sets]
    rows: list[tuple[str, Any]] = [
        ("sets", f"{len(sizes):,}, {len(findings.labelled):,} of them with labels"),
        ("items", f"{sum(sizes):,}; {min(sizes):,} to {max(sizes):,} in a set"),
        ("clusters found", f"{sum(int(s.labels.max()) + 1 for s in findings.sets):,}"),
    ]
    if findings.labelled:
        rows.append(("true clusters", f"{sum(len(set(s.truth or ())) for s in findings.labelled):,}"))
    rows += [("model", type(findings.model).__name__), *_model_rows(findings.model)]
    return section("Summary", table(["", ""], rows))


def _model_rows(model: Any) -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = [("features", f"{getattr(model, 'n_features_in_', 0):,}")]
    if hasattr(model, "C_"):
        rows.append(
            ("C", f"{model.C_:g}" + (" (by cross-validation)" if hasattr(model, "cv_results_") else ""))
        )
    for name in ("loss", "predictor"):
        if hasattr(model, name):
            rows.append((name, str(getattr(model, name))))
    result = getattr(model, "result_", None)
    if result is not None:
        rows.append(("training", f"{result.stop_reason.replace('_', ' ')}, {result.seconds:.3g} s"))
    return rows


def score_section(findings: Findings) -> tuple[str, Html] | None:
    """Means, and the worst sets first."""
    scores = findings.scores
    if scores is None:
        return None
    means = [
        (label, float(scores.mean[name]), float(scores.micro[name]) if name in scores.micro else "")
        for name, label in MEANS.items()
    ]
    place = {s.number: row for row, s in enumerate(findings.labelled)}
    rows = []
    for one in findings.ranked[:MOST_SETS]:
        values = [float(scores.per_set[name][place[one.number]]) for name in PER_SET]
        true = len(set(one.truth or ()))
        rows.append(
            [one.name, len(one.raw), true, int(one.labels.max()) + 1, float(one.loss or 0.0), *values]
        )
    head = ["set", "items", "true clusters", "predicted", "loss", *PER_SET.values()]
    hidden = len(findings.labelled) - len(rows)
    mean_loss = float(np.mean([s.loss for s in findings.labelled]))
    return section(
        "Scores",
        f"<p>Mean loss {mean_loss:.3g} (0 is perfect, 100 the worst) over {counted(len(place), 'set')}.</p>",
        table(["score", "mean of sets", "all pairs and items pooled"], means),
        "<p>Set by set, the worst first:</p>",
        table(head, rows),
        f'<p class="note">{hidden:,} better sets are not listed.</p>' if hidden else "",
    )
