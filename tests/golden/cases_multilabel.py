"""Multi-label classification with a Markov random field, and its searches."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from . import data, names
from .record import case

SEARCHES = ("exact", "greedy", "loopy_bp", "combine", "graph_cut", "linear_program")


def counts(n=60):
    X, Y = names.make_multilabel_count(n, n_labels=5, random_state=0)
    return X[:40], Y[:40], X[40:]


def learned(X=None, Y=None, Z=None, fit=None, **options):
    if X is None:
        X, Y, Z = counts()
    model = names.make("multilabel", **{"C": 300.0, "rtol": 1e-2, **options})
    names.fitted(model, X, Y, **(fit or {}))
    return {
        **names.fit_numbers(names.result(model)),
        "weights": names.weights(model),
        "labels": model.predict(Z),
        "undecided": names.undecided_share(model, Z),
    }


@case
def multilabel_oracles():
    return {oracle: learned(oracle=oracle) for oracle in SEARCHES}


@case
def multilabel_predictors():
    X, Y, Z = counts()
    model = names.make("multilabel", C=3000.0, rtol=1e-2, oracle="graph_cut").fit(X, Y)
    found = {}
    for predictor in SEARCHES:
        again = names.make("multilabel", C=3000.0, rtol=1e-2, oracle="graph_cut", predictor=predictor)
        found[predictor] = again.fit(X, Y).predict(Z)
    tossed = names.make("multilabel", C=3000.0, rtol=1e-2, oracle="graph_cut", undecided="random")
    found["random"] = tossed.fit(X, Y).predict(Z)
    return {**found, "relaxed": names.relaxed_labels(model, Z), "score": model.score(X, Y)}


@case
def multilabel_slack_rules():
    rules = [("slack", 1), ("margin", 2), ("slack", 2)]
    found = {f"{s} {n}": learned(scaling=s, slack_norm=n, C=30.0) for s, n in rules}
    found["one_slack"] = learned(formulation="one_slack")
    found["one_slack graph_cut"] = learned(formulation="one_slack", oracle="graph_cut")
    return found


@case
def multilabel_edges():
    """Which pairs of labels have weights; no constant; example weights; sparse rows; classes as labels."""
    X, Y, Z = counts()
    chain, labels = names.make_multilabel_chain(40, n_labels=4, n_related=6, n_active=3, random_state=0)
    rows, classes = data.classes()
    edges = {"none": "none", "tree": "tree", "list": [(4, 1), (0, 2)]}
    found = {name: learned(edges=given) for name, given in edges.items()}
    found["no constant"] = learned(fit_intercept=False)
    found["weights"] = learned(fit={"sample_weight": np.linspace(0.5, 2.0, len(X))})
    found["sparse"] = learned(sparse.csr_array(X), Y, sparse.csr_array(Z), oracle="graph_cut")
    found["chain"] = learned(chain, labels, chain, edges="tree")
    found["classes"] = learned(rows, np.array(["a", "b", "c"])[classes], rows, C=50.0)
    model = names.make("multilabel", C=300.0, rtol=1e-2, edges="tree").fit(X, Y)
    return {**found, "parts": names.multilabel_parts(model)}


@case
def multilabel_rho():
    """The oracles of studies: the labeling nearest to a share of the best one's score."""
    X, Y, Z = counts()
    found = {}
    for oracle in ("rho_below", "rho_above"):
        for rho in (0.6, 0.9):
            made = names.problem("multilabel", X, Y, oracle=oracle, rho=rho)
            fitted = names.engine_fit(made, 100.0, rtol=1e-2, max_iter=60)
            w = names.engine_weights(fitted)
            found[f"{oracle} {rho}"] = {
                **names.fit_numbers(fitted),
                "weights": w,
                "labels": made.predict(Z, w),
            }
    return found


@case
def multilabel_searches():
    rng = np.random.default_rng(4)
    unary, pairwise = rng.normal(size=(6, 7)), rng.normal(size=(7, 7)) * 0.8
    pairwise = np.triu(pairwise, 1) + np.triu(pairwise, 1).T
    chain = np.where(np.abs(np.subtract.outer(np.arange(7), np.arange(7))) == 1, pairwise, 0.0)
    found = {}
    for name, search in names.MRF_SEARCHES.items():
        of = chain if name == "max_product" else pairwise
        nodes = names.mrf_nodes(search(unary, of))
        found[name] = {"labels": nodes}
        if set(np.unique(nodes)) <= {0, 1}:
            found[name]["scores"] = names.mrf_score(unary, of, nodes)
    near = {"above": names.closest_above, "below": names.closest_below}
    found |= {name: search(unary, pairwise, 0.7) for name, search in near.items()}
    found["tree"] = names.chow_liu_edges((unary > 0).astype(int))
    return found
