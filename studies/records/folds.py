"""Records: the learned similarity with default features beside pair classifiers and dedupe."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clustruct import ItemSet, SupervisedCorrelationClustering
from clustruct.core.partitions import canonical_labels
from clustruct.data import Table
from clustruct.evaluate.metrics import b_cubed, pairwise_scores
from clustruct.features import PairFeatures, guess_blocks
from clustruct.search import correlation
from studies import raw_data
from studies.results import Results

NAMES = ("cora", "febrl3", "abt_buy", "dblp_acm", "amazon_google")
Clusterings = list[np.ndarray]


def labels_of(sets: list[Table]) -> Clusterings:
    """The right clusterings."""
    return [canonical_labels(table.labels) for table in sets]


def scores(truth: Clusterings, found: Clusterings) -> tuple[float, float]:
    """Pairwise F and B-cubed F in percent, means over sets."""
    pairs = zip(truth, found, strict=True)
    return tuple(
        100.0 * float(v)
        for v in np.mean([[pairwise_scores(t, p).f1, b_cubed(t, p).f1] for t, p in pairs], axis=0)
    )  # type: ignore[return-value]


class PairLogit:
    """Baselines (a) and (b): logistic regression on all pairs of the training sets."""

    def fit(self, X: list[ItemSet], y: Clusterings) -> PairLogit:
        together = [squareform((v[:, None] == v) & ~np.eye(len(v), dtype=bool), checks=False) for v in y]
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
        self.model = model.fit(np.concatenate([x.pairs for x in X]), np.concatenate(together))
        return self

    def similarities(self, X: list[ItemSet]) -> list[np.ndarray]:
        return [squareform(self.model.decision_function(x.pairs), checks=False) for x in X]


def best_components(K: list[np.ndarray], truth: Clusterings) -> Clusterings:
    """Connected components at the one threshold that suits the test sets best: nobody could know it."""
    candidates = np.unique(
        np.quantile(np.concatenate([squareform(k) for k in K]), 1 - np.logspace(-6, -0.3, 80))
    )
    found = [[connected_components(k > t, directed=False)[1] for k in K] for t in np.append(candidates, 0.0)]
    return max(found, key=lambda c: scores(truth, c)[0])


def compare(name: str, most: int | None) -> list[dict[str, Any]]:
    """Folds 0-4 train, 5-9 test."""
    sets = raw_data.records(name, most)
    train, test = sets[:5], sets[5:]
    started = time.process_time()
    features = PairFeatures(guess_blocks(train, "records")).fit(train)
    X, Z = features.transform(train), features.transform(test)
    made = time.process_time() - started
    y, truth = labels_of(train), labels_of(test)
    model = SupervisedCorrelationClustering().fit(X, y)
    learned = time.process_time() - started - made
    K = PairLogit().fit(X, y).similarities(Z)
    answers = {
        "learned": model.predict(Z),
        "(a) logistic regression, components": best_components(K, truth),
        "(b) logistic regression, greedy": [correlation.greedy(k) for k in K],
    }
    told = {"features": X[0].n_features, "C": model.C_, "feature seconds": made, "fit seconds": learned}
    return [
        {"data": name, "model": kind, "pairwise F": F, "B-cubed": B, **(told if kind == "learned" else {})}
        for kind, (F, B) in ((kind, scores(truth, found)) for kind, found in answers.items())
    ]


def folds(results: Results, quick: bool) -> list[dict[str, Any]]:
    """A row per data set and model; --quick: cora, at most 40 records of a fold."""
    names = NAMES[:1] if quick else NAMES
    rows = [
        row for name in names for row in results.get(name, lambda n=name: compare(n, 40 if quick else None))
    ]
    for model in dict.fromkeys(row["model"] for row in rows):
        mine = [row for row in rows if row["model"] == model]
        means = {key: float(np.mean([row[key] for row in mine])) for key in ("pairwise F", "B-cubed")}
        rows.append({"data": "mean", "model": model, **means})
    return rows
