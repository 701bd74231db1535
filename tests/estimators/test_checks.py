"""Our own checks, on every estimator; and estimators that are wrong on purpose, to see them fail."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import make_blobs

from clustruct import (
    MultiLabelMRF,
    SupervisedAgglomerative,
    SupervisedCorrelationClustering,
    SupervisedKMeans,
    UniversumClustering,
)
from clustruct.estimators.baselines import (
    DefaultClustering,
    LatentPairClustering,
    PairKMeans,
    PairwiseClassifierClustering,
    UntrainedKMeans,
)
from clustruct.estimators.checks import SET_CHECKS, TABLE_CHECKS, check_set_clusterer, check_table_estimator
from clustruct.papers.cpm3c import CPM3C
from clustruct.papers.document_clustering import CLGR, PLSA
from clustruct.papers.multilabel import make_multilabel_chain

SET_CLUSTERERS = {
    "correlation": SupervisedCorrelationClustering(C=1.0),
    "correlation, C chosen": SupervisedCorrelationClustering(C_grid=(0.1, 1.0), cv=2),
    "correlation, lp": SupervisedCorrelationClustering(C=1.0, oracle="lp", predictor="lp"),
    "correlation, slack scaling, mitre": SupervisedCorrelationClustering(
        C=1.0, scaling="slack", loss="mitre"
    ),
    "single link": SupervisedAgglomerative(C=1.0),
    "left links": SupervisedAgglomerative(C=1.0, linkage="left"),
    "average link": SupervisedAgglomerative(C=1.0, linkage="average", n_starts=1),
    "complete link": SupervisedAgglomerative(C=1.0, linkage="complete", n_starts=1),
    "kmeans": SupervisedKMeans(C=1.0),
    "kmeans, spectral": SupervisedKMeans(C=1.0, oracle="spectral"),
    "pair classifier": PairwiseClassifierClustering(),
    "default": DefaultClustering(),
    "pairs without labels": LatentPairClustering(),
    "pair kmeans": PairKMeans(),
    "untrained kmeans": UntrainedKMeans(),
}


@pytest.mark.filterwarnings("ignore::clustruct.core.exceptions.ProductsWarning")
@pytest.mark.parametrize("check", SET_CHECKS)
@pytest.mark.parametrize("name", SET_CLUSTERERS)
def test_set_clusterers(name, check):
    if name == "left links" and check == "check_item_order":
        pytest.skip("links to the left go by the order of the items, and say so")
    SET_CHECKS[check](SET_CLUSTERERS[name])


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(60, 5, centers=3, center_box=(4.0, 12.0), cluster_std=0.5, random_state=0)[0]


@pytest.mark.parametrize("check", TABLE_CHECKS)
@pytest.mark.parametrize(
    "estimator",
    [kind(n_clusters=3, random_state=0) for kind in (UniversumClustering, CPM3C, PLSA, CLGR)],
    ids=lambda e: type(e).__name__,
)
def test_document_clusterers(estimator, check, blobs):
    if isinstance(estimator, CLGR) and check == "check_table_sparse":
        pytest.skip("CLGR takes dense rows only, and says so")
    TABLE_CHECKS[check](estimator, blobs, None)


@pytest.mark.parametrize("check", TABLE_CHECKS)
def test_multilabel(check):
    data = make_multilabel_chain(60, n_related=20, random_state=0)
    TABLE_CHECKS[check](MultiLabelMRF(C=1.0), data.X.toarray(), data.Y)


class FirstItemDecides(BaseEstimator):
    """Wrong: a cluster is known by the first item of its set."""

    def fit(self, X, y, set_ids=None):
        return self

    def predict(self, X, set_ids=None):
        return [(np.asarray(x.nodes)[:, 0] > np.asarray(x.nodes)[0, 0]).astype(np.int64) for x in X]


def test_a_wrong_clusterer_is_found():
    with pytest.raises(AssertionError, match="the order of the items changes the clusters of set 0"):
        SET_CHECKS["check_item_order"](FirstItemDecides())
    with pytest.raises(AssertionError):
        check_set_clusterer(FirstItemDecides())


def test_checks_can_be_skipped_by_name():
    check_set_clusterer(DefaultClustering(), skip=["check_item_order"])


def test_a_wrong_table_estimator_is_found(blobs):
    class Layout(BaseEstimator):
        def fit(self, X, y=None):
            contiguous = X.flags["C_CONTIGUOUS"]
            self.labels_ = np.arange(X.shape[0]) % (2 if contiguous else 3)
            return self

    with pytest.raises(AssertionError, match="layout"):
        TABLE_CHECKS["check_table_layout"](Layout(), blobs, None)
    with pytest.raises(AssertionError):
        check_table_estimator(Layout(), blobs, skip=["check_table_sparse", "check_table_float32"])
