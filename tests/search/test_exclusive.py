"""One-to-one matching, and clusters with one item of each source at most."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from clustruct.data import PairScores
from clustruct.search import correlation
from clustruct.search.correlation import exclusive as module
from clustruct.search.correlation.exclusive import matching
from tests.reference.matching import best_exclusive, best_matching

seeds = st.integers(0, 2**32 - 1)


def pairs(seed: int, n: int, k: int, share: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    left, right = np.nonzero(rng.random((n, k)) < share)
    return left, right, rng.normal(size=len(left)).round(1)


def is_one_to_one(left: np.ndarray, right: np.ndarray) -> bool:
    return len(set(left.tolist())) == len(left) and len(set(right.tolist())) == len(right)


@given(seed=seeds, n=st.integers(1, 4), k=st.integers(1, 4), share=st.sampled_from([0.3, 0.6, 1.0]))
@settings(deadline=None, max_examples=60)
def test_matching_is_the_best_of_all(seed: int, n: int, k: int, share: float) -> None:
    left, right, values = pairs(seed, n, k, share)
    chosen = matching(left, right, values)
    assert is_one_to_one(left[chosen], right[chosen])
    assert (values[chosen] > 0).all()
    assert values[chosen].sum() == pytest.approx(best_matching(left, right, values))


@given(seed=seeds, n=st.integers(1, 30), k=st.integers(1, 30))
@settings(deadline=None, max_examples=100)
def test_matching_agrees_with_scipy(seed: int, n: int, k: int) -> None:
    left, right, values = pairs(seed, n, k, 0.3)
    dense = np.zeros((n, k))
    dense[left, right] = np.maximum(values, 0.0)
    rows, columns = linear_sum_assignment(dense, maximize=True)
    chosen = matching(left, right, values)
    assert is_one_to_one(left[chosen], right[chosen])
    assert values[chosen].sum() == pytest.approx(dense[rows, columns].sum())


def test_one_large_component_is_matched_in_time() -> None:
    rng = np.random.default_rng(0)
    n = 5000
    left = np.repeat(np.arange(n), 6)
    right = (left + rng.integers(-20, 20, len(left))) % n
    keys = np.unique(left * n + right)
    left, right = np.divmod(keys, n)
    started = time.process_time()
    chosen = matching(left, right, rng.random(len(keys)))
    assert time.process_time() - started < 5.0
    assert is_one_to_one(left[chosen], right[chosen])
    assert len(chosen) > 0.9 * n


def graph(seed: int, m: int, n_sources: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    K = np.triu(np.where(rng.random((m, m)) < 0.7, rng.normal(0.3, 1.0, (m, m)), 0.0), 1)
    return K + K.T, rng.integers(0, n_sources, m)


def value(K: np.ndarray, labels: np.ndarray) -> float:
    return float(np.triu(K * (labels[:, None] == labels), 1).sum())


def breaks(labels: np.ndarray, sources: np.ndarray) -> bool:
    return len({*zip(labels.tolist(), sources.tolist(), strict=True)}) < len(labels)


@given(seed=seeds, m=st.integers(1, 8))
@settings(deadline=None, max_examples=60)
def test_two_sources_are_grouped_exactly(seed: int, m: int) -> None:
    K, sources = graph(seed, m, 2)
    labels = correlation.exclusive(K, sources)
    assert not breaks(labels, sources)
    assert value(K, labels) == pytest.approx(best_exclusive(K, sources))
    assert (correlation.exclusive(sparse.csr_array(K), sources) == labels).all()
    assert (correlation.exclusive(PairScores.from_matrix(K), sources) == labels).all()


@given(seed=seeds, m=st.integers(1, 8), n=st.integers(3, 5))
@settings(deadline=None, max_examples=60)
def test_more_sources_are_grouped_well_and_never_break(seed: int, m: int, n: int) -> None:
    K, sources = graph(seed, m, n)
    labels = correlation.exclusive(K, sources)
    assert not breaks(labels, sources)
    best = best_exclusive(K, sources)
    assert 0.9 * best - 1e-9 <= value(K, labels) <= best + 1e-9


@given(seed=seeds, m=st.integers(2, 60), n=st.integers(2, 5), most=st.sampled_from([0, 5, 1000]))
@settings(deadline=None, max_examples=60)
def test_no_two_items_of_a_source_are_ever_together(seed: int, m: int, n: int, most: int) -> None:
    K, sources = graph(seed, m, n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(module.__globals__, "MOST_SEARCHED", most)
        labels = correlation.exclusive(sparse.csr_array(K), sources)
    assert not breaks(labels, sources)
    assert value(K, labels) >= 0.0


def test_sources_must_be_one_for_each_item() -> None:
    with pytest.raises(ValueError, match="shape"):
        correlation.exclusive(np.zeros((3, 3)), [0, 1])
