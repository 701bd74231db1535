"""Which rule finds k, by adjusted Rand: `python -m benchmarks.kmeans_count`."""

from __future__ import annotations

import os

import numpy as np

from benchmarks.kmeans_news import SOURCES, one_per_group
from benchmarks.study import save
from benchmarks.tasks import news
from clustruct.datasets import make_synth
from clustruct.estimators import SupervisedKMeans
from clustruct.inference import spectral
from clustruct.inference.spectral import MOST_CLUSTERS, count_clusters
from clustruct.metrics import adjusted_rand_index


def plain_gap(K: np.ndarray) -> int:
    """The largest eigengap of K itself."""
    values = spectral.leading_eigenvectors(K, min(MOST_CLUSTERS + 1, len(K)))[0]
    return int(np.argmax(values[:-1] - values[1:])) + 1


def count_by_objective(K: np.ndarray) -> int:
    """k with the highest relaxed objective: the number of positive eigenvalues."""
    values = spectral.leading_eigenvectors(K, min(MOST_CLUSTERS, len(K)))[0]
    return max(1, int(np.count_nonzero(values > 0.0)))


RULES = {"centred gap": count_clusters, "gap": plain_gap, "objective": count_by_objective}
LEARNED = "centred gap, range of k learned"


def main() -> None:
    tasks = {
        f"synth, {k} clusters": make_synth(8, k, 100 // k, region_size=20, noise=0.3, random_state=k)
        for k in (3, 5, 8)
    }
    if os.environ.get("CLUSTRUCT_DATA"):
        for source, fields in SOURCES.items():
            task = news(source, fields)
            tasks[source] = task.take(one_per_group(task, 8))
    results = {}
    for name, (X, y) in tasks.items():
        model = SupervisedKMeans(C=1.0).fit(X[:4], y[:4])
        matrices = model.decision_function(X[4:])
        truth = [len(set(v.tolist())) for v in y[4:]]
        for rule, count in {"k given": None, LEARNED: None, **RULES}.items():
            if rule == LEARNED:
                ks = [count_clusters(K, *model.k_range_) for K in matrices]
            else:
                ks = truth if count is None else [count(K) for K in matrices]
            answers = model.predict(
                X[4:], n_clusters=[min(k, len(K)) for k, K in zip(ks, matrices, strict=True)]
            )
            scores = [adjusted_rand_index(t, p) for t, p in zip(y[4:], answers, strict=True)]
            results[f"{name}: {rule}"] = {"ari": float(np.mean(scores)), "k": ks, "true": truth}
            print(
                f"{name:<20}{rule:<33}adjusted Rand {np.mean(scores):.3f}  k {ks}  true {truth}", flush=True
            )
    save("kmeans-count", results)


if __name__ == "__main__":
    main()
