"""From pairs and evidence to weights: problems of the engine, the choice of C, calibrated probabilities.

In: item sets, labels or evidence. Out: what was learned, and groupings. No files and no raw columns here.

``__all__`` is for users; what is imported with ``as`` is for the other packages.
"""

# isort: skip_file

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from . import calibration as calibration, model_selection as model_selection, problems as problems
    from .score_confidence import ItemConfidence, item_confidence, symmetric_scores as symmetric_scores
    from .grouping import group_scores, search_groups as search_groups

__all__ = ["ItemConfidence", "group_scores", "item_confidence"]

__getattr__, __dir__ = lazy_names(__name__, "calibration", "model_selection", "problems")
