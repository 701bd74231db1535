"""How a training went, as plain values: the result without its working set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clustruct.exceptions import ModelFileError
from clustruct.ssvm import Certificate, FitResult, Iteration

__all__ = ["result_from_state", "result_state"]

COLUMNS = (
    "iteration",
    "primal",
    "dual",
    "oracle_calls",
    "constraints",
    "seconds",
    "oracle_seconds",
    "qp_seconds",
)
WHOLE = ("iteration", "oracle_calls", "constraints")
PLAIN = (
    "objective",
    "dual",
    "mean_slack",
    "stop_reason",
    "oracle_calls",
    "qp_solves",
    "seconds",
    "oracle_seconds",
    "qp_seconds",
)


def result_state(result: FitResult) -> dict[str, Any]:
    """All of the result but its weights, which the estimator keeps, and its planes."""
    history = np.array([[getattr(h, name) for name in COLUMNS] for h in result.history], dtype=np.float64)
    certificate = {**vars(result.certificate), "notes": list(result.certificate.notes)}
    state = {name: getattr(result, name) for name in PLAIN}
    return {**state, "certificate": certificate, "history": history.reshape(-1, len(COLUMNS))}


def result_from_state(state: Mapping[str, Any], w: Any) -> FitResult:
    """The result, with the weights given (in the user's units)."""
    history = state["history"]
    if not isinstance(history, np.ndarray) or history.ndim != 2 or history.shape[1] != len(COLUMNS):
        raise ModelFileError("damaged, its history does not fit")
    for name in PLAIN:
        if not isinstance(state[name], str if name == "stop_reason" else int | float):
            raise ModelFileError(f"damaged, {name} of its training does not fit")
    held = dict(state["certificate"])
    held["notes"] = tuple(held["notes"])
    return FitResult(
        w=w,
        certificate=Certificate(**held),
        history=tuple(_iteration(row) for row in history.tolist()),
        **{name: state[name] for name in PLAIN},
    )


def _iteration(row: list[float]) -> Iteration:
    named: dict[str, Any] = dict(zip(COLUMNS, row, strict=True))
    for name in WHOLE:
        if not np.isfinite(named[name]):
            raise ModelFileError("damaged, its history does not fit")
        named[name] = int(named[name])
    return Iteration(**named)
