"""The structural SVM with every constraint written out, given to a general solver."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from clustruct.ssvm import Problem


class Enumerated(Problem):
    """A problem with its outputs listed: psi[i, y] and losses[i, y] for each example i; y = 0 is right."""

    oracle_kind = "exact"

    def __init__(self, psi: np.ndarray, losses: np.ndarray) -> None:
        self.psi, self.losses = psi, losses
        self.n_examples, self.n_outputs, self.n_features = psi.shape

    def truth(self, i):
        return 0

    def joint_feature(self, i, y):
        return self.psi[i, y]

    def loss(self, i, y):
        return self.losses[i, y]

    def separate(self, i, w, rule):
        scores = self.psi[i] @ w
        return int(np.argmax(rule.violation(self.losses[i], scores - scores[0])))

    def supports(self, rule):
        return True


def random_problem(seed: int, n: int = 4, outputs: int = 4, features: int = 5) -> Enumerated:
    rng = np.random.default_rng(seed)
    losses = rng.uniform(0.2, 3.0, (n, outputs))
    losses[:, 0] = 0.0
    return Enumerated(rng.normal(size=(n, outputs, features)), losses)


def slacks(problem: Enumerated, w: np.ndarray, scaling: str, norm: int) -> np.ndarray:
    """max over y of H_i(y), from the definition."""
    out = np.zeros(problem.n_examples)
    for i in range(problem.n_examples):
        for y in range(problem.n_outputs):
            size = problem.losses[i, y] ** (1.0 if norm == 1 else 0.5)
            gain = problem.psi[i, y] @ w - problem.psi[i, 0] @ w
            h = size + gain if scaling == "margin" else size * (1 + gain)
            out[i] = max(out[i], h)
    return out


def objective(problem, w, C, scaling="margin", norm=1, weights=None, prior=0.0) -> float:
    xi = slacks(problem, w, scaling, norm)
    cost = xi if norm == 1 else 0.5 * xi**2
    return 0.5 * np.sum((w - prior) ** 2) + C * np.average(cost, weights=weights)


def solve(
    problem, C, scaling="margin", norm=1, weights=None, prior=0.0, lower=None, rows=None, least=None
) -> tuple[np.ndarray, float]:
    """All constraints at once, by SLSQP over (w, xi). For tiny problems only."""
    n, k, d = problem.psi.shape
    v = np.full(n, 1.0 / n) if weights is None else np.asarray(weights, float) / np.sum(weights)
    A, b = [], []
    for i in range(n):
        for y in range(1, k):
            size = problem.losses[i, y] ** (1.0 if norm == 1 else 0.5)
            factor = 1.0 if scaling == "margin" else size
            row = np.zeros(d + n)
            row[:d] = factor * (problem.psi[i, 0] - problem.psi[i, y])
            row[d + i] = 1.0
            A.append(row)
            b.append(size)
    for row, right in zip([] if rows is None else rows, [] if least is None else least, strict=True):
        A.append(np.concatenate([row, np.zeros(n)]))
        b.append(right)
    A, b = np.array(A), np.array(b)

    def value(z):
        xi = z[d:]
        return 0.5 * np.sum((z[:d] - prior) ** 2) + C * v @ (xi if norm == 1 else 0.5 * xi**2)

    def gradient(z):
        xi = z[d:]
        return np.concatenate([z[:d] - prior, C * v * (1.0 if norm == 1 else xi)])

    bounds = [(lower, None)] * d + [(0, None)] * n
    start = np.concatenate([np.zeros(d), np.full(n, 4.0)])
    kept = {"type": "ineq", "fun": lambda z: A @ z - b, "jac": lambda z: A}
    options = {"ftol": 1e-15, "maxiter": 2000}
    found = minimize(
        value, start, jac=gradient, bounds=bounds, constraints=[kept], method="SLSQP", options=options
    )
    return found.x[:d], float(found.fun)
