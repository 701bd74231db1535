"""Files: raw sets in, predictions and models out. Names load on first use, as those of `clustruct` do."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Columns": "columns",
    "Prediction": "predictions",
    "item_ids": "predictions",
    "match_predictions": "predictions",
    "prediction_file": "predictions",
    "prediction_lines": "predictions",
    "read_sets": "readers",
    "read_svmlight": "svmlight",
    "sets_from_frame": "frames",
    "sets_from_svmlight": "svmlight",
    "write_predictions": "predictions",
    "write_sets": "set_files",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = globals()[name] = getattr(import_module(f"clustruct.io.{_HOMES[name]}"), name)
        return found
    raise AttributeError(f"module 'clustruct.io' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
