"""Link features against their definition."""

import numpy as np
import pytest
from scipy import sparse

from clustruct.features.blocks.links import link_pairs, links


def naive(edges, X, indicator):
    m = len(X)
    rows = {}
    for a in range(m):
        for b in range(a + 1, m):
            linked = any({s, t} == {a, b} for s, t in edges)
            targets = {s: {t for u, t in edges if u == s and t != s} for s, _ in edges}
            cited = any({a, b} <= ts for ts in targets.values())
            if linked or cited:
                region = np.append(X[a] * X[b], indicator)
                rows[a, b] = np.concatenate([linked * region, cited * region])
    return rows


@pytest.mark.parametrize("seed", range(5))
def test_features_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(7, 3)) * (rng.random((7, 3)) < 0.7)
    edges = np.column_stack([rng.integers(0, 12, 15), rng.integers(0, 7, 15)])
    edges = np.concatenate([edges, edges[:2], [[3, 3]]])
    expected = naive(edges.tolist(), X, 0.5)
    for nodes in (X, sparse.csr_array(X)):
        x = links(edges, nodes, indicator=0.5)
        assert [tuple(p) for p in x.pair_index.tolist()] == sorted(expected)
        for (a, b), row in expected.items():
            np.testing.assert_allclose(x.pair_features(a, b)[3:], row)
            np.testing.assert_allclose(x.pair_features(a, b)[:3], X[a] * X[b])


def test_indicators_alone_and_no_links():
    x = links([[0, 1]], np.eye(3), products=False)
    assert x.pairs.toarray().tolist() == [[1.0, 0.0]]
    none = links(np.zeros((0, 2), int), np.eye(3))
    assert none.pairs.shape == (0, 8)
    np.testing.assert_array_equal(none.similarity(np.ones(11)), np.eye(3))


def test_negative_numbers_are_outside_citers():
    pairs, linked, co_cited = link_pairs([[-1, 0], [-1, 2]], 3)
    assert pairs.tolist() == [[0, 2]]
    assert (linked.tolist(), co_cited.tolist()) == ([False], [True])


def test_bad_edges():
    with pytest.raises(ValueError, match="row 1 has the target 3"):
        link_pairs([[0, 1], [0, 3]], 3)
    with pytest.raises(ValueError, match="integer array"):
        link_pairs([[0.5, 1.0]], 3)
