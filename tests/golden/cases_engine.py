"""The structural SVM engine by itself."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint

from . import data, names
from .record import case

RULES = [("margin", 1), ("slack", 1), ("margin", 2), ("slack", 2)]
# Not the trainings but their ends are compared across formulations, so these are brought near the optimum.
TIGHT = {"rtol": 1e-5}


def trained(problem, C, **options):
    fitted = names.engine_fit(problem, C, **options)
    return {**names.fit_numbers(fitted), "weights": names.engine_weights(fitted)}


def binary():
    X, y = data.classes(k=2)
    return names.problem("binary", X, y)


@case
def engine_binary():
    found = {}
    for scaling, norm in RULES:
        for formulation in ("n_slack",) if norm == 2 else ("n_slack", "one_slack"):
            options = {"scaling": scaling, "slack_norm": norm, "formulation": formulation}
            found[f"{scaling} {norm} {formulation}"] = trained(binary(), 5.0, **options, **TIGHT)
    X, _ = data.classes(k=2)
    w = np.array(found["margin 1 n_slack"]["weights"])
    return {**found, "labels": binary().predict(X, w)}


@case
def engine_multiclass():
    X, y = data.classes()
    cost = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [1.0, 0.5, 0.0]])
    words = np.array(["b", "a", "c"])[y]
    plain, costs = names.problem("multiclass", X, words), names.problem("multiclass", X, y, cost=cost)
    many = names.problem("multiclass", *data.classes(k=4, n=90, d=6))
    found = {"plain": trained(plain, 10.0), "one_slack": trained(plain, 10.0, formulation="one_slack")}
    for scaling, norm in RULES:
        found[f"costs {scaling} {norm}"] = trained(costs, 10.0, scaling=scaling, slack_norm=norm)
    found["sparse"] = trained(names.problem("multiclass", sparse.csr_array(X), y), 10.0)
    found["many"] = trained(many, 20.0)
    found["few rounds"] = trained(plain, 10.0, max_iter=1)
    found["labels"] = plain.predict(X, np.array(found["plain"]["weights"]))
    return found


@case
def engine_side_conditions():
    """Weights of examples, a prior, and conditions on w without slack."""
    n = data.classes(k=2)[0].shape[1]
    rows = LinearConstraint(
        np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]]), [0.1, -0.2], [np.inf, 0.3]
    )
    given = {
        "example weights": {"sample_weight": np.linspace(0.0, 2.0, 40)},
        "prior": {"prior": np.linspace(-1.0, 1.0, n)},
        "nonnegative": {"constraints": "nonnegative"},
        "bounds": {"constraints": Bounds(-0.3, 0.5)},
        "rows": {"constraints": rows},
        "rows and bounds": {"constraints": [rows, "nonnegative"], "prior": np.full(n, 0.2)},
    }
    found = {}
    for name, options in given.items():
        for formulation in ("n_slack", "one_slack"):
            found[f"{name} {formulation}"] = trained(binary(), 5.0, formulation=formulation, **options)
    return found


@case
def engine_kernels():
    X, y = data.classes(n=24)
    kernels = {
        "linear": names.kernel("linear"),
        "polynomial": names.kernel("polynomial", degree=2),
        "rbf": names.kernel("rbf", gamma=0.3),
        "sigmoid": names.kernel("sigmoid", scale=0.05, offset=0.1),
    }
    found = {}
    for name, kernel in kernels.items():
        for formulation, scaling, norm in (
            ("n_slack", "margin", 1),
            ("one_slack", "slack", 1),
            ("n_slack", "slack", 2),
        ):
            options = {"formulation": formulation, "scaling": scaling, "slack_norm": norm}
            fitted = names.engine_fit(names.KernelClasses(X, y), 3.0, kernel=kernel, **options)
            w = names.engine_weights(fitted)
            found[f"{name} {formulation} {scaling} {norm}"] = {
                **names.fit_numbers(fitted),
                "scores": [names.kernel_scores(w, X[:5], c) for c in range(3)],
            }
    return found


@case
def engine_warm_start():
    """From the result of another C, and from weights; on classes and on clusterings."""
    X, y = data.classes()
    (sets, labels), _ = data.marbles()
    made = {
        "multiclass": names.problem("multiclass", X, y),
        "clusters": names.problem("correlation", sets, labels, pair_mean=True),
    }
    found = {}
    for name, problem in made.items():
        for formulation in ("n_slack", "one_slack"):
            first = names.engine_fit(problem, 1.0, formulation=formulation)
            on = trained(problem, 4.0, formulation=formulation, w0=first)
            found[f"{name} {formulation} result"] = on
            w = names.engine_weights(first)
            found[f"{name} {formulation} weights"] = trained(problem, 4.0, formulation=formulation, w0=w)
    return found


@case
def engine_callback_and_jobs():
    """Rounds as a callback sees them; an early end; the same with two workers."""
    X, y = data.classes()
    (sets, labels), _ = data.marbles()
    seen = []
    problem = names.problem("multiclass", X, y)
    whole = names.engine_fit(problem, 10.0, callback=lambda r: seen.append(names.round_numbers(r)))
    stopped = names.engine_fit(problem, 10.0, callback=lambda r: True)
    clusters = names.problem("correlation", sets, labels, pair_mean=True)
    return {
        "rounds": seen,
        "whole": names.fit_numbers(whole),
        "stopped": names.fit_numbers(stopped),
        "two jobs": trained(clusters, 2.0, n_jobs=2),
    }
