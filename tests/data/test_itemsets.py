"""ItemSet: the map and its adjoint agree for every kind of item set and every form of B."""

import pickle
import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import squareform

from clustruct.core.partitions import canonical_labels, indicator, normalised_indicator
from clustruct.data import PairScores, all_pairs
from clustruct.data.item_set import ItemSet, as_item_set
from clustruct.papers.multilabel import mrf
from clustruct.search import correlation

KINDS = ["dense", "sparse"]


@st.composite
def item_sets(draw: st.DrawFn) -> tuple[ItemSet, np.ndarray]:
    """Any kind of item set together with its full tensor psi[a, b, f], made pair by pair."""
    m, n_n, n_p = draw(st.integers(1, 6)), draw(st.integers(0, 3)), draw(st.integers(0, 3))
    if n_n == n_p == 0:
        n_n = 1
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    psi = np.zeros((m, m, n_n + n_p))
    arguments: dict[str, object] = {}
    if n_n:
        X = rng.normal(size=(m, n_n)) * (rng.random((m, n_n)) < 0.7)
        psi[:, :, :n_n] = X[:, None, :] * X[None, :, :]
        arguments["nodes"] = sp.csr_matrix(X) if draw(st.booleans()) else X
    if n_p:
        left, right = np.triu_indices(m, 1)
        P = rng.normal(size=(left.size, n_p)) * (rng.random((left.size, n_p)) < 0.7)
        if draw(st.booleans()):
            kept = rng.permutation(left.size)[: rng.integers(0, left.size + 1)]
            left, right, P = left[kept], right[kept], P[kept]
            swap = rng.random(left.size) < 0.5
            arguments["pair_index"] = np.where(swap[:, None], np.c_[right, left], np.c_[left, right])
            arguments["n_items"] = m
        psi[left, right, n_n:] = P
        psi[right, left, n_n:] = P
        arguments["pairs"] = sp.csr_array(P) if draw(st.booleans()) else P
        if draw(st.booleans()):
            diagonal = rng.normal(size=(m, n_p))
            psi[np.arange(m), np.arange(m), n_n:] = diagonal
            arguments["pair_diagonal"] = sp.coo_matrix(diagonal) if draw(st.booleans()) else diagonal
    return ItemSet(**arguments), psi  # type: ignore[arg-type]


@given(item_sets(), st.integers(0, 10_000))
@settings(max_examples=150, deadline=None)
def test_every_form_equals_the_sum_over_pairs(made: tuple[ItemSet, np.ndarray], seed: int) -> None:
    x, psi = made
    m, rng = x.n_items, np.random.default_rng(seed)
    w, B = rng.normal(size=x.n_features), rng.normal(size=(m, m)) * (rng.random((m, m)) < 0.6)
    K = x.similarity(w)
    assert np.allclose(K, psi @ w)
    assert np.array_equal(K, K.T)
    expected = np.einsum("ab,abf->f", B, psi)
    assert np.isclose((K * B).sum(), w @ expected)
    assert np.allclose(x.joint_feature(B), expected)
    assert np.allclose(x.joint_feature(sp.coo_matrix(B)), expected)
    Y = rng.normal(size=(m, 2))
    assert np.allclose(x.joint_feature_factor(Y), np.einsum("ab,abf->f", Y @ Y.T, psi))
    assert np.allclose(x.joint_feature_factor(sp.csr_matrix(Y)), np.einsum("ab,abf->f", Y @ Y.T, psi))
    for a in range(m):
        for b in range(m):
            assert np.allclose(x.pair_features(a, b), psi[a, b])


@given(item_sets(), st.lists(st.integers(0, 3), min_size=6, max_size=6))
@settings(max_examples=100, deadline=None)
def test_partition_sums(made: tuple[ItemSet, np.ndarray], labels: list[int]) -> None:
    x, psi = made
    m = x.n_items
    y = canonical_labels(labels[:m])
    together = np.equal.outer(y, y)
    unordered = np.einsum("ab,abf->f", np.triu(together, 1), psi)
    assert np.allclose(x.joint_feature_pairs(labels[:m]), unordered)
    e = squareform(together - np.eye(m)) if m > 1 else np.zeros(0)
    assert np.allclose(x.joint_feature_edges(e), unordered)
    assert np.allclose(x.joint_feature_edges(0.25 * e), 0.25 * unordered)
    assert np.allclose(x.joint_feature_factor(indicator(y)), np.einsum("ab,abf->f", together, psi))
    Y = normalised_indicator(y)
    assert np.allclose(x.joint_feature_factor(Y), x.joint_feature((Y @ Y.T).toarray()))


