"""SupervisedKMeans and its baselines, as a user meets them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from clustruct import ItemSet
from clustruct.data.datasets import make_synth
from clustruct.estimators import SupervisedKMeans
from clustruct.estimators.baselines import PairKMeans, UntrainedKMeans
from clustruct.search.spectral import count_clusters
from studies.nested_cv import losses_of_predictors

JOINT = "the items of a set are clustered together: a part of them, or another order, is another question"
PER_SET = "sample_weight has one number per set, and one table is one set"
EXPECTED = {
    "check_methods_subset_invariance": JOINT,
    "check_methods_sample_order_invariance": JOINT,
    "check_sample_weights_pandas_series": PER_SET,
    "check_sample_weights_not_an_array": PER_SET,
    "check_sample_weights_list": PER_SET,
    "check_sample_weights_shape": PER_SET,
    "check_all_zero_sample_weights_error": PER_SET,
    "check_sample_weights_not_overwritten": PER_SET,
    "check_sample_weight_equivalence_on_dense_data": PER_SET,
    "check_sample_weight_equivalence_on_sparse_data": PER_SET,
}


# Labels of these checks have nothing to do with the features.
@pytest.mark.filterwarnings("ignore::clustruct.ssvm.NothingLearned")
@parametrize_with_checks(
    [SupervisedKMeans(C=1.0), PairKMeans(), UntrainedKMeans()], expected_failed_checks=lambda e: EXPECTED
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def synth():
    X, y = make_synth(n_sets=6, n_clusters=4, cluster_size=8, random_state=3)
    return (X[:4], y[:4]), (X[4:], y[4:])


@pytest.mark.parametrize("oracle", ["iterative", "spectral", "centred", "discrete"])
@pytest.mark.parametrize("predictor", ["iterative", "discrete"])
def test_every_oracle_and_predictor(synth, oracle, predictor):
    (X, y), (Z, t) = synth
    model = SupervisedKMeans(C=1.0, oracle=oracle, predictor=predictor).fit(X, y)
    assert model.score(Z, t) > 0.9
    assert model.result_.converged
    assert losses_of_predictors(model, Z[0], t[0])["spectral"] < 60.0


def test_rescale_false_is_the_problem_of_the_paper(synth):
    from clustruct import ssvm
    from clustruct.data import as_item_set
    from clustruct.learning.problems import ClusteringProblem, feature_scale
    from clustruct.learning.problems.training import canonical_order

    (X, y), _ = synth
    model = SupervisedKMeans(C=0.5, rescale=False, rtol=1e-5).fit(X, y)
    sets, labels, places = canonical_order([as_item_set(x) for x in X], y, feature_scale([*X], "kmeans"))
    order = np.argsort(places)
    problem = ClusteringProblem([sets[i] for i in order], [labels[i] for i in order], oracle="iterative")
    paper = ssvm.fit(problem, 0.5, rtol=1e-5)
    np.testing.assert_allclose(model.w_, paper.w)


def test_scale_of_features_does_not_matter():
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(12, 3)) for _ in range(3)]
    labels = [(t[:, 0] > 0).astype(int) for t in tables]
    factor = np.array([1e-2, 1e3, 1.0])
    plain = SupervisedKMeans(C=1.0, rtol=1e-5).fit(tables, labels)
    other = SupervisedKMeans(C=1.0, rtol=1e-5).fit([t * factor for t in tables], labels)
    np.testing.assert_allclose(other.w_ * factor**2, plain.w_, rtol=1e-2, atol=1e-3)


def test_the_number_of_clusters(synth):
    (X, y), (Z, _) = synth
    model = SupervisedKMeans(C=1.0).fit(X, y)
    assert [p.max() + 1 for p in model.predict(X)] == [4, 4, 4, 4]
    assert [p.max() + 1 for p in model.predict(Z, n_clusters=3)] == [3, 3]
    assert [p.max() + 1 for p in model.predict(Z, n_clusters=[2, 40])] == [2, 32]
    assert [r.n_clusters for r in model.relax(Z, n_clusters=[2, 5])] == [2, 5]
    fixed = clone(model).set_params(n_clusters=6).fit(X, y)
    assert fixed.predict(Z)[0].max() + 1 == 6
    with pytest.raises(ValueError, match="names 1 sets, X has 2"):
        model.predict(Z, n_clusters=[2])
    with pytest.raises(ValueError, match="at least 1"):
        model.predict(Z, n_clusters=0)


def test_counting_clusters_in_tiny_sets():
    assert [count_clusters(np.ones((m, m))) for m in (1, 2, 3)] == [1, 1, 1]
    assert count_clusters(np.eye(4) - 1.0) > 1
    assert count_clusters(-np.ones((2, 2))) == 2


def test_other_losses_choose_k_themselves(synth):
    (X, y), (Z, t) = synth
    small = [x.subset(range(16)) for x in X], [v[:16] for v in y]
    model = SupervisedKMeans(C=1.0, loss="pairwise", scaling="slack", max_iter=50, rtol=0.05).fit(*small)
    assert model.score(*small) > 0.7
    assert set(losses_of_predictors(model, Z[0], t[0])) == {"iterative", "discrete", "discrete_centred"}


def test_cross_validated_C(synth):
    (X, y), (Z, t) = synth
    model = SupervisedKMeans(C_grid=[1e-9, 1.0], cv=3).fit(X, y)
    assert len(model.cv_results_["mean_loss"]) == 2
    assert model.score(Z, t) > 0.9
    search = GridSearchCV(SupervisedKMeans(), {"C": [1e-3, 1.0]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.8


def test_kernel_learning():
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(10, 3)) for _ in range(3)]
    labels = [(t[:, 0] > 0).astype(int) for t in tables]
    model = SupervisedKMeans(C=1.0, kernel_learning=True).fit(tables, labels)
    assert model.w_.min() >= 0.0
    assert np.linalg.eigvalsh(model.decision_function(tables[0])).min() > -1e-9


@pytest.mark.filterwarnings("ignore::clustruct.ssvm.NothingLearned")
def test_kernel_learning_refuses_what_is_no_kernel():
    rng = np.random.default_rng(1)
    a, b = np.triu_indices(5, 1)
    kernel = np.corrcoef(rng.normal(size=(5, 9)))
    pairs, diagonal = kernel[a, b][:, None], np.diag(kernel)[:, None]
    y = [[0, 0, 1, 1, 0]]
    fit = SupervisedKMeans(C=1.0, kernel_learning=True).fit
    fit([ItemSet(pairs=pairs, pair_diagonal=diagonal)], y)
    listed = ItemSet(
        pairs=sparse.csr_array(pairs), pair_index=np.column_stack([a, b]), pair_diagonal=diagonal
    )
    fit([listed], y)
    with pytest.raises(ValueError, match="set 0: kernel learning needs pair features with a diagonal"):
        fit([ItemSet(pairs=pairs)], y)
    with pytest.raises(ValueError, match="set 0: pair feature 0 is not a kernel"):
        fit([ItemSet(pairs=-9 * pairs, pair_diagonal=diagonal)], y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "C must be a positive number or 'cv'"),
        ({"predictor": "spectral"}, "relaxed answers come from the method"),
        ({"oracle": "lp"}, "oracle must be one of"),
        ({"oracle": "spectral", "loss": "mitre"}, "not linear in Y Y'"),
        ({"oracle": "discrete", "slack_norm": 2}, "adds the loss to the similarities"),
        ({"n_clusters": 0}, "at least 1"),
        ({"n_init": 0}, "n_init must be at least 1"),
        ({"loss": "magic"}, "unknown loss"),
    ],
)
def test_bad_parameters(synth, options, message):
    (X, y), _ = synth
    with pytest.raises(ValueError, match=message):
        SupervisedKMeans(**{"C": 1.0, **options}).fit(X, y)


def test_not_fitted():
    for estimator in (SupervisedKMeans(), PairKMeans(), UntrainedKMeans()):
        with pytest.raises(NotFittedError):
            estimator.predict([np.eye(2)])


def test_jobs_do_not_change_the_answer(synth):
    (X, y), _ = synth
    fits = [SupervisedKMeans(C=1.0, n_jobs=j).fit(X, y).w_ for j in (None, 2)]
    np.testing.assert_array_equal(fits[0], fits[1])


def test_baselines(synth):
    (X, y), (Z, t) = synth
    assert PairKMeans().fit(X, y).score(Z, t) > UntrainedKMeans().fit(X).score(Z, t)
    few = PairKMeans(max_pairs=50).fit(X, y)
    assert few.w_.shape == (X[0].n_features,)
    alike = PairKMeans().fit([np.eye(3)], [[0, 0, 0]])
    assert alike.predict([np.eye(3)], n_clusters=1)[0].tolist() == [0, 0, 0]


def test_pair_outputs_are_those_of_the_classifier():
    rng = np.random.default_rng(0)
    index = np.array([[0, 2], [3, 1], [0, 1]])
    x = ItemSet(rng.normal(size=(4, 2)), rng.normal(size=(3, 2)), pair_index=index)
    model = PairKMeans().fit([x], [[0, 1, 0, 1]])
    K = model.decision_function([x])[0]
    for a, b in ((0, 2), (1, 3), (2, 3)):
        assert K[a, b] == pytest.approx(x.pair_features(a, b) @ model.w_ + model.intercept_)
