"""Items of which nothing is known: completed exactly, and the objective never rises."""

import numpy as np
import pytest

from clustruct import SupervisedCorrelationClustering
from clustruct.learning.problems import Region, latent, training
from tests.learning.problems.test_region import partly_labelled
from tests.reference.partitions import all_partitions


@pytest.mark.parametrize("seed", range(10))
def test_the_completion_is_the_best_of_all_that_keep_the_labels(seed):
    x, labels = partly_labelled(seed)
    region = Region.of(x, labels)
    w = np.random.default_rng(seed).normal(size=3)
    K, known = region.x.similarity(w), np.flatnonzero(region.known)
    upper = np.triu_indices(len(K), 1)

    def score(z):
        return float((K[upper] * (z[upper[0]] == z[upper[1]])).sum())

    truth = np.equal.outer(region.labels[known], region.labels[known])
    every = [np.array(z) for z in all_partitions(region.x.n_items)]
    kept = [z for z in every if (np.equal.outer(z[known], z[known]) == truth).all()]
    found = latent.completed(region, w)
    assert (np.equal.outer(found[known], found[known]) == truth).all()
    assert score(found) == pytest.approx(max(map(score, kept)))


@pytest.mark.parametrize("loss", ["pairwise", "pairwise_f"])
def test_the_objective_never_rises(loss, monkeypatch):
    objectives = []
    own = training.SimilarityTask._fit

    def recorded(self, *args):
        found = own(self, *args)
        objectives.append(found.result.objective)
        return found

    monkeypatch.setattr(training.SimilarityTask, "_fit", recorded)
    for seed in range(5):
        sets, labels = zip(*[partly_labelled(10 * seed + k, m=7) for k in range(4)], strict=True)
        objectives.clear()
        model = SupervisedCorrelationClustering(
            C=10.0, unlabelled="unknown", loss=loss, oracle="local_search", rtol=1e-6
        ).fit(list(sets), list(labels))
        assert model.result_.objective == min(objectives[1:])  # the first looked at known items alone


def test_slack_scaling_is_refused():
    x, labels = partly_labelled(0)
    with pytest.raises(ValueError, match="needs scaling='margin'"):
        SupervisedCorrelationClustering(C=1.0, unlabelled="unknown", scaling="slack").fit(x, labels)
