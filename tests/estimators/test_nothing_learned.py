"""DEFECTS 12: a fit that ends at w = 0 says so; centred models are predicted by the centred relaxation."""

import warnings

import numpy as np
import pytest

from clustruct import ItemSet, SupervisedCorrelationClustering, SupervisedKMeans, ssvm
from clustruct.learning.problems import MulticlassProblem
from clustruct.search import spectral
from tests.estimators.test_invariance import node_set, pair_set, toy


@pytest.mark.parametrize("oracle", ["centred", "spectral"])
def test_an_end_at_zero_is_a_warning(oracle):
    tables, labels = toy(1)
    with pytest.warns(ssvm.NothingLearned, match=r"w = 0.*larger C.*rtol"):
        model = SupervisedKMeans(C=0.001, oracle=oracle).fit([node_set(X) for X in tables], labels)
    assert not model.w_.any()


def test_features_that_say_nothing_are_a_warning():
    sets = [ItemSet(pairs=np.zeros((6, 2))) for _ in range(3)]
    with pytest.warns(ssvm.NothingLearned, match="every answer scores alike"):
        SupervisedCorrelationClustering(C=1.0).fit(sets, [[0, 0, 1, 1]] * 3)


def test_weights_that_must_not_be_negative():
    """The only feature is a distance: w >= 0 leaves nothing but 0."""
    rng, labels = np.random.default_rng(0), [0, 0, 1, 1]
    a, b = np.triu_indices(4, 1)
    apart = np.array([labels[i] != labels[j] for i, j in zip(a, b, strict=True)], float)
    sets = [ItemSet(pairs=(apart + 0.1 * rng.random(6))[:, None]) for _ in range(3)]
    with pytest.warns(ssvm.NothingLearned):
        SupervisedCorrelationClustering(C=1.0, nonnegative=True).fit(sets, [labels] * 3)


def test_no_warning_otherwise():
    tables, labels = toy(1)
    sets = [pair_set(X) for X in tables]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SupervisedCorrelationClustering(C=1.0).fit(sets, labels)
        # Trainings that choose C may end at 0 where C is small.
        SupervisedKMeans(C_grid=(1e-3, 1.0), cv=3, oracle="spectral").fit(sets, labels)
        # Nothing is violated: there is nothing to learn.
        ssvm.fit(MulticlassProblem(np.eye(2), ["a", "b"], cost=np.zeros((2, 2))), 1.0)
        # Kept at a prior.
        ssvm.fit(MulticlassProblem(np.eye(2), ["a", "b"]), 1e-9, prior=np.ones(4))


def test_centred_models_are_predicted_by_the_centred_relaxation():
    tables, labels = toy(2, n=4, m=12)
    sets = [node_set(X) for X in tables]
    model = SupervisedKMeans(C=1.0, oracle="centred").fit(sets, labels)
    plain = SupervisedKMeans(C=1.0, oracle="spectral").fit(sets, labels)
    for x, relaxed, other in zip(
        sets, model.relax(sets, n_clusters=3), plain.relax(sets, n_clusters=3), strict=True
    ):
        wanted = spectral.relax(x.similarity(model.w_), 3, centred=True)
        assert np.allclose(relaxed.Y @ relaxed.Y.T, wanted.Y @ wanted.Y.T)
        # All columns together span the constant vector, as those of every partition do.
        assert np.allclose(relaxed.Y @ (relaxed.Y.T @ np.ones(12)), 1.0)
        free = spectral.relax(x.similarity(plain.w_), 3)
        assert np.allclose(other.Y @ other.Y.T, free.Y @ free.Y.T)
    for x, found in zip(sets, model.predict(sets, n_clusters=3), strict=True):
        made = spectral.discretise(spectral.relax(x.similarity(model.w_), 3, centred=True))
        assert np.array_equal(found, made)


def test_the_slack_bounds_the_training_loss_of_the_same_relaxation():
    """Theorem 13: with margin scaling, over sets as they were trained on."""
    from clustruct.losses import NormalisedLoss

    for seed in range(4):
        tables, labels = toy(seed, m=9)
        sets = [node_set(X) for X in tables]
        for oracle in ("centred", "spectral"):
            model = SupervisedKMeans(C=10.0, oracle=oracle).fit(sets, labels)
            relaxed = model.relax(sets, n_clusters=3)
            loss = np.mean([NormalisedLoss()(y, r) for y, r in zip(labels, relaxed, strict=True)]) / 100.0
            assert loss <= model.result_.certificate.training_loss + 1e-9
