"""Tables taken as node features: where products cannot say what distances could."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from clustruct.core.exceptions import ProductsWarning
from clustruct.core.typing import Floats, Labels
from clustruct.data import ItemSet
from clustruct.data.pair_algebra import dense
from clustruct.learning.model_selection.pair_signal import (
    PairSample,
    balanced_accuracy,
    held_out_outputs,
    sample_pairs,
)

# More columns than this are words or the like, whose products are what is wanted.
MOST_COLUMNS = 100
# By how much distances must be the better guide, in shares of pairs (together and apart counting alike).
CLEARLY = 0.1
# With fewer pairs of one kind chance decides.
FEWEST_PAIRS = 30


def warn_of_products(sets: Sequence[ItemSet], labels: Sequence[Labels]) -> None:
    """Warn where items have node features only, and distances tell held-out pairs apart clearly better.

    K_ab = sum_k w_k x_ak x_bk has no constant: together and apart are divided at zero, by angles.
    """
    if any(x.nodes is None or x.pairs is not None for x in sets) or sets[0].n_features > MOST_COLUMNS:
        return
    samples = sample_pairs(sets, labels)
    together = sum(int(s.together.sum()) for s in samples)
    if min(together, sum(len(s.pairs) for s in samples) - together) < FEWEST_PAIRS:
        return
    ends = _ends(samples)
    products, distances = (_accuracy(samples, [form(*e) for e in ends]) for form in (_products, _distances))
    if distances < products + CLEARLY:
        return
    warnings.warn(
        "a table is taken as node features, whose products x_a * x_b (without a constant) tell "
        f"{products:.0%} of the pairs apart on held-out sets; distances |x_a - x_b| and a constant tell "
        f"{distances:.0%}: give [clustruct.data.with_distances(X) for X in tables] instead, in "
        "`fit` and "
        "in `predict`",
        ProductsWarning,
        stacklevel=4,
    )


def _products(left: Floats, right: Floats) -> Floats:
    return left * right


def _distances(left: Floats, right: Floats) -> Floats:
    return np.column_stack([np.abs(left - right), np.ones(len(left))])


def _ends(samples: Sequence[PairSample]) -> list[tuple[Floats, Floats]]:
    """The rows of the two items of each pair, columns divided by their largest entry."""
    found = []
    for s in samples:
        assert s.x.nodes is not None
        found.append((dense(s.x.nodes[s.pairs[:, 0]]), dense(s.x.nodes[s.pairs[:, 1]])))
    largest = np.max([np.abs(side).max(axis=0, initial=0.0) for pair in found for side in pair], axis=0)
    largest = np.where(largest > 0.0, largest, 1.0)
    return [(left / largest, right / largest) for left, right in found]


def _accuracy(samples: Sequence[PairSample], features: Sequence[Floats]) -> float:
    together = [s.together for s in samples]
    return balanced_accuracy(held_out_outputs(features, together), np.concatenate(together))
