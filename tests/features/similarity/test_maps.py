"""Columns that make a similarity nonlinear: exact where claimed, and never of labels they should not see."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from clustruct import ItemSet, Recipe, SupervisedCorrelationClustering
from clustruct.cli.arguments import SIMILARITIES as OFFERED
from clustruct.core.exceptions import TooFewClusters
from clustruct.core.storage import load, save
from clustruct.data.datasets import make_records
from clustruct.evaluate.explain import pair_contributions
from clustruct.features.similarity import (
    SIMILARITIES,
    BoostedColumn,
    ForestColumn,
    FourierMap,
    FullProducts,
    KernelMap,
    NystroemMap,
    TreeColumn,
)
from clustruct.features.similarity.base import labelled_pairs, make_map
from clustruct.features.similarity.kernels import evening_rotation
from clustruct.features.similarity.plain_trees import Trees
from clustruct.features.similarity.trees import pair_folds, set_folds, unseen_trees
from clustruct.learning.problems import FoldLoss
from clustruct.pipeline.learners import HeldOutUnits, choose_similarity


def toy_sets(n=5, m=12, seed=0, listed=False):
    rng = np.random.default_rng(seed)
    sets, labels = [], []
    for _ in range(n):
        y = rng.integers(0, 4, m)
        a, b = np.triu_indices(m, 1)
        same = y[a] == y[b]
        ring = np.where(same, 0.5, rng.random(len(a))) + 0.05 * rng.normal(size=len(a))
        rows = np.column_stack([ring, rng.normal(size=len(a)) + same, np.ones(len(a))])
        index = np.column_stack([a, b]) if listed else None
        sets.append(
            ItemSet(pairs=rows, pair_index=index, n_items=m, feature_names=["ring", "hint", "constant"])
        )
        labels.append(y)
    return sets, labels


def test_trees_in_plain_arrays_are_those_of_the_classifier():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)).round(1)
    y = (X[:, 0] * X[:, 1] > 0) ^ (X[:, 2] > 1)
    for n_trees in (1, 30):
        made = HistGradientBoostingClassifier(max_iter=n_trees, min_samples_leaf=5, random_state=0).fit(X, y)
        new = np.concatenate([X, 3.0 * rng.normal(size=(300, 5)).round(1)])
        np.testing.assert_allclose(Trees.of(made).logits(new), made.decision_function(new), atol=1e-12)


@pytest.mark.parametrize("leaves", [None, 20])
def test_a_forest_in_plain_arrays_has_the_logits_of_its_shares(leaves):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = (X[:, 0] * X[:, 1] > 0) ^ (X[:, 2] > 1)
    weight = rng.choice([0.5, 1.0], 400)
    made = ExtraTreesClassifier(30, min_samples_leaf=2, max_leaf_nodes=leaves, random_state=0)
    made.fit(X, y, sample_weight=weight)
    new = np.concatenate([X, 3.0 * rng.normal(size=(300, 5))])
    p = made.predict_proba(new)[:, 1]
    np.testing.assert_allclose(
        Trees.of(made).logits(new), np.log((30 * p + 0.5) / (30 * (1 - p) + 0.5)), atol=1e-9
    )


def test_damaged_trees_are_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    made = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5).fit(X, X[:, 0] > 0)
    trees = Trees.of(made)
    trees.check(2)
    circle = Trees.from_state({**trees.state(), "left": np.zeros_like(trees.left)})
    with pytest.raises(ValueError, match="branches"):
        circle.check(2)
    with pytest.raises(ValueError, match="feature"):
        trees.check(1 if trees.feature.max() == 1 else 0)


def test_no_column_is_of_trees_that_saw_its_clusters():
    sets, labels = toy_sets(1, m=20)
    part = labelled_pairs(sets[0], labels[0])
    sides = pair_folds(part, 3, 0)
    for fold in range(3):
        touched = np.unique(part.clusters[sides == fold])
        assert (np.isin(part.clusters, touched).any(axis=1) == (sides == fold).any(axis=1)).all()
    assert set_folds(1, None, 3, 0) == [-1]


@pytest.mark.parametrize("kind", [ForestColumn, BoostedColumn])
def test_a_pair_across_two_folds_has_trees_that_saw_neither_cluster(kind):
    """Defect 16: its column was the mean of two that had seen one cluster each."""
    sets, labels = toy_sets(1, m=40)
    column = kind(n_trees=5, min_samples_leaf=2, folds=4)
    part = labelled_pairs(sets[0], labels[0])
    sides = pair_folds(part, 4, 0)
    before = column.fit_transform(sets, labels)[0].pairs[:, -1]
    rng, checked = np.random.default_rng(0), 0
    for probe in rng.permutation(np.flatnonzero(sides[:, 0] != sides[:, 1]))[:4]:
        touched = np.isin(sides, sides[probe]).any(axis=1)
        touched[probe] = False  # what is known of the pair itself stays
        pairs = np.array(sets[0].pairs)
        pairs[touched] = rng.permutation(pairs[touched]) * rng.random((touched.sum(), 1))
        again = clone(column).fit_transform([ItemSet(pairs=pairs, n_items=40)], labels)[0].pairs[:, -1]
        assert again[probe] == before[probe]
        checked += int(np.any(again[~touched] != before[~touched]))
    assert checked
    # Pairs inside a fold have trees in turn, each of which has not seen it.
    held = np.array(column.fit(sets, labels).held_out_)
    assert len(held) == 6
    chosen = unseen_trees(sides, held.tolist())
    assert (np.sort(sides, axis=1)[:, :, None] == held[chosen][:, None, :]).any(axis=2).all()
    inside = sides[:, 0] == sides[:, 1]
    assert all(len(set(chosen[inside & (sides[:, 0] == f)].tolist())) == 3 for f in range(4))


@pytest.mark.parametrize("kind", [ForestColumn, BoostedColumn])
def test_on_noise_the_column_says_nothing(kind):
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.repeat(np.arange(15), 3))
        a, b = np.triu_indices(len(y), 1)
        values = rng.normal(size=(len(y), 3))
        x = ItemSet(pairs=np.abs(values[a] - values[b]))
        made = kind(n_trees=5).fit_transform([x], [y])[0].pairs[:, -1]
        found.append(roc_auc_score(y[a] == y[b], made))
    assert np.mean(found) == pytest.approx(0.5, abs=0.04)


def test_trees_of_older_files_keep_their_columns():
    """They have no word on what each has not seen: that is the fold of its number."""
    sets, labels = toy_sets(1, m=20)
    column = ForestColumn(n_trees=5, folds=4).fit(sets, labels)
    state = column.state()
    state["learned"].pop("held_out_")
    old = ForestColumn.from_state(state)
    part = labelled_pairs(sets[0], labels[0])
    logits = np.stack([trees.logits(part.rows) for trees in old.trees_])
    sides = pair_folds(part, 4, 0)
    expected = [logits[sides[p], p].mean() for p in range(len(sides))]
    np.testing.assert_allclose(old.labelled_columns(part)[:, 0], np.clip(expected, -12, 12))
    with pytest.raises(ValueError, match="held_out_"):
        ForestColumn.from_state({**state, "learned": {**state["learned"], "held_out_": [[0, 1]]}})


def test_no_column_is_of_trees_that_saw_its_group():
    found = set_folds(5, ["a", "a", "b", "c", "d"], 3, 0)
    assert found[0] == found[1]
    assert {*found} == {0, 1, 2}
    assert set_folds(5, ["a", "a", "b", "b", "b"], 3, 0) == [-1] * 5


@pytest.mark.parametrize("n_sets", [1, 5])
def test_sets_that_trees_learned_from_keep_their_columns(n_sets, tmp_path):
    sets, labels = toy_sets(n_sets, m=20)
    groups = None if n_sets == 1 else ["a", "a", "b", "c", "d"]
    column = TreeColumn(n_trees=10)
    crossed = column.fit_transform(sets, labels, groups=groups)
    save(tmp_path / "column", column)
    column = load(tmp_path / "column")
    new, others = toy_sets(2, m=20, seed=7)
    again = column.transform_with_labels([*new, *sets[::-1]], [*others, *labels[::-1]])
    for x, known in zip([*column.transform(new), *crossed[::-1]], again, strict=True):
        np.testing.assert_array_equal(x.pairs, known.pairs)
    assert np.abs(column.transform(sets[:1])[0].pairs - crossed[0].pairs).max() > 0.1


def test_the_column_is_the_mean_of_a_forest_and_boosted_trees_in_the_place_of_the_features():
    sets, labels = toy_sets(5, m=16)
    new, _ = toy_sets(1, m=16, seed=3)
    column = TreeColumn(n_trees=20)
    made = [*column.fit_transform(sets, labels), *column.transform(new)]
    alone = []
    for kind in (ForestColumn(n_trees=20), BoostedColumn(n_trees=20)):
        found = [*kind.fit_transform(sets, labels), *kind.transform(new)]
        alone.append(np.concatenate([x.pairs[:, -1] for x in found]))
    pairs = np.concatenate([x.pairs for x in made])
    np.testing.assert_allclose(pairs[:, 0], np.mean(alone, axis=0), atol=1e-12)
    assert pairs.shape[1] == 2
    assert (pairs[:, 1] == 1.0).all()


def test_a_fit_that_goes_on_with_nothing_new_changes_nothing():
    """Were the columns of sets that trees have seen not cross-fitted, the weights would move."""
    sets = make_records(n_sets=5, n_people=5)
    first = Recipe(C=1.0, similarity="trees").fit(sets)
    second = Recipe(C=1.0, similarity="trees").fit(sets, start=first.pipeline_)
    scale = np.abs(first.pipeline_[-1].w_ * first.pipeline_[-1].feature_scale_).max()
    moved = (second.pipeline_[-1].w_ - first.pipeline_[-1].w_) * first.pipeline_[-1].feature_scale_
    assert np.abs(moved).max() < 1e-2 * scale


@pytest.mark.parametrize("kind", [ForestColumn, BoostedColumn])
def test_a_column_of_noise_tells_nothing_of_training_pairs(kind):
    """Where features are noise, trees know the pairs that they were shown; the columns of training do not."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 12, 60)
    same = np.equal.outer(y, y)[np.triu_indices(60, 1)]
    x = ItemSet(pairs=rng.normal(size=(len(same), 6)))
    column = kind(min_samples_leaf=5, max_leaf_nodes=64)
    crossed = column.fit_transform([x], [y])[0].pairs[:, -1]
    seen = column.transform([x])[0].pairs[:, -1]
    known = seen[same].mean() - seen[~same].mean()
    assert known > 0.2
    assert abs(crossed[same].mean() - crossed[~same].mean()) < 0.3 * known
    assert np.abs(crossed).max() <= 12.0


