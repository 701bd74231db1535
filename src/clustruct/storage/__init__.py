"""Files that hold no code: one atomic write, one container (JSON header and arrays), a list of classes.

`register` a class that has ``state()`` and ``from_state()``, and `save` and `load` take its objects, also
inside others. `DataclassState` has both methods for dataclasses, `EstimatorState` for estimators.
"""

from .dataclass_state import DataclassState
from .estimator_state import FEATURES, EstimatorState
from .files import StoredFile, load, read, save
from .hints import Shape
from .registry import Stateful, register

__all__ = [
    "FEATURES",
    "DataclassState",
    "EstimatorState",
    "Shape",
    "Stateful",
    "StoredFile",
    "load",
    "read",
    "register",
    "save",
]
