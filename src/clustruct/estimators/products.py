"""Tables taken as node features: where products cannot say what distances could."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from clustruct._typing import Floats, Labels
from clustruct.exceptions import ProductsWarning
from clustruct.itemsets import ItemSet
from clustruct.itemsets.pairs import dense
from clustruct.model_selection.pair_signal import (
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
    products, distances = (_accuracy(samples, [form(s) for s in samples]) for form in (_products, _distances))
    if distances < products + CLEARLY:
        return
    warnings.warn(
        "a table is taken as node features, whose products x_a * x_b (without a constant) tell "
        f"{products:.0%} of the pairs apart on held-out sets; distances |x_a - x_b| and a constant tell "
        f"{distances:.0%}: give [clustruct.itemsets.with_distances(X) for X in tables] instead, in `fit` and "
        "in `predict`",
        ProductsWarning,
        stacklevel=4,
    )


def _products(sample: PairSample) -> Floats:
    left, right = _ends(sample)
    return left * right


def _distances(sample: PairSample) -> Floats:
    left, right = _ends(sample)
    return np.column_stack([np.abs(left - right), np.ones(len(left))])


def _ends(sample: PairSample) -> tuple[Floats, Floats]:
    assert sample.x.nodes is not None
    left, right = (dense(sample.x.nodes[side]) for side in sample.pairs.T)
    return left, right


def _accuracy(samples: Sequence[PairSample], features: Sequence[Floats]) -> float:
    together = [s.together for s in samples]
    return balanced_accuracy(held_out_outputs(features, together), np.concatenate(together))