def test_trees_learn_what_weights_cannot():
    sets, labels = toy_sets(8, m=16)
    train, test = (sets[:6], labels[:6]), (sets[6:], labels[6:])
    linear = SupervisedCorrelationClustering(1.0).fit(*train)
    trees = make_pipeline(TreeColumn(), SupervisedCorrelationClustering(1.0)).fit(*train)
    assert trees.score(*test) > linear.score(*test) + 0.03


@pytest.mark.parametrize("listed", [False, True])
def test_a_linear_kernel_is_linear_training(listed):
    sets, labels = toy_sets(4, m=7, listed=listed)
    linear = SupervisedCorrelationClustering(1.0, rtol=1e-9).fit(sets, labels)
    column = KernelMap("linear", bias=False)
    kernel = SupervisedCorrelationClustering(1.0, rtol=1e-9).fit(column.fit_transform(sets), labels)
    new, _ = toy_sets(2, m=9, seed=5, listed=listed)
    for x, mapped in zip([*sets, *new], column.transform([*sets, *new]), strict=True):
        ours, plain = kernel.decision_function([mapped])[0], linear.decision_function([x])[0]
        if listed:
            ours, plain = ours.toarray(), plain.toarray()
        np.testing.assert_allclose(ours, plain, atol=1e-6 * np.abs(plain).max())


