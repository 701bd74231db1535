"""Which modules and names are public: what the API pages show, and what the test of docstrings reads."""

from __future__ import annotations

import inspect
from importlib import import_module
from types import ModuleType
from typing import Any

# By what a reader looks for; `tests/test_docstrings.py` checks that no package is left out.
SECTIONS = {
    "Learners": ("recipe", "pipeline", "estimators", "baselines"),
    "Data": ("records", "io", "data", "itemsets", "features", "datasets", "storage"),
    "What to reach for": ("losses", "metrics", "model_selection", "calibration", "similarity", "learning"),
    "Looking": ("explain", "plot", "report", "studio"),
    "Groups that live on": ("incremental",),
    "Many machines": ("distributed",),
    "Searches": (
        "inference.correlation",
        "inference.agglomerative",
        "inference.assignment",
        "inference.kmeans",
        "inference.kernel_kmeans",
        "inference.spectral",
        "inference.mrf",
        "oracles",
    ),
    "Engine": ("ssvm", "ssvm.solvers", "slack_rule", "problems", "universum", "universum.sources", "hooks"),
    "Around": ("partitions", "memory", "callbacks", "checks", "exceptions"),
}
MODULES = tuple(f"clustruct.{name}" for names in SECTIONS.values() for name in names)


def names_of(module: ModuleType) -> list[str]:
    """What a module exports: its ``__all__``, or the classes and functions that are defined in it."""
    listed = getattr(module, "__all__", None)
    if listed is None:
        listed = [name for name, thing in vars(module).items() if defined_in(module, name, thing)]
    return sorted((name for name in listed if not inspect.ismodule(getattr(module, name))), key=str.lower)


def defined_in(module: ModuleType, name: str, thing: Any) -> bool:
    return not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__


def kind(thing: Any) -> str:
    """Of what kind a public thing is: "class", "exception", "function" or "data"."""
    if inspect.isclass(thing):
        return "exception" if issubclass(thing, BaseException) else "class"
    return "function" if inspect.isroutine(thing) else "data"


def public() -> dict[str, list[str]]:
    """The public names of each public module.

    >>> public()["clustruct.estimators"]
    ['MultiLabelMRF', 'SupervisedAgglomerative', 'SupervisedCorrelationClustering', 'SupervisedKMeans', \
'UniversumClustering']
    """
    return {name: names_of(import_module(name)) for name in MODULES}
