"""What notebooks show of models, results, sets and pictures: short, and only ever text of the data."""

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from clustruct import ItemSet, Recipe, SupervisedCorrelationClustering, Table
from clustruct.data.datasets import make_records
from clustruct.evaluate.explain import pair_contributions
from clustruct.evaluate.metrics import evaluate
from clustruct.evaluate.plot import WeightsDisplay
from clustruct.groups import compare

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def trained():
    x = ItemSet(pairs=[[0.9, 1.0], [0.1, 1.0], [0.2, 1.0]], feature_names=["<b>likeness", "constant"])
    return SupervisedCorrelationClustering(C=1.0).fit([x], [[0, 0, 1]]), x


def test_a_set_shows_its_first_items_and_how_many_there_are():
    raw = Table([{"name": HOSTILE}] * 30, labels=[7] * 30, name="customers")
    shown = raw._repr_html_()
    assert "customers: 30 items" in shown
    assert "… and 22 more" in shown
    assert "<script>" not in shown
    assert "<td>7</td>" in shown


def test_a_set_without_labels_is_shown():
    assert "cluster" not in Table([{"name": "Ann"}])._repr_html_()


def test_sets_held_by_columns_are_not_made_into_dicts_for_it():
    raw = Table.from_columns({"name": [f"n{k}" for k in range(1000)]})
    assert "… and 992 more" in raw._repr_html_()


def test_an_item_set_shows_its_features(trained):
    shown = trained[1]._repr_html_()
    assert "ItemSet: 3 items" in shown
    assert "&lt;b&gt;likeness" in shown


def test_models_and_trainings_are_shown(trained):
    assert "SupervisedCorrelationClustering" in trained[0]._repr_html_()
    assert "Recipe" in Recipe()._repr_html_()
    shown = trained[0].result_._repr_html_()
    assert "converged after" in shown
    assert "certificate" in shown


def test_scores_begin_with_the_verdict():
    shown = evaluate([[0, 0, 1]], [[0, 0, 1]])._repr_html_()
    assert "everything is exactly right" in shown
    assert "b cubed f1" in shown


def test_an_explanation_shows_contributions_that_add_up(trained):
    why = pair_contributions(*trained, 0, 1)
    shown = why._repr_html_()
    assert f"similarity {why.similarity:.4g}" in shown
    assert "&lt;b&gt;likeness" in shown


def test_changes_show_the_groups_that_changed():
    shown = compare({"a": "g", "b": "h"}, {"a": "g", "b": "h", "c": "h"})._repr_html_()
    assert "<td>h</td><td>grown</td><td>1</td><td>2</td>" in shown
    assert "<td>g</td>" not in shown


def test_a_picture_is_shown_once():
    """Pyplot shows its own figures at the end of a cell; others would not be seen."""
    own = WeightsDisplay(["a", "b"], [1.0, -1.0]).plot(ax=Figure().subplots())
    assert own._repr_html_().startswith('<img alt="WeightsDisplay" src="data:image/png;base64,')
    of_pyplot = WeightsDisplay(["a", "b"], [1.0, -1.0]).plot()
    assert of_pyplot._repr_html_() is None
    assert WeightsDisplay(["a"], [1.0])._repr_html_() is None
    pyplot.close("all")


@pytest.mark.parametrize("kind", ["array", "series"])
def test_labels_of_raw_sets_may_be_arrays_and_columns(kind):
    pd = pytest.importorskip("pandas")
    made = np.asarray if kind == "array" else pd.Series
    sets = make_records(n_sets=3, n_people=4)
    raws = [Table(raw.items, labels=made(np.unique(raw.labels, return_inverse=True)[1])) for raw in sets]
    assert Recipe(C=1.0).fit(raws).score(raws) > 0.5


def test_data_frames_go_in_everywhere():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(6, 2)), columns=["x", "y"])
    labels = pd.Series([0, 0, 1, 1, 2, 2])
    model = SupervisedCorrelationClustering(C=1.0).fit([frame], [labels])
    assert model.feature_names_in_.tolist() == ["x", "y"]
    assert len(model.predict([frame])[0]) == 6
    raw = make_records(n_sets=1, n_people=4)[0]
    table = Table.from_frame(pd.DataFrame(list(raw.items)))
    assert len(table) == len(raw)
