"""A training that goes on from a model takes rows, and parts of a table, as that model learned them."""

import pytest
from sklearn.pipeline import make_pipeline

from clustruct import PairFeatures, Recipe, SupervisedCorrelationClustering
from clustruct.core.storage import load, save
from clustruct.data.datasets import make_records
from clustruct.features import guess_blocks

SETS = make_records(n_sets=4, n_people=6, random_state=3)
TABLE = make_records(n_sets=1, n_people=20, random_state=3)[:1]


def by_recipe():
    return Recipe(C=1.0).fit(SETS).pipeline_


def by_hand():
    """Of rows that nobody sorted."""
    made = make_pipeline(PairFeatures(guess_blocks(SETS)), SupervisedCorrelationClustering(C=1.0))
    return made.fit(SETS, [table.labels for table in SETS])


@pytest.mark.parametrize("learned", [by_recipe, by_hand])
def test_planes_are_found_again(learned, tmp_path):
    save(tmp_path / "first", learned())
    first = load(tmp_path / "first")
    second = Recipe(C=1.0).fit(SETS, start=first).pipeline_
    assert len(second[-1].result_.history) < len(first[-1].result_.history) / 2


@pytest.mark.parametrize(("first", "second"), [(None, 5), (5, None)])
def test_a_table_is_cut_where_it_was_cut_before(first, second):
    before = Recipe(C=1.0, parts=first).fit(TABLE)
    after = Recipe(C=1.0, parts=second).fit(TABLE, start=before.pipeline_)
    assert after.was_cut_ == before.was_cut_ == (first is not None)
