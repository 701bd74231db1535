"""Confidence in clusters, and the splits that would help most."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from clustruct.core.partitions import canonical_labels
from clustruct.data import PairScores
from clustruct.evaluate.explain import cluster_confidence, item_confidence, suggested_splits
from clustruct.search.correlation import local_search
from tests.reference.explain import cluster_losses, correlation_score, item_losses, kmeans_score


def random_case(rng, m, density=1.0):
    K = rng.normal(size=(m, m))
    K = (K + K.T) * (np.triu(rng.random((m, m)) < density, 1) + 0.0)
    K = np.triu(K, 1)
    return K + K.T, canonical_labels(rng.integers(0, max(1, m // 2), m))


@pytest.mark.parametrize("m", [1, 2, 3, 6, 9])
def test_items_equal_brute_force(m):
    rng = np.random.default_rng(m)
    for _ in range(15):
        K, y = random_case(rng, m)
        np.testing.assert_allclose(
            item_confidence(K, y).confidence, item_losses(K, y, correlation_score), atol=1e-12
        )


@pytest.mark.parametrize("density", [0.0, 0.3, 0.7, 1.0])
def test_items_sparse_moves_only_along_listed_pairs(density):
    rng = np.random.default_rng(1)
    for _ in range(15):
        K, y = random_case(rng, 8, density)
        wanted = item_losses(K, y, correlation_score, listed=K != 0)
        np.testing.assert_allclose(item_confidence(sparse.csr_array(K), y).confidence, wanted, atol=1e-12)


def test_items_kmeans_equals_brute_force():
    rng = np.random.default_rng(2)
    for m in (1, 2, 5, 9):
        for _ in range(10):
            K, y = random_case(rng, m)
            K = K + np.diag(rng.normal(size=m))
            wanted = item_losses(K, y, kmeans_score, may_be_alone=False)
            np.testing.assert_allclose(item_confidence(K, y, "kmeans").confidence, wanted, atol=1e-12)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_the_alternative_named_is_the_one_that_costs_this(as_sparse):
    rng = np.random.default_rng(3)
    K, y = random_case(rng, 12, 0.6)
    found = item_confidence(sparse.csr_array(K) if as_sparse else K, y)
    for a in range(12):
        if np.isfinite(found.confidence[a]):
            moved = y.copy()
            moved[a] = found.alternative[a] if found.alternative[a] >= 0 else 99
            lost = correlation_score(K, y) - correlation_score(K, moved)
            assert lost == pytest.approx(found.confidence[a])
        else:
            assert found.alternative[a] == y[a]


def test_no_item_of_a_local_optimum_has_negative_confidence():
    rng = np.random.default_rng(4)
    K, _ = random_case(rng, 60)
    y = local_search(K)
    found = item_confidence(K, y)
    assert found.confidence.min() >= -1e-9
    assert found.confidence[found.order()[0]] == found.confidence.min()
    assert min(move.confidence for move in cluster_confidence(K, y) if move.kind != "split") >= -1e-9


@pytest.mark.parametrize("density", [0.0, 0.4, 1.0])
@pytest.mark.parametrize(("as_sparse", "small"), [(False, 500), (True, 500), (True, 0)])
def test_clusters_give_a_real_move_close_to_the_best(density, as_sparse, small, monkeypatch):
    monkeypatch.setattr("clustruct.evaluate.explain.cluster_alternatives.SMALL", small)
    rng = np.random.default_rng(5)
    best = 0
    for trial in range(15):
        K, y = random_case(rng, 8, density)
        if trial % 2:
            y = canonical_labels(y % 2)
        least = cluster_losses(K, y)
        moves = cluster_confidence(sparse.csr_array(K) if as_sparse else K, y)
        assert [move.cluster for move in moves] == list(range(y.max() + 1))
        for move, limit in zip(moves, least, strict=True):
            if move.kind == "none":
                assert move.size == 1
                continue
            lost = correlation_score(K, y) - correlation_score(K, move.applied_to(y))
            assert move.confidence == pytest.approx(lost)
            assert move.confidence >= limit - 1e-9
            assert sorted(sum(move.parts, ())) == np.flatnonzero(y == move.cluster).tolist()
        if all(m.confidence <= limit + 1e-9 for m, limit in zip(moves, least, strict=True)):
            best += 1
    if not as_sparse:
        assert best >= 10


def test_clusters_all_items_in_one_or_alone():
    K = np.ones((5, 5))
    assert [move.kind for move in cluster_confidence(K, [0] * 5)] == ["take out"]
    assert {move.kind for move in cluster_confidence(-K, range(5))} == {"merge"}
    only = cluster_confidence(np.zeros((1, 1)), [7])[0]
    assert (only.kind, only.confidence) == ("none", np.inf)


def test_large_sparse_graph_takes_seconds():
    rng = np.random.default_rng(6)
    m, pairs = 25_000, 100_000
    a, b = rng.integers(0, m, pairs), rng.integers(0, m, pairs)
    keep = a != b
    half = sparse.csr_array((rng.normal(size=keep.sum()), (a[keep], b[keep])), shape=(m, m))
    K, y = half + half.T, np.arange(m) // 3
    assert len(item_confidence(K, y).confidence) == m
    assert len(cluster_confidence(K[:3000][:, :3000], y[:3000])) == 1000


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="objective must be"):
        item_confidence(np.eye(2), [0, 1], "spectral")
    with pytest.raises(ValueError, match="dense"):
        item_confidence(sparse.eye_array(2), [0, 1], "kmeans")
    with pytest.raises(ValueError, match="2"):
        item_confidence(np.eye(2), [0, 1, 1])
    with pytest.raises(ValueError, match="not symmetric"):
        cluster_confidence([[0.0, 1.0], [2.0, 0.0]], [0, 0])


def exclusive_case(rng, m=8, density=0.7):
    """Scores across three sources, and clusters with one item of each at most."""
    K, _ = random_case(rng, m, density)
    sources = rng.integers(0, 3, m)
    K[sources[:, None] == sources] = 0.0
    y = np.arange(m)
    for a, b in rng.integers(0, m, (m, 2)):
        if not set(sources[y == y[a]]) & set(sources[y == y[b]]):
            y[y == y[a]] = y[b]
    return K, canonical_labels(y), sources


def is_exclusive(y, sources):
    return len({*zip(y.tolist(), sources.tolist(), strict=True)}) == len(y)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_no_alternative_puts_two_items_of_one_source_together(as_sparse):
    rng = np.random.default_rng(5)
    kinds = set()
    for _ in range(40):
        K, y, sources = exclusive_case(rng)
        assert is_exclusive(y, sources)

        def score(K, y, sources=sources):
            return correlation_score(K, y) if is_exclusive(y, sources) else -np.inf

        given, listed = (sparse.csr_array(K), K != 0) if as_sparse else (K, None)
        wanted = item_losses(K, y, score, listed=listed)
        found = item_confidence(given, y, sources=sources)
        np.testing.assert_allclose(found.confidence, wanted, atol=1e-12)
        for move, free in zip(
            cluster_confidence(given, y, sources), cluster_confidence(given, y), strict=True
        ):
            after = move.applied_to(y)
            assert is_exclusive(after, sources)
            assert move.confidence >= free.confidence
            assert move == free or not is_exclusive(free.applied_to(y), sources)
            if move.kind != "none":
                assert correlation_score(K, y) - correlation_score(K, after) == pytest.approx(move.confidence)
            kinds.add((move.kind, free.kind))
    assert ("merge", "merge") in kinds
    assert len(kinds) > 3


def matrix(rng, sizes, inside=3.0, across=0.5):
    """One group made of two parts that belong together less than their own items."""
    part = np.repeat(np.arange(len(sizes)), sizes)
    K = np.where(part[:, None] == part, inside, across) + 0.3 * rng.normal(size=(len(part), len(part)))
    K = (K + K.T) / 2.0
    np.fill_diagonal(K, 0.0)
    return K


def test_a_planted_split_is_found_and_counted():
    K = matrix(np.random.default_rng(0), [4, 2])
    (found,) = suggested_splits(PairScores(6, matrix=K), np.zeros(6, int), expit)
    assert set(found.part) == {4, 5}
    across = expit(K[:4, 4:])
    assert np.isclose(found.together, across.mean())
    assert np.isclose(found.wrong_pairs, (1.0 - across).sum())


def test_listed_pairs_give_what_all_pairs_give():
    K = matrix(np.random.default_rng(1), [3, 3])
    index = np.array(list(combinations(range(6), 2)))
    listed = PairScores(6, index=index, values=K[index[:, 0], index[:, 1]])
    assert suggested_splits(listed, np.zeros(6, int), expit) == suggested_splits(
        PairScores(6, matrix=K), np.zeros(6, int), expit
    )


def test_no_part_of_the_cut_expects_more_wrong_pairs():
    """Of all splits of small groups few expect more, though only a few thresholds are tried."""
    rng, shares = np.random.default_rng(2), []
    for _ in range(20):
        K = matrix(rng, [3, 2], across=-0.2)
        (found,) = suggested_splits(PairScores(5, matrix=K), np.zeros(5, int), expit)
        every = []
        for size in (1, 2):
            for part in combinations(range(5), size):
                rest = np.setdiff1d(np.arange(5), part)
                every.append((1.0 - expit(K[np.ix_(part, rest)])).sum())
        shares.append(found.wrong_pairs / max(every))
    assert np.mean(shares) > 0.95


def test_groups_are_ranked_and_sure_ones_left_out():
    K = np.full((8, 8), -5.0)
    K[:3, :3], K[3:6, 3:6], K[6:, 6:] = 9.0, 9.0, 9.0
    K[0, 1:3] = K[1:3, 0] = 0.2
    K[3, 4:6] = K[4:6, 3] = -1.0
    np.fill_diagonal(K, 0.0)
    found = suggested_splits(PairScores(8, matrix=K), [0, 0, 0, 1, 1, 1, 2, 2], expit)
    assert [split.cluster for split in found] == [1, 0]
    assert [split.part for split in found] == [(3,), (0,)]
    assert suggested_splits(PairScores(1, matrix=np.zeros((1, 1))), [0], expit) == []


def test_parts_that_different_thresholds_find_stay_in_their_groups():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(12), 6)
    K = np.zeros((72, 72))
    for group in range(12):  # each is cut by another threshold
        items = np.flatnonzero(y == group)
        K[np.ix_(items, items)] = 0.9 - 0.04 * rng.random()
        weak = 0.05 + 0.07 * (11 - group)
        K[np.ix_(items[:2], items[2:])] = K[np.ix_(items[2:], items[:2])] = weak
    np.fill_diagonal(K, 0.0)
    found = suggested_splits(PairScores(72, matrix=K), y, lambda s: s)
    assert len(found) > 8
    for split in found:
        assert set(y[list(split.part)]) == {split.cluster}
