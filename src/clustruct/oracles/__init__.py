"""Searches for clusterings, one file each: oracles find the most violated one, predictors the best.

A new search is one file with a class that is registered, and its name in the first line below. `make_oracle`
and `make_predictor` find them by name; nothing else lists them.
"""

from . import exact, greedy, iterative, linking, local_search, lp, spectral  # noqa: F401  (they register)
from .base import (
    Oracle,
    OracleResult,
    Output,
    Predictor,
    make_oracle,
    make_predictor,
    oracle_names,
    predictor_names,
    register,
)
from .example_loss import ExampleLoss

__all__ = ["ExampleLoss", "Oracle", "OracleResult", "Output", "Predictor", "register"]
__all__ += ["make_oracle", "make_predictor", "oracle_names", "predictor_names"]
