"""SupervisedCorrelationClustering and its baselines, as a user meets them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from clustruct import ItemSet, SupervisedCorrelationClustering
from clustruct.core.exceptions import UnfamiliarDataWarning
from clustruct.data import pair_table
from clustruct.data.datasets import make_mentions
from clustruct.estimators.baselines import DefaultClustering, PairwiseClassifierClustering
from clustruct.estimators.baselines.pair_classifier import canopy_pairs, chain_pairs
from clustruct.features import Mentions, PairFeatures, pronouns
from clustruct.learning.model_selection import split_by_clusters
from clustruct.papers.toy_marbles import make_marbles
from clustruct.ssvm import NothingLearned

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


# These tables are points with any labels; how well they are grouped is not what is checked.
@pytest.mark.filterwarnings("ignore::clustruct.ssvm.NothingLearned")
@pytest.mark.filterwarnings("ignore::clustruct.core.exceptions.ProductsWarning")
@parametrize_with_checks(
    [SupervisedCorrelationClustering(C=1.0), PairwiseClassifierClustering(), DefaultClustering()],
    expected_failed_checks=lambda e: EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def marbles():
    train = make_marbles(6, 15, noise=1.5, random_state=0)
    test = make_marbles(6, 15, ["yellow", "cyan", "magenta"], noise=1.5, random_state=1)
    return [([m.item_set() for m in ms], [m.labels for m in ms]) for ms in (train, test)]


@pytest.mark.parametrize("oracle", ["greedy", "local_search", "lp", "exact"])
def test_every_oracle_learns(marbles, oracle):
    (X, y), (Z, t) = marbles
    model = SupervisedCorrelationClustering(C=1.0, oracle=oracle).fit(X, y)
    assert model.score(Z, t) > 0.95
    assert model.result_.converged
    assert model.feature_names_in_[0] == "hue difference"
    assert np.argmin(model.w_) == 0


@pytest.mark.parametrize("predictor", ["greedy", "local_search", "lp", "lp_algorithm5", "lp_ball", "exact"])
def test_every_predictor_clusters(marbles, predictor):
    (X, y), (Z, t) = marbles
    assert SupervisedCorrelationClustering(C=1.0, predictor=predictor).fit(X, y).score(Z, t) > 0.95


@pytest.mark.parametrize("loss", ["mitre", "purity", lambda y, z: 100.0 * (len(set(y)) != len(set(z)))])
def test_other_losses(marbles, loss):
    (X, y), (Z, t) = marbles
    small = [x.subset(range(8)) for x in X], [v[:8] for v in y]
    model = SupervisedCorrelationClustering(C=1.0, loss=loss, scaling="slack").fit(*small)
    assert model.score(Z, t) > 0.7


@pytest.mark.parametrize(("slack_norm", "scaling"), [(1, "slack"), (2, "margin"), (2, "slack")])
def test_other_rules(marbles, slack_norm, scaling):
    (X, y), (Z, t) = marbles
    model = SupervisedCorrelationClustering(C=1.0, slack_norm=slack_norm, scaling=scaling).fit(X, y)
    assert model.score(Z, t) > 0.95


def test_decision_function_is_the_similarity_in_user_units(marbles):
    (X, y), _ = marbles
    model = SupervisedCorrelationClustering(C=1.0).fit(X, y)
    K = model.decision_function(X)[0]
    assert K[2, 5] == pytest.approx(X[0].pair_features(2, 5) @ model.w_)
    np.testing.assert_array_equal(K, K.T)


def test_scale_of_features_does_not_matter(marbles):
    (X, y), (Z, _) = marbles
    factor = np.array([1e-3, 1e4, 10.0, 1.0, 1.0])

    def stretched(sets):
        return [ItemSet(pairs=x.pairs * factor) for x in sets]

    plain = SupervisedCorrelationClustering(C=1.0).fit(X, y)
    other = SupervisedCorrelationClustering(C=1.0).fit(stretched(X), y)
    np.testing.assert_allclose(other.w_ * factor, plain.w_, rtol=1e-3, atol=1e-3)
    for a, b in zip(plain.predict(Z), other.predict(stretched(Z)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_rescale_false_is_the_problem_of_the_paper(marbles):
    from clustruct import ssvm
    from clustruct.learning.problems import ClusteringProblem

    (X, y), _ = marbles
    model = SupervisedCorrelationClustering(C=50.0, rescale=False, rtol=1e-6).fit(X, y)
    paper = ssvm.fit(ClusteringProblem(X, y), 50.0, rtol=1e-6)
    np.testing.assert_allclose(model.w_, paper.w)


def test_nonnegative(marbles):
    (X, y), _ = marbles
    # Features of marbles are distances: of weights that are not negative only 0 is left.
    with pytest.warns(NothingLearned):
        model = SupervisedCorrelationClustering(C=1.0, nonnegative=True).fit(X, y)
    assert not model.w_.any()
    positive = [ItemSet(pairs=-x.pairs) for x in X]
    assert SupervisedCorrelationClustering(C=1.0, nonnegative=True).fit(positive, y).w_.min() >= 0.0


def test_cross_validated_C(marbles):
    (X, y), (Z, t) = marbles
    model = SupervisedCorrelationClustering(C_grid=[1e-6, 1.0], cv=3).fit(X, y)
    assert model.C_ == 1.0
    assert model.cv_results_["mean_loss"][0] > model.cv_results_["mean_loss"][1]
    assert model.score(Z, t) > 0.95
    one = SupervisedCorrelationClustering().fit(X[:1], y[:1])
    assert one.C_ == 1.0


def test_weighted_sets(marbles):
    (X, y), _ = marbles
    doubled = SupervisedCorrelationClustering(C=0.01, rtol=1e-6).fit(X[:2] + X[:1], y[:2] + y[:1])
    weighted = SupervisedCorrelationClustering(C=0.01, rtol=1e-6, rescale=False)
    listed = clone(weighted).fit(X[:2] + X[:1], y[:2] + y[:1])
    weighted.fit(X[:2], y[:2], sample_weight=[2.0, 1.0])
    np.testing.assert_allclose(weighted.w_, listed.w_, atol=1e-6)
    assert doubled.w_.shape == weighted.w_.shape


def test_one_table_cut_into_sets_equals_a_list_of_tables():
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(m, 3)) for m in (6, 4, 5)]
    labels = [np.sign(t[:, 0]) for t in tables]
    X, y = np.concatenate(tables), np.concatenate(labels)
    groups = np.repeat(["c", "a", "b"], [6, 4, 5])
    order = rng.permutation(15)
    listed = SupervisedCorrelationClustering(C=1.0).fit(tables, labels)
    stacked = SupervisedCorrelationClustering(C=1.0).fit(X[order], y[order], set_ids=groups[order])
    flat = stacked.predict(X, set_ids=groups)
    assert stacked.score(X, y, set_ids=groups) == pytest.approx(listed.score(tables, labels), abs=0.02)
    for name in "abc":
        mine = flat[groups == name]
        assert not set(mine) & set(flat[groups != name])
    sparse_fit = SupervisedCorrelationClustering(C=1.0, rescale=False).fit(
        [sparse.csr_array(t) for t in tables], labels
    )
    dense_fit = SupervisedCorrelationClustering(C=1.0, rescale=False).fit(tables, labels)
    np.testing.assert_allclose(sparse_fit.w_, dense_fit.w_, atol=1e-8)


def test_rows_are_cut_by_set_ids_and_sets_held_out_by_groups():
    rng = np.random.default_rng(0)
    X, y, ids = rng.normal(size=(16, 2)), np.tile([0, 1], 8), np.repeat([5, 3, 9, 1], 4)
    model = SupervisedCorrelationClustering(C_grid=[0.1, 1.0])
    model.fit(X, y, set_ids=ids, groups=["a", "a", "b", "b"], sample_weight=[1.0, 2.0, 1.0, 1.0])
    assert model.cv_results_["losses"].shape == (2, 4)
    with pytest.raises(ValueError, match=r"groups has 16 entries for 1 sets \(rows .* by set_ids\)"):
        model.fit(X, y, groups=ids)
    with pytest.raises(ValueError, match="sample_weight has one number per set"):
        model.fit(X, y, set_ids=ids, sample_weight=np.ones(16))
    with pytest.raises(ValueError, match="set_ids has shape"):
        model.fit(X, y, set_ids=ids[:3])
    with pytest.raises(ValueError, match="is a list of sets already"):
        model.fit([X], [y], set_ids=ids)


def test_the_result_is_in_the_units_of_the_input(marbles):
    (X, y), _ = marbles
    for model in (SupervisedCorrelationClustering(C=1.0), SupervisedCorrelationClustering(C_grid=[0.1, 1.0])):
        np.testing.assert_array_equal(model.fit(X, y).result_.w, model.w_)
        assert model.feature_scale_.shape == model.w_.shape


def test_data_frames_give_feature_names():
    frame = pd.DataFrame({"length": [1.0, 1.1, -1.0], "width": [0.0, 1.0, 1.0]})
    model = SupervisedCorrelationClustering(C=1.0).fit(frame, [0, 0, 1])
    assert model.feature_names_in_.tolist() == ["length", "width"]
    assert model.predict(frame).shape == (3,)


def test_model_selection_treats_a_set_as_a_sample(marbles):
    (X, y), _ = marbles
    scores = cross_val_score(SupervisedCorrelationClustering(C=1.0), X, y, cv=3)
    assert scores.shape == (3,)
    assert scores.min() > 0.9
    search = GridSearchCV(SupervisedCorrelationClustering(), {"C": [1e-6, 1.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"C": 1.0}


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([np.eye(3), np.eye(4)], [[0, 0, 1], [0, 1, 1, 0]], "set 1 has 4 features"),
        ([np.eye(3)], [[0, 1]], "set 0: .*3"),
        ([np.eye(3), np.eye(3)], [[0, 0, 1]], "2 sets but 1 label vectors"),
        ([np.full((2, 2), np.nan)], [[0, 1]], "set 0: "),
        ([np.eye(3)], None, "requires y to be passed"),
        ([np.eye(2)], [[None, None]], "set 0: no item has a label"),
    ],
)
def test_bad_input_names_the_set(X, y, message):
    with pytest.raises(ValueError, match=message):
        SupervisedCorrelationClustering(C=1.0).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "C must be a positive number or 'cv'"),
        ({"C": "best"}, "C must be a positive number or 'cv'"),
        ({"predictor": "magic"}, "predictor must be"),
        ({"oracle": "lp", "loss": "mitre", "C": 1.0}, "not linear in pairs"),
        ({"oracle": "lp", "slack_norm": 2, "C": 1.0}, "adds the loss to the similarities"),
        ({"oracle": "exact", "slack_norm": 2, "C": 1.0}, "adds the loss to the similarities"),
        ({"formulation": "one_slack", "slack_norm": 2, "C": 1.0}, "no form with slack_norm=2"),
    ],
)
def test_bad_parameters(marbles, options, message):
    (X, y), _ = marbles
    with pytest.raises(ValueError, match=message):
        SupervisedCorrelationClustering(**options).fit(X, y)


def test_not_fitted():
    for estimator in (SupervisedCorrelationClustering(), PairwiseClassifierClustering(), DefaultClustering()):
        with pytest.raises(NotFittedError):
            estimator.predict([np.eye(2)])


def test_sets_of_one_item_and_of_one_cluster():
    X = [np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [2.0, 0.1]])]
    model = SupervisedCorrelationClustering(C=1.0).fit(X, [[0], [0, 0]])
    assert [p.tolist() for p in model.predict(X)] == [[0], [0, 0]]


def test_jobs_do_not_change_the_answer(marbles):
    (X, y), _ = marbles
    fits = [SupervisedCorrelationClustering(C=1.0, n_jobs=j).fit(X, y).w_ for j in (None, 2)]
    np.testing.assert_array_equal(fits[0], fits[1])


def test_listed_pairs_are_clustered_without_a_dense_matrix(marbles):
    """20,000 items with 60,000 candidate pairs: a dense matrix would take 3 GB."""
    (X, y), _ = marbles
    model = SupervisedCorrelationClustering(C=1.0).fit(X, y)
    rng = np.random.default_rng(0)
    m = 20_000
    index = np.unique(np.sort(rng.integers(0, m, (60_000, 2)), axis=1), axis=0)
    index = index[index[:, 0] < index[:, 1]]
    features = np.column_stack([rng.uniform(size=(len(index), 4)), np.ones(len(index))])
    x = ItemSet(pairs=features, pair_index=index, n_items=m)
    K = model.decision_function(x)
    assert sparse.issparse(K)
    a, b = index[7]
    assert K[[a], [b]][0] == pytest.approx(features[7] @ model.w_)
    with pytest.warns(UnfamiliarDataWarning, match="20,000 items"):
        assert model.predict(x).shape == (m,)


# --- baselines --------------------------------------------------------------------------


def test_pair_classifier(marbles):
    (X, y), (Z, t) = marbles
    for predictor in ("greedy", "local_search", "components", "nearest_mate"):
        model = PairwiseClassifierClustering(predictor=predictor).fit(X, y)
        assert model.score(Z, t) > 0.8, predictor
    K = model.decision_function(Z)[0]
    np.testing.assert_allclose(K, K.T)
    chain = PairwiseClassifierClustering(selection="chain").fit(X, y)
    canopy = PairwiseClassifierClustering(selection="canopy", canopy_range=(0.05, 0.9)).fit(X, y)
    assert min(chain.score(Z, t), canopy.score(Z, t)) > 0.7
    with pytest.raises(ValueError, match="selection must be"):
        PairwiseClassifierClustering(selection="some").fit(X, y)


def test_pair_classifier_where_all_pairs_are_alike():
    X = [np.eye(3)]
    assert PairwiseClassifierClustering().fit(X, [[0, 0, 0]]).predict(X)[0].tolist() == [0, 0, 0]
    assert PairwiseClassifierClustering().fit(X, [[0, 1, 2]]).predict(X)[0].tolist() == [0, 1, 2]


def test_chain_and_canopy_pairs():
    labels = np.array([0, 1, 0, 0, 1])
    assert chain_pairs(labels).tolist() == [[0, 2], [1, 2], [2, 3], [1, 4], [2, 4], [3, 4]]
    pronoun = np.array([False, False, True, False, False])
    assert chain_pairs(labels, pronoun).tolist() == [[0, 2], [1, 2], [0, 3], [1, 3], [1, 4], [2, 4], [3, 4]]
    x = ItemSet(pairs=np.array([[0.1], [0.5], [0.9]]))
    assert canopy_pairs(x, 0, (0.4, 0.6)).tolist() == [[0, 2]]


def test_a_chain_passes_over_pronouns(marbles):
    """The classifier is trained on the pairs that the flags leave."""
    (X, y), _ = marbles
    flags = [np.arange(x.n_items) % 3 == 1 for x in X]
    chain = PairwiseClassifierClustering(selection="chain")
    plain, passed = clone(chain).fit(X, y), clone(chain).fit(X, y, pronouns=flags)
    pairs = [chain_pairs(v, f) for v, f in zip(y, flags, strict=True)]
    rows = np.concatenate([pair_table(x, p) for x, p in zip(X, pairs, strict=True)])
    same = np.concatenate([v[p[:, 0]] == v[p[:, 1]] for v, p in zip(y, pairs, strict=True)])
    by_hand = clone(plain.classifier_).fit(rows / plain.feature_scale_, same)
    np.testing.assert_allclose(passed.classifier_.coef_, by_hand.coef_)
    assert not np.allclose(passed.classifier_.coef_, plain.classifier_.coef_)
    with pytest.raises(ValueError, match="flags for 1 sets, X has 6"):
        chain.fit(X, y, pronouns=flags[:1])
    with pytest.raises(ValueError, match="set 0: pronouns has shape"):
        chain.fit(X, y, pronouns=[f[:2] for f in flags])


def test_pronouns_of_mentions_reach_the_chain():
    """In a pipeline from raw mentions: the flags go to the last step."""
    tables = make_mentions(2)
    flags = [pronouns(table) for table in tables]
    assert 0 < sum(f.sum() for f in flags) < sum(map(len, flags))
    last = PairwiseClassifierClustering(selection="chain")
    pipeline = make_pipeline(PairFeatures([Mentions()]), last)
    labels = [table.labels for table in tables]
    name = pipeline.steps[-1][0]
    with_flags = clone(pipeline).fit(tables, labels, **{f"{name}__pronouns": flags})[-1]
    without = clone(pipeline).fit(tables, labels)[-1]
    assert not np.allclose(with_flags.classifier_.coef_, without.classifier_.coef_)


def test_pair_table_equals_pair_features():
    rng = np.random.default_rng(0)
    nodes, listed = rng.normal(size=(4, 2)), np.array([[0, 2], [3, 1]])
    every = np.column_stack(np.triu_indices(4, 1))
    for x in (
        ItemSet(nodes=nodes, pairs=rng.normal(size=(6, 3))),
        ItemSet(nodes=sparse.csr_array(nodes), pairs=sparse.csr_array(rng.normal(size=(6, 3)))),
        ItemSet(nodes=nodes, pairs=rng.normal(size=(2, 3)), pair_index=listed),
    ):
        table = pair_table(x, every)
        table = table.toarray() if sparse.issparse(table) else table
        for row, (a, b) in zip(table, every, strict=True):
            np.testing.assert_allclose(row, x.pair_features(a, b))


def test_default_clusterings(marbles):
    (X, y), _ = marbles
    alone, together = DefaultClustering("alone").fit(X), DefaultClustering("together").fit(X)
    share = np.mean([np.mean(v[:, None] == v[None, :]) * 15 / 14 - 1 / 14 for v in y])
    assert alone.score(X, y) == pytest.approx(1 - share)
    assert together.score(X, y) == pytest.approx(share)
    with pytest.raises(ValueError, match="kind must be"):
        DefaultClustering("half").fit(X)


def test_split_by_clusters():
    labels = np.repeat(np.arange(20), np.arange(1, 21))
    parts = split_by_clusters(labels, 4)
    assert sorted(np.concatenate(parts)) == list(range(len(labels)))
    sizes = [len(p) for p in parts]
    assert max(sizes) - min(sizes) <= 3
    for c in range(20):
        assert sum(c in labels[p] for p in parts) == 1
    with pytest.raises(ValueError, match="between 1 and the number of clusters, 20"):
        split_by_clusters(labels, 21)


def test_verbose_prints_rounds(marbles, capsys):
    (X, y), _ = marbles
    SupervisedCorrelationClustering(C=1.0).fit(X, y)
    assert capsys.readouterr().out == ""
    SupervisedCorrelationClustering(C=1.0, verbose=1).fit(X, y)
    assert "round 1" in capsys.readouterr().out
