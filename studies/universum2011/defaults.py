"""The defaults of UniversumClustering beside k-means: on every collection, with every pipeline."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from clustruct.evaluate.metrics import matched_accuracy
from clustruct.papers.universum import UniversumClustering
from studies.rendering import grid
from studies.results import Results
from studies.universum2011.corpora import Corpus, load

# With fifty starts k-means is here for its time, which hardly depends on the seed.
SEEDS = {"KMeans(n_init=50)": 1, "default, U_rest": 5}
METHODS: dict[str, Callable[[Corpus, int], Any]] = {
    "KMeans(n_init=10)": lambda corpus, seed: KMeans(corpus.k, n_init=10, random_state=seed).fit(corpus.X),
    "KMeans(n_init=50)": lambda corpus, seed: KMeans(corpus.k, n_init=50, random_state=seed).fit(corpus.X),
    "default": lambda corpus, seed: UniversumClustering(corpus.k, random_state=seed).fit(corpus.X),
    "default, U_rest": lambda corpus, seed: UniversumClustering(corpus.k, random_state=seed).fit(
        corpus.X, universum=corpus.rest
    ),
}


def defaults(
    results: Results,
    quick: bool,
    *,
    collections: tuple[str, ...],
    pipelines: tuple[str, ...],
    seeds: int = 10,
) -> list[dict[str, Any]]:
    """A row per collection and pipeline: mean accuracy over seeds and CPU seconds of each method."""
    rows = []
    for name in collections:
        for pipeline in pipelines:
            if pipeline == "sublinear" and name == "reutersv1":
                continue  # its weights are given
            rows.append(_row(results, quick, name, pipeline, 2 if quick else seeds))
    return rows


def _row(results: Results, quick: bool, name: str, pipeline: str, seeds: int) -> dict[str, Any]:
    corpus: Corpus | None = None

    def one(method: str, seed: int) -> dict[str, float]:
        nonlocal corpus
        if corpus is None:
            corpus = load(name, quick, pipeline)
            METHODS["default, U_rest"](_part(corpus), 0)  # compiles
        began = time.process_time()
        labels = METHODS[method](corpus, seed).labels_
        seconds = time.process_time() - began
        return {"accuracy": 100.0 * matched_accuracy(corpus.y, labels), "seconds": seconds}

    row: dict[str, Any] = {"collection": name, "pipeline": pipeline, "seeds": seeds}
    for method in METHODS:
        count = min(seeds, SEEDS.get(method, seeds))
        key = f"{name}, {pipeline}, {method}"
        runs = [results.get(f"{key}, seed {s}", lambda m=method, s=s: one(m, s)) for s in range(count)]
        found = np.array([[run["accuracy"], run["seconds"]] for run in runs])
        row[method] = {"mean": found[:, 0].mean(), "sd": found[:, 0].std(), "seconds": found[:, 1].mean()}
    return row


def _part(corpus: Corpus) -> Corpus:
    n = min(200, len(corpus.X))
    mine, words = corpus.X[:n], corpus.words[:n]
    return Corpus(corpus.name, mine, np.arange(n) % 2, corpus.rest[:20], words, None, corpus.rest_categories)


def render_defaults(rows: list[dict[str, Any]]) -> str:
    """Accuracies, and how many times as long k-means with fifty starts takes as the default."""
    peers = ("KMeans(n_init=10)", "default", "default, U_rest")
    lines = []
    for row in rows:
        slow = row["KMeans(n_init=50)"]["seconds"]
        shown = [f"{row[m]['mean']:.1f} ± {row[m]['sd']:.1f}" for m in peers]
        ratios = [f"{row[m]['seconds']:.2f} ({slow / row[m]['seconds']:.1f})" for m in peers[1:]]
        lines.append([row["collection"], row["pipeline"], str(row["seeds"]), *shown, *ratios])
    times = [f"seconds of {m} (KMeans(n_init=50) takes x times as long)" for m in peers[1:]]
    return grid(["collection", "pipeline", "seeds", *peers, *times], lines)
