"""Bounds on clusters hold exactly, with links and without; small cases against every partition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.core.partitions import canonical_labels
from clustruct.data import PairScores
from clustruct.search.correlation import alone, bounded_search, local_search, objective
from clustruct.search.correlation.bounds import packed_into
from tests.reference.partitions import all_partitions


def scores_of(rng, m, density=1.0):
    K = np.triu(rng.normal(size=(m, m)), 1)
    K = K + K.T
    if density == 1.0:
        return PairScores(m, matrix=K)
    index = np.array([(a, b) for a in range(m) for b in range(a + 1, m) if rng.random() < density])
    index = index.reshape(-1, 2).astype(np.int64)
    return PairScores(m, index=index, values=K[index[:, 0], index[:, 1]])


def holds(y, max_size=None, min_groups=None, max_groups=None, must=(), cannot=()):
    k = len(set(y.tolist()))
    return (
        (max_size is None or np.bincount(y).max() <= max_size)
        and (min_groups is None or k >= min_groups)
        and (max_groups is None or k <= max_groups)
        and all(y[a] == y[b] for a, b in must)
        and all(y[a] != y[b] for a, b in cannot)
    )


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.4, 1.0]), st.data())
def test_bounds_hold_wherever_they_can(seed, density, data):
    rng = np.random.default_rng(seed)
    m = data.draw(st.integers(2, 7))
    scores = scores_of(rng, m, density)
    given_ = {
        "max_size": data.draw(st.none() | st.integers(1, m)),
        "min_groups": data.draw(st.none() | st.integers(1, m)),
        "max_groups": data.draw(st.none() | st.integers(1, m)),
    }
    must = [(0, 1)] if data.draw(st.booleans()) else []
    cannot = [(0, m - 1)] if m > 2 and data.draw(st.booleans()) else []
    links = {"must_link": must, "cannot_link": cannot}
    y = local_search(scores, **links)
    possible = any(holds(np.array(p), **given_, must=must, cannot=cannot) for p in all_partitions(m))
    if not possible:
        with pytest.raises(ValueError):
            bounded_search(scores, y, **given_, **links)
        return
    found = bounded_search(scores, y, **given_, **links)
    assert holds(found, **given_, must=must, cannot=cannot)
    np.testing.assert_array_equal(found, canonical_labels(found))
    if holds(y, **given_):
        np.testing.assert_array_equal(found, y)


def test_the_best_is_found_in_most_small_cases():
    """Greedy: nine in ten of the score that the best clustering gains over the worst of the allowed ones."""
    rng, shares = np.random.default_rng(0), []
    for _ in range(40):
        scores = scores_of(rng, 6)
        wish = {"max_size": int(rng.integers(2, 4)), "min_groups": int(rng.integers(1, 4))}
        values = [objective(scores, np.array(p)) for p in all_partitions(6) if holds(np.array(p), **wish)]
        got = objective(scores, bounded_search(scores, local_search(scores), **wish))
        assert got <= max(values) + 1e-9
        shares.append((got - min(values)) / max(max(values) - min(values), 1e-9))
    assert np.mean(shares) > 0.9


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({"max_size": 0}, "max_size must be at least 1"),
        ({"min_groups": 9}, "cannot make 9 groups"),
        ({"min_groups": 3, "max_groups": 2}, "above max_groups"),
        ({"max_size": 2, "max_groups": 2}, "do not fit into 2 groups of 2"),
        ({"max_size": 2, "must_link": [(0, 1), (1, 2)]}, "3 items must be together"),
        ({"max_groups": 2, "cannot_link": [(0, 1), (1, 2), (0, 2)]}, "no clustering was found"),
    ],
)
def test_what_cannot_be_is_named(given_, words):
    scores = scores_of(np.random.default_rng(0), 5)
    with pytest.raises(ValueError, match=words):
        bounded_search(scores, np.arange(5), **given_)


def test_a_large_listed_table_is_never_made_a_matrix():
    rng, m = np.random.default_rng(0), 60_000
    index = np.unique(np.sort(rng.integers(0, m, (4 * m, 2)), axis=1), axis=0)
    index = index[index[:, 0] < index[:, 1]]
    scores = PairScores(m, index=index, values=rng.normal(size=len(index)))
    y = local_search(scores, sweeps=0)
    k = int(y.max()) + 1
    assert holds(bounded_search(scores, y, max_size=3), max_size=3)
    assert int(bounded_search(scores, y, max_groups=k // 2).max()) + 1 == k // 2
    assert int(bounded_search(scores, y, min_groups=k + 5000).max()) + 1 == k + 5000


def test_packing_and_being_alone():
    assert packed_into(np.array([2, 2]), np.array([[0, 1]]), 1, 9) is None
    assert alone(np.array([0, 0, 1]), np.array([0])).tolist() == [0, 1, 2]
