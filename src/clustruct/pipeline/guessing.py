"""Weights that are guessed without labels, beside those that are learned from labels of the same table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from clustruct.core.partitions import UNKNOWN, partial_labels
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import ItemSet, pair_table
from clustruct.data.matrices import dense
from clustruct.features import PairFeatures, UncomparedPairs, likeness_features
from clustruct.learning.label_free_similarity import label_free_similarity
from clustruct.learning.model_selection.completeness import Completeness, judge_completeness

# Of a larger table the pairs of so many items, drawn at random, are looked at.
MOST_ITEMS = 5000
# Without so many pairs there is nothing to guess from.
FEWEST_PAIRS = 100
CONSTANT = "constant"


def guess_weights(
    features: PairFeatures, x: ItemSet, rest: UncomparedPairs | None, random_state: int
) -> Floats | None:
    """A weight for each feature, the constant among them, from the compared pairs of a table.

    ``x`` has the pairs of labelled items, ``rest`` the others. None where nothing can be guessed: no feature
    tells a likeness, or none is constant.
    """
    names = [str(name) for name in features.get_feature_names_out()]
    if CONSTANT not in names or not likeness_features(names):
        return None
    own = _sample_items(x.n_items, random_state)
    some = _with_rest(x, rest, own)
    if some.n_pairs < FEWEST_PAIRS:
        return None
    w, intercept = label_free_similarity([some], names).linear
    w[names.index(CONSTANT)] += intercept
    return w if np.isfinite(w).all() else None


def completeness_of(x: ItemSet, labels: Sequence[Hashable], guess: Floats | None) -> Completeness:
    """Whether labelled clusters are complete, by a guess of weights (None: it cannot be told)."""
    y = partial_labels(labels)
    if guess is None:
        return Completeness(int(np.count_nonzero(y != UNKNOWN)), 0, False)
    return judge_completeness(np.asarray(pair_table(x, x.pair_list) @ guess, np.float64), x.pair_list, y)


def with_map_columns(guess: Floats | None, features: PairFeatures) -> Floats | None:
    """The weights for features that have got columns of a map, which nothing was guessed of; None where the
    columns are there instead of the features.
    """
    if guess is None or features.map_ is None:
        return guess
    return np.append(guess, np.zeros(len(features.map_.names()))) if features.map_.keeps else None


def _sample_items(n: int, random_state: int) -> Bools:
    """The items whose pairs are looked at."""
    some = np.zeros(n, np.bool_)
    some[np.random.default_rng(random_state).permutation(n)[:MOST_ITEMS]] = True
    return some


def _with_rest(x: ItemSet, rest: UncomparedPairs | None, own: Bools) -> ItemSet:
    """All compared pairs of some items."""
    rows = np.flatnonzero(own[x.pair_list].any(axis=1))
    index = x.pair_list[rows]
    values = pair_table(x, index)
    if rest is not None:
        further: Ints = rest.pair_list[own[rest.pair_list].any(axis=1)]
        index = np.concatenate([index, further])
        values = np.concatenate([dense(values), dense(rest.values(further))])
    names = None if x.feature_names is None else list(x.feature_names)
    return ItemSet(
        pairs=values,
        pair_index=index,
        n_items=x.n_items,
        feature_names=names,
        sources=x.sources,
        equal_rows=x.equal_rows,
    )
