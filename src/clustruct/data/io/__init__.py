"""Files: tables in, predictions out. A new format is one module here, imported below.

``__all__`` is for users; what is imported with ``as`` is for the other packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import column_files, csv_files, jsonl  # noqa: F401 (each registers its formats)
from .csv_files import check_delimiter as check_delimiter
from .formats import FileFormat, Prediction, Reading, TextFormat, read_sets, register, write_sets
from .formats import match_predictions as match_predictions
from .formats import prediction_file as prediction_file
from .formats import prediction_lines as prediction_lines
from .formats import suffixes as suffixes
from .table_files import GraphFile as GraphFile
from .table_files import check_graph as check_graph
from .table_files import check_table as check_table
from .table_files import graph_file as graph_file
from .table_files import table_file as table_file
from .table_files import table_lines as table_lines
from .table_files import write_table as write_table
from .tables import ColumnRoles, LabelUse

# These load scikit-learn or narwhals, which nothing else here needs.
_LATER = {
    "feature_rows": ("FeatureRows", "RowColumns", "read_rows", "read_svmlight", "read_svmlight_labels")
    + ("sets_from_svmlight", "widen_rows"),
    "tables": ("sets_of",),
}
__all__ = [
    "ColumnRoles",
    "FileFormat",
    "LabelUse",
    "Prediction",
    "Reading",
    "TextFormat",
    "read_sets",
    "read_svmlight",
    "read_svmlight_labels",
    "register",
    "sets_from_svmlight",
    "sets_of",
    "write_sets",
]


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
