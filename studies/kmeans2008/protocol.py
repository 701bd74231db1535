"""What the tables of chapter 4 share: rows of the protocol as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.nested_cv import ProtocolRow

Methods = Mapping[str, tuple[Any, list[float] | None]]


def as_dict(row: ProtocolRow, name: str = "") -> dict[str, Any]:
    """A row of the protocol as JSON; "by predictor": the best mean loss of each on held-out training sets."""
    best: dict[str, float] = {}
    for (_, predictor), loss in row.inner.items():
        best[predictor] = min(loss, best.get(predictor, loss))
    return {
        "test": name or row.test,
        "loss": row.loss,
        "C": row.C,
        "predictor": row.predictor,
        "inner": min(row.inner.values()),
        "by predictor": best,
        "outer": dict(row.outer),
        "seconds": row.seconds,
        "gap": row.gap,
    }
