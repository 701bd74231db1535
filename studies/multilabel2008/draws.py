"""What the draw of Synth1 does to Table 5.2's exact row.

Each draw has its own training and test set of the dissertation's sizes. The test loss is shown for three C,
and for the best of these on the test set, which no protocol may use: it shows what is within reach.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct.papers.multilabel import MultiLabelProblem, make_multilabel_chain
from studies.multilabel2008.published import LOSSES, PREDICTORS
from studies.multilabel2008.tables import FINAL, loss_of, train
from studies.results import Results

GRID = (300.0, 1000.0, 3000.0)
PUBLISHED = LOSSES["synth1"]["exact"][PREDICTORS.index("exact")]


def losses(seed: int, sizes: tuple[int, int]) -> list[float]:
    """The test loss of exact training and prediction at each C, for one draw."""
    fit, test = (make_multilabel_chain(n, random_state=[seed, n]) for n in sizes)
    problem = MultiLabelProblem(*fit, oracle="exact")
    found, result = [], None
    for C in GRID:
        result = train(problem, C, FINAL, result)
        found.append(float(loss_of(problem, *test, result.w, "exact").mean()))
    return found


def draws(results: Results, quick: bool) -> list[dict[str, Any]]:
    """Twenty draws; --quick: two small ones."""
    sizes = (60, 61) if quick else (471, 5045)
    count = 2 if quick else 20
    table = np.array([results.get(f"draw {s}", lambda s=s: losses(s, sizes)) for s in range(count)])
    columns = {f"{C:g}": table[:, i] for i, C in enumerate(GRID)} | {"best": table.min(axis=1)}
    return [
        {
            "C": name,
            "mean": float(column.mean()),
            "deviation": float(column.std(ddof=1)),
            "from": float(column.min()),
            "to": float(column.max()),
            f"at or below {PUBLISHED}": f"{np.mean(column <= PUBLISHED):.0%}",
        }
        for name, column in columns.items()
    ]
