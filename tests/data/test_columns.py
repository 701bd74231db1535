"""A set held by columns says the same as one of mappings, and coded columns give back their values."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.data import Source, Table, is_missing
from clustruct.data.column_types import ChainedColumn, CodedColumn, LazyColumn, ListColumn, as_column

CELLS = st.one_of(
    st.none(),
    st.sampled_from(["", " ", "a", "b", "ab", "\ud800", "0"]),
    st.integers(-2, 2),
    st.booleans(),
    st.floats(),
    st.lists(st.sampled_from(["x", "y"]), max_size=2),
    st.lists(st.floats(0, 1), min_size=2, max_size=2),
)
TEXTS = st.none() | st.sampled_from(["", " ", "\u00a0", "a", "b", "b ", "\ud800"])


def same(a, b):
    return (a is None and b is None) or a == b


@settings(max_examples=200, deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=100) | st.lists(TEXTS, min_size=1, max_size=100))
def test_codes_give_back_the_values_in_order_of_appearance(cells):
    table = Table([{"f": cell} for cell in cells])
    codes, values = table.factorize("f")
    assert codes.dtype == np.int64
    for cell, code in zip(cells, codes, strict=True):
        assert (code == -1) == is_missing(cell)
        assert code == -1 or (
            values[code] == cell and isinstance(values[code], bool) == isinstance(cell, bool)
        )
    firsts = [codes.tolist().index(k) for k in range(len(values))]
    assert firsts == sorted(firsts)
    assert table.factorize("f") is table.factorize("f")
    assert table.factorize("none").codes.tolist() == [-1] * len(cells)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=90), st.data())
def test_columns_are_the_same_set_as_mappings(cells, data):
    first, second = (list(column) for column in zip(*cells, strict=True))
    plain = Table([{"f": a, "g": b} for a, b in cells], ids=range(len(cells)))
    coded = ListColumn(first).factorize()
    held = Table.from_columns({"f": CodedColumn(*coded), "g": second}, ids=range(len(cells)))
    rows = data.draw(st.lists(st.integers(0, len(cells) - 1), min_size=1, max_size=90))
    sets = [
        (plain, held),
        (plain.take(rows), held.take(rows)),
        (plain.take(rows).take([0]), held.take(rows[:1])),
    ]
    sets.append((Table(plain.items[::2]), Table(held.items[::2][:])))
    sets.append((Table(plain.items[::-1][:5]).take([0]), Table(held.items[::-1][:5]).take([0])))
    for one, other in sets:
        assert one.fields() == other.fields()
        for field in ("f", "g"):
            assert all(map(same, one.column(field), other.column(field)))
            assert one.factorize(field).codes.tolist() == other.factorize(field).codes.tolist()
            assert [item[field] for item in other.items] == other.column(field)
            assert [other.items[a][field] for a in range(len(other))] == other.column(field)
        assert list(one.item_ids) == list(other.item_ids)
        assert other == pickle.loads(pickle.dumps(other))


def test_numbers_and_vectors_stay_arrays():
    X = np.arange(6.0).reshape(3, 2)
    table = Table.from_columns({"n": np.array([2.0, np.nan, 2.0]), "k": np.array([3, 1, 3]), "vector": X})
    assert table.matrix("vector") is X
    assert table.matrix("n") is None
    assert table.column("n") == [2.0, None, 2.0]
    assert (table.factorize("n").codes.tolist(), table.factorize("n").values) == ([0, -1, 0], [2.0])
    assert (table.factorize("k").codes.tolist(), table.factorize("k").values) == ([0, 1, 0], [3, 1])
    assert table.take([2, 0]).matrix("vector").tolist() == X[[2, 0]].tolist()
    assert table.items[0]["vector"].tolist() == [0.0, 1.0]
    assert type(table.items[0]["k"]) is int


def test_a_part_keeps_the_places_of_its_items():
    table = Table(
        [{}, {}, {}], ids=["x", "y", "z"], labels=[1, 2, 1], source=Source("a.csv", lines=range(2, 5))
    )
    part = table.take([2, 1])
    assert (part.ids, part.labels, part.source.place(0)) == (["z", "y"], [1, 2], "a.csv:4")


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="'f' has 1, 'g' has 2"):
        Table.from_columns({"f": ["a"], "g": ["a", "b"]})
    with pytest.raises(ValueError, match="no items"):
        Table.from_columns({"f": []})


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.none() | st.sampled_from(["", "a", "b", " "]) | st.lists(st.text(max_size=1)))))
def test_a_chain_of_columns_is_one_column(parts):
    values = [value for part in parts for value in part]
    plain, chain = ListColumn(values), ChainedColumn.of(*map(ListColumn, parts))
    chain = ChainedColumn.of(chain, ListColumn([]))
    assert len(chain) == len(values)
    assert chain.tolist() == plain.tolist() == [chain[a] for a in range(len(values))]
    assert chain.factorize().codes.tolist() == plain.factorize().codes.tolist()
    assert chain.factorize().values == plain.factorize().values
    if parts:
        assert chain.missing().tolist() == plain.missing().tolist()
    rows = np.arange(len(values))[::-2]
    assert chain.part(rows).tolist() == plain.part(rows).tolist()
    assert chain.part(slice(1, None, 2)).tolist() == plain.part(slice(1, None, 2)).tolist()


def test_a_table_gives_fields_and_items_in_part():
    table = Table.from_columns(
        {"name": ["Ann", " ", "Bob"], "age": np.array([31.0, np.nan, 5.0])}, ids=[7, 8, 9]
    )
    assert table.items[1] == {"name": None, "age": None}
    assert list(table.items[1:]) == [{"name": None, "age": None}, {"name": "Bob", "age": 5.0}]
    assert table.some("age", slice(1, None)) == [None, 5.0]
    codes, words = table.factorize("name")
    assert (codes.tolist(), words) == ([0, -1, 1], ["Ann", "Bob"])
    some = table.take([2, 0])
    assert (list(some.items), some.ids) == (
        [{"name": "Bob", "age": 5.0}, {"name": "Ann", "age": 31.0}],
        [9, 7],
    )
    assert table.item_title(1) == "item 8 of a set"
    column = LazyColumn(2, lambda: as_column(["a", "b"]))
    assert (len(column), column[1]) == (2, "b")
    with pytest.raises(ValueError, match="3 values were expected, and 2 were read"):
        LazyColumn(3, lambda: as_column(["a", "b"])).tolist()
