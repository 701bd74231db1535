"""The defaults of UniversumClustering: not behind k-means, and what they do not depend on."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from clustruct.core.callbacks import Callback, training_callback
from clustruct.evaluate.metrics import matched_accuracy
from clustruct.papers.universum import UniversumClustering
from clustruct.papers.universum import margin_clustering as module

K, SUBJECTS = 6, 3


def corpus(seed, n=800, words=500, length=40):
    """Documents of six themes, each with three subjects of its own words, amid words that all share."""
    rng = np.random.default_rng(seed)
    common = rng.dirichlet(np.full(words, 0.3))
    themes = rng.dirichlet(np.full(words, 0.03), K)
    subjects = rng.dirichlet(np.full(words, 0.03), (K, SUBJECTS))
    y = rng.choice(K, n, p=rng.dirichlet(np.full(K, 6.0)))
    own = 0.4 * themes[y] + 0.6 * subjects[y, rng.integers(SUBJECTS, size=n)]
    counts = np.array([rng.multinomial(length, p) for p in 0.7 * common + 0.3 * own])
    reduced = TruncatedSVD(40, random_state=0).fit_transform(TfidfTransformer().fit_transform(counts))
    return normalize(reduced), y


@pytest.fixture(scope="module")
def corpora():
    return [corpus(seed) for seed in range(3)]


def mean_accuracy(corpora, make, seeds=3):
    found = [matched_accuracy(y, make(seed).fit(X).labels_) for X, y in corpora for seed in range(seeds)]
    return float(np.mean(found))


def test_the_default_is_not_behind_kmeans(corpora):
    """And several starts are why: one is well behind them."""
    peer = mean_accuracy(corpora, lambda seed: KMeans(K, n_init=10, random_state=seed))
    ours = mean_accuracy(corpora, lambda seed: UniversumClustering(K, random_state=seed))
    single = mean_accuracy(corpora, lambda seed: UniversumClustering(K, n_init=1, random_state=seed), 1)
    assert peer <= ours
    assert single + 0.02 < ours


def test_rotated_features_give_the_same_clusters(corpora):
    X, _ = corpora[0]
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(X.shape[1], X.shape[1])))[0]
    first = KMeans(K, n_init=1, random_state=0).fit(X).labels_
    one, other = (UniversumClustering(K, init=first).fit(Z) for Z in (X, X @ turn))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-6)


def test_the_order_of_documents_does_not_matter_from_a_given_start(corpora):
    X, _ = corpora[0]
    order = np.random.default_rng(0).permutation(len(X))
    first = KMeans(K, n_init=1, random_state=0).fit(X).labels_
    one = UniversumClustering(K, init=first).fit(X)
    other = UniversumClustering(K, init=first[order]).fit(X[order])
    np.testing.assert_array_equal(one.labels_[order], other.labels_)


def test_starts_tried_on_some_documents_end_as_low(corpora, monkeypatch):
    """Lower than the mean of single starts, on all documents, and balanced on all."""
    X, _ = corpora[1]
    monkeypatch.setattr(module, "TRIED", 300)
    model = UniversumClustering(K, random_state=0).fit(X, universum=X[::2] * 0.5)
    singles = [
        UniversumClustering(K, init="kmeans", n_init=1, random_state=s).fit(X, universum=X[::2] * 0.5)
        for s in range(5)
    ]
    assert model.labels_.shape == (len(X),)
    assert model.objective_ <= np.mean([single.objective_ for single in singles])
    totals = model.result_.W @ X.sum(axis=0) * model.scale_
    assert totals.max() - totals.min() <= model.balance + 1e-6


class Ending(Callback):
    def on_begin(self, training):
        pass

    def on_iteration(self, training, iteration):
        return "enough"


def test_a_search_ended_while_starts_are_tried_has_labels_for_all(corpora, monkeypatch):
    X, _ = corpora[0]
    monkeypatch.setattr(module, "TRIED", 300)
    with training_callback(Ending()), pytest.warns(ConvergenceWarning, match="enough after 1 steps"):
        model = UniversumClustering(K, random_state=0, tol=1e-9, inner_tol=1e-9).fit(X)
    assert model.labels_.shape == (len(X),)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
