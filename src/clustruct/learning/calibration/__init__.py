"""Probabilities from scores, learned from held-out data: of pairs, items and groups; precision as a dial."""

# isort: skip_file

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .calibration import Calibration, calibrate_task as calibrate_task
    from .pair_probability import PairContext
    from .held_out import HeldOutPart, held_out_parts
    from .item_probability import group_confidence, in_right_place
    from .precision_curve import Dial, PrecisionCurve
    from .precision_curve import less_rivals
    from .pair_probability import ScoreMap

__all__ = [
    "Calibration",
    "Dial",
    "HeldOutPart",
    "PairContext",
    "PrecisionCurve",
    "ScoreMap",
    "group_confidence",
    "held_out_parts",
    "in_right_place",
    "less_rivals",
]

__getattr__, __dir__ = lazy_names(__name__)
