"""The normalised loss, discrete and relaxed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.core.partitions import RelaxedClustering, normalised_indicator
from clustruct.losses import NormalisedLoss, as_loss
from clustruct.search.kmeans import random_labels
from tests.reference.kmeans import normalised_loss

LOSS = NormalisedLoss()


@settings(max_examples=50, deadline=None)
@given(m=st.integers(1, 12), k=st.integers(1, 5), seed=st.integers(0, 1000))
def test_loss_equals_its_formula_and_the_relaxed_loss(m, k, seed):
    rng, k = np.random.default_rng(seed), min(m, k)
    y, z = random_labels(m, k, rng), random_labels(m, k, rng)
    assert LOSS(y, z) == pytest.approx(normalised_loss(y, z), abs=1e-9)
    turn = np.linalg.qr(rng.normal(size=(k, k)))[0]
    for Y in (normalised_indicator(z).toarray(), normalised_indicator(z).toarray() @ turn):
        assert LOSS(y, RelaxedClustering(Y)) == pytest.approx(LOSS(y, z), abs=1e-9)
    assert LOSS(y, y) == 0.0
    assert LOSS(y, (z + 1) % k) == pytest.approx(LOSS(y, z), abs=1e-9)


def test_state_follows_moves_and_merges():
    rng = np.random.default_rng(0)
    y, z = random_labels(10, 3, rng), random_labels(10, 3, rng)
    state = LOSS.start(y, z)
    assert state.value == pytest.approx(LOSS(y, z))
    for item in range(10):
        values = state.move_values(item)
        for c in range(state.n_clusters + 1):
            moved = LOSS.start(y, state.labels)
            moved.move(item, c)
            assert values[c] == pytest.approx(moved.value, abs=1e-9)
    merges = state.merge_values()
    for c in range(state.n_clusters):
        for d in range(state.n_clusters):
            merged = LOSS.start(y, state.labels)
            merged.merge(c, d)
            assert merges[c, d] == pytest.approx(merged.value, abs=1e-9)


def test_other_numbers_of_clusters_are_refused():
    with pytest.raises(ValueError, match="not 2 and 3"):
        LOSS([0, 0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match="not 2 and 1"):
        LOSS([0, 0, 1], RelaxedClustering(np.eye(3)[:, :1]))
    with pytest.raises(ValueError, match="2 rows for 3 items"):
        LOSS([0, 0, 1], RelaxedClustering(np.eye(2)))


def test_by_name():
    assert as_loss("normalised") == LOSS
