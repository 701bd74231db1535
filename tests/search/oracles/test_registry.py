"""Oracles and predictors are found by name."""

import numpy as np
import pytest

from clustruct import ItemSet, SupervisedCorrelationClustering
from clustruct.data import PairScores
from clustruct.losses import MitreLoss, PairwiseLoss
from clustruct.losses.slack_rule import SlackRule
from clustruct.search.correlation import lp_relaxation, round_edges
from clustruct.search.oracles import make_oracle, make_predictor, oracle_names, predictor_names


def noisy_scores(seed, m=14):
    K = np.random.default_rng(seed).normal(size=(m, m))
    return K + K.T


def test_names():
    assert set(oracle_names()) == {
        name for kind in ("correlation", "kmeans", "links") for name in oracle_names(kind)
    }
    for name in oracle_names():
        oracle = make_oracle(name)
        assert oracle.name == name
        assert oracle.refusal(SlackRule(), oracle.default_loss) is None
    with pytest.raises(ValueError, match="oracle must be one of exact, greedy"):
        make_oracle("magic", "correlation")
    with pytest.raises(ValueError, match="oracle must be one of centred"):
        make_oracle("greedy", "kmeans")
    known = "batch, discrete, discrete_centred, iterative, normalised_cut"
    with pytest.raises(ValueError, match=f"predictor must be one of {known}, not 'lp'"):
        make_predictor("lp", "kmeans")


def test_a_refusal_names_what_can_be_used_instead():
    said = make_oracle("lp").refusal(SlackRule(), MitreLoss())
    assert "not linear in pairs: use oracle='greedy' or 'local_search'" in said
    said = make_oracle("spectral").refusal(SlackRule("slack", 2), make_oracle("spectral").default_loss)
    assert "slack scaling with slack_norm=2 does not allow: use oracle='iterative'" in said
    assert make_oracle("greedy").refusal(SlackRule("slack", 2), PairwiseLoss()) is None


def test_the_roundings_of_the_papers():
    """Algorithm 5 and ball growing as predictors: the functions on the relaxation, at 0.7."""
    for seed in range(4):
        K = noisy_scores(seed)
        relaxed, scores = lp_relaxation(K), PairScores.from_matrix(K)
        for name, rule in (("lp_algorithm5", "algorithm5"), ("lp_ball", "ball")):
            found = make_predictor(name, "correlation").predict(scores)
            np.testing.assert_array_equal(found, round_edges(relaxed, rule, threshold=0.7))
        best = make_predictor("lp", "correlation").predict(scores)
        np.testing.assert_array_equal(best, round_edges(relaxed, K=K))
    x, y = ItemSet(pairs=[[1.0, 1.0], [0.1, 1.0], [0.0, 1.0]]), [0, 0, 1]
    for name in predictor_names("correlation"):
        model = SupervisedCorrelationClustering(C=10.0, predictor=name).fit([x], [y])
        assert model.predict(x).tolist() == y


def test_linking_predictors_take_listed_pairs():
    listed = PairScores(5, index=np.array([[0, 3], [1, 3], [2, 4]]), values=np.array([1.0, 2.0, -1.0]))
    assert make_predictor("components", "correlation").predict(listed).tolist() == [0, 0, 1, 0, 2]
    assert make_predictor("nearest_mate", "correlation").predict(listed).tolist() == [0, 1, 2, 1, 3]