@pytest.mark.parametrize("column", [KernelMap("rbf", bias=False), KernelMap("polynomial", bias=True)])
def test_columns_have_the_kernel_as_inner_product(column):
    sets, _ = toy_sets(3, m=6)
    phi = np.concatenate([x.pairs for x in column.fit_transform(sets)])
    rows = np.concatenate([x.pairs for x in sets]) / column.feature_scale_
    if column.kernel == "rbf":
        expected = np.exp(-((rows[:, None] - rows) ** 2).sum(axis=2) / 3)
    else:
        expected = (rows @ rows.T / 3 + 1.0) ** 2 + 1.0
    np.testing.assert_allclose(phi @ phi.T, expected, atol=1e-6)
    sizes = np.mean([(x.pairs**2).mean(axis=0) for x in column.transform(sets)], axis=0)
    np.testing.assert_allclose(sizes, sizes.mean(), rtol=1e-6)


def test_evening_rotation_is_a_rotation():
    A = np.random.default_rng(0).normal(size=(9, 9))
    Q = evening_rotation(A @ A.T)
    np.testing.assert_allclose(Q.T @ Q, np.eye(9), atol=1e-12)
    np.testing.assert_allclose((Q.T @ A @ A.T @ Q).diagonal(), np.trace(A @ A.T) / 9)


