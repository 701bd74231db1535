"""Clusterers of documents: with a Universum, and those compared with it."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from . import data, names
from .record import case


@case
def universum():
    X, _, U = data.blobs()
    made = {
        "plain": ({}, None),
        "with": ({}, U),
        "strong": ({"C_universum": 10.0, "universum_margin": 0.2}, U),
        "no balance": ({"balance": np.inf}, U),
        "kmeans start": ({"init": "kmeans", "n_init": 3}, U),
        "given labels": ({"init": (np.arange(len(X)) % 3)}, U),
        "given scale": ({"scale": 2.0, "C": 2.0}, U),
    }
    found = {}
    for name, (options, away) in made.items():
        model = names.make("universum", n_clusters=3, random_state=0, **{"C": 8.0, "n_init": 1, **options})
        names.fitted(model, X, universum=away)
        found[name] = names.margin_clusters(model)
    thin = sparse.csr_array(np.where(np.abs(X) > 2, X, 0.0))
    model = names.make("universum", n_clusters=3, random_state=0, C=8.0, n_init=1)
    names.fitted(model, thin, universum=U)
    found["sparse"] = {**names.margin_clusters(model), "predicted": model.predict(U)}
    return found


@case
def universum_sources():
    """Where a Universum comes from, and how settings are chosen."""
    X, _, U = data.blobs()
    model = names.make("universum", n_clusters=3, random_state=0, C=8.0, n_init=1).fit(X)
    scores, taken = names.trials(
        X, U, 3, [{"C": 2.0}, {"C": 8.0, "C_universum": 0.1}, {"balance": 1.0}], starts=3
    )
    return {
        "box": data.summary(names.random_box(X, 20, random_state=0)),
        "means": names.mean_of_centres(X, 3, random_state=0),
        "mixture": names.selected_rows("mixture", X, U, 3, share=0.3, random_state=0),
        "between": names.selected_rows("between", names.coefficients(model), U, share=0.3),
        "scores": scores,
        "taken": taken,
    }


@case
def cpm3c():
    X, _, _ = data.blobs()
    found = {}
    for name, options in {"plain": {}, "kmeans": {"init": "kmeans", "n_init": 2}, "C": {"C": 1.0}}.items():
        model = names.make("cpm3c", n_clusters=3, random_state=0, **options).fit(X)
        found[name] = {**names.margin_clusters(model), "predicted": model.predict(X + 0.5)}
    return found


@case
def plsa():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(8, 0.3), 3)
    counts = np.stack([rng.multinomial(30, topics[i % 3]) for i in range(24)])
    found = {}
    for name, given in {"dense": counts, "sparse": sparse.csr_array(counts)}.items():
        model = names.make("plsa", n_clusters=3, n_init=2, random_state=0).fit(given)
        found[name] = {**names.topics(model), "likelihood": names.log_likelihood(model)}
    return found


@case
def clgr():
    X, _, _ = data.blobs()
    found = {}
    for name, options in {"plain": {}, "other": {"ridge": 1.0, "smoothness": 0.1, "n_neighbors": 6}}.items():
        model = names.make("clgr", n_clusters=3, random_state=0, **{"n_neighbors": 10, **options}).fit(X)
        labels, Q = names.embedded(model)
        found[name] = {"labels": labels, "embedding": data.summary(Q @ Q.T)["sum"]}
    return found
