"""SupervisedAgglomerative: what it learns, what it keeps, what it refuses."""

import numpy as np
import pytest
from sklearn.base import clone

from clustruct import ItemSet, SupervisedAgglomerative
from clustruct.data import PairScores
from clustruct.evaluate.explain import item_confidence
from clustruct.groups.scoring import check_correlation
from clustruct.pipeline import Recipe, objective_of
from clustruct.pipeline.learners import make_learner
from tests.learning.problems.test_linkage import chains

LINKAGES = ["single", "average", "complete", "left"]


@pytest.fixture(scope="module")
def data():
    return chains(0, n=6), chains(1, n=3)


@pytest.mark.parametrize("linkage", ["single", "left"])
def test_chains_are_learned_and_objectives_kept(linkage, data, tmp_path):
    (X, y), (Z, t) = data
    model = SupervisedAgglomerative(C=1.0, linkage=linkage).fit(X, y)
    assert model.score(Z, t) > 0.9
    assert (np.diff(model.objectives_) <= 0.0).all()
    assert model.result_.objective == model.objectives_[-1]
    assert model.wrong_link_ in (1.0, 0.3)
    assert model.clustering_objective == objective_of(model) == "links"


def test_prediction_by_scores_is_that_by_features(data):
    (X, y), (Z, _) = data
    model = SupervisedAgglomerative(C=1.0).fit(X, y)
    scores = [PairScores(x.n_items, matrix=x.similarity(model.w_)) for x in Z]
    for one, given in zip(model.predict(Z), scores, strict=True):
        assert one.tolist() == model.group_scores(given).labels.tolist()


def test_listed_pairs_of_all_are_the_same_as_all_pairs(data):
    (X, y), (Z, _) = data
    a, b = np.triu_indices(7, 1)

    def listed(sets):
        return [ItemSet(pairs=x.pairs, pair_index=np.column_stack([a, b]), n_items=7) for x in sets]

    for linkage in LINKAGES:
        model = SupervisedAgglomerative(C=1.0, linkage=linkage, n_starts=1)
        dense, sparse = clone(model).fit(X, y), clone(model).fit(listed(X), y)
        assert dense.w_ == pytest.approx(sparse.w_, rel=1e-6)
        for one, other in zip(dense.predict(Z), sparse.predict(listed(Z)), strict=True):
            assert one.tolist() == other.tolist()


def test_more_starts_never_end_higher(data):
    (X, y), _ = data
    ends = [SupervisedAgglomerative(C=1.0, n_starts=n, rtol=1e-4).fit(X, y).objectives_[-1] for n in (1, 4)]
    assert ends[1] <= ends[0]


def test_r_is_chosen_with_C(data):
    (X, y), _ = data
    model = SupervisedAgglomerative(linkage="left", C_grid=(0.1, 1.0), cv=2, n_starts=1).fit(X, y)
    assert model.C_ in (0.1, 1.0)
    assert model.cv_results_["mean_loss"].shape == (2,)
    assert model._oracle().wrong_link == model.wrong_link_
    fixed = SupervisedAgglomerative(linkage="left", wrong_link=0.5, C=1.0).fit(X, y)
    assert fixed.wrong_link_ == 0.5


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"linkage": "double"}, "linkage must be one of single, average, complete, left, not 'double'"),
        ({"wrong_link": 0.0}, "wrong_link must be a positive number or 'cv'"),
        ({"n_starts": 0}, "n_starts must be at least 1"),
        ({"checkpoint": "here"}, "has no checkpoints"),
        ({"slack_norm": 2}, "needs slack_norm=1"),
        ({"C": -1.0}, "C must be a positive number"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(given, said, data):
    with pytest.raises(ValueError, match=said):
        SupervisedAgglomerative(**given).fit(*data[0])


def test_items_without_a_label_are_refused(data):
    (X, y), _ = data
    with pytest.raises(ValueError, match="label"):
        SupervisedAgglomerative(C=1.0).fit(X, [[0, None, 0, 0, 1, 1, 1], *y[1:]])


def test_known_groups_are_refused():
    with pytest.raises(ValueError, match="groups by links, not by sums: it takes neither known groups nor"):
        check_correlation(SupervisedAgglomerative())


def test_a_linkage_goes_with_its_learner():
    with pytest.raises(ValueError, match="linkage goes with learner='agglomerative'"):
        make_learner(Recipe(linkage="left"))
    assert make_learner(Recipe(learner="agglomerative", linkage="left")).linkage == "left"


@pytest.mark.parametrize("sparse", [False, True])
def test_confidence_is_what_the_strongest_link_is_ahead(sparse):
    from scipy.sparse import csr_array

    K = np.array(
        [[0.0, 3.0, -2.0, 1.0], [3.0, 0.0, -5.0, -1.0], [-2.0, -5.0, 0.0, 2.0], [1.0, -1.0, 2.0, 0.0]]
    )
    found = item_confidence(csr_array(K) if sparse else K, [0, 0, 1, 1], "links")
    assert found.confidence.tolist() == [2.0, 3.0, 2.0, 1.0]
    assert found.support.tolist() == [3.0, 3.0, 2.0, 2.0]
