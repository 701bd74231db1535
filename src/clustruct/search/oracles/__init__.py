"""Searches for clusterings: oracles find the most violated one, predictors the best.

A new search is a class that is registered, in a file of its own that `clustruct.search.oracles.base.SEARCHES`
names. `make_oracle` and `make_predictor` find it by its name; nothing else lists it.
"""

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .base import (
        Oracle,
        OracleResult,
        Predictor,
        make_oracle,
        make_predictor,
        make_search,
        oracle_names,
        predictor_names,
        register,
    )
    from .example_loss import ExampleLoss, Output

__all__ = ["ExampleLoss", "Oracle", "OracleResult", "Output", "Predictor", "register"]
__all__ += ["make_oracle", "make_predictor", "make_search", "oracle_names", "predictor_names"]

__getattr__, __dir__ = lazy_names(__name__)
