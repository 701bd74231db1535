"""All cases of the golden record, and those that are meant to change.

A case is a function without arguments that gives a dict of plain values: numbers, lists, words. It makes its
own small data with fixed seeds, and reaches the package through `names` only.
"""

from __future__ import annotations

from . import (
    cases_commands,
    cases_correlation,
    cases_engine,
    cases_features,
    cases_hooks,
    cases_kmeans,
    cases_multilabel,
    cases_universum,
)
from .record import CASES, same_arithmetic

# Cases whose values rest on a known defect, or on how C is chosen, how likely pairs are found and how listed
# pairs are annealed (by component): these have changed as meant.
EXPECTED_CHANGES = {
    "command_news": "choice of C, probabilities",
    "command_one_table": "one table is learned from as a whole",
    "command_explain": "splits, probabilities",
    "command_records": "figures of fit",
    "command_show_and_report": "figures of fit",
    "correlation_chosen_C": "choice of C",
    "correlation_formulations": "order of sums in one-slack, by 1e-8",
    "features_candidates": "pairs of common terms",
    "command_exit_codes": "DEFECTS 1",
    "command_options": "DEFECTS 10, choice of C, probabilities",
    "correlation_listed_pairs": "DEFECTS 4, components",
    "correlation_listed_pairs_other_rules": "DEFECTS 5",
    "correlation_mixed_features": "DEFECTS 9",
    "engine_warm_start": "order of sums in one-slack: piece by piece, as shards make them",
    "kmeans_baselines": "DEFECTS 10",
    "kmeans_centred": "DEFECTS 10, 12",
    "kmeans_chosen_C": "DEFECTS 10, choice of C",
    "kmeans_discrete": "DEFECTS 10",
    "kmeans_iterative": "DEFECTS 10, order of sums in one-slack",
    "kmeans_losses": "DEFECTS 10",
    "kmeans_node_features": "DEFECTS 9, 10",
    "kmeans_spectral": "DEFECTS 10, order of sums in one-slack",
    "model_files": "DEFECTS 10",
    "model_file_result_weights": "DEFECTS 11",
    "multilabel_rho": "training loss bound of Theorem 10",
    "universum": "balance rows in the QP as they are needed: another end within the same tolerance",
    "universum_sources": "as universum",
}
# Trainings in which a last digit decides between equals (eigenvectors, ties of many small features), after
# which they go another way to another end within the same gap; and the linear classifier of scikit-learn,
# which stops early. They are compared only where numbers are rounded as they were for the record; which ones
# these are was found by trying several kernels of OpenBLAS.
NEEDS_SAME_ROUNDING = frozenset(
    {
        "command_options",
        "correlation_formulations",
        "engine_warm_start",
        "hooks_kmeans",
        "kmeans_centred",
        "kmeans_discrete",
        "kmeans_iterative",
        "kmeans_node_features",
        "kmeans_spectral",
        "multilabel_edges",
        "multilabel_slack_rules",
        "universum_sources",
    }
)
ROOMS = (
    cases_correlation,
    cases_kmeans,
    cases_multilabel,
    cases_universum,
    cases_engine,
    cases_features,
    cases_commands,
    cases_hooks,
)

__all__ = ["CASES", "EXPECTED_CHANGES", "NEEDS_SAME_ROUNDING", "ROOMS", "excuse"]


def excuse(name):
    """Why a case may differ from the record, or None."""
    if name in NEEDS_SAME_ROUNDING and not same_arithmetic():
        return "numbers are rounded otherwise here, or by other versions of libraries"
    return EXPECTED_CHANGES.get(name)
