"""Sources: items of one source are not compared, not learned from, and (where told so) never grouped."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clustruct
from clustruct import PairFeatures, Recipe, Table
from clustruct.core.exceptions import DataError, DataWarning
from clustruct.data.datasets import make_records
from clustruct.features import Blocking, Sources, guess_blocks
from clustruct.features.columns import Columns
from clustruct.features.neighbours import nearest_vectors
from clustruct.learning.model_selection.training_tables import find_source


def people(n_people: int = 80, most: int = 2, n_sources: int = 2, seed: int = 0) -> Table:
    """A table in which the entries of a person are of different shops."""
    table = make_records(n_sets=1, n_people=n_people, most=most, random_state=seed)[0]
    shop = [f"s{table.labels[:k].count(label) % n_sources}" for k, label in enumerate(table.labels)]
    columns = {name: table.column(name) for name in table.fields()}
    return Table.from_columns({**columns, "shop": shop}, labels=table.labels, ids=table.ids)


def breaks(labels, table: Table, field: str = "shop") -> bool:
    return len({*zip(np.asarray(labels).tolist(), table.column(field), strict=True)}) < len(table)


def fitted(table: Table, **more) -> PairFeatures:
    blocks = guess_blocks([table], "records", None, ["shop"])
    return PairFeatures(blocks, sources=Sources("shop"), **more).fit([table])


@pytest.mark.parametrize("blocking", [None, Blocking(n_neighbors=3, from_size=0)])
def test_pairs_within_a_source_are_not_compared(blocking):
    table = people()
    x = fitted(table, blocking=blocking).transform([table])[0]
    shop = np.array(table.column("shop"))
    assert len(x.pair_index)
    assert (shop[x.pair_index[:, 0]] != shop[x.pair_index[:, 1]]).all()
    if blocking is None:
        assert len(x.pair_index) == sum(a != b for k, a in enumerate(shop) for b in shop[:k])
    assert not any("shop" in name for name in x.feature_names)


def test_neighbours_are_those_of_other_sources():
    table = people(120)
    codes = Sources("shop").codes(Columns(table))
    blocking = Blocking(["name"], n_neighbors=2, n_neighbors_by_field=0, rare=0).fit([table])
    near = blocking.pairs(table, sources=codes)
    mates = np.bincount(near.ravel(), minlength=len(table))
    # With all items as neighbours some of the two nearest are of the same shop, and fewer are left across.
    every = blocking.pairs(table)
    across = every[codes[every[:, 0]] != codes[every[:, 1]]]
    assert len(near) > len(across)
    assert set(map(tuple, across.tolist())) <= set(map(tuple, near.tolist()))
    assert mates.max() > 1


def test_vectors_have_neighbours_of_other_sources():
    X, sources = np.random.default_rng(0).normal(size=(40, 5)), np.arange(40) % 3
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    K = np.where(sources[:, None] == sources, -np.inf, unit @ unit.T)
    expected = np.argsort(-K, axis=1, kind="stable")[:, :4]
    np.testing.assert_array_equal(nearest_vectors(X, 4, sources), expected)


@given(seed=st.integers(0, 1000), n_sources=st.integers(2, 4), most=st.integers(2, 4))
@settings(deadline=None, max_examples=8)
def test_no_forbidden_pair_is_ever_together(seed, n_sources, most):
    table = people(25, most, n_sources, seed)
    recipe = Recipe(C=1.0, source="shop", within_source="apart", parts=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of labelled pairs within a shop, where most is larger
        recipe.fit([table])
    new = people(25, most, n_sources, seed + 1)
    assert not breaks(recipe.predict([new])[0], new)
    assert not breaks(recipe.pipeline_.predict([new])[0], new)


def test_items_that_are_not_compared_may_share_a_group_through_a_third():
    table = people(60, most=3)
    recipe = Recipe(C=1.0, source="shop", within_source="uncompared")
    with pytest.warns(DataWarning, match="lie within a source"):
        recipe.fit([table])
    assert recipe.pipeline_[0].sources_.within == "uncompared"
    assert breaks(recipe.predict([replace(table, labels=None)])[0], table)


def test_a_source_is_found_where_labels_bear_it_out():
    table = people()
    found = find_source([table])
    assert found is not None
    assert (found.field, found.pairs, found.across) == ("shop", found.pairs, found.pairs)
    assert found.is_borne_out
    # Not by chance: shuffled, or of too few labelled pairs.
    shuffled = np.random.default_rng(0).permutation(table.column("shop")).tolist()
    columns = {name: table.column(name) for name in table.fields()}
    assert find_source([Table.from_columns({**columns, "shop": shuffled}, labels=table.labels)]) is None
    few = [label if int(label[1:]) < 8 else None for label in table.labels]
    assert find_source([replace(table, labels=few)]) is None
    # Nor with an item that has none.
    holed = {**columns, "shop": [None, *columns["shop"][1:]]}
    assert find_source([Table.from_columns(holed, labels=table.labels)]) is None


def test_what_was_found_is_kept_in_the_model(tmp_path):
    table = people()
    recipe = Recipe(C=1.0).fit([table])
    assert recipe.training_["source"]["field"] == "shop"
    assert recipe.training_["source"]["found"]
    assert recipe.pipeline_[0].sources_ == Sources("shop", recipe.training_["source"]["within"])
    clustruct.save(tmp_path / "m", recipe)
    again = clustruct.load(tmp_path / "m")
    new = people(seed=1)
    assert (again.predict([new])[0] == recipe.predict([new])[0]).all()
    assert again.pipeline_[0].sources_ == recipe.pipeline_[0].sources_
    # A model file from before there were sources.
    state = recipe.pipeline_[0].state()
    del state["sources"]
    assert PairFeatures.from_state(state).sources_ is None
    with pytest.raises(ValueError, match="sources must be Sources"):
        PairFeatures.from_state({**state, "sources": "shop"})


def test_without_a_source_all_items_are_compared():
    table = people()
    recipe = Recipe(C=1.0, source=None).fit([table])
    assert recipe.pipeline_[0].sources_ is None
    assert recipe.training_["source"] is None


def test_what_is_wrong_is_named():
    table = people()
    columns = {name: table.column(name) for name in table.fields()}
    model = Recipe(C=1.0).fit([table])
    holed = Table.from_columns({**columns, "shop": ["s0", None, *columns["shop"][2:]]}, ids=table.ids)
    with pytest.raises(DataError, match="has no source"):
        model.predict([holed])
    with pytest.raises(DataError, match="no item has the field 'shop'"):
        model.predict([Table.from_columns({n: c for n, c in columns.items() if n != "shop"})])
    with pytest.raises(ValueError, match="source goes with clusterers by correlation"):
        Recipe(C=1.0, source="shop", learner="kmeans").fit([table])
