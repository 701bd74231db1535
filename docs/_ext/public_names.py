"""Which modules and names are public: what the API pages show, and what the test of docstrings reads."""

from __future__ import annotations

import inspect
from importlib import import_module
from types import ModuleType
from typing import Any

# By what a reader looks for; `tests/test_docstrings.py` checks that no package is left out.
SECTIONS = {
    "Learners": ("pipeline", "estimators", "estimators.baselines", "estimators.checks"),
    "Data": ("data", "data.io", "data.datasets"),
    "Features": ("features", "features.similarity"),
    "Losses and scores": ("losses", "losses.slack_rule", "evaluate.metrics"),
    "Looking": ("evaluate.explain", "evaluate.plot", "evaluate.report", "studio"),
    "Groups that live on": ("groups",),
    "Many machines": ("distributed",),
    "Searches": (
        "search.correlation",
        "search.agglomerative",
        "search.oracles",
    ),
    "Learning": ("learning", "learning.problems", "learning.model_selection", "learning.calibration"),
    "Engine": ("ssvm", "ssvm.solvers"),
    "Papers": (
        "papers.multilabel",
        "papers.universum",
        "papers.cpm3c",
        "papers.document_clustering",
        "papers.hooks",
        "papers.toy_marbles",
    ),
    "Around": (
        "core.storage",
        "core.partitions",
        "core.kernels",
        "core.memory",
        "core.callbacks",
        "core.exceptions",
    ),
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
    ['SupervisedAgglomerative', 'SupervisedCorrelationClustering', 'SupervisedKMeans']
    """
    return {name: names_of(import_module(name)) for name in MODULES}
