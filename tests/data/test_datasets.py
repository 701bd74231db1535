"""Synth is what the dissertation describes."""

import numpy as np
import pytest

from clustruct.data.datasets import make_synth


def test_without_noise_each_pair_is_in_its_region():
    X, y = make_synth(n_sets=2, n_clusters=3, cluster_size=4, region_size=10, active=3, noise=0.0)
    regions = {(0, 0): 0, (0, 1): 1, (1, 1): 2, (0, 2): 3, (1, 2): 4, (2, 2): 5}
    for x, labels in zip(X, y, strict=True):
        assert x.n_features == 60
        assert np.bincount(labels).tolist() == [4, 4, 4]
        for row, (a, b) in zip(x.pairs.toarray(), np.column_stack(np.triu_indices(12, 1)), strict=True):
            assert np.unique(np.flatnonzero(row) // 10).tolist() == [regions[tuple(sorted(labels[[a, b]]))]]
            assert row.sum() == 3


def test_noise_replaces_the_share_that_the_text_says():
    X, y = make_synth(n_sets=5)
    right = []
    for x, labels in zip(X, y, strict=True):
        a, b = np.triu_indices(100, 1)
        low, high = np.minimum(labels[a], labels[b]), np.maximum(labels[a], labels[b])
        right.append(x.pairs.indices.reshape(-1, 5)[:, 0] // 50 == high * (high + 1) // 2 + low)
    # 0.84^2, and a little more where both were swapped.
    assert np.mean(right) == pytest.approx(0.706, abs=0.015)


def test_seeds_and_the_hard_setting():
    one, two = make_synth(2, random_state=1), make_synth(2, random_state=1)
    assert (one[0][1].pairs != two[0][1].pairs).nnz == 0
    assert (one[0][1].pairs != make_synth(2, random_state=2)[0][1].pairs).nnz > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": 2.0}, "probability"),
        ({"active": 60}, "between 1 and region_size, 50"),
        ({"n_sets": 0}, "n_sets must be at least 1"),
        ({"n_clusters": 1, "cluster_size": 1}, "two items"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        make_synth(**options)


def test_random_states_mean_what_they_mean_in_scikit_learn():
    def first(random_state):
        return make_synth(1, 2, 2, random_state=random_state)[0][0].pairs.toarray()

    assert np.array_equal(first(3), first(np.random.default_rng(3)))
    assert not np.array_equal(first(None), first(None))
    state = np.random.RandomState(0)
    assert not np.array_equal(first(state), first(state))
    assert np.array_equal(first(np.random.RandomState(5)), first(np.random.RandomState(5)))
