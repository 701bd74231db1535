"""Scores of pairs chunk by chunk, and likely pairs: neither chunks nor the order of items change them."""

import numpy as np
import pytest
from scipy import sparse

from clustruct import Recipe
from clustruct.data import Table, all_pairs
from clustruct.data.datasets import make_mentions, make_records
from clustruct.features import Blocking, PairFeatures, Vectors, base, guess_blocks, pair_recall
from clustruct.features.neighbours import nearest_vectors
from clustruct.pipeline import group, score_set


@pytest.fixture(scope="module")
def table():
    return make_records(n_sets=1, n_people=60, random_state=3)[0]


@pytest.fixture(params=[0, 10_000], ids=["listed", "all pairs"])
def features(request, table):
    blocks = guess_blocks([table])
    blocking = Blocking(from_size=request.param)
    return PairFeatures(blocks, blocking=blocking, products=[("*: same", "record: words")]).fit([table])


def find_by_words_alone(monkeypatch) -> None:
    """No item is paired with those beside it in the order of texts."""
    none = np.zeros(0, np.int64)
    monkeypatch.setattr("clustruct.features.sorted_neighbours.sorted_neighbours", lambda *_: none)


@pytest.mark.parametrize("at_once", [31, 10**6])
def test_chunks_change_neither_features_nor_scores(features, table, at_once, monkeypatch):
    x = features.transform([table])[0]
    w = np.random.default_rng(0).normal(size=x.n_features)
    expected = x.similarity(w + 0.0)
    monkeypatch.setattr(base, "PAIRS_AT_ONCE", at_once)
    np.testing.assert_array_equal(features.transform([table])[0].pairs, x.pairs)
    found = features.scores(table, w)
    K = found.matrix if found.index is None else (found.graph() + found.graph().T).toarray()
    np.testing.assert_allclose(K, expected, atol=1e-12)
    assert (found.index is None) == (x.pair_index is None)
    shifted = features.scores(table, w, 2.0)
    if shifted.index is not None:
        np.testing.assert_allclose(shifted.values, found.values + 2.0)


def test_only_pairs_that_touch_some_items(features, table):
    mask = np.arange(len(table)) < 3
    x, some = features.transform([table])[0], features.transform([table], [mask])[0]
    index = all_pairs(len(table)) if x.pair_index is None else x.pair_index
    kept = mask[index].any(axis=1)
    assert 0 < kept.sum() < len(kept)
    np.testing.assert_array_equal(some.pair_index, index[kept])
    np.testing.assert_array_equal(some.pairs, x.pairs[kept])


def test_one_item_has_no_pairs(features):
    found = features.check_tables().scores(
        Table([{"name": "Ann"}]), np.ones(len(features.get_feature_names_out()))
    )
    assert found.n_items == 1
    assert found.graph().nnz == 0 if found.index is not None else not found.matrix.any()


@pytest.mark.parametrize("learner", ["correlation", "pairs"])
@pytest.mark.parametrize("block", [0, 20])
def test_groups_by_scores_are_those_of_the_features(learner, block):
    sets = make_records(n_sets=5, n_people=12)
    recipe = Recipe(C=1.0, learner=learner, block=block).fit(sets[:4])
    (found,) = recipe.predict(sets[4:])
    np.testing.assert_array_equal(found, recipe.pipeline_.predict(sets[4:])[0])


def test_k_means_groups_by_a_matrix_of_all_pairs():
    sets = make_records(n_sets=4, n_people=4)
    recipe = Recipe(C=1.0, learner="kmeans").fit(sets[:3])
    scores = score_set(recipe.pipeline_, sets[3])
    assert scores.matrix is not None
    np.testing.assert_array_equal(
        group(recipe.pipeline_, scores).labels, recipe.pipeline_.predict(sets[3:])[0]
    )


def people(n, seed=0):
    """Persons with two records each, of names that many share."""
    rng = np.random.default_rng(seed)
    items, labels = [], []
    for person in range(n):
        first, last, town = (
            f"{kind}{rng.integers(0, many)}" for kind, many in (("f", 40), ("l", 60), ("t", 9))
        )
        for _ in range(2):
            items.append({"name": f"{first} {last}", "town": town, "note": f"x{rng.integers(0, 10**9)}"})
            labels.append(person)
    return Table(items, labels=labels)


def test_two_common_terms_together_find_what_each_alone_does_not(monkeypatch):
    find_by_words_alone(monkeypatch)
    table = people(1500)
    options = {"n_neighbors": 5, "common": 20, "n_neighbors_by_field": 0, "margin": 0.0}
    alone = Blocking(common_share=0.0, **options).fit([table]).pairs(table)
    pairs = Blocking(common_share=0.2, **options).fit([table]).pairs(table)
    assert pair_recall(table, alone) < 0.1
    assert pair_recall(table, pairs) > 0.95


def test_the_order_of_items_changes_only_ties():
    table = people(300)
    order = np.random.default_rng(1).permutation(len(table))
    blocking = Blocking(n_neighbors=400, n_neighbors_by_field=400).fit([table])
    pairs, other = blocking.pairs(table), np.sort(order[blocking.pairs(table.take(order))], axis=1)
    assert {tuple(p) for p in pairs.tolist()} == {tuple(p) for p in other.tolist()}


