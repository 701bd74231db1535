"""Searches for clusterings: oracles find the most violated one, predictors the best.

A new search is a class that is registered, in a file of its own, with its name in `SEARCHES`. `make_oracle`
and `make_predictor` find it by that name; nothing else lists it.
"""

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .base import Oracle, Predictor, register
    from .base import OracleResult as OracleResult
    from .base import make_oracle as make_oracle
    from .base import make_predictor as make_predictor
    from .base import make_search as make_search
    from .base import oracle_names as oracle_names
    from .base import predictor_names as predictor_names
    from .example_loss import ExampleLoss as ExampleLoss
    from .example_loss import Output as Output

# The module of each search by its name. Only the module that is asked for is imported.
SEARCHES = {
    **dict.fromkeys(("greedy", "local_search", "exact", "lp"), "correlation_oracles"),
    **dict.fromkeys(("lp_algorithm5", "lp_ball", "components", "nearest_mate"), "correlation_oracles"),
    **dict.fromkeys(("single", "left", "average", "complete"), "link_oracles"),
    **dict.fromkeys(("iterative", "spectral", "centred", "discrete", "discrete_centred"), "kmeans_oracles"),
    **dict.fromkeys(("batch", "normalised_cut"), "kmeans_oracles"),
}

__all__ = ["Oracle", "Predictor", "register"]

__getattr__, __dir__ = lazy_names(__name__)
