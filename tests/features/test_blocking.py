"""Vectors, links, products, candidates, and training on listed pairs."""

import numpy as np
import pytest

from clustruct import ItemSet, SupervisedCorrelationClustering
from clustruct.data import Table, all_pairs
from clustruct.features import (
    Blocking,
    Constant,
    Links,
    PairFeatures,
    Strings,
    Terms,
    Vectors,
    guess_blocks,
    pair_recall,
)
from clustruct.learning.problems import ClusteringProblem, Units
from clustruct.losses import PairwiseLoss
from clustruct.search.oracles import ExampleLoss
from clustruct.ssvm import SlackRule

WORDS = [f"w{i}" for i in range(400)]


def people(n, seed=0):
    """n persons with two or three records each, words dropped at random."""
    rng = np.random.default_rng(seed)
    items, labels = [], []
    for person in range(n):
        words = rng.choice(WORDS, 6, replace=False)
        for _ in range(int(rng.integers(2, 4))):
            items.append({"name": " ".join(words[rng.random(6) < 0.8]), "city": str(rng.choice(WORDS[:20]))})
            labels.append(person)
    return Table(items, labels, f"seed {seed}")


def test_candidates_find_nearly_all_mates_and_few_strangers():
    table = people(100)
    pairs = Blocking(n_neighbors=5).fit([table]).pairs(table)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert len(np.unique(pairs[:, 0] * len(table) + pairs[:, 1])) == len(pairs)
    assert pair_recall(table, pairs) > 0.97
    assert len(pairs) < 0.2 * len(all_pairs(len(table)))
    assert pair_recall(table, all_pairs(len(table))) == 1.0


def test_listed_features_are_those_of_all_pairs_and_state_comes_back():
    table, new = people(60), people(60, seed=1)
    options = {"products": [("name: words*", "city: same")], "blocking": Blocking(["name"], from_size=50)}
    features = PairFeatures(guess_blocks([table]), **options).fit([table])
    x = features.transform([new])[0]
    assert x.pair_index is not None
    everything = PairFeatures(features.blocks, products=options["products"]).fit([table]).transform([new])[0]
    a, b = x.pair_index[7]
    np.testing.assert_allclose(everything.pair_features(a, b), x.pairs[7])
    again = PairFeatures.from_state(features.state()).transform([new])[0]
    np.testing.assert_array_equal(again.pairs, x.pairs)
    np.testing.assert_array_equal(again.pair_index, x.pair_index)
    assert features.transform([Table(new.items[:40])])[0].pair_index is None


@pytest.mark.parametrize(
    "wrong",
    [
        *({"learned": {}}, {"learned": {"fields": ["name"], "tables": {"other": {}}}}),
        *({"parameters": {"n_neighbors": 1e9}}, {"parameters": {"n_neighbors": -1}}),
        *({"parameters": {"view": []}}, {"parameters": {"what": 1}}, {"parameters": 3}),
    ],
)
def test_hostile_candidates_are_refused(wrong):
    features = PairFeatures([Constant()], blocking=Blocking(from_size=0)).fit([people(5)])
    state = features.blocking_.state()
    with pytest.raises(ValueError):
        Blocking.from_state({**state, **wrong})


def test_products_of_chosen_features():
    table = people(4)
    features = PairFeatures(
        [Strings("city", ["spelling"]), Terms(["name"], ["words"])], products=[("city: s*", "*words")]
    )
    x = features.fit([table]).transform([table])[0]
    names = list(features.get_feature_names_out())
    at = names.index("city: same and name: words")
    expected = x.pairs[:, names.index("city: same")] * x.pairs[:, names.index("name: words")]
    np.testing.assert_array_equal(x.pairs[:, at], expected)
    for patterns in ([("nothing", "*")], ["city"], 3, [(1, 2)]):
        with pytest.raises(ValueError, match="products"):
            PairFeatures([Constant()], products=patterns).fit([table])


def test_vectors_in_one_field_or_in_several():
    table = Table([{"x": 1, "y": 0.0}, {"x": 0, "y": 2.0}, {"x": 1, "y": None}, {"x": 2, "y": 0}])
    block = Vectors(["x", "y"], ["cosine", "nearness", "difference", "product"], name="v").fit([table])
    values = block.transform(table, all_pairs(4))
    assert values.shape == (6, 2 + 2 + 2 + 2)
    assert values[:, 2].tolist() == [0.0, 0.0, pytest.approx(1.0), 0.0, 0.0, 0.0]
    assert values[1, :4].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert [type(b) for b in guess_blocks([table], "vectors")] == [Vectors]
    with pytest.raises(ValueError, match="item 2"):
        Vectors(["v"]).fit([Table([{"v": [1.0, 2.0]}, {"v": [1.0]}])])


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-90, 1e90, 1e160, 1e300])
def test_the_cosine_of_vectors_does_not_depend_on_their_size(scale):
    X = np.random.default_rng(0).normal(size=(6, 4))
    plain, scaled = (Table.from_columns({"v": values}) for values in (X, scale * X))
    block = Vectors(["v"]).fit([plain])
    expected, found = (block.transform(table, all_pairs(6)) for table in (plain, scaled))
    assert found[:, 2] == pytest.approx(expected[:, 2], rel=1e-9)
    assert np.isfinite(found).all()


