"""DEFECTS 8: tables whose rows are told apart by distance, which products cannot say."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from clustruct import ItemSet, SupervisedCorrelationClustering, SupervisedKMeans
from clustruct.core.exceptions import ProductsWarning
from clustruct.data import with_distances


def blobs(n, box):
    made = [make_blobs(30, 6, centers=3, center_box=box, cluster_std=0.5, random_state=k) for k in range(n)]
    return [list(part) for part in zip(*made, strict=True)]


@pytest.mark.parametrize("box", [(-10.0, 10.0), (0.0, 20.0), (4.0, 12.0)])
def test_blobs_are_warned_of_and_distances_group_them(box):
    X, y = blobs(8, box)
    with pytest.warns(ProductsWarning, match="with_distances"):
        SupervisedCorrelationClustering(C=1.0).fit(X[:5], y[:5])
    model = SupervisedCorrelationClustering(C=1.0).fit([with_distances(x) for x in X[:5]], y[:5])
    found = model.predict([with_distances(x) for x in X[5:]])
    assert [adjusted_rand_score(t, p) for t, p in zip(y[5:], found, strict=True)] == [1.0, 1.0, 1.0]


def test_one_table_cut_into_sets_is_looked_at_too():
    X, y = blobs(4, (4.0, 12.0))
    with pytest.warns(ProductsWarning):
        SupervisedCorrelationClustering(C=1.0).fit(
            np.vstack(X), np.concatenate(y), set_ids=np.repeat(np.arange(4), 30)
        )


def test_directions_are_no_matter_of_distance():
    """What products can tell is not warned of; nor is k-means, which works by them."""
    rng = np.random.default_rng(0)
    y = [rng.integers(0, 2, 20) for _ in range(4)]
    X = [np.where(v == 0, -1.0, 1.0)[:, None] * rng.uniform(1.0, 9.0, (20, 1)) for v in y]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SupervisedCorrelationClustering(C=1.0).fit(X, y)
        SupervisedKMeans(C=1.0).fit(*blobs(3, (4.0, 12.0)))


def test_distances_are_of_tables():
    with pytest.raises(ValueError, match="without pair features"):
        with_distances(ItemSet(pairs=[[1.0]]))
