"""Maximum-margin clustering with Universum, written out: one variable per hinge."""

from __future__ import annotations

import numpy as np
import piqp


def value(X, U, W, labels, C, C_universum, margin):
    """The convex objective at W, document by document."""
    n, k, total = len(X), len(W), 0.0
    for i in range(n):
        for r in range(k):
            if r != labels[i]:
                total += C / (n * k) * max(0.0, 1.0 - (W[labels[i]] - W[r]) @ X[i])
    for x in U:
        scores = [w @ x for w in W]
        spread = k / (k - 1) * (max(scores) - sum(scores) / k)
        total += C_universum / len(U) * max(0.0, spread - margin)
    return total + 0.5 * float((W**2).sum())


def objective(X, U, W, C, C_universum, margin):
    return value(X, U, W, [int(np.argmax([w @ x for w in W])) for x in X], C, C_universum, margin)


def solve(X, U, labels, k, C, C_universum, balance, margin):
    """The convex problem as one QP over W, xi and xi*: ``(W, optimum)``."""
    n, d, N = len(X), X.shape[1], len(U)
    wrong = [(i, r) for i in range(n) for r in range(k) if r != labels[i]]
    size = k * d + len(wrong) + N
    G, low = [], []

    def row(parts, slack=None):
        line = np.zeros(size)
        for p, x in parts:
            line[p * d : (p + 1) * d] += x
        if slack is not None:
            line[slack] = 1.0
        G.append(line)

    for j, (i, r) in enumerate(wrong):
        row([(labels[i], X[i]), (r, -X[i])], k * d + j)
        low.append(1.0)
    for i, x in enumerate(U):
        for p in range(k):
            row([(q, x / (k - 1) - (q == p) * k / (k - 1) * x) for q in range(k)], k * d + len(wrong) + i)
            low.append(-margin)
    if np.isfinite(balance):
        for p in range(k):
            for q in range(k):
                if p != q:
                    row([(p, -X.mean(axis=0)), (q, X.mean(axis=0))])
                    low.append(-balance / n)
    P = np.diag(np.concatenate([np.ones(k * d), np.zeros(len(wrong) + N)]))
    c = np.concatenate(
        [np.zeros(k * d), np.full(len(wrong), C / (n * k)), np.full(N, C_universum / max(N, 1))]
    )
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-10
    solver.setup(
        np.asfortranarray(P),
        c,
        G=np.asfortranarray(np.array(G)),
        h_l=np.array(low),
        h_u=np.full(len(low), np.inf),
        x_l=np.concatenate([np.full(k * d, -np.inf), np.zeros(len(wrong) + N)]),
        x_u=np.full(size, np.inf),
    )
    solver.solve()
    x = np.array(solver.result.x)
    return x[: k * d].reshape(k, d), float(0.5 * x @ P @ x + c @ x)
