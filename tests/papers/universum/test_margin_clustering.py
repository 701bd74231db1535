"""Maximum-margin clusterers keep scikit-learn's contract and their own promises."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from clustruct.core.callbacks import Callback, training_callback
from clustruct.evaluate.metrics import matched_accuracy
from clustruct.papers.cpm3c import CPM3C
from clustruct.papers.document_clustering import CLGR, PLSA
from clustruct.papers.universum import UniversumClustering
from clustruct.papers.universum.concave_convex import cccp
from clustruct.papers.universum.margin_problem import MarginProblem

# The check's data are centred, and counts are never negative.
NEGATIVE = {"check_clustering": "PLSA is a model of counts, the check has negative values"}


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(150, n_features=5, centers=4, cluster_std=1.5, random_state=0)
    U = np.random.default_rng(0).uniform(X.min(0), X.max(0), size=(20, 5))
    return X[y < 3], y[y < 3], np.concatenate([X[y == 3], U])


@parametrize_with_checks(
    [
        UniversumClustering(n_clusters=3, random_state=0),
        CPM3C(n_clusters=3, random_state=0),
        PLSA(n_clusters=3, random_state=0),
        CLGR(n_clusters=3, random_state=0),
    ],
    expected_failed_checks=lambda estimator: NEGATIVE if isinstance(estimator, PLSA) else {},
)
def test_sklearn(estimator, check):
    check(estimator)


def test_blobs_are_found(blobs):
    X, y, U = blobs
    model = UniversumClustering(3, C_universum=0.01, random_state=0).fit(X, universum=U)
    assert matched_accuracy(y, model.labels_) > 0.95
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_.T)
    assert model.coef_.shape == (3, 5)
    assert model.n_iter_ == len(model.result_.history)
    assert (np.diff(model.result_.objectives) <= 0).all()
    assert model.result_.inner_iterations >= model.n_iter_


def test_no_universum_and_no_weight_are_the_same(blobs):
    X, _, U = blobs
    none = UniversumClustering(3, random_state=0).fit(X)
    zero = UniversumClustering(3, C_universum=0.0, random_state=0).fit(X, universum=U)
    np.testing.assert_array_equal(none.coef_, zero.coef_)


def test_universum_lies_closer_to_the_borders_than_without(blobs):
    X, _, U = blobs

    def spread(model):
        scores = model.decision_function(U)
        return float(np.maximum(1.5 * (scores.max(1) - scores.mean(1)) - 0.5, 0).mean())

    labels = UniversumClustering(3, random_state=0).fit(X).labels_
    spreads = [
        spread(UniversumClustering(3, C_universum=c, init=labels).fit(X, universum=U))
        for c in (0.0, 1.0, 100.0)
    ]
    assert spreads[0] > spreads[1] > spreads[2]


def test_sparse_is_dense(blobs):
    X, _, U = blobs
    X = np.where(np.abs(X) > 2, X, 0.0)
    labels = np.arange(len(X)) % 3
    dense = UniversumClustering(3, init=labels, inner_tol=1e-6).fit(X, universum=U)
    thin = UniversumClustering(3, init=labels, inner_tol=1e-6).fit(sparse.csr_matrix(X), universum=U)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-6 * np.abs(dense.coef_).max())
    np.testing.assert_array_equal(thin.predict(sparse.csr_array(X)), dense.labels_)


def test_units_of_the_input_do_not_matter(blobs):
    X, _, U = blobs
    one = UniversumClustering(3, random_state=0).fit(X, universum=U)
    other = UniversumClustering(3, random_state=0).fit(1000.0 * X, universum=1000.0 * U)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_allclose(one.coef_, 1000.0 * other.coef_, rtol=1e-5, atol=1e-8)


def test_starts_from_labels_and_from_weights(blobs):
    X, _, U = blobs
    model = UniversumClustering(3, C=8.0, random_state=0, tol=1e-7, inner_tol=1e-4)
    first = clone(model).fit(X, universum=U)
    again = clone(model).set_params(init=first.labels_).fit(X, universum=U)
    on = clone(model).set_params(init=first.coef_).fit(X, universum=U)
    assert on.objective_ <= first.objective_ * (1 + 1e-12)
    np.testing.assert_array_equal(again.labels_, first.labels_)


def test_more_starts_end_lower():
    """Never higher by more than twice the tolerance, and far lower where the first start is a bad one."""
    ratios = []
    for seed in (3, 4, 5):
        X, _ = make_blobs(200, n_features=3, centers=6, cluster_std=2.5, random_state=seed)
        one, many = (UniversumClustering(6, n_init=r, random_state=0).fit(X).objective_ for r in (1, 8))
        ratios.append(many / one)
    assert max(ratios) <= 1.02
    assert min(ratios) < 0.8


def test_same_state_same_answer_and_pickles(blobs):
    X, _, U = blobs
    model = UniversumClustering(3, random_state=4)
    one, two = clone(model).fit(X, universum=U), clone(model).fit(X, universum=U)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).predict(X), one.labels_)


def test_not_converged_warns(blobs):
    X, _, _ = blobs
    start = np.arange(len(X)) % 3
    with pytest.warns(ConvergenceWarning, match="max_iter after 1 steps"):
        UniversumClustering(3, init=start, max_iter=1).fit(X)


class Steps(Callback):
    """Notes the objectives, and at step ``last`` raises or returns what it was made with."""

    def __init__(self, last=0, end=None):
        self.last, self.end, self.begun, self.seen = last, end, 0, []

    def on_begin(self, training):
        self.begun += 1

    def on_iteration(self, training, iteration):
        self.seen.append(iteration.primal)
        if iteration.iteration != self.last:
            return None
        if self.end is KeyboardInterrupt:
            raise KeyboardInterrupt
        return self.end


@pytest.mark.parametrize(
    ("end", "reason"), [(KeyboardInterrupt, "interrupted"), (True, "callback"), ("enough", "enough")]
)
@pytest.mark.parametrize("kind", [UniversumClustering, CPM3C])
def test_the_callback_and_an_interrupt_keep_what_was_reached(kind, end, reason):
    X, _ = make_blobs(200, n_features=3, centers=6, cluster_std=2.5, random_state=3)
    steps = Steps(1, end)
    model = kind(6, init="kmeans", n_init=4, random_state=1, tol=1e-9)
    with training_callback(steps), pytest.warns(ConvergenceWarning, match=f"{reason} after 1 steps"):
        model.fit(X)
    assert model.result_.stop_reason == reason
    assert model.predict(X).shape == (len(X),)
    assert steps.begun == 1
    assert steps.seen == [model.objective_]


def test_an_interrupt_within_a_convex_problem_keeps_the_best_point():
    """Ctrl-C is not only noticed between steps; before anything is known it goes on up."""
    X, _ = make_blobs(60, n_features=4, centers=3, random_state=2)
    first = np.arange(len(X)) % 3

    class Interrupted(MarginProblem):
        def balance_weights(self, W):
            self.__dict__["asked"] = self.__dict__.get("asked", 0) + 1
            if self.__dict__["asked"] == self.__dict__["last"]:
                raise KeyboardInterrupt
            return super().balance_weights(W)

    for last in (1, 4):
        problem = Interrupted(X, 3, 8.0, 0.1)
        problem.__dict__["last"] = last
        if last == 1:
            with pytest.raises(KeyboardInterrupt):
                cccp(problem, first)
        else:
            found = cccp(problem, first)
            assert found.stop_reason == "interrupted"
            assert found.objective < problem.objective(np.zeros((3, 4)))


@pytest.mark.parametrize("kind", [UniversumClustering, CPM3C, PLSA])
def test_verbose_prints_steps(blobs, kind, capsys):
    X = np.abs(blobs[0])
    kind(3, random_state=0).fit(X)
    assert capsys.readouterr().out == ""
    kind(3, random_state=0, verbose=1).fit(X)
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("training")
    assert said[1].startswith("round 1: objective ")
    assert "gap" not in said[1]


def test_fit_predict_takes_the_universum(blobs):
    X, _, U = blobs
    model = UniversumClustering(3, random_state=0)
    np.testing.assert_array_equal(model.fit_predict(X, universum=U), clone(model).fit(X, universum=U).labels_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be at least 1"),
        ({"n_clusters": 1000}, "n_samples=.* should be at least n_clusters=1000"),
        ({"C": 0.0}, "C must be positive"),
        ({"C_universum": -1.0}, "C_universum must be at least 0"),
        ({"balance": float("nan")}, "balance must be at least 0"),
        ({"scale": "large"}, "scale must be 'auto' or a positive number"),
        ({"init": "random"}, "init must be 'principal', 'kmeans'"),
        ({"init": np.zeros(7)}, r"not an array of shape \(7,\)"),
        ({"n_init": 0}, "n_init must be at least 1"),
    ],
)
def test_bad_parameters(blobs, options, message):
    with pytest.raises(ValueError, match=message):
        UniversumClustering(**{"n_clusters": 3, **options}).fit(blobs[0])


def test_bad_start_labels_and_universum(blobs):
    X, _, U = blobs
    with pytest.raises(ValueError, match="labels from 0 to n_clusters - 1 = 2"):
        UniversumClustering(3, init=np.full(len(X), 3)).fit(X)
    with pytest.raises(ValueError, match="expecting 5 features"):
        UniversumClustering(3).fit(X, universum=U[:, :2])
    with pytest.raises(NotFittedError):
        UniversumClustering(3).predict(X)