def test_maps_come_near_the_kernel():
    sets, _ = toy_sets(3, m=8)
    rows = np.concatenate([x.pairs for x in sets])
    for column, near in ((NystroemMap(n_components=84), 1e-6), (FourierMap(n_components=4000), 0.1)):
        phi = np.concatenate([x.pairs for x in column.fit_transform(sets)])[:, 3:]
        scaled = rows / column.feature_scale_
        expected = np.exp(-((scaled[:, None] - scaled) ** 2).sum(axis=2) / 3)
        assert np.abs(phi @ phi.T - expected).max() < near


def test_full_products_are_a_full_matrix():
    rng = np.random.default_rng(0)
    x = ItemSet(nodes=rng.normal(size=(5, 4)), pairs=rng.normal(size=(10, 2)))
    made = FullProducts(3).fit([x])
    W = rng.normal(size=(3, 3))
    W += W.T
    i, j = np.triu_indices(3)
    v = rng.normal(size=2)
    K = made.transform([x])[0].similarity(np.concatenate([W[i, j], v]))
    Z = x.nodes @ made.projection_
    rest = ItemSet(pairs=x.pairs).similarity(v)
    np.testing.assert_allclose(K, Z @ W @ Z.T + rest, atol=1e-10)
    with pytest.raises(ValueError, match="node features"):
        made.fit([ItemSet(pairs=np.ones((1, 1)))])


def test_what_cannot_be_learned_is_refused_by_name():
    sets, _ = toy_sets(1)
    with pytest.raises(ValueError, match="requires y"):
        TreeColumn().fit(sets)
    with pytest.raises(ValueError, match="belong together"):
        TreeColumn().fit(sets, [np.arange(12)])
    with pytest.raises(ValueError, match="similarity must be one of linear"):
        make_map("cubic")
    with pytest.raises(ValueError, match="too many for an exact kernel"):
        KernelMap().fit([ItemSet(pairs=np.random.default_rng(0).normal(size=(3160, 1)))])
    assert (*SIMILARITIES, "auto") == OFFERED
    with pytest.raises(ValueError, match="cv --compare"):
        make_map("auto")


@pytest.mark.parametrize("kind", [TreeColumn, NystroemMap, FourierMap, KernelMap])
def test_a_set_of_one_item_has_no_pairs_and_does_no_harm(kind):
    sets, labels = toy_sets(4)
    alone = ItemSet(pairs=np.empty((0, sets[0].n_features)), n_items=1)
    with_it = kind().fit([*sets, alone], [*labels, [0]])
    assert with_it.transform([alone])[0].n_items == 1
    assert with_it.transform(sets)[0].pairs.shape[0] == sets[0].pairs.shape[0]


