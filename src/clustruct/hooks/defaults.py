"""What happens where a module leaves an optional hook out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TextIO

import numpy as np


def loss(y: Any, ybar: Any, sparm: object) -> float:
    """0 where the two are equal, else 1.

    >>> loss("a", "a", None), loss([1, 2], [1, 3], None)
    (0.0, 1.0)
    """
    if isinstance(y, np.ndarray) or isinstance(ybar, np.ndarray):
        return 0.0 if np.array_equal(y, ybar) else 1.0
    return 0.0 if y == ybar else 1.0


def init_constraints(sample: object, sm: object, sparm: object) -> list[Any]:
    """None."""
    return []


def eval_prediction(
    exnum: int, example: object, ypred: object, sm: object, sparm: object, teststats: object
) -> object:
    """Keep the statistics as they are."""
    return teststats


def write_label(fileptr: TextIO, y: object) -> None:
    """One label per line, as `str` shows it."""
    fileptr.write(f"{y}\n")


def nothing(*args: object) -> None:
    """The hooks that print, and those that read options: no output, no change."""


DEFAULTS: dict[str, Callable[..., Any]] = {
    "loss": loss,
    "init_constraints": init_constraints,
    "eval_prediction": eval_prediction,
    "write_label": write_label,
    "parse_parameters": nothing,
    "parse_parameters_classify": nothing,
    "print_iteration_stats": nothing,
    "print_learning_stats": nothing,
    "print_testing_stats": nothing,
    "print_help": nothing,
    "print_help_classify": nothing,
    # Those two are in model_files; the commands ask `Hooks.own` whether the module has its own.
    "write_model": nothing,
    "read_model": nothing,
}
