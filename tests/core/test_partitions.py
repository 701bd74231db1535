"""Label vectors: canonical numbering, matrices of a partition, and the round trips between forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import squareform

from clustruct.core import partitions as pt

labelings = st.lists(st.integers(-3, 5), min_size=1, max_size=12)


@given(labelings)
def test_canonical_numbers_by_first_appearance(labels: list[int]) -> None:
    y = pt.canonical_labels(labels)
    order = list(dict.fromkeys(labels))
    assert y.tolist() == [order.index(v) for v in labels]
    assert (pt.canonical_labels(np.array(labels)) == y).all()
    assert (pt.canonical_labels([f"name {v}" for v in labels]) == y).all()
    assert (pt.canonical_labels(y) == y).all()


def test_other_hashables_and_float_labels() -> None:
    assert pt.canonical_labels([(1, 2), "a", (1, 2)]).tolist() == [0, 1, 0]
    assert pt.canonical_labels(np.array([2.0, 1.0, 2.0])).tolist() == [0, 1, 0]
    assert pt.canonical_labels([]).size == 0


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", None], "item 1 has no label"),
        (np.array([0.0, 1.0, np.nan]), "item 2 has no label"),
        ([0, [1]], "item 1 is not hashable"),
        (np.zeros((2, 2), dtype=int), "one-dimensional"),
        ("abc", "one label per item"),
        (3, "one label per item"),
    ],
)
def test_bad_labels_are_refused_by_item(labels: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pt.canonical_labels(labels)


@given(labelings)
def test_partial_labels_number_what_is_known(labels: list[int]) -> None:
    known = [v != -1 for v in labels]
    found = pt.partial_labels(labels)
    assert (found >= 0).tolist() == known
    assert found[known].tolist() == pt.canonical_labels([v for v in labels if v != -1]).tolist()
    for other in (np.array(labels), [None if v == -1 else v for v in labels], np.array(labels, float)):
        assert (pt.partial_labels(other) == found).all()


def test_partial_labels_of_tuples_and_faults_by_item() -> None:
    assert pt.partial_labels([(1, 2), None, (1, 2), "-1"]).tolist() == [0, -1, 0, 1]
    with pytest.raises(ValueError, match="the label of item 2 is not hashable"):
        pt.partial_labels([None, 0, [1]])
    with pytest.raises(ValueError, match="2 entries for 3 items"):
        pt.partial_labels([None, 0], n_items=3)


def test_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="truth has 2 entries for 3 items"):
        pt.canonical_labels([0, 1], n_items=3, name="truth")
    with pytest.raises(ValueError, match="y_pred has 2 entries for 3 items"):
        pt.contingency([0, 1, 1], [0, 1])


@given(labelings)
def test_matrices_agree_with_co_membership(labels: list[int]) -> None:
    y = pt.canonical_labels(labels)
    together = np.equal.outer(y, y)
    Y = pt.indicator(labels)
    assert np.array_equal((Y @ Y.T).toarray(), together)
    assert np.array_equal(Y.sum(axis=0), np.bincount(pt.canonical_labels(labels)))
    if y.size > 1:
        assert np.array_equal(squareform(pt.co_membership(labels).astype(float)) + np.eye(y.size), together)
    Z = pt.normalised_indicator(labels).toarray()
    assert np.allclose(Z.T @ Z, np.eye(Z.shape[1]))
    assert np.array_equal(Z > 0, Y.toarray() > 0)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=15))
def test_contingency_counts_shared_items(two: list[tuple[int, int]]) -> None:
    t, c = (list(side) for side in zip(*two, strict=True))
    table = pt.contingency(t, c).toarray()
    assert np.array_equal(table, (pt.indicator(t).T @ pt.indicator(c)).toarray())


@given(st.lists(st.integers(-1, 3), max_size=12))
def test_chained_pairs_tie_the_items_of_each_label_and_no_others(labels: list[int]) -> None:
    y = np.array(labels, dtype=np.int64)
    pairs = pt.chained_pairs(y)
    apart = np.where(y < 0, 10 + np.arange(len(y)), y)
    np.testing.assert_array_equal(
        pt.canonical_labels(pt.connected_items(len(y), pairs)), pt.canonical_labels(apart)
    )
    assert len(pairs) == len(y) - len(set(apart.tolist()))
