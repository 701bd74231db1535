"""MultiLabelMRF: the scikit-learn contract, and what it shows of its inner state."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from clustruct import load, save
from clustruct.core.exceptions import ChoiceWarning
from clustruct.learning.model_selection.choose_c import split_sets
from clustruct.papers.multilabel import MultiLabelMRF, MultiLabelProblem, make_multilabel_count, mrf
from clustruct.papers.multilabel.mrf import RelaxedLabeling
from clustruct.ssvm import SlackRule


# Labels of these checks have nothing to do with the features.
@pytest.mark.filterwarnings("ignore::clustruct.ssvm.NothingLearned")
@parametrize_with_checks(
    [MultiLabelMRF(), MultiLabelMRF(oracle="graph_cut", edges="tree"), MultiLabelMRF(formulation="one_slack")]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def counts():
    return make_multilabel_count(300, n_labels=6, random_state=0)


@pytest.mark.parametrize("oracle", ["exact", "graph_cut", "greedy", "combine"])
def test_sparse_equals_dense(counts, oracle):
    X, Y = counts
    dense = MultiLabelMRF(3000.0, oracle=oracle, rtol=1e-4).fit(X, Y)
    thin = MultiLabelMRF(3000.0, oracle=oracle, rtol=1e-4).fit(sparse.csr_array(X), Y)
    assert dense.result_.objective == pytest.approx(thin.result_.objective, rel=2e-4)
    np.testing.assert_array_equal(dense.predict(X), dense.predict(sparse.csr_matrix(X)))


@pytest.mark.parametrize(
    "predictor", ["greedy", "loopy_bp", "combine", "exact", "linear_program", "graph_cut"]
)
def test_every_predictor_gives_labels(counts, predictor):
    X, Y = counts
    model = MultiLabelMRF(3000.0, oracle="graph_cut", predictor=predictor).fit(X, Y)
    found = model.predict(X)
    assert found.dtype == Y.dtype
    assert set(np.unique(found)) <= {0, 1}
    assert model.score(X, Y) == pytest.approx(1 - np.mean(found != Y))
    assert model.score(X, Y) > 0.85


def test_undecided_labels_are_exposed(counts):
    X, Y = counts
    model = MultiLabelMRF(30000.0, rtol=1e-2).fit(X, Y)
    relaxed = model.predict_relaxed(X)
    assert isinstance(relaxed, RelaxedLabeling)
    assert set(np.unique(relaxed.nodes)) <= {0.0, 0.5, 1.0}
    assert model.undecided_share_ == relaxed.undecided_share == model.undecided_share(X)
    program = MultiLabelMRF(30000.0, predictor="linear_program", rtol=1e-2).fit(X, Y)
    assert program.predict_relaxed(X[:50]).undecided_share == pytest.approx(
        model.undecided_share(X[:50]), abs=0.01
    )


def test_undecided_labels_may_be_tossed(counts):
    X, Y = counts
    settings = {"predictor": "graph_cut", "rtol": 1e-2}
    greedy = MultiLabelMRF(30000.0, **settings).fit(X, Y)
    tossed = MultiLabelMRF(30000.0, undecided="random", **settings).fit(X, Y)
    decided = ~greedy.predict_relaxed(X).is_undecided
    np.testing.assert_array_equal(greedy.predict(X)[decided], tossed.predict(X)[decided])
    np.testing.assert_array_equal(tossed.predict(X), tossed.predict(X))
    with pytest.raises(ValueError, match="undecided must be"):
        MultiLabelMRF(undecided="never").fit(X, Y)


@pytest.mark.parametrize(("edges", "count"), [("full", 15), ("none", 0), ([(4, 1), (0, 2)], 2), ("tree", 5)])
def test_edges(counts, edges, count):
    X, Y = counts
    model = MultiLabelMRF(1000.0, edges=edges, rtol=1e-2).fit(X, Y)
    assert model.edges_.shape == (count, 2)
    assert model.coef_.shape == (6, 24)
    assert model.w_.shape == (6 * 25 + count,)
    np.testing.assert_array_equal(model.edge_weights_, model.edge_weights_.T)
    allowed = np.zeros((6, 6), bool)
    allowed[tuple(model.edges_.T)] = True
    assert not model.edge_weights_[~(allowed | allowed.T)].any()


def test_weights_are_the_joint_score(counts):
    X, Y = counts
    model = MultiLabelMRF(1000.0, fit_intercept=False, rtol=1e-2).fit(X, Y)
    np.testing.assert_array_equal(model.intercept_, 0)
    np.testing.assert_array_equal(model.w_[: 6 * 24].reshape(6, 24), model.coef_)
    np.testing.assert_array_equal(model.w_[6 * 24 :], model.edge_weights_[tuple(model.edges_.T)])
    assert model.n_iter_ == model.result_.n_iter
    assert model.result_.certificate.lower <= model.result_.objective


def test_grid_search_and_clone(counts):
    X, Y = counts
    search = GridSearchCV(MultiLabelMRF(rtol=1e-2), {"C": [1.0, 30000.0]}, cv=2).fit(X, Y)
    assert search.best_params_["C"] == 30000.0
    assert clone(search.best_estimator_).get_params()["C"] == 30000.0


def test_sparse_targets_and_frames(counts):
    import pandas as pd

    X, Y = counts
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    model = MultiLabelMRF(100.0, rtol=1e-2).fit(frame, pd.DataFrame(Y))
    assert list(model.feature_names_in_) == list(frame.columns)
    same = MultiLabelMRF(100.0, rtol=1e-2).fit(X, sparse.csr_matrix(Y))
    np.testing.assert_array_equal(model.predict(frame), same.predict(X))
    assert same.score(X, sparse.csr_matrix(Y)) == pytest.approx(same.score(X, Y))


def test_verbose_prints_rounds(counts, capsys):
    X, Y = counts
    MultiLabelMRF(100.0, rtol=1e-2, verbose=1).fit(X, Y)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "training with C = 100"
    assert said[1].startswith("round 1: ")


def test_rows_are_held_once(counts):
    """The planes of a training are stretches of the problem's own rows, the constant included."""
    X, Y = counts
    for form in (np.asarray, sparse.csr_array):
        problem = MultiLabelProblem(form(X), Y, constant=True)
        rows = problem.separate_batch(np.arange(5), np.zeros(problem.n_features), SlackRule()).rows(
            np.arange(5)
        )
        held = problem.X.data if sparse.issparse(problem.X) else problem.X
        assert np.shares_memory(held, rows.data)
        dense = problem.X.toarray() if sparse.issparse(problem.X) else problem.X
        np.testing.assert_array_equal(dense, np.hstack([X, np.ones((len(X), 1))]))
        w = np.random.default_rng(0).normal(size=problem.n_features)
        np.testing.assert_allclose(problem.unary(form(X), w), problem.unary(problem.X, w))


