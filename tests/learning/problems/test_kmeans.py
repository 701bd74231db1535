"""Supervised k-means as a structured problem."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import subspace_angles

from clustruct import ItemSet, ssvm
from clustruct.core.partitions import RelaxedClustering, canonical_labels, normalised_indicator
from clustruct.data.datasets import make_synth
from clustruct.features import links
from clustruct.learning.problems import ClusteringProblem, Units
from clustruct.search.oracles import make_oracle, oracle_names
from clustruct.search.oracles.kmeans_oracles import augmented_operator
from clustruct.ssvm import SlackRule
from tests.reference.kmeans import partitions_into

PLAIN = SlackRule()


def kmeans_problem(sets, labels, loss=None, oracle="iterative", *, n_init=3, item_mean=False):
    units = Units.of_means(sets, "kmeans") if item_mean else None
    return ClusteringProblem(sets, labels, loss, make_oracle(oracle, "kmeans", n_init=n_init), units=units)


def mixed_set(m, seed=0):
    rng = np.random.default_rng(seed)
    pairs = rng.normal(size=(m * (m - 1) // 2, 2))
    return ItemSet(rng.normal(size=(m, 3)), pairs, pair_diagonal=rng.normal(size=(m, 2)))


def wrong(problem, i, w, y):
    """The slack that y needs at w."""
    psi = problem.joint_feature(i, y) - problem.joint_feature(i, problem.truth(i))
    return problem.loss(i, y) + float(psi @ w)


def test_score_is_the_trace():
    x, rng = mixed_set(6), np.random.default_rng(1)
    y, w = canonical_labels([0, 1, 0, 2, 1, 1]), rng.normal(size=5)
    problem = kmeans_problem([x], [y])
    Y = normalised_indicator(y).toarray()
    assert problem.joint_feature(0, y) @ w == pytest.approx(np.trace(Y.T @ x.similarity(w) @ Y))
    turned = RelaxedClustering(Y @ np.linalg.qr(rng.normal(size=(3, 3)))[0])
    np.testing.assert_allclose(problem.joint_feature(0, turned), problem.joint_feature(0, y))


@pytest.mark.parametrize("item_mean", [False, True])
def test_oracles_against_brute_force(item_mean):
    """Spectral bounds every violation, iterative finds nearly all, and neither is worse than the truth."""
    for seed in range(6):
        x, rng = mixed_set(7, seed), np.random.default_rng(seed)
        truth = canonical_labels(rng.integers(0, 2, 7))
        k = truth.max() + 1
        w = rng.normal(size=5) * rng.choice([0.01, 1.0, 10.0])
        for oracle in ("iterative", "spectral", "centred", "discrete"):
            problem = kmeans_problem([x], [truth], oracle=oracle, n_init=30, item_mean=item_mean)
            best = max(wrong(problem, 0, w, y) for y in partitions_into(7, k))
            found = wrong(problem, 0, w, problem.separate(0, w, PLAIN))
            if oracle == "iterative":
                assert found == pytest.approx(best, abs=1e-8)
            elif oracle != "discrete":
                assert found >= best - 1e-9
            else:
                assert found <= best + 1e-9


@pytest.mark.parametrize("rule", [SlackRule("slack", 1), SlackRule("margin", 2), SlackRule("slack", 2)])
@pytest.mark.parametrize("item_mean", [False, True])
def test_other_rules_with_iterative(rule, item_mean):
    x, truth = mixed_set(6), canonical_labels([0, 0, 1, 1, 0, 1])
    problem = kmeans_problem([x], [truth], loss="pairwise", n_init=20, item_mean=item_mean)
    for seed in range(4):
        w = np.random.default_rng(seed).normal(size=5)

        def violation(y, w=w):
            gain = float((problem.joint_feature(0, y) - problem.joint_feature(0, truth)) @ w)
            return float(rule.violation(np.array([problem.loss(0, y)]), np.array([gain]))[0])

        best = max(violation(y) for y in partitions_into(6, 2))
        assert violation(problem.separate(0, w, rule)) == pytest.approx(best, abs=1e-8)


def test_what_cannot_be_is_refused():
    x, y = mixed_set(5), [0, 1, 0, 1, 0]
    with pytest.raises(ValueError, match="not linear in Y Y'"):
        kmeans_problem([x], [y], loss="pairwise", oracle="spectral")
    with pytest.raises(ValueError, match="oracle must be one of"):
        kmeans_problem([x], [y], oracle="magic")
    with pytest.raises(ValueError, match="no oracle for slack scaling, slack norm 2"):
        ssvm.fit(kmeans_problem([x], [y], oracle="spectral"), scaling="slack", slack_norm=2)
    kinds = {o: kmeans_problem([x], [y], oracle=o).oracle_kind for o in oracle_names("kmeans")}
    under, over = "undergenerating", "overgenerating"
    discrete = {"discrete": under, "discrete_centred": under}
    assert kinds == {"iterative": under, "spectral": over, "centred": over, **discrete}


def test_relaxed_training_bounds_discrete_training():
    X, y = make_synth(n_sets=2, n_clusters=3, cluster_size=6, noise=0.5)
    values = {o: ssvm.fit(kmeans_problem(X, y, oracle=o), C=0.1).objective for o in oracle_names("kmeans")}
    assert values["iterative"] * (1 - 2e-3) <= values["centred"] <= values["spectral"] * (1 + 2e-3)


def test_large_sparse_sets_need_no_matrix():
    """The operator of a linked set equals its formed similarity, and so do the eigenvectors."""
    rng = np.random.default_rng(0)
    nodes = sparse.random_array((300, 40), density=0.1, rng=rng, format="csr")
    x = links(rng.integers(0, 300, (200, 2)), nodes)
    w, truth = rng.normal(size=x.n_features), canonical_labels(rng.integers(0, 4, 300))
    Y = normalised_indicator(truth)
    K = x.similarity(w) - 25.0 * (Y @ Y.T).toarray()
    V = rng.normal(size=(300, 3))
    np.testing.assert_allclose(augmented_operator(x.similarity_operator(w), Y, 25.0) @ V, K @ V, atol=1e-9)
    found = kmeans_problem([x], [truth], oracle="spectral").separate(0, w, PLAIN)
    assert subspace_angles(found.Y, np.linalg.eigh(K)[1][:, -4:]).max() < 1e-4
