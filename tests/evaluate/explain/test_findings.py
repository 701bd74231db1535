"""Splits and merges: counts against pair losses, ids, order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustruct.evaluate.explain import split_merge, wrong_pairs

labels = st.integers(1, 12).flatmap(
    lambda m: st.tuples(*[st.lists(st.integers(0, 4), min_size=m, max_size=m)] * 2)
)


@given(labels)
def test_pairs_are_those_of_the_pair_counts(both):
    truth, predicted = both
    found = split_merge(truth, predicted)
    t, p = np.array(truth), np.array(predicted)
    a, b = np.triu_indices(len(t), 1)
    assert found.pairs_lost == int(((t[a] == t[b]) & (p[a] != p[b])).sum())
    assert found.pairs_wrong == int(((t[a] != t[b]) & (p[a] == p[b])).sum())
    for mixtures in (found.splits, found.merges):
        assert [m.pairs for m in mixtures] == sorted((m.pairs for m in mixtures), reverse=True)
        for m in mixtures:
            assert m.size == sum(len(piece.items) for piece in m.pieces)
            assert len(m.pieces) > 1


@given(labels)
def test_merges_are_the_splits_of_the_other_side(both):
    truth, predicted = both
    assert split_merge(truth, predicted).merges == split_merge(predicted, truth).splits


def test_ids_and_labels_come_back_as_given():
    found = split_merge(["oak", "oak", "elm"], np.array([3, 5, 5]), ids=("i", "j", "k"))
    assert found.splits[0].cluster == "oak"
    assert [(p.cluster, p.items) for p in found.splits[0].pieces] == [(3, ("i",)), (5, ("j",))]
    assert type(found.splits[0].pieces[0].cluster) is int
    assert [(p.cluster, p.items) for p in found.merges[0].pieces] == [("oak", ("j",)), ("elm", ("k",))]


def test_right_answer_has_no_errors():
    found = split_merge([1, 1, 2], ["x", "x", "y"])
    assert (found.splits, found.merges, found.pairs_lost, found.pairs_wrong) == ((), (), 0, 0)
    assert wrong_pairs(np.zeros((3, 3)), [1, 1, 2], [0, 0, 1]) == []


def test_wrong_lengths_are_refused():
    with pytest.raises(ValueError, match="predicted"):
        split_merge([0, 1], [0])
    with pytest.raises(ValueError, match="ids has 1"):
        split_merge([0, 1], [0, 1], ids=["a"])


def test_wrong_pairs_worst_first_dense_and_sparse():
    from scipy import sparse

    rng = np.random.default_rng(0)
    K = np.triu(rng.normal(size=(9, 9)), 1)
    K = K + K.T
    t, p = rng.integers(0, 3, 9), rng.integers(0, 3, 9)
    found = wrong_pairs(K, t, p, n=100)
    assert found == wrong_pairs(sparse.csr_array(K), t, p, n=100)
    assert found[:3] == wrong_pairs(K, t, p, n=3)
    sure = [w.similarity if w.together else -w.similarity for w in found]
    assert sure == sorted(sure, reverse=True)
    assert all((p[w.a] == p[w.b]) == w.together != (t[w.a] == t[w.b]) for w in found)
    assert len(found) == split_merge(t, p).pairs_lost + split_merge(t, p).pairs_wrong
