"""Files: tables in, predictions out. A new format is one module here, imported below.

``__all__`` is for users; what is imported with ``as`` is for the other packages.
"""

# isort: skip_file

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import column_files, csv_files, jsonl  # noqa: F401 (each registers its format)
from .csv_files import check_delimiter as check_delimiter
from .formats import (
    FileFormat,
    Prediction,
    Reading,
    TextFormat,
    prediction_file,
    prediction_lines as prediction_lines,
    read_sets,
    register,
    suffixes as suffixes,
    write_sets,
)
from .formats import match_predictions
from .table_files import (
    GraphFile as GraphFile,
    check_graph as check_graph,
    check_table as check_table,
    graph_file as graph_file,
    table_file as table_file,
    table_lines as table_lines,
    write_table,
)
from .tables import ColumnRoles, LabelUse

_HOMES = {
    "FeatureRows": "feature_rows",
    "RowColumns": "feature_rows",
    "read_rows": "feature_rows",
    "read_svmlight": "feature_rows",
    "read_svmlight_labels": "feature_rows",
    "sets_from_svmlight": "feature_rows",
    "sets_of": "tables",
    "widen_rows": "feature_rows",
}
__all__ = [
    "ColumnRoles",
    "FeatureRows",
    "FileFormat",
    "LabelUse",
    "Prediction",
    "Reading",
    "RowColumns",
    "TextFormat",
    "match_predictions",
    "prediction_file",
    "read_rows",
    "read_sets",
    "read_svmlight",
    "read_svmlight_labels",
    "register",
    "sets_from_svmlight",
    "sets_of",
    "write_sets",
    "write_table",
]


def __getattr__(name: str) -> Any:
    # These load scikit-learn or narwhals, which nothing else here needs.
    if name in _HOMES:
        return getattr(import_module(f"clustruct.data.io.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'clustruct.data.io' has no attribute {name!r}")