def test_labels_other_than_0_and_1_are_refused(counts):
    X, Y = counts
    with pytest.raises(ValueError, match="0 and 1 only"):
        MultiLabelMRF().fit(X, 2 * Y + Y[::-1])


def test_C_is_chosen_on_rows_held_out(counts, tmp_path):
    """The loss of each C is that of trainings on the other folds; saved, the choice is kept."""
    X, Y = counts
    model = MultiLabelMRF("cv", C_grid=[1.0, 3000.0], cv=2, rtol=0.1, oracle="graph_cut")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChoiceWarning)
        model.fit(X, Y)
    assert model.C_ == 3000.0 == model.cv_results_["C"][np.argmin(model.cv_results_["mean_loss"])]
    losses = np.empty(len(Y))
    for train, test in split_sets(len(Y), 2):
        fold = MultiLabelMRF(1.0, rtol=0.1, oracle="graph_cut").fit(X[train], Y[train])
        losses[test] = 100 * np.mean(fold.predict(X[test]) != Y[test], axis=1)
    np.testing.assert_allclose(model.cv_results_["losses"][0], losses)
    save(tmp_path / "m", model)
    assert load(tmp_path / "m").C_ == 3000.0
    assert not hasattr(model.set_params(C=10.0).fit(X, Y), "cv_results_")


@pytest.mark.parametrize("C", [0.0, -1.0, "much", float("nan")])
def test_C_must_be_positive_or_cv(counts, C):
    with pytest.raises(ValueError, match="C must be a positive number or 'cv'"):
        MultiLabelMRF(C).fit(*counts)


def test_scores_of_labels_are_what_a_flip_costs(counts):
    X, Y = counts
    model = MultiLabelMRF(3000.0, rtol=0.05).fit(X, Y)
    found = model.predict(X)
    scores, unary = model.label_scores(X, found), X @ model.coef_.T + model.intercept_
    for u in range(Y.shape[1]):
        on, off = found.astype(float), found.astype(float)
        on[:, u], off[:, u] = 1.0, 0.0
        gains = [mrf.score(unary, model.edge_weights_, y) for y in (on, off)]
        np.testing.assert_allclose(scores[:, u], gains[0] - gains[1], atol=1e-9)
    assert ((scores > 0) == found)[scores != 0].all()
