"""Supervised k-means, its baselines and its searches."""

from __future__ import annotations

import numpy as np

from . import data, names
from .cases_correlation import describe_model, wrong_sizes
from .record import case


def learned(sets=None, fit=None, k=3, **options):
    (X, y), (Z, t) = sets or data.synth()
    model = names.make("kmeans", **{"C": 1.0, "n_init": 4, **options})
    names.fitted(model, X, y, **(fit or {}))
    return {**describe_model(model, Z, t), "labels with k": names.predicted(model, Z, n_clusters=k)}


@case
def kmeans_iterative():
    found = {p: learned(oracle="iterative", predictor=p) for p in ("iterative", "discrete")}
    found["one_slack"] = learned(oracle="iterative", formulation="one_slack")
    return found


@case
def kmeans_spectral():
    return {
        f: learned(oracle="spectral", formulation=f) for f in ("auto", "n_slack", "one_slack", "smoothed")
    }


@case
def kmeans_centred():
    return {f: learned(oracle="centred", formulation=f) for f in ("auto", "n_slack", "smoothed")}


@case
def kmeans_discrete():
    return learned(oracle="discrete")


@case
def kmeans_losses():
    given = {"pairwise": "pairwise", "mitre": "mitre", "purity": "purity", "function": wrong_sizes}
    found = {name: learned(loss=loss, max_iter=40, rtol=0.05) for name, loss in given.items()}
    rules = [("slack", 1), ("margin", 2), ("slack", 2)]
    for scaling, norm in rules:
        found[f"{scaling} {norm}"] = learned(scaling=scaling, slack_norm=norm, max_iter=40, rtol=0.05)
    return found


@case
def kmeans_node_features():
    """Tables as sets, kernel learning (w >= 0), the problem of the paper, weights of sets, sparse nodes."""
    tables, y = data.tables()
    sets = (tables[:2], y[:2]), (tables[2:], y[2:])
    mixed, labels = data.mixed_sets()
    found = {
        "plain": learned(sets),
        "kernel learning": learned(sets, kernel_learning=True),
        "kernel learning smoothed": learned(sets, kernel_learning=True, oracle="spectral"),
        "paper": learned(sets, rescale=False, C=0.1),
        "set weights": learned(sets, fit={"set_weight": [3.0, 1.0]}),
        "mixed": learned(((mixed[:2], labels[:2]), (mixed[2:], labels[2:])), oracle="spectral"),
    }
    rows, groups = np.concatenate(tables[:2]), np.repeat([0, 1], len(tables[0]))
    cut = names.fitted(names.make("kmeans", C=1.0), rows, np.concatenate(y[:2]), groups=groups)
    found["cut by groups"] = names.weights(cut)
    return found


@case
def kmeans_chosen_C():
    (X, y), (Z, t) = data.synth()
    model = names.make("kmeans", C="cv", C_grid=[1e-3, 1.0], cv=3, n_init=3).fit(X, y)
    fixed = names.make("kmeans", C=1.0, n_clusters=2).fit(X, y)
    return {
        "C": names.chosen_C(model),
        "losses of C": names.losses_of_choice(model),
        **describe_model(model, Z, t),
        "two clusters": fixed.predict(Z),
        "several": names.predicted(fixed, Z, n_clusters=[2, 4]),
        "relaxed": data.summary(names.relaxed_similarity(model, Z[0], 3)),
    }


@case
def kmeans_baselines():
    (X, y), (Z, t) = data.synth()
    pair = names.make("pair_kmeans").fit(X, y)
    few = names.make("pair_kmeans", max_pairs=60, predictor="iterative").fit(X, y)
    plain = names.make("untrained_kmeans").fit(X)
    tables, labels = data.tables()
    nodes = names.make("untrained_kmeans", n_clusters=3, predictor="discrete").fit(tables)
    found = {}
    for name, model in {"pairs": pair, "few pairs": few, "untrained": plain}.items():
        found[name] = {"weights": names.weights(model), "labels": model.predict(Z)}
        found[name]["losses"] = names.set_losses(model, Z, t)
    found["nodes"] = {"labels": nodes.predict(tables), "losses": names.set_losses(nodes, tables, labels)}
    return found


@case
def kmeans_searches():
    found = {}
    for seed in range(3):
        K = data.scores(16, seed) + np.eye(16)
        relaxed = [names.spectral_relax(K, 4), names.spectral_relax(K, 4, centred=True)]
        found[str(seed)] = {
            "iterative": names.kmeans_iterative(K, 4, n_init=5),
            "relaxed values": [names.relaxed_objective(K, r) for r in relaxed],
            "discrete": [names.discretise(r) for r in relaxed],
        }
    return found
