"""Probabilities from scores, learned from held-out data: of pairs, items and groups; precision as a dial.

``__all__`` is for users; what is imported with ``as`` is for the other packages.
"""

# isort: skip_file

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .calibration import Calibration, calibrate_task as calibrate_task
    from .pair_probability import PairContext as PairContext
    from .held_out import HeldOutPart as HeldOutPart, held_out_parts as held_out_parts
    from .item_probability import believed_in_place as believed_in_place
    from .item_probability import group_confidence, in_right_place
    from .precision_curve import Dial, PrecisionCurve as PrecisionCurve
    from .precision_curve import less_rivals as less_rivals
    from .pair_probability import ScoreMap as ScoreMap

__all__ = ["Calibration", "Dial", "group_confidence", "in_right_place"]

__getattr__, __dir__ = lazy_names(__name__)