def test_candidates_less_alike_than_mates_are_dropped():
    table = people(200)
    everything = Blocking(margin=0.0).fit([table])
    options = {"margin": 0.9, "margin_from_size": 400}
    cut, none = Blocking(**options).fit([table]), Blocking(**options).fit([Table(table.items)])
    assert everything.least_likeness_ == none.least_likeness_ == 0.0
    assert 0.0 < cut.least_likeness_ < 1.0
    pairs, few = everything.pairs(table), cut.pairs(table)
    assert len(few) < 0.7 * len(pairs)
    assert {tuple(p) for p in few.tolist()} <= {tuple(p) for p in pairs.tolist()}
    assert pair_recall(table, few) >= pair_recall(table, pairs) - 0.01
    again = Blocking.from_state(cut.state())
    np.testing.assert_array_equal(again.pairs(table), few)
    cut.margin_from_size = 401
    np.testing.assert_array_equal(cut.pairs(table), pairs)


@pytest.mark.parametrize("wrong", [3, ["v"], [[]], [[1]], [["v", "v"]]])
def test_vectors_of_a_blocking_are_names_of_fields(wrong):
    with pytest.raises(ValueError, match="vectors"):
        Blocking(vectors=wrong).fit([people(5)])


def test_nearest_vectors_are_those_of_all_cosines(monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 4))
    X[7] = 0.0
    unit = X / np.maximum(np.linalg.norm(X, axis=1), 1e-300)[:, None]
    K = unit @ unit.T
    np.fill_diagonal(K, -2.0)
    K[:, 7] = -2.0
    expected = np.argsort(-K, axis=1, kind="stable")[:, :5]
    expected[7] = -1
    for most in (1, 170, 10**6):
        monkeypatch.setattr("clustruct.features.neighbours.MOST_PRODUCTS", most)
        np.testing.assert_array_equal(nearest_vectors(X, 5), expected)
    assert nearest_vectors(X[:2], 3).tolist() == [[1, -1, -1], [0, -1, -1]]
    assert nearest_vectors(X, 0).shape == (50, 0)


def test_of_equal_vectors_the_first_are_taken():
    assert nearest_vectors(np.ones((5, 2)), 2).tolist() == [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1]]


def clustered(n, seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n), 3)
    X = rng.normal(size=(n, 16))[labels] + 0.3 * rng.normal(size=(3 * n, 16))
    return Table.from_columns({"v": X}, labels=labels.tolist())


def test_large_sets_of_vectors_are_compared_with_near_ones_only():
    train, test = clustered(100, 0), clustered(100, 1)
    recipe = Recipe(kind="vectors", C=1.0, block=100, parts=1).fit([train])
    assert recipe.pipeline_[0].blocking_.vectors == [["v"]]
    scores = score_set(recipe.pipeline_, test)
    assert scores.index is not None
    assert len(scores.index) < 10 * len(test)
    assert pair_recall(test, scores.index) == 1.0
    assert recipe.score([test]) > 0.99


def test_words_and_vectors_find_pairs_together(monkeypatch):
    find_by_words_alone(monkeypatch)
    rng = np.random.default_rng(0)
    items = [{"v": rng.normal(size=8).tolist(), "name": f"n{k} x"} for k in range(40)]
    items[1]["v"], items[3]["name"] = items[0]["v"], items[2]["name"]
    table = Table(items)
    options = {"n_neighbors": 1, "from_size": 0, "n_neighbors_by_field": 0}
    both = Blocking(["name"], vectors=[["v"]], **options).fit([table]).pairs(table).tolist()
    assert [0, 1] in both
    assert [2, 3] in both
    assert [0, 1] not in Blocking(["name"], common=2, common_share=0.0, **options).fit([table]).pairs(
        table
    ).tolist()
    assert [2, 3] in Blocking(["name"], **options).fit([table]).pairs(table).tolist()
    block = Vectors(["v"]).fit([table])
    assert block.transform(table, np.array([[0, 1]]))[0, 2] == pytest.approx(1.0)


@pytest.mark.parametrize("at_once", [50_000, 700])
def test_mentions_are_kept_sparse(monkeypatch, at_once):
    sets = make_mentions(n_sets=3)
    features = PairFeatures(guess_blocks(sets)).fit(sets)
    dense = [x.pairs for x in features.transform(sets)]
    monkeypatch.setattr(base, "LARGE", 1)
    monkeypatch.setattr(base, "PAIRS_AT_ONCE", at_once)
    thin = [x.pairs for x in features.transform(sets)]
    assert not any(sparse.issparse(P) for P in dense)
    assert all(sparse.issparse(P) for P in thin)
    for one, other in zip(dense, thin, strict=True):
        np.testing.assert_array_equal(one, other.toarray())


def test_records_are_not_kept_sparse(monkeypatch):
    monkeypatch.setattr(base, "LARGE", 1)
    sets = make_records(n_sets=2, n_people=8)
    assert not any(sparse.issparse(x.pairs) for x in PairFeatures(guess_blocks(sets)).fit_transform(sets))
