"""Files: tables in, predictions out. A new format is one module here, imported below.

``__all__`` is for users; what is imported with ``as`` is for the other packages.
"""

# isort: skip_file

from __future__ import annotations

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

from . import column_files, csv_files, jsonl  # noqa: F401 (each registers its formats)

if TYPE_CHECKING:
    from .csv_files import check_delimiter as check_delimiter
    from .feature_rows import FeatureRows as FeatureRows, RowColumns as RowColumns, read_rows as read_rows
    from .feature_rows import read_svmlight, read_svmlight_labels, sets_from_svmlight
    from .feature_rows import widen_rows as widen_rows
    from .formats import FileFormat, Prediction, Reading, TextFormat, read_sets, register, write_sets
    from .formats import match_predictions as match_predictions, suffixes as suffixes
    from .formats import prediction_file as prediction_file, prediction_lines as prediction_lines
    from .table_files import GraphFile as GraphFile, check_graph as check_graph, check_table as check_table
    from .table_files import graph_file as graph_file, table_file as table_file
    from .table_files import table_lines as table_lines, write_table as write_table
    from .tables import ColumnRoles, LabelUse, sets_of

__all__ = ["ColumnRoles", "FileFormat", "LabelUse", "Prediction", "Reading", "TextFormat"]
__all__ += ["read_sets", "read_svmlight", "read_svmlight_labels", "register", "sets_from_svmlight", "sets_of"]
__all__ += ["write_sets"]

__getattr__, __dir__ = lazy_names(__name__)