@given(item_sets(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_subset_keeps_pair_vectors(made: tuple[ItemSet, np.ndarray], random: object) -> None:
    x, psi = made
    chosen = random.sample(range(x.n_items), random.randint(1, x.n_items))  # type: ignore[attr-defined]
    part = x.subset(chosen)
    w = np.arange(1.0, x.n_features + 1)
    assert part.n_items == len(chosen)
    assert np.allclose(part.similarity(w), (psi @ w)[np.ix_(chosen, chosen)])


@given(item_sets())
@settings(max_examples=60, deadline=None)
def test_sparse_graph_equals_dense_similarity(made: tuple[ItemSet, np.ndarray]) -> None:
    x, psi = made
    w = np.arange(1.0, x.n_features + 1)
    if x.nodes is None and x.pair_index is not None:
        graph = x.similarity(w, sparse=True)
        assert isinstance(graph, sp.csr_array)
        assert np.allclose(graph.toarray(), psi @ w)
    else:
        with pytest.raises(ValueError, match="pair_index"):
            x.similarity(w, sparse=True)


def test_wide_sparse_nodes_stay_small_and_fast() -> None:
    """m = 1000 and N = 50,000: an m x m x N tensor would be 400 GB, an m x N dense array 400 MB."""
    m, n = 1000, 50_000
    rng = np.random.default_rng(0)
    X = sp.random_array((m, n), density=0.002, rng=rng, format="csr")
    x, w, y = ItemSet(X), rng.normal(size=n), rng.integers(0, 40, size=m)
    tracemalloc.start()
    start = time.perf_counter()
    K = x.similarity(w)
    pairs, factor = x.joint_feature_pairs(y), x.joint_feature_factor(normalised_indicator(y))
    together = np.equal.outer(y, y)
    dense_B, sparse_B = x.joint_feature(together), x.joint_feature(sp.csr_array(together.astype(float)))
    seconds, (_, peak) = time.perf_counter() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200e6
    assert seconds < 10
    assert np.isclose(w @ pairs, K[np.triu(together, 1)].sum())
    assert np.allclose(dense_B, sparse_B)
    assert np.isclose(w @ dense_B, K[together].sum())
    assert factor.shape == (n,)


def test_single_item() -> None:
    x = ItemSet(nodes=[[2.0, 3.0]], pairs=np.zeros((0, 1)))
    assert x.similarity([1.0, 1.0, 5.0]).tolist() == [[13.0]]
    assert x.joint_feature_pairs([7]).tolist() == [0.0, 0.0, 0.0]
    assert x.joint_feature([[2.0]]).tolist() == [8.0, 18.0, 0.0]
    assert x.joint_feature_edges([]).tolist() == [0.0, 0.0, 0.0]
    assert ItemSet(pairs=np.zeros((0, 2))).n_items == 1


def test_does_not_change_and_does_not_change_its_input() -> None:
    X = np.ones((3, 2))
    x = ItemSet(X)
    assert X.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        x.nodes[0, 0] = 5.0  # type: ignore[index]
    wide = sp.csr_array(np.eye(3))
    with pytest.raises(ValueError, match="read-only"):
        ItemSet(wide).nodes.data[0] = 5.0  # type: ignore[union-attr]
    assert wide.data.flags.writeable
    with pytest.raises(AttributeError):
        x.n_items = 4  # type: ignore[misc]
    doubled = sp.csr_matrix((np.ones(2), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    assert ItemSet(doubled).similarity([1.0, 0.0]).tolist() == [[4.0]]
    assert doubled.nnz == 2


def test_pickle_keeps_everything() -> None:
    x = ItemSet([[1.0], [2.0]], [[3.0]], ids=["a", "b"], feature_names=["f", "g"])
    again = pickle.loads(pickle.dumps(x))
    assert (again.ids, again.feature_names) == (("a", "b"), ("f", "g"))
    assert np.array_equal(again.similarity([1.0, 2.0]), x.similarity([1.0, 2.0]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs nodes, pairs or both"),
        ({"nodes": [[1.0, np.nan]]}, "nodes: row 0, column 1 is nan"),
        ({"nodes": sp.csr_array(np.array([[0.0, 0.0], [0.0, np.inf]]))}, "nodes: row 1, column 1 is inf"),
        ({"nodes": [1.0, 2.0]}, "two-dimensional"),
        ({"nodes": [["a"]]}, "array of numbers"),
        ({"nodes": np.zeros((0, 2))}, "at least one item"),
        ({"pairs": np.zeros((5, 1))}, "not m\\(m-1\\)/2"),
        (
            {"nodes": np.zeros((3, 1)), "pairs": np.zeros((2, 1))},
            "pairs has 2 rows for m = 3 items; expected 3",
        ),
        ({"nodes": np.zeros((3, 1)), "pair_index": [[0, 1]]}, "need pairs"),
        ({"pairs": [[1.0]], "pair_index": [[0, 1]]}, "needs n_items"),
        ({"pairs": [[1.0]], "pair_index": [[0, 3]], "n_items": 3}, "row 0 \\[0, 3\\] names an item outside"),
        (
            {"pairs": [[1.0]], "pair_index": [[2, 2]], "n_items": 3},
            "row 0 \\[2, 2\\] pairs an item with itself",
        ),
        ({"pairs": [[1.0], [2.0]], "pair_index": [[0, 1], [1, 0]], "n_items": 3}, "row 1 \\[1, 0\\] repeats"),
        (
            {"pairs": [[1.0]], "pair_index": [[0, 1], [0, 2]], "n_items": 3},
            "pair_index has 2 rows, pairs has 1",
        ),
        ({"pairs": [[1.0]], "pair_index": [[0.0, 1.0]], "n_items": 3}, "integer array"),
        ({"pairs": [[1.0]], "pair_diagonal": [[1.0, 2.0], [1.0, 2.0]]}, "pair_diagonal has shape"),
        ({"nodes": [[1.0], [2.0]], "ids": ["a"]}, "nodes gives 2 items, ids gives 1"),
        ({"nodes": [[1.0], [2.0]], "ids": ["a", "a"]}, "items 0 and 1 are both named 'a'"),
        ({"nodes": [[1.0]], "feature_names": ["f", "g"]}, "2 entries for 1 features"),
        ({"nodes": [[1.0]], "feature_names": [3]}, "entry 0 is not a string"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ItemSet(**arguments)  # type: ignore[arg-type]


def test_bad_arguments_are_refused() -> None:
    x = ItemSet([[1.0], [2.0]])
    with pytest.raises(ValueError, match="w has shape"):
        x.similarity([1.0, 2.0])
    with pytest.raises(ValueError, match="B has shape"):
        x.joint_feature(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="Y has 3 rows for 2 items"):
        x.joint_feature_factor(np.zeros((3, 1)))
    with pytest.raises(ValueError, match="e has shape"):
        x.joint_feature_edges([1.0, 2.0])
    with pytest.raises(ValueError, match="item 2 is not in"):
        x.pair_features(0, 2)
    with pytest.raises(ValueError, match="more than once"):
        x.subset([0, 0])
    with pytest.raises(ValueError, match="3 entries for 2 items"):
        x.joint_feature_pairs([0, 1, 1])


def test_as_item_set() -> None:
    x = ItemSet([[1.0]])
    assert as_item_set(x) is x
    frame = pd.DataFrame({"height": [1.0, 2.0], "weight": [3.0, 4.0]})
    named = as_item_set(frame)
    assert named.feature_names == ("height", "weight")
    assert np.array_equal(named.similarity([1.0, 1.0]), frame.to_numpy() @ frame.to_numpy().T)
    assert as_item_set(sp.eye_array(3)).n_items == 3
    assert as_item_set(np.ones((2, 2))).subset(np.array([True, False])).n_items == 1


def test_complex_numbers_are_refused():
    """DEFECTS 16: their imaginary parts were lost."""
    X, K = np.ones((3, 2)) * 1j, np.eye(3) * (1 + 2j)
    x = ItemSet(nodes=np.ones((3, 2)))
    for call in (
        lambda: ItemSet(nodes=X),
        lambda: ItemSet(pairs=X),
        lambda: ItemSet(nodes=sp.csr_array(X)),
        lambda: ItemSet(nodes=X.tolist()),
        lambda: ItemSet(nodes=np.ones((3, 2)), pairs=np.ones((3, 2)), pair_diagonal=X),
        lambda: as_item_set(X),
        lambda: x.similarity(np.ones(2) * 1j),
        lambda: x.joint_feature(K),
        lambda: x.joint_feature_edges(np.ones(3) * 1j),
        lambda: correlation.greedy(K),
        lambda: correlation.greedy(sp.csr_array(K)),
        lambda: PairScores.from_matrix(K),
        lambda: PairScores.from_matrix(sp.csr_array(K)),
        lambda: mrf.greedy(np.ones(3) * 1j, np.zeros((3, 3))),
        lambda: mrf.greedy(np.ones(3), K),
    ):
        with pytest.raises(ValueError, match="must be real numbers, not complex ones"):
            call()
    masked = np.ma.masked_array(np.ones((3, 2)), np.eye(3, 2))
    with pytest.raises(ValueError, match="nodes is a masked array"):
        ItemSet(nodes=masked)
    with pytest.raises(ValueError, match="labels is a masked array"):
        canonical_labels(np.ma.masked_array([0, 1, 1], [False, True, False]))


def test_pairs_are_listed_counted_and_looked_up():
    listed = PairScores(4, index=np.array([[0, 2], [0, 1]]), values=np.array([3.0, -1.5]))
    whole = PairScores(4, matrix=np.arange(16.0).reshape(4, 4))
    wanted = np.array([[0, 1], [1, 2]])
    np.testing.assert_array_equal(listed.at(wanted), [-1.5, np.nan])
    np.testing.assert_array_equal(whole.at(wanted), [1.0, 6.0])
    assert (listed.n_pairs, whole.n_pairs, listed.compares(2, 0), listed.compares(3, 0)) == (
        2,
        6,
        True,
        False,
    )
    assert whole.rows_of(all_pairs(4)).tolist() == [0, 1, 2, 3, 4, 5]
    part = listed.take(np.array([2, 0]))
    assert (part.index.tolist(), part.values.tolist()) == ([[1, 0]], [3.0])
    np.testing.assert_array_equal(whole.take(np.array([2, 0])).matrix, [[10.0, 8.0], [2.0, 0.0]])
    np.testing.assert_array_equal(whole.above(1.0).matrix, whole.matrix - 1.0 + np.eye(4))
