"""An index that grew says what all items read anew say: the same pairs, features and groups."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct import Recipe
from clustruct.core.exceptions import DataError
from clustruct.core.storage import pack, unpack
from clustruct.data import Table
from clustruct.data.datasets import make_records
from clustruct.features import Blocking, PairFeatures, check_tables
from clustruct.features.blocks.numbers import Numbers
from clustruct.features.blocks.strings import Strings
from clustruct.features.blocks.terms import Elsewhere, Lists, Terms
from clustruct.features.blocks.text_cosines import TextCosines
from clustruct.features.blocks.vectors import Vectors
from clustruct.features.column_cache import CacheError, add_lengths, restore_columns, tail
from clustruct.features.columns import Columns
from clustruct.groups import add_to_groups
from clustruct.groups.known import KnownIndex, KnownItems
from clustruct.groups.log_replay import State

WORDS = st.sampled_from(["red", "blue", "car", "x-100", "x100", "\u00c9t\u00e9", "ete", "of"])
ITEMS = st.fixed_dictionaries(
    {
        "name": st.none() | st.lists(WORDS, max_size=3).map(" ".join),
        "text": st.lists(WORDS, max_size=5).map(" ".join),
        "year": st.none() | st.integers(1990, 1993),
        "by": st.none() | st.lists(WORDS, max_size=2),
        "v": st.none() | st.tuples(st.integers(0, 2), st.integers(0, 2)).map(list),
    }
)


@pytest.fixture(scope="module")
def features():
    rng = np.random.default_rng(0)
    words = ["red", "blue", "car", "x-100", "ete", "of"]
    train = [
        {
            "name": " ".join(rng.choice(words, 2)),
            "text": " ".join(rng.choice(words, 4)),
            "year": int(rng.integers(1990, 1994)),
            "by": [str(rng.choice(words))],
            "v": [1.0, float(a % 3)],
        }
        for a in range(12)
    ]
    terms, elsewhere = Terms(["name", "text"], name="all", missing_values=True), Elsewhere("name", ["text"])
    blocks = [Strings("name"), terms, Terms(["name"]), TextCosines("text"), elsewhere]
    blocks += [Numbers("year"), Lists("by"), Vectors(["v"])]
    blocking = Blocking(["name", "text"], n_neighbors=2, n_neighbors_by_field=1, common=3, from_size=1)
    return PairFeatures(blocks, blocking=blocking).fit([Table(train)])


def of_all_pairs(features, columns):
    pairs = np.array(np.triu_indices(len(columns), 1)).T
    return np.concatenate([part for _, part in features._chunks(columns, pairs, show_progress=False)])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(ITEMS, min_size=1, max_size=6), min_size=1, max_size=4))
def test_what_grew_is_what_is_read_anew(features, days):
    index, items = None, []
    for day in days:
        names = [f"i{len(items) + a}" for a in range(len(day))]
        new = Table(day, ids=names)
        index = KnownIndex.of(new) if index is None else index.with_items(new)
        items += day
        anew = Columns(Table(items, ids=[f"i{a}" for a in range(len(items))]))
        since = len(items) - len(day)
        found = [features.blocking_.pairs(columns, since=since).tolist() for columns in (index.columns, anew)]
        assert found[0] == found[1]
        if len(items) > 1:
            values = [of_all_pairs(features, columns) for columns in (index.columns, anew)]
            assert np.allclose(*values, rtol=0.0, atol=1e-12)
        assert index.table.item_ids == anew.table.item_ids
        assert [index.table.column(name) for name in items[0]] == [
            anew.table.column(name) for name in items[0]
        ]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(ITEMS, min_size=2, max_size=4), min_size=3, max_size=3))
def test_two_days_that_begin_from_one_index_do_not_see_each_other(features, parts):
    first, one, other = (Table(part) for part in parts)
    index = KnownIndex.of(first)
    of_all_pairs(features, index.columns)
    for part in (one, other, one):
        add_lengths, anew = index.with_items(part).columns, Columns(Table([*first.items, *part.items]))
        assert np.allclose(
            of_all_pairs(features, add_lengths), of_all_pairs(features, anew), rtol=0.0, atol=1e-12
        )
    assert np.allclose(of_all_pairs(features, index.columns), of_all_pairs(features, Columns(first)))


def test_a_day_that_is_refused_leaves_the_index_as_it_was(features):
    index = KnownIndex.of(Table([{"year": 1990, "name": "red car"}, {"year": 1991}]))
    before = of_all_pairs(features, index.columns)
    with pytest.raises(DataError, match=r"'b' of a set has 3 numbers, not 2"):
        index.with_items(Table([{"v": [1.0, 2.0], "name": "blue"}, {"v": [1.0] * 3}], ids=["a", "b"]))
    assert np.array_equal(of_all_pairs(features, index.columns), before)
    assert len(index) == 2


@pytest.mark.parametrize("from_size", [10, 10_000])
def test_groups_of_a_stream_are_the_same_with_an_index_and_without(from_size):
    recipe = Recipe(C=1.0).fit(make_records(n_sets=4, n_people=6))
    pipeline = check_tables(recipe.pipeline_)
    table = make_records(n_sets=1, n_people=20, random_state=3)[0]
    table = Table(table.items, ids=[f"p{a}" for a in range(len(table))])
    pipeline[0].blocking_ = Blocking(from_size=from_size, n_neighbors=4).fit([table])
    with_index, without = KnownItems(None, State()), KnownItems(None, State())
    for rows in np.array_split(np.random.default_rng(0).permutation(len(table)), 4):
        kept = add_to_groups(pipeline, with_index, table.take(rows))
        anew = add_to_groups(pipeline, without, table.take(rows))
        assert kept.update == anew.update
        with_index, without = kept.next_known_items(), replace(anew.next_known_items(), index=None)
        assert with_index.state.groups == State.start(kept.update.groups).groups
    assert len(with_index.index) == len(table)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(ITEMS, min_size=1, max_size=6), min_size=2, max_size=4), st.data())
def test_an_index_kept_in_pieces_is_the_index(features, days, data):
    index, items, pieces, lengths = None, [], [], {}
    for day in days:
        new = Table(day, ids=[f"i{len(items) + a}" for a in range(len(day))])
        index = KnownIndex.of(new) if index is None else index.with_items(new)
        items += day
        since = len(items) - len(day)
        anew = Columns(Table(items, ids=[f"i{a}" for a in range(len(items))]))
        found = [features.blocking_.pairs(columns, since=since).tolist() for columns in (index.columns, anew)]
        assert found[0] == found[1]
        if len(items) > 1:
            values = [of_all_pairs(features, columns) for columns in (index.columns, anew)]
            assert np.allclose(*values, rtol=0.0, atol=1e-12)
        try:
            piece = tail(index.columns, lengths)
        except CacheError:  # the first vectors have come, and all are longer now
            pieces, lengths, piece = [], {}, tail(index.columns)
        pieces.append(unpack(pack({"piece": piece}))["piece"])
        lengths = add_lengths(lengths, piece)
        if data.draw(st.booleans()):
            index = KnownIndex(restore_columns(anew.table, pieces))
    again = restore_columns(anew.table, pieces)
    assert {name: len(keys) for name, (keys, *_) in tail(again).items()} == {
        name: held[0] for name, held in lengths.items()
    }
