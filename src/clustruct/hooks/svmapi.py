"""The module that hook modules import as ``svmapi``."""

from .models import LINEAR, POLY, RBF, SIGMOID, KernelParm, Model, Sparm, StructModel
from .vectors import Document, Sparse

__all__ = [
    "LINEAR",
    "POLY",
    "RBF",
    "SIGMOID",
    "Document",
    "KernelParm",
    "Model",
    "Sparm",
    "Sparse",
    "StructModel",
]
