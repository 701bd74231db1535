"""Tables 5.1 to 5.5 of the dissertation again: what approximate inference does to learning.

C is chosen from 10^-2, 3*10^-2, ..., 3*10^4 by cross-validation, once per set and separation oracle, scored
with the predictor of the same name; then one model is trained on all training data and tested with every
predictor. Every finished fold and model is a cell.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from clustruct import ssvm
from clustruct.papers.multilabel import MultiLabelData, MultiLabelProblem, make_multilabel_count
from studies.multilabel2008.data import CONSTANT, Split, load, mean_and_error
from studies.multilabel2008.published import PREDICTORS, RHOS
from studies.results import Results

GRID = [a * 10.0**b for b in range(-2, 5) for a in (1, 3)]
ORACLES = ("greedy", "loopy_bp", "combine", "exact", "graph_cut")
# The row of a set with a constant feature that was trained without it.
PLAIN = "exact, no constant"
# While choosing C a gap of 1% is enough; models that are reported are trained to 0.1%.
CHOOSING, FINAL = 1e-2, 1e-3
LIMIT = 120.0


def loss_of(problem: MultiLabelProblem, X: Any, Y: Any, w: Any, predictor: str) -> Any:
    """Loss per example on the scale of 0 to 100; undecided labels count one half, or are tossed."""
    if predictor == "relaxed":
        found: Any = problem.predict_relaxed(X, w).nodes
    elif predictor == "cut_random":
        found = problem.predict_relaxed(X, w).at_random(0)
    else:
        found = problem.predict(X, w, predictor)
    return 100.0 * np.abs(found - Y).mean(axis=1)


def own_predictor(oracle: str) -> str:
    return "relaxed" if oracle == "graph_cut" else "exact" if oracle.startswith("rho") else oracle


def settings(method: str) -> dict[str, Any]:
    """A method's name as the problem's arguments: an oracle, "baseline", or "rho_below:0.9"."""
    if method == "baseline":
        return {"oracle": "exact", "edges": "none"}
    oracle, _, rho = method.partition(":")
    return {"oracle": oracle, **({"rho": float(rho)} if rho else {})}


def train(problem: MultiLabelProblem, C: float, rtol: float, earlier: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return ssvm.fit(problem, C, rtol=rtol, w0=earlier, time_limit=LIMIT)


def grid_losses(data: Split, method: str, fold: int, folds: int, grid: list[float]) -> list[float]:
    """Held-out loss of one fold for every C, each fit started from the one before."""
    X, Y = data.train
    held = np.random.default_rng(0).permutation(len(Y)) % folds == fold
    problem = MultiLabelProblem(X[~held], Y[~held], **settings(method))
    result, losses = None, []
    for C in grid:
        result = train(problem, C, CHOOSING, result)
        losses.append(
            float(loss_of(problem, X[held], Y[held], result.w, own_predictor(problem.oracle)).mean())
        )
    return losses


def final_model(data: Split, method: str, C: float) -> dict[str, Any]:
    """Train on everything and test with every predictor."""
    X, Y = data.train
    problem = MultiLabelProblem(X, Y, **settings(method))
    result = train(problem, C, FINAL, None)
    test = {
        name: mean_and_error(loss_of(problem, *data.test, result.w, name))
        for name in (*PREDICTORS, "cut_random")
    }
    return {
        "C": C,
        "test": test,
        "train": float(loss_of(problem, X, Y, result.w, own_predictor(problem.oracle)).mean()),
        "train_exact": float(loss_of(problem, X, Y, result.w, "exact").mean()),
        "undecided": problem.predict_relaxed(data.test.X, result.w).undecided_share,
        "objective": result.objective,
        "gap": result.gap,
        "stop_reason": result.stop_reason,
        "seconds": result.seconds,
        "slack": result.mean_slack,
        "certificate": [result.certificate.lower, result.certificate.upper],
    }


def study(
    results: Results, data: Split, method: str, folds: int, grid: list[float], called: str | None = None
) -> dict[str, Any]:
    """Choose C by cross-validation, then the model on all training data. Cells are called by the method."""
    name = called or method
    curves = [
        results.get(f"{name}-fold{f}of{folds}", lambda f=f: grid_losses(data, method, f, folds, grid))
        for f in range(folds)
    ]
    mean = np.mean(curves, axis=0)
    C = grid[int(np.argmin(mean))]
    model = results.get(f"{name}-final{folds}", lambda: final_model(data, method, C))
    return {**model, "folds": folds}


def default_loss(data: Split) -> float:
    """The labeling that does best on the training set, for every test example."""
    constant = data.train.Y.mean(axis=0) > 0.5
    return float(100.0 * np.abs(data.test.Y - constant).mean())


def rho_study(
    results: Results,
    data: Split,
    kind: str,
    exact_C: float,
    folds: int,
    rhos: tuple[float, ...] = RHOS,
    grid: list[float] = GRID,
) -> list[dict[str, Any]]:
    """Table 5.5. Without folds C is the one chosen for the exact oracle."""
    rows = []
    for rho in rhos:
        method = f"{kind}:{rho}"
        if folds:
            rows.append({"rho": rho, **study(results, data, method, folds, grid)})
        else:
            make = lambda method=method: final_model(data, method, exact_C)  # noqa: E731
            rows.append({"rho": rho, **results.get(f"{method}-exactC", make)})
    return rows


def by_set(
    results: Results,
    quick: bool,
    *,
    name: str,
    rho_folds: int = 0,
    rho_kinds: tuple[str, ...] = (),
    folds: int = 10,
    grid: tuple[float, ...] = tuple(GRID),
) -> dict[str, Any]:
    """All oracles and predictors on one set, and its part of the rho table. Without ``rho_folds`` the C of
    "not above rho" is that of the exact oracle, too; that of "at least rho" always is.

    --quick: 60 examples, two folds, two values of C and of rho.
    """
    data = small_set() if quick else load(name)
    cut, Cs, rhos = (2, [1.0, 100.0], (1.0, 0.5)) if quick else (folds, list(grid), RHOS)
    rows = {m: study(results, data, m, cut, Cs) for m in (*ORACLES, "baseline")}
    if name.endswith(CONSTANT):
        bare = without_constant(data) if quick else load(name.removesuffix(CONSTANT))
        rows[PLAIN] = study(results, bare, "exact", cut, Cs, PLAIN)
    C, given = rows["exact"]["C"], 0 if quick else rho_folds
    rho = {k: rho_study(results, data, k, C, given if k == "rho_below" else 0, rhos) for k in rho_kinds}
    return {"set": name, "default": default_loss(data), "rows": rows, "rho": rho}


def without_constant(data: Split) -> Split:
    """The last feature left out."""
    return Split(*(MultiLabelData(part.X[:, :-1], part.Y) for part in data))


def rho_by_set(
    results: Results, quick: bool, *, name: str, grid: tuple[float, ...], folds: int, kinds: tuple[str, ...]
) -> dict[str, Any]:
    """The rho table of one set, C chosen from ``grid`` for each rho and both kinds of oracle."""
    data = small_set() if quick else load(name)
    Cs, rhos = ([1.0, 100.0], (1.0, 0.5)) if quick else (list(grid), RHOS)
    rho = {kind: rho_study(results, data, kind, 0.0, 2 if quick else folds, rhos, Cs) for kind in kinds}
    return {"set": name, "rho": rho}


def at_C(results: Results, quick: bool, *, name: str, C: float) -> dict[str, Any]:
    """Every oracle at one C, inside the grid or beyond it."""
    data = small_set() if quick else load(name)
    rows = {m: results.get(m, lambda m=m: final_model(data, m, C)) for m in (*ORACLES, "baseline")}
    return {"set": name, "default": default_loss(data), "rows": rows, "rho": {}}


def small_set() -> Split:
    """60 examples with four labels."""
    return Split(*(make_multilabel_count(60, n_labels=4, per_label=2, random_state=s) for s in (0, 1)))
