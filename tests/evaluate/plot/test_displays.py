"""Displays show what the model says: orders, sums and names read back from the drawing."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import sparse

from clustruct import ItemSet
from clustruct.evaluate.explain import pair_contributions
from clustruct.evaluate.plot import (
    ConvergenceDisplay,
    PairContributionDisplay,
    SimilarityMatrixDisplay,
    SplitMergeDisplay,
    WeightsDisplay,
)

NAMES = ["$x_{", "<b>&", "a\nb\t c", "x" * 300, "\u65e5\u672c", "\x00\udcff", "", "%s {0}"]


def rows(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def draw(display):
    """What a user does next: make a picture of it."""
    display.figure_.canvas.draw()
    return display


def test_nothing_of_matplotlib_is_imported_before_a_picture():
    code = (
        "import sys, clustruct.evaluate.plot as p; [getattr(p, n) for n in p.__all__];"
        "assert not [m for m in sys.modules if m.startswith('matplotlib')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install clustruct\[plot\]"):
        WeightsDisplay(["a"], [1.0]).plot()


def test_all_draw_on_given_axes_and_open_no_figure(fitted):
    from matplotlib import pyplot

    model, X, y = fitted
    for display in (
        SimilarityMatrixDisplay.from_estimator(model, X[0], y[0], ax=Figure().subplots()),
        WeightsDisplay.from_estimator(model, X, ax=Figure().subplots()),
        PairContributionDisplay.from_estimator(model, X[0], 0, 1, ax=Figure().subplots()),
        ConvergenceDisplay.from_estimator(model, ax=Figure().subplots()),
        SplitMergeDisplay.from_estimator(model, X[0], y[0], ax=Figure().subplots()),
    ):
        assert display.figure_ is display.ax_.figure
        draw(display)
    assert pyplot.get_fignums() == []


def test_similarity_is_ordered_by_cluster(fitted):
    model, X, y = fitted
    display = draw(SimilarityMatrixDisplay.from_estimator(model, X[0], y[0]))
    labels, K = model.predict(X[0]), model.decision_function(X[0])
    ordered = labels[display.order_]
    assert len(np.flatnonzero(np.diff(ordered))) == labels.max()
    sizes = np.bincount(labels)[ordered]
    assert np.all(np.diff(sizes) <= 0)
    shown = display.image_.get_array()
    np.testing.assert_array_equal(shown[0, 1:], K[display.order_[0], display.order_[1:]])
    assert rows(display) == [str(a) for a in display.order_]


@pytest.mark.parametrize("m", [1, 2, 300, 1001])
def test_similarity_of_any_size_dense_and_sparse(m):
    rng = np.random.default_rng(m)
    K = np.triu(rng.normal(size=(m, m)), 1)
    K, y = K + K.T, rng.integers(0, 9, m)
    for given in (K, sparse.csr_array(K)):
        display = draw(SimilarityMatrixDisplay.from_predictions(given, y, truth=y, ids=None))
        assert display.image_.get_array().shape[0] == min(m, 1000)
    assert ("1,000 items shown" in display.ax_.get_title()) == (m > 1000)
    zero = SimilarityMatrixDisplay.from_predictions(np.zeros((m, m)), y)
    assert zero.image_.get_clim() == (-1.0, 1.0)


def test_of_many_small_clusters_whole_ones_are_shown():
    labels = np.arange(3000) // 3
    K = sparse.csr_array((np.ones(2999), (np.arange(2999), np.arange(1, 3000))), shape=(3000, 3000))
    display = draw(SimilarityMatrixDisplay.from_predictions(K + K.T, labels))
    shown, counts = np.unique(labels[display.order_], return_counts=True)
    assert 200 <= len(display.order_) <= 300
    assert set(counts) == {3}
    assert shown.max() > 900


@pytest.mark.filterwarnings("ignore:Glyph")
def test_odd_names_are_drawn_as_they_are():
    n = len(NAMES)
    K = np.ones((n, n))
    shown = rows(draw(SimilarityMatrixDisplay.from_predictions(K, [0] * n, ids=NAMES)))
    assert shown[0] == "$x_{"
    assert shown[2] == "a b c"
    assert max(len(name) for name in shown) <= 24
    draw(WeightsDisplay(NAMES, np.arange(n)).plot())
    draw(SplitMergeDisplay.from_predictions(NAMES * 2, list(range(2 * n))))


def test_weights_largest_first_in_comparable_units(fitted):
    model, X, _ = fitted
    display = draw(WeightsDisplay.from_estimator(model, X, n=3))
    rms = np.sqrt(np.mean([np.mean(x.pairs**2, axis=0) for x in X], axis=0))
    sizes = model.w_ * rms
    order = np.argsort(-np.abs(sizes))[:3]
    assert rows(display) == [X[0].feature_names[j] for j in order]
    np.testing.assert_allclose([bar.get_width() for bar in display.ax_.patches], sizes[order])
    assert display.ax_.get_title() == "3 largest weights of 5"
    trained = WeightsDisplay.from_estimator(model)
    np.testing.assert_allclose(trained.scale, rms)
    with pytest.raises(ValueError, match="2 weights but 1 names"):
        WeightsDisplay(["a"], [1.0, 2.0])


def test_waterfall_ends_at_the_similarity(fitted):
    model, X, _ = fitted
    found = pair_contributions(model, X[0], 2, 5)
    display = draw(PairContributionDisplay.from_predictions(found))
    bars = display.ax_.patches
    assert bars[-1].get_width() == found.similarity
    assert bars[-2].get_x() + bars[-2].get_width() == pytest.approx(found.similarity)
    assert rows(display)[-1] == "similarity"
    few = PairContributionDisplay.from_estimator(model, X[0], 2, 5, n=2)
    assert [r.split(" = ")[0] for r in rows(few)] == [found.names[0], "4 others", "similarity"]
    assert few.ax_.patches[-2].get_x() + few.ax_.patches[-2].get_width() == pytest.approx(found.similarity)


def test_waterfall_names_the_path_of_a_pair_held_by_others(fitted):
    model, _, _ = fitted
    x = ItemSet(pairs=np.array([[5.0], [-1.0], [5.0]]), ids=["left", "middle", "right"])
    model = type(model)()
    model.w_, model.n_features_in_ = np.array([1.0]), 1
    display = draw(PairContributionDisplay.from_estimator(model, x, 0, 2))
    assert display.ax_.get_title() == "left and right: together\nthrough left > middle > right"


def test_waterfall_of_features_of_one_name(fitted):
    x = ItemSet(pairs=[[1.0, 2.0, 0.0, 4.0]], feature_names=["a", "a", "a", "b"])
    model = type(fitted[0])()
    model.w_, model.n_features_in_ = np.ones(4), 4
    model.feature_names_in_ = np.array(x.feature_names, dtype=object)
    display = PairContributionDisplay.from_estimator(model, x, 0, 1)
    assert rows(display) == ["b = 4", "a = 2", "a = 1", "similarity"]
    few = PairContributionDisplay.from_estimator(model, x, 0, 1, n=2)
    assert rows(few) == ["b = 4", "2 others", "similarity"]


def test_waterfall_of_nothing(fitted):
    x = ItemSet(pairs=[[0.0]])
    model = type(fitted[0])()
    model.w_, model.n_features_in_ = np.array([1.0]), 1
    assert rows(draw(PairContributionDisplay.from_estimator(model, x, 0, 1))) == ["similarity"]


@pytest.mark.parametrize("show", ["bounds", "gap"])
@pytest.mark.parametrize("against", ["seconds", "rounds"])
def test_convergence(fitted, show, against):
    model = fitted[0]
    display = draw(ConvergenceDisplay.from_estimator(model, show=show, against=against))
    lines = {line.get_label(): line.get_xydata() for line in display.ax_.get_lines()}
    assert display.ax_.get_xlabel() == against
    if show == "bounds":
        lower = lines["lower bound"]
        assert len(lower) == model.result_.n_iter
        np.testing.assert_allclose(lower[-1, 1], model.result_.dual)
        assert np.all(np.diff(lower[:, 1]) >= -1e-9)


def test_convergence_needs_a_history(fitted):
    import dataclasses

    with pytest.raises(ValueError, match="no history"):
        ConvergenceDisplay(dataclasses.replace(fitted[0].result_, history=()))
    restored = type(fitted[0])()
    restored.w_ = fitted[0].w_
    with pytest.raises(ValueError, match="no result_"):
        ConvergenceDisplay.from_estimator(restored)
    with pytest.raises(ValueError, match="show is bounds or gap"):
        ConvergenceDisplay.from_estimator(fitted[0], show="loss")


def test_flow_shows_every_shared_item_once():
    rng = np.random.default_rng(0)
    truth, predicted = rng.integers(0, 4, 60), rng.integers(0, 4, 60)
    flow = draw(SplitMergeDisplay.from_predictions(truth, predicted)).flow_
    assert sum(band.size for band in flow.bands) == 60
    assert flow.left == {t: int((truth == t).sum()) for t in flow.left}
    assert sum(flow.right.values()) == 60
    assert not flow.cut


def test_flow_of_many_clusters_is_cut_worst_first():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 60, 400)
    predicted = np.where(rng.random(400) < 0.2, rng.integers(0, 60, 400), truth)
    display = draw(SplitMergeDisplay.from_predictions(truth, predicted, n=6))
    flow = display.flow_
    assert max(len(flow.left), len(flow.right)) <= 6
    assert flow.cut
    assert "the worst shown" in display.ax_.get_title()
    worst = max((*display.errors.splits, *display.errors.merges), key=lambda m: m.pairs)
    assert worst.cluster in (flow.left if worst in display.errors.splits else flow.right)
    everything = draw(SplitMergeDisplay.from_predictions([0] * 40, range(40), n=6)).flow_
    assert len(everything.right) == 6
    assert everything.cut


def test_flow_without_errors_says_so():
    display = draw(SplitMergeDisplay.from_predictions([0, 0, 1], [5, 5, 7]))
    assert [t.get_text() for t in display.ax_.texts] == ["no cluster was split or merged"]
