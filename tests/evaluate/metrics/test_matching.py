"""Matching part by part equals the Hungarian method on the whole table."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from clustruct.evaluate.metrics import ceaf_entity, evaluate
from clustruct.losses import best_matching


@pytest.mark.parametrize("seed", range(20))
def test_parts_add_up_to_the_whole(seed):
    rng = np.random.default_rng(seed)
    table = rng.random((rng.integers(1, 12), rng.integers(1, 12)))
    table[rng.random(table.shape) < 0.8] = 0.0
    assert best_matching(table) == pytest.approx(table[linear_sum_assignment(table, maximize=True)].sum())


def test_many_clusters_take_little_memory():
    """A dense table of these clusters would take 3 GB."""
    truth = np.repeat(np.arange(20_000), 2)
    assert ceaf_entity(truth, np.arange(40_000)).recall == pytest.approx(2 / 3)
    assert evaluate([truth], [truth]).mean["matched_accuracy"] == 1.0
