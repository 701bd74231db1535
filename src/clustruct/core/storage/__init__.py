"""Files that hold no code: one atomic write, one container (JSON header and arrays), a list of classes.

`register` a class that has ``state()`` and ``from_state()``, and `save` and `load` take its objects, also
inside others. `DataclassState` has both methods for dataclasses, `EstimatorState` for estimators.
"""

from .files import load, pack, read, save, unpack
from .state import FEATURES, DataclassState, EstimatorState, Shape, fits, is_matrix
from .targets import check_target, descriptor
from .values import digest, register, register_foreign

__all__ = [
    "FEATURES",
    "DataclassState",
    "EstimatorState",
    "Shape",
    "check_target",
    "descriptor",
    "digest",
    "fits",
    "is_matrix",
    "load",
    "pack",
    "read",
    "register",
    "register_foreign",
    "save",
    "unpack",
]
