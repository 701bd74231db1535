"""Listed pairs clustered by component of their positive scores: the same answer as on the whole."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from clustruct.data import PairScores
from clustruct.search import correlation
from clustruct.search._kernels.listed_components import better_of
from clustruct.search._kernels.merging import merge_sparse
from clustruct.search._kernels.moving import joined_csr, settle_sparse
from tests.reference import correlation as slow

seeds = st.integers(0, 2**32 - 1)


def graph(m: int, seed: int, share: float = 0.3, positive: float = 0.5) -> np.ndarray:
    """Symmetric scores, most of them absent."""
    rng = np.random.default_rng(seed)
    K = np.abs(rng.standard_normal((m, m))) * np.where(rng.random((m, m)) < positive, 1.0, -1.0)
    K = np.triu(np.where(rng.random((m, m)) < share, K, 0.0), 1)
    return K + K.T


def blocks(sizes: list[int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Graphs beside each other with negative pairs between them, and the block of each item."""
    rng = np.random.default_rng(seed)
    block = np.repeat(np.arange(len(sizes)), sizes)
    K = -rng.random((len(block), len(block))) * (rng.random((len(block), len(block))) < 0.3)
    K = np.triu(K, 1) + np.triu(K, 1).T
    for number, size in enumerate(sizes):
        inside = np.flatnonzero(block == number)
        K[np.ix_(inside, inside)] = graph(size, seed + number, 0.6)
    return K, block


def same_partition(labels: np.ndarray, others: np.ndarray) -> bool:
    return slow.canonical(labels.tolist()) == slow.canonical(others.tolist())


SEARCHES = {
    "greedy": correlation.greedy,
    "descent": lambda K: correlation.local_search(K, sweeps=0),
    "annealed": lambda K: correlation.local_search(K, sweeps=30, random_state=4),
    "components": correlation.positive_components,
}
some_blocks = st.builds(blocks, st.lists(st.integers(1, 14), min_size=1, max_size=5), seeds)


@pytest.mark.parametrize("name", SEARCHES)
@given(case=some_blocks)
@settings(deadline=None, max_examples=40)
def test_the_whole_is_each_component_on_its_own(name: str, case: tuple[np.ndarray, np.ndarray]) -> None:
    search, K = SEARCHES[name], case[0]
    whole = search(sparse.csr_array(K))
    part = sparse.csgraph.connected_components(sparse.csr_array(K > 0), directed=False)[1]
    assert same_partition(correlation.positive_components(sparse.csr_array(K)), part)
    for c in range(part.max() + 1):
        items = np.flatnonzero(part == c)
        assert same_partition(whole[items], search(sparse.csr_array(K[np.ix_(items, items)])))
    for c in range(whole.max() + 1):
        assert len(set(part[whole == c])) == 1


@pytest.mark.parametrize("name", SEARCHES)
@given(case=some_blocks, seed=seeds)
@settings(deadline=None, max_examples=40)
def test_the_order_of_components_and_what_lies_beside_them_does_not_matter(
    name: str, case: tuple[np.ndarray, np.ndarray], seed: int
) -> None:
    search, (K, block) = SEARCHES[name], case
    whole = search(sparse.csr_array(K))
    places = np.random.default_rng(seed).permutation(block.max() + 1)
    order = np.argsort(places[block], kind="stable")
    assert same_partition(whole[order], search(sparse.csr_array(K[np.ix_(order, order)])))
    beside, m = blocks([6, len(K)], seed)[0], len(K)
    beside[6:, 6:] = K
    assert same_partition(whole, search(sparse.csr_array(beside))[6 : 6 + m])


@given(st.integers(1, 7), seeds)
@settings(deadline=None)
def test_small_components_are_solved_exactly(m: int, seed: int) -> None:
    K = graph(m, seed, 0.8)
    found = correlation.local_search(sparse.csr_array(K))
    assert slow.objective(K, found.tolist()) == pytest.approx(slow.best_partition(K)[0])


