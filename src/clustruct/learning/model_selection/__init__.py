"""Choosing C, and cutting a table into sets of whole clusters.

``__all__`` is for users; what is imported with ``as`` is for the other packages.
"""

# isort: skip_file

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .choose_c import Choice as Choice, choose_C as choose_C, split_sets
    from .guess_mixing import mix_with_guess as mix_with_guess
    from .held_out_f import HeldOutF as HeldOutF
    from .pair_signal import warn_of_products as warn_of_products
    from .task_choice import (
        best_surrogates as best_surrogates,
        choose_C_for as choose_C_for,
        folds_for as folds_for,
        n_trainings as n_trainings,
    )
    from .training_tables import split_by_clusters

__all__ = ["split_by_clusters", "split_sets"]

__getattr__, __dir__ = lazy_names(__name__)
