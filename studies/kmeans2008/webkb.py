"""WebKB-N and WebKB-L (Table 4.3), one method at a time.

Each university in turn is the test set; leave-one-out over the other three chooses C and the predictor.
"""

from __future__ import annotations

from typing import Any

from clustruct.baselines import PairKMeans, UntrainedKMeans
from clustruct.estimators import SupervisedKMeans
from studies.kmeans2008.protocol import as_dict
from studies.kmeans2008.webkb_pages import UNIVERSITIES, webkb
from studies.nested_cv import nested_leave_one_out
from studies.results import Results

# With two or three sets and 20,000 to 60,000 weights one-slack training needs half of the rounds of n-slack:
# it asks between the best point and the QP's solution (words alone, C = 10, after 40 rounds: 8% and 17%).
TRAINED = {"rtol": 0.02, "max_iter": 150, "n_init": 3}
SMOOTHED = {"oracle": "spectral", "formulation": "smoothed", **TRAINED}
METHODS: dict[str, Any] = {
    "Iterative": SupervisedKMeans(oracle="iterative", formulation="one_slack", **TRAINED),
    "Spectral": SupervisedKMeans(**SMOOTHED),
    "Presence": SupervisedKMeans(**SMOOTHED),
    "Kernel": SupervisedKMeans(kernel_learning=True, **SMOOTHED),
    "Pair": PairKMeans(max_pairs=10_000, n_init=3),
    "None": UntrainedKMeans(n_init=3),
}
# In the unit that the data suggest (Pair: in that of the classifier). The paper has six powers of ten;
# here it is one value, for want of CPU time. With words by presence C = 1e-4, ..., 10 gave mean losses
# of 75.7, 74.4, 71.8, 64.8, 63.9 and 64.8 on held-out training sets.
GRIDS = {
    "n": [1.0],
    "l": [10.0],
    "Pair": [1e-2],
    "Presence": [1.0],
    "None": None,
}
# "Presence" is Spectral with words weighted as in an earlier study, at its usual C.
WEIGHTINGS = {"Presence": "presence"}


def column(results: Results, quick: bool, *, kind: str, method: str) -> dict[str, Any]:
    """A row per university; --quick: untrained."""
    method = "None" if quick else method
    weighting = WEIGHTINGS.get(method, "places")
    task = webkb(weighting, linked=kind == "l")
    rows = nested_leave_one_out(
        METHODS[method], task.sets, task.labels, C_grid=GRIDS.get(method, GRIDS[kind]), keep=results.get
    )
    named = [{**as_dict(row, UNIVERSITIES[row.test]), "weighting": weighting} for row in rows]
    return {"kind": kind, "method": method, "rows": named}
