"""Files: raw sets in, predictions out. A new format is one module here, imported below."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import arrays, csv_files, jsonl, parquet  # noqa: F401 (each registers its format)
from .csv_files import check_delimiter
from .files import (
    FileFormat,
    Prediction,
    Reading,
    TextFormat,
    prediction_file,
    prediction_lines,
    read_sets,
    register,
    suffixes,
    write_sets,
)
from .matching import match_predictions
from .table_files import (
    GraphFile,
    check_graph,
    check_table,
    graph_file,
    table_file,
    table_lines,
    write_table,
)
from .tables import Columns, LabelUse

_HOMES = {
    "FeatureRows": "feature_rows",
    "RowColumns": "feature_rows",
    "read_rows": "feature_rows",
    "read_svmlight": "svmlight",
    "read_svmlight_labels": "svmlight",
    "sets_from_frame": "frames",
    "sets_from_svmlight": "svmlight",
    "sets_of": "frames",
    "widened": "feature_rows",
}
__all__ = [
    "Columns",
    "FeatureRows",
    "FileFormat",
    "GraphFile",
    "LabelUse",
    "Prediction",
    "Reading",
    "RowColumns",
    "TextFormat",
    "check_delimiter",
    "check_graph",
    "check_table",
    "graph_file",
    "match_predictions",
    "prediction_file",
    "prediction_lines",
    "read_rows",
    "read_sets",
    "read_svmlight",
    "read_svmlight_labels",
    "register",
    "sets_from_frame",
    "sets_from_svmlight",
    "sets_of",
    "suffixes",
    "table_file",
    "table_lines",
    "widened",
    "write_sets",
    "write_table",
]


def __getattr__(name: str) -> Any:
    # These load scikit-learn or narwhals, which nothing else here needs.
    if name in _HOMES:
        return getattr(import_module(f"clustruct.data.io.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'clustruct.data.io' has no attribute {name!r}")
