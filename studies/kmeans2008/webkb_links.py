"""WebKB-L (Table 4.3), one method at a time, with C from a grid that is given."""

from __future__ import annotations

from typing import Any

from studies.kmeans2008.protocol import as_dict
from studies.kmeans2008.webkb import METHODS
from studies.kmeans2008.webkb_pages import UNIVERSITIES, webkb
from studies.nested_cv import nested_leave_one_out
from studies.results import Results


def column(results: Results, quick: bool, *, method: str, grid: tuple[float, ...]) -> dict[str, Any]:
    """A row per university; --quick: untrained."""
    task = webkb("places", linked=True)
    estimator, grid_of_C = (METHODS["None"], None) if quick else (METHODS[method], grid)
    rows = nested_leave_one_out(estimator, task.sets, task.labels, C_grid=grid_of_C, keep=results.get)
    named = [{**as_dict(row, UNIVERSITIES[row.test]), "weighting": "places"} for row in rows]
    return {"kind": "l", "method": method, "rows": named}