@given(seeds, st.booleans())
@settings(deadline=None)
def test_greedy_on_three_items_breaks_ties_as_on_a_matrix(seed: int, whole_numbers: bool) -> None:
    K = graph(3, seed, 1.0, 0.6)
    K = np.round(2.0 * K) if whole_numbers else K
    assert np.array_equal(correlation.greedy(sparse.csr_array(K)), correlation.greedy(K))


@given(st.builds(blocks, st.lists(st.integers(1, 4), min_size=1, max_size=4), seeds), seeds)
@settings(deadline=None)
def test_links_tie_components_and_are_honoured(case: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    K, rng, m = case[0], np.random.default_rng(seed), len(case[0])
    assume(m > 1)
    hidden = rng.integers(0, 3, m)
    pairs = [(a, b) for a, b in rng.integers(0, m, (8, 2)).tolist() if a != b]
    links = {
        "must_link": [(a, b) for a, b in pairs if hidden[a] == hidden[b]],
        "cannot_link": [(a, b) for a, b in pairs if hidden[a] != hidden[b]],
    }
    start = rng.integers(0, 4, m)
    for labels in (
        correlation.greedy(sparse.csr_array(K), **links),
        correlation.local_search(sparse.csr_array(K), **links),
        correlation.local_search(sparse.csr_array(K), start, sweeps=0, **links),
    ):
        assert slow.allowed(labels.tolist(), **links)
    if m <= 7:
        found = correlation.local_search(sparse.csr_array(K), **links)
        assert slow.objective(K, found.tolist()) == pytest.approx(slow.best_partition(K, **links)[0])


@pytest.mark.parametrize("whole_numbers", [False, True])
@pytest.mark.parametrize("hubs", [0, 5])
def test_greedy_on_graphs_that_grow_together_is_that_of_the_matrix(hubs: int, whole_numbers: bool) -> None:
    """Most merges bring clusters together that no pair was listed for: the table of sums is renewed."""
    K = graph(400, hubs, 0.01, 0.8)
    K[400 - hubs :] = graph(400, 9, 0.5, 0.9)[400 - hubs :]
    K = np.tril(np.round(K) if whole_numbers else K, -1)
    K = K + K.T
    assert np.array_equal(correlation.greedy(sparse.csr_array(K)), correlation.greedy(K))


@given(some_blocks, seeds, st.sampled_from([0, 20]))
@settings(deadline=None, max_examples=40)
def test_a_start_that_spans_components_is_never_made_worse(
    case: tuple[np.ndarray, np.ndarray], seed: int, sweeps: int
) -> None:
    K = case[0]
    start = np.random.default_rng(seed).integers(0, 4, len(K))
    found = correlation.local_search(sparse.csr_array(K), start, sweeps=sweeps)
    assert slow.objective(K, found.tolist()) >= slow.objective(K, start.tolist()) - 1e-9
    assert max(slow.move_gains(K, found.tolist())) <= 1e-8
    assert max(slow.join_gains(K, found.tolist()), default=0.0) <= 1e-8


def csr(K: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    matrix = sparse.csr_array(K)
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data


@given(st.integers(2, 20), seeds)
@settings(deadline=None)
def test_clusters_of_a_graph_are_joined_as_by_matrix_products(m: int, seed: int) -> None:
    K = graph(m, seed, 0.5)
    labels = np.random.default_rng(seed).integers(0, 4, m)
    labels = np.array(slow.canonical(labels.tolist()))
    k = int(labels.max()) + 1
    indptr, indices, data = joined_csr(*csr(K), labels, k)
    member = np.eye(k)[labels]
    summed = member.T @ K @ member
    np.fill_diagonal(summed, 0.0)
    np.testing.assert_allclose(
        sparse.csr_array((data, indices, indptr), shape=(k, k)).toarray(), summed, atol=1e-12
    )


@given(st.integers(1, 25), seeds)
@settings(deadline=None)
def test_two_clusterings_are_crossed_region_by_region(m: int, seed: int) -> None:
    """The cross is never below either; it is each of them where the other is all alone or the same."""
    rng = np.random.default_rng(seed)
    K = graph(m, seed, 0.4)
    first, second = (np.array(slow.canonical(rng.integers(0, max(1, m // 2), m).tolist())) for _ in range(2))
    crossed = better_of(*csr(K), first, second)
    values = [slow.objective(K, y.tolist()) for y in (first, second)]
    assert slow.objective(K, crossed.tolist()) >= max(values) - 1e-9
    assert same_partition(better_of(*csr(K), first, first), first)
    regions = sparse.csgraph.connected_components(
        sparse.csr_array(np.equal.outer(first, first) | np.equal.outer(second, second)), directed=False
    )[1]
    for region in range(regions.max() + 1):
        items = regions == region
        assert same_partition(crossed[items], first[items]) or same_partition(crossed[items], second[items])


def test_crossing_takes_the_best_of_both() -> None:
    """Two pairs: one clustering is right about the first, the other about the second."""
    K = np.zeros((4, 4))
    K[0, 1] = K[1, 0] = K[2, 3] = K[3, 2] = 1.0
    right_left, right_right = np.array([0, 0, 1, 2]), np.array([0, 1, 2, 2])
    assert same_partition(better_of(*csr(K), right_left, right_right), np.array([0, 0, 1, 1]))


def test_settling_ends_where_neither_moves_nor_joins_gain() -> None:
    K = graph(30, 5, 0.5)
    labels = settle_sparse(*csr(K), np.arange(30), 1e-9)
    assert max(slow.move_gains(K, labels.tolist())) <= 1e-8
    assert max(slow.join_gains(K, labels.tolist())) <= 1e-8
    assert slow.objective(K, labels.tolist()) >= slow.objective(K, merge_sparse(*csr(K)).tolist()) * 0.8


@pytest.mark.parametrize("kinds", [(np.int64, np.float64), (np.int32, np.float32)])
@pytest.mark.parametrize("name", SEARCHES)
def test_listed_pairs_are_taken_as_they_are(name: str, kinds: tuple[type, type]) -> None:
    K, _ = blocks([9, 14, 3, 1, 20], 7)
    K = K.astype(np.float32).astype(np.float64)
    index = np.column_stack(np.nonzero(np.triu(K))).astype(kinds[0])
    values = K[index[:, 0], index[:, 1]].astype(kinds[1])
    order = np.random.default_rng(0).permutation(len(values))
    index, values = index[order], values[order]
    index.flags.writeable = values.flags.writeable = False
    scores = PairScores(len(K), index=index, values=values)
    assert np.array_equal(SEARCHES[name](scores), SEARCHES[name](sparse.csr_array(K)))
    assert np.array_equal(SEARCHES[name](PairScores(len(K), matrix=K)), SEARCHES[name](K))
    labels = SEARCHES[name](scores)
    assert correlation.objective(scores, labels) == pytest.approx(correlation.objective(K, labels))


@pytest.mark.parametrize(
    ("index", "values", "message"),
    [
        ([[0, 3]], [1.0], r"pair 0 names items 0 and 3: it must name two of the items 0..2"),
        ([[0, 1], [-1, 1]], [1.0, 1.0], r"pair 1 names items -1 and 1"),
        ([[1, 1]], [1.0], r"pair 0 names items 1 and 1"),
        ([[0, 1], [0, 2]], [1.0, np.nan], r"K\[0, 2\] is nan; every score must be finite"),
        ([[0, 1], [0, 2], [0, 1]], [1.0, 1.0, -2.0], "the pair of items 0 and 1 is listed twice"),
        ([[0, 1]], [1.0, 2.0], r"2 scores, but the index of their pairs has shape \(1, 2\)"),
    ],
)
@pytest.mark.parametrize("search", [correlation.greedy, correlation.local_search])
def test_bad_pairs_are_named(search: object, index: list, values: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        search(PairScores(3, index=np.array(index), values=np.array(values)))  # type: ignore[operator]


def test_scores_that_only_multiply_are_refused() -> None:
    with pytest.raises(ValueError, match="only multiply"):
        correlation.greedy(PairScores(3))
