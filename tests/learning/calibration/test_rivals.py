"""A pair's score less that of its best rival: brute force, both forms, invariances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustruct.data import PairScores, all_pairs
from clustruct.learning.calibration import HeldOutPart, PrecisionCurve, less_rivals
from clustruct.search.oracles import make_predictor

SEARCH = make_predictor("local_search", "correlation")


def listed(seed, m=9, share=0.6):
    rng = np.random.default_rng(seed)
    index = all_pairs(m)
    index = index[rng.random(len(index)) < share]
    return PairScores(m, index=index, values=rng.normal(size=len(index)))


def by_hand(scores, labels):
    """Pair by pair."""
    found = []
    for (a, b), s in zip(scores.index.tolist(), scores.values.tolist(), strict=True):
        rivals = [0.0]
        for (c, d), other in zip(scores.index.tolist(), scores.values.tolist(), strict=True):
            if {a, b} & {c, d} and labels[c] != labels[d]:
                rivals.append(other)
        found.append(s - max(rivals))
    return np.array(found)


@given(st.integers(0, 10**6))
def test_it_is_what_it_says(seed):
    scores = listed(seed)
    labels = np.random.default_rng(seed).integers(0, 4, scores.n_items)
    np.testing.assert_allclose(less_rivals(scores, labels).values, by_hand(scores, labels), atol=1e-12)


@given(st.integers(0, 10**6), st.floats(0.01, 100.0))
def test_names_of_clusters_order_of_items_and_units_do_not_matter(seed, unit):
    scores = listed(seed)
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, scores.n_items)
    plain = less_rivals(scores, labels).values
    np.testing.assert_allclose(less_rivals(scores, 7 - labels).values, plain)
    scaled = PairScores(scores.n_items, index=scores.index, values=unit * scores.values)
    np.testing.assert_allclose(less_rivals(scaled, labels).values, unit * plain, atol=1e-9)
    order = rng.permutation(scores.n_items)
    place = np.argsort(order)
    moved = PairScores(scores.n_items, index=np.sort(place[scores.index], axis=1), values=scores.values)
    np.testing.assert_allclose(less_rivals(moved, labels[order]).values, plain)


def test_a_matrix_and_a_list_say_the_same():
    scores = listed(1, share=1.0)
    matrix = PairScores.from_matrix(scores.graph().toarray() + scores.graph().toarray().T)
    labels = SEARCH.clusters(scores)
    np.testing.assert_allclose(
        less_rivals(matrix, labels).list_pairs().values, less_rivals(scores, labels).values
    )
    assert (np.diag(less_rivals(matrix, labels).matrix) == 0.0).all()


@pytest.mark.parametrize("seed", range(5))
def test_without_rivals_nothing_changes_and_scores_never_rise(seed):
    scores = listed(seed)
    labels = SEARCH.clusters(scores)
    lowered = less_rivals(scores, labels)
    assert (lowered.values <= scores.values).all()
    a, b = scores.index.T
    inside = PairScores(
        scores.n_items,
        index=scores.index,
        values=np.where(labels[a] == labels[b], scores.values, -np.abs(scores.values)),
    )
    np.testing.assert_array_equal(less_rivals(inside, labels).values, inside.values)
    # What is together by lowered scores was together before: groups are cut, not mixed.
    cut = SEARCH.clusters(lowered)
    assert len(np.unique(cut * (len(labels) + 1) + labels)) == len(np.unique(cut))


def test_twins_of_another_kind_are_told_apart_by_their_rivals_alone():
    """Of three rows the first goes with the second, or with the third of the same name, which scores as high;
    every other time there is no third. No threshold on scores reaches .9, one on scores less rivals does.
    """
    rng, n = np.random.default_rng(0), 200
    first = 3 * np.arange(n)
    twin = np.where(np.arange(n) % 2, rng.uniform(2.0, 3.0, n), -5.0)
    index = np.concatenate([first[:, None] + pair for pair in ([0, 1], [0, 2], [1, 2])])
    values = np.concatenate([rng.uniform(2.0, 3.0, n), twin, np.full(n, -5.0)])
    truth = np.column_stack([first, first, first + 1]).ravel()
    part = HeldOutPart(PairScores(3 * n, index=index, values=values), truth, np.ones(3 * n, bool))
    thresholds = np.linspace(0.0, 2.5, 11)
    alone = PrecisionCurve.of([part], SEARCH, thresholds)
    both = PrecisionCurve.of([part], SEARCH, thresholds, beats_rivals=True)
    assert alone.lower.max() < 0.9
    assert both.precision[4] == 1.0  # no two of them differ by 1
    assert both.recall[4] == 0.5
    assert both.lower[4] > 0.9
