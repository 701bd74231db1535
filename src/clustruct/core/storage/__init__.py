"""Files that hold no code: one atomic write, one container (JSON header and arrays), a list of classes.

`register` a class that has ``state()`` and ``from_state()``, and `save` and `load` take its objects, also
inside others. `DataclassState` has both methods for dataclasses, `EstimatorState` for estimators.
``__all__`` is for users; what is imported with ``as`` is for the other packages.
"""

# isort: skip_file

from .container import load, pack as pack, read, save, unpack as unpack
from .state import (
    FEATURES as FEATURES,
    DataclassState,
    EstimatorState,
    Shape,
    fits as fits,
    is_matrix as is_matrix,
)
from .targets import check_target as check_target, descriptor as descriptor
from .encoding import digest as digest, register, register_foreign

__all__ = [
    "DataclassState",
    "EstimatorState",
    "Shape",
    "load",
    "read",
    "register",
    "register_foreign",
    "save",
]
