"""Features that are kept in a file: the same training without making them again; stale ones are not taken."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from clustruct import Recipe
from clustruct.data import Evidence, Table
from clustruct.data.datasets import make_records
from clustruct.features import PairFeatures

SETS = make_records(n_sets=5, n_people=6, random_state=3)


@pytest.fixture(scope="module")
def first(tmp_path_factory) -> tuple[Recipe, Path]:
    path = tmp_path_factory.mktemp("kept") / "train.features"
    return Recipe(C=1.0, kept_features=path).fit(SETS[:4]), path


def goes_on(first: Recipe, sets: list[Table], path: Path | None) -> Recipe:
    told = replace(SETS[4], labels=None)
    marks = Evidence.of_pairs(len(told), same=[(0, 1)], different=[(0, 2)])
    recipe = Recipe(C=1.0, kept_features=path)
    return recipe.fit([*sets, told], corrections=[None] * len(sets) + [marks], start=first.pipeline_)


def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the sets whose features are made from now on."""
    seen, transform = [], PairFeatures.transform
    monkeypatch.setattr(
        PairFeatures,
        "transform",
        lambda self, X, *given, **more: seen.extend(map(len, X)) or transform(self, X, *given, **more),
    )
    return seen


def test_the_same_is_learned_without_making_features_again(first, monkeypatch):
    recipe, path = first
    before = path.read_bytes()
    plain = goes_on(recipe, SETS[:4], None).pipeline_[-1].w_
    sizes = made(monkeypatch)
    assert np.array_equal(goes_on(recipe, SETS[:4], path).pipeline_[-1].w_, plain)
    assert sizes == [len(SETS[4])]  # the corrected set alone
    assert path.read_bytes() == before


def test_features_are_found_whatever_the_order_of_the_rows(first, monkeypatch):
    recipe, path = first
    turned = [table.take(np.arange(len(table))[::-1]) for table in SETS[:4]]
    plain = goes_on(recipe, SETS[:4], path).pipeline_[-1].w_
    sizes = made(monkeypatch)
    assert np.array_equal(goes_on(recipe, turned, path).pipeline_[-1].w_, plain)
    assert sizes == [len(SETS[4])]


def test_a_changed_item_makes_its_set_anew_and_is_kept(first, monkeypatch, tmp_path):
    recipe, path = first
    copy = tmp_path / "copy.features"
    copy.write_bytes(path.read_bytes())
    items = [dict(item) for item in SETS[0].items]
    items[0]["name"] = "somebody else"
    sets = [replace(SETS[0], items=items), *SETS[1:4]]
    plain = goes_on(recipe, sets, None).pipeline_[-1].w_
    sizes = made(monkeypatch)
    assert np.array_equal(goes_on(recipe, sets, copy).pipeline_[-1].w_, plain)
    assert sizes == [len(SETS[0]), len(SETS[4])]
    sizes.clear()
    goes_on(recipe, sets, copy)
    assert sizes == [len(SETS[4])]


@pytest.mark.parametrize(("fields", "sets"), [(["name"], SETS[:4]), (None, SETS[1:])])
def test_other_features_take_nothing_of_the_file(first, monkeypatch, tmp_path, fields, sets):
    other = Recipe(C=1.0, fields=fields).fit(sets)  # the second has other weights of terms alone
    copy = tmp_path / "copy.features"
    copy.write_bytes(first[1].read_bytes())
    plain = goes_on(other, SETS[:4], None).pipeline_[-1].w_
    sizes = made(monkeypatch)
    assert np.array_equal(goes_on(other, SETS[:4], copy).pipeline_[-1].w_, plain)
    assert sizes == [len(table) for table in SETS]


@pytest.mark.parametrize("damage", [b"", b"no file of ours", None])
def test_a_damaged_file_counts_as_empty(first, tmp_path, damage):
    recipe, path = first
    data = path.read_bytes()
    bad = tmp_path / "bad.features"
    bad.write_bytes(data[: len(data) // 2] if damage is None else damage)
    plain = goes_on(recipe, SETS[:4], None).pipeline_[-1].w_
    assert np.array_equal(goes_on(recipe, SETS[:4], bad).pipeline_[-1].w_, plain)
    assert bad.stat().st_size > len(data) // 2  # and is whole again


def test_values_that_no_file_can_hold_are_not_kept(tmp_path):
    path = tmp_path / "odd.features"
    odd = [replace(table, context={"made": object()}) for table in SETS[:4]]
    Recipe(C=1.0, kept_features=path).fit(odd)
    assert not path.exists()
