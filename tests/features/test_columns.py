"""Columns of terms against splitting each item's text by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.data import Table
from clustruct.features.columns import Columns, TermTable, columns_of
from clustruct.features.neighbours import TermNeighbours, keys_of, sorted_unique
from clustruct.features.term_weights import TermCounts, TermWeights
from clustruct.features.vocabulary import PackedTexts, Vocabulary
from tests.reference import terms as slow

TEXT = st.text(st.sampled_from("aAbB19_-./ \n\té\u0301ß\uff46二²İ\u017f\u2028,"), max_size=12) | st.text(
    max_size=6
)
VALUE = st.none() | TEXT | st.lists(TEXT, max_size=2) | st.integers(-5, 2000) | st.floats(0, 9)
ITEMS = st.lists(st.dictionaries(st.sampled_from("xyz"), VALUE), min_size=1, max_size=6)
VIEWS = [["words"], ["letters"], ["codes"], ["words", "codes"]]


@pytest.mark.parametrize("views", VIEWS, ids="+".join)
@settings(max_examples=60, deadline=None)
@given(ITEMS)
def test_terms_are_those_of_the_texts(views, items):
    raw = Table(items)
    columns = Columns(raw)
    for fields in (["x"], ["x", "y", "z"]):
        expected = slow.item_terms(raw, fields, views)
        table = columns.terms(fields, views)
        assert slow.counters(table) == [{t: row.count(t) for t in row} for row in expected]
        assert table.sizes.tolist() == [len(set(row)) for row in expected]
        words = table.vocabulary.words(np.arange(len(table.vocabulary)))
        counts = dict(zip(words, table.document_frequency(), strict=True))
        assert {t: c for t, c in counts.items() if c} == slow.n_with(expected)


def test_a_value_that_items_share_is_split_once():
    columns = Columns(Table([{"t": "Red Car"}, {"t": "red  car"}, {"t": None}, {"t": "RED CAR"}]))
    assert columns.texts("t").values == ["red car", ""]
    assert columns.texts("t").present.tolist() == [True, True, False, True]
    assert len(columns.terms(["t"], ["words"]).indptr) == 3
    assert columns.terms(["t"], ["words"]) is columns.terms(["t"], ["words"])


def test_views_without_a_common_vocabulary_are_refused():
    with pytest.raises(ValueError, match="no vocabulary together"):
        Columns(Table([{"t": "a"}])).terms(["t"], ["words", "letters"])


def test_sets_with_one_vocabulary_are_counted_as_their_sum():
    sets = [Table([{"t": "a b"}, {"t": "b c"}]), Table([{"t": "c d"}]), Table([{"t": ""}])]
    tables = [c.terms(["t"], ["words"]) for c in columns_of(sets)]
    together = TermWeights.of(TermCounts.of(*tables))
    apart = [TermCounts.of(Columns(raw).terms(["t"], ["words"])) for raw in sets]
    added = TermWeights.of(apart[0] + apart[1] + apart[2])
    for found in (together, added):
        assert (found.words, found.counts.tolist(), found.n) == (["b", "c"], [2.0, 2.0], 4)


def test_a_vocabulary_grows_and_keeps_its_numbers():
    terms = [str(k) for k in range(5000)]
    vocabulary = Vocabulary()
    assert vocabulary.number_words(terms[:10]).tolist() == list(range(10))
    numbers = vocabulary.number_words(terms[::-1])
    assert vocabulary.words(numbers.astype(np.int64)) == terms[::-1]
    assert vocabulary.find(PackedTexts.of(["17", "none"]).keys()).tolist() == [numbers[5000 - 18], -1]


def test_a_term_that_an_item_has_very_often():
    table = TermTable.of([["a"] * 70_000, ["a"]])
    assert table.counts.tolist() == [70_000, 1]


def _rows(items):
    return TermWeights([], np.zeros(0), 0).rows(TermTable.of(items))


@pytest.mark.parametrize(("common", "most"), [(3, 0), (3, 12), (1000, 1000), (0, 9)])
def test_neighbours_are_those_of_all_products(common, most):
    rng = np.random.default_rng(common + most)
    words = [f"w{k}" for k in range(30)]
    items = [rng.choice(words, rng.integers(0, 6)).tolist() for _ in range(40)]
    K = slow.products(items, common, most)
    np.fill_diagonal(K, 0.0)
    for n in (1, 4):
        found = TermNeighbours.of(_rows(items), common, most).nearest(n)
        for a, others in enumerate(found):
            there = others[others >= 0]
            assert len(there) == min(n, np.count_nonzero(K[a]))
            assert len(set(there)) == len(there)
            assert a not in there
            np.testing.assert_allclose(K[a, there], np.sort(K[a])[::-1][: len(there)], rtol=1e-5)


def test_of_equally_near_items_the_first_are_taken():
    found = TermNeighbours.of(_rows([["a"], ["a"], ["b"], ["a"], ["a"]]), 10, 10).nearest(2)
    assert found.tolist() == [[1, 3], [0, 3], [-1, -1], [0, 1], [0, 1]]
    assert keys_of(found).tolist() == [1, 3, 4, 8, 9]


def test_pairs_that_share_a_rare_term():
    near = TermNeighbours.of(_rows([["a", "b"], ["a"], ["b", "c"], ["b"], ["a", "b"]]), 10, 10)
    assert near.sharing(3).tolist() == [0 * 5 + 1, 0 * 5 + 4, 1 * 5 + 4]
    assert near.sharing(1).tolist() == []


@given(st.lists(st.integers(0, 20)))
def test_sorted_unique(keys):
    assert sorted_unique(np.array(keys, np.int64)).tolist() == sorted(set(keys))
