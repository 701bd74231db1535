"""Searches for clusterings: oracles find the most violated one, predictors the best.

A new search is a class that is registered, in a file of its own, with its name in `SEARCHES`. `make_oracle`
and `make_predictor` find it by that name; nothing else lists it.
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

# The module of each search by its name. Only the module that is asked for is imported.
SEARCHES = {
    **dict.fromkeys(("greedy", "local_search", "exact", "lp"), "correlation_oracles"),
    **dict.fromkeys(("lp_algorithm5", "lp_ball", "components", "nearest_mate"), "correlation_oracles"),
    **dict.fromkeys(("single", "left", "average", "complete"), "link_oracles"),
    **dict.fromkeys(("iterative", "spectral", "centred", "discrete", "discrete_centred"), "kmeans_oracles"),
    **dict.fromkeys(("batch", "normalised_cut"), "kmeans_oracles"),
}

__all__ = ["ExampleLoss", "Oracle", "OracleResult", "Output", "Predictor", "register"]
__all__ += ["make_oracle", "make_predictor", "make_search", "oracle_names", "predictor_names"]

__getattr__, __dir__ = lazy_names(__name__)