def test_bad_links_name_the_set():
    with pytest.raises(ValueError, match="set s: edges: row 0"):
        Links().transform(Table([{}], name="s", context={"links": [[0, 5]]}), np.zeros((0, 2), int))


def test_listed_pairs_alone_are_searched_and_counted():
    """With every pair listed the search and the loss are those of all pairs."""
    rng = np.random.default_rng(0)
    P, y, m = rng.normal(size=(28, 3)), np.array([0, 0, 1, 1, 1, 2, 2, 3]), 8
    sets = ItemSet(pairs=P), ItemSet(pairs=P, pair_index=all_pairs(m), n_items=m)
    dense, listed = (ClusteringProblem([x], [y], units=Units.of_means([x], "correlation")) for x in sets)
    for _ in range(10):
        w = rng.normal(size=3)
        found = dense.separate(0, w, SlackRule())
        np.testing.assert_array_equal(listed.separate(0, w, SlackRule()), found)
        assert listed.loss(0, found) == pytest.approx(dense.loss(0, found))
        np.testing.assert_allclose(listed.joint_feature(0, found), dense.joint_feature(0, found))
    assert listed.loss(0, y) == 0.0


def test_learning_from_one_large_set_with_candidates():
    train, test = people(150), people(150, seed=3)
    features = PairFeatures(guess_blocks([train]), blocking=Blocking(from_size=100)).fit([train])
    x, z = features.transform([train, test])
    model = SupervisedCorrelationClustering().fit([x], [train.labels])
    assert model.cv_results_["losses"].shape[1] == len(set(train.labels))  # clusters were held out
    assert model.score([z], [test.labels]) > 0.99
    found = model.predict([z])[0]
    truth = np.asarray(test.labels)
    mates = [(a, b) for a, b in all_pairs(len(test)) if truth[a] == truth[b]]
    assert np.mean([found[a] == found[b] for a, b in mates]) > 0.9


def test_large_clusters_in_training_ask_for_more_neighbours():
    """Each of 30 items of a cluster must be able to meet the 29 others."""
    items = [{"t": f"red{c} blue{c} green{c} w{c}x{i}"} for c in range(3) for i in range(30)]
    labels = [c for c in range(3) for _ in range(30)]
    known, new = Table(items, labels=labels), Table(items)
    shy = Blocking(n_neighbors=5, rare=2).fit([new])
    seen = Blocking(n_neighbors=5, rare=2).fit([known])
    assert (shy.n_neighbors_, seen.n_neighbors_) == (5, 29)
    assert pair_recall(known, shy.pairs(new)) < 0.6
    assert pair_recall(known, seen.pairs(new)) == 1.0
    again = Blocking.from_state(seen.state())
    np.testing.assert_array_equal(again.pairs(new), seen.pairs(new))
    assert Blocking(n_neighbors=0, rare=2).fit([known]).n_neighbors_ == 0


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("n_neighbors_", (None, -1, "many", True)),
        ("least_likeness_", (None, -0.5, 2.0, float("nan"), "0.5")),
    ],
)
def test_hostile_numbers(name, values):
    state = Blocking().fit([people(5)]).state()
    for wrong in values:
        with pytest.raises(ValueError, match=name.rstrip("_")):
            Blocking.from_state({**state, "learned": {**state["learned"], name: wrong}})


@pytest.mark.parametrize("costs", [(1.0, 1.0), (5.0, 1.0), (1.0, 3.0)])
def test_costs_of_merges_and_splits_among_listed_pairs(costs):
    """The loss, and the terms added to the scores, by counting listed pairs one by one."""
    merge, split = costs
    x = ItemSet(pairs=np.ones((4, 1)), pair_index=[[0, 1], [1, 2], [2, 3], [0, 3]], n_items=4)
    truth, found = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])
    held = ExampleLoss(PairwiseLoss(merge_cost=merge, split_cost=split), truth, x.pair_index)
    # (0, 1) and (2, 3) are split, (1, 2) and (0, 3) merged.
    assert held(found) == pytest.approx(100.0 / 4 * (2 * merge + 2 * split))
    assert held(truth) == 0.0
    assert held(np.zeros(4, int)) == pytest.approx(50.0 * merge)
    assert held(np.arange(4)) == pytest.approx(50.0 * split)
    together = np.array([0.0, 1.0, 0.0, 1.0])
    assert held(np.arange(4)) + held.coefficients @ together == pytest.approx(held(found))