@pytest.mark.parametrize("similarity", ["trees", "mapped", "kernel"])
def test_a_recipe_predicts_explains_and_keeps_it(similarity, tmp_path):
    sets = make_records(n_sets=5, n_people=4)
    recipe = Recipe(C=1.0, similarity=similarity).fit(sets[:4])
    features, model = recipe.pipeline_[0], recipe.pipeline_[-1]
    names = [str(name) for name in features.get_feature_names_out()]
    assert len(names) == model.n_features_in_
    assert ("trees" in names) == (similarity == "trees")
    x = features.transform(sets[4:])[0]
    why = pair_contributions(model, x, 0, 1)
    assert why.contributions.sum() == pytest.approx(model.decision_function([x])[0][0, 1], abs=1e-12)
    scores = features.scores(sets[4], *model.linear_similarity())
    np.testing.assert_allclose(scores.matrix, model.decision_function([x])[0], atol=1e-10)
    assert [len(found) for found in recipe.predict([sets[4].take([0])])] == [1]
    save(tmp_path / "model", recipe)
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(sets[4:])[0], recipe.predict(sets[4:])[0])
    np.testing.assert_array_equal(again.pipeline_[0].transform(sets[4:])[0].pairs, x.pairs)


def test_the_similarity_is_chosen_by_held_out_labels():
    sets = make_records(n_sets=4, n_people=4)
    recipe = Recipe(similarity="auto").fit(sets)
    costs = recipe.training_["similarities"]
    clear = costs["trees"] < costs["linear"] - recipe.training_["similarity_error"]
    assert recipe.training_["similarity"] == ("trees" if clear else "linear")
    assert ("trees" in recipe.pipeline_[0].get_feature_names_out()) == clear
    with pytest.raises(ValueError, match="C chosen"):
        Recipe(similarity="auto", C=1.0).fit(sets)


def test_auto_is_linear_where_labels_are_too_few_for_trees():
    sets = make_records(n_sets=1, n_people=3)
    with pytest.raises(TooFewClusters):
        Recipe(similarity="trees").fit(sets)
    recipe = Recipe(similarity="auto").fit(sets)
    assert recipe.training_["similarity"] == "linear"
    assert recipe.training_["similarities"]["trees"] is None


def held_out(found_of_four: list[int]) -> HeldOutUnits:
    """Clusters of four pairs each, so many of which were found; nothing wrong was put together."""
    return HeldOutUnits([FoldLoss(4.0 - n, (n, n, 4.0)) for n in found_of_four], "pairwise_f")


def test_trees_stay_away_unless_they_are_better_by_a_standard_error():
    linear = held_out([2, 2, 2, 2, 2, 2])
    assert choose_similarity(linear, held_out([3, 3, 3, 3, 3, 3]), None)[0] == "trees"
    by_one_cluster = held_out([4, 2, 2, 2, 2, 1])
    best, error = choose_similarity(linear, by_one_cluster, None)
    assert best == "linear"
    assert error is not None
    assert by_one_cluster.cost < linear.cost < by_one_cluster.cost + error
    assert choose_similarity(linear, held_out([2, 2, 2, 2, 2, 2]), None) == ("linear", 0.0)
    assert choose_similarity(linear, None, None) == ("linear", None)


def test_with_few_groups_the_error_is_that_over_groups():
    """Six sets of three groups: one group alone gains."""
    linear, trees = (
        [FoldLoss(loss) for loss in losses] for losses in ([5, 5, 5, 5, 5, 5], [1, 1, 5, 5, 5.5, 5.5])
    )
    one, other = HeldOutUnits(linear, "loss"), HeldOutUnits(trees, "loss")
    owners = np.array([0, 0, 1, 1, 2, 2])
    assert choose_similarity(one, other, None)[0] == "trees"
    assert choose_similarity(one, other, owners)[0] == "linear"
