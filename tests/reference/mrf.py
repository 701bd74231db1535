"""Slow, obvious twins of the Markov random field searches and of the multi-label problem."""

from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog

from clustruct.ssvm import Problem


def all_labelings(V, values=(0, 1)):
    """Every labeling, label 0 changing fastest."""
    return np.array([row[::-1] for row in product(values, repeat=V)], float)


def value(unary, pairwise, y):
    V = len(unary)
    total = sum(y[u] * unary[u] for u in range(V))
    return total + sum(y[u] * y[v] * pairwise[u][v] for u, v in combinations(range(V), 2))


def all_values(unary, pairwise):
    return np.array([value(unary, pairwise, y) for y in all_labelings(len(unary))])


def best_value(unary, pairwise):
    return all_values(unary, pairwise).max()


def relaxed_value(unary, pairwise, y):
    """The linear program's value at given nodes: each y_uv at the better end of its interval."""
    total = float(np.dot(unary, y))
    for u, v in combinations(range(len(y)), 2):
        low, high = max(0.0, y[u] + y[v] - 1.0), min(y[u], y[v])
        total += max(low * pairwise[u][v], high * pairwise[u][v])
    return total


def relaxed_optima(unary, pairwise):
    """The best value over all half-integral nodes, and the nodes that reach it."""
    nodes = all_labelings(len(unary), (0.0, 0.5, 1.0))
    values = np.array([relaxed_value(unary, pairwise, y) for y in nodes])
    return values.max(), nodes[values > values.max() - 1e-9]


def full_linear_program(unary, pairwise):
    """(5.13)-(5.15) with all three rows of every pair, by scipy."""
    V = len(unary)
    pairs = list(combinations(range(V), 2))
    costs = np.concatenate([unary, [pairwise[u][v] for u, v in pairs]])
    rows, right = [], []
    for k, (u, v) in enumerate(pairs):
        for nodes, pair, limit in (([u], 1, 0), ([v], 1, 0), ([u, v], -1, 1)):
            row = np.zeros(len(costs))
            row[nodes] = -pair
            row[V + k] = pair
            rows.append(row)
            right.append(limit)
    return -linprog(-costs, A_ub=rows or None, b_ub=right or None, bounds=(0, 1)).fun


def greedy(unary, pairwise):
    y = np.zeros(len(unary))
    while True:
        flips = [np.where(np.arange(len(y)) == u, 1 - y, y) for u in range(len(y))]
        gains = [value(unary, pairwise, f) - value(unary, pairwise, y) for f in flips]
        if max(gains) <= 1e-12:
            return y
        y = flips[int(np.argmax(gains))]


def loopy_bp(unary, pairwise, damping, rounds):
    """Max-product with two-valued messages m[u, v][y_v], written out; no stopping rule."""
    V = len(unary)
    node = [np.array([0.0, h]) for h in unary]
    message = {(u, v): np.zeros(2) for u in range(V) for v in range(V) if u != v}
    for _ in range(rounds):
        fresh = {}
        for u, v in message:
            inside = node[u] + sum(message[k, u] for k in range(V) if k not in (u, v))
            phi = pairwise[min(u, v)][max(u, v)]
            out = np.array([max(inside[a] + a * b * phi for a in (0, 1)) for b in (0, 1)])
            fresh[u, v] = damping * message[u, v] + (1 - damping) * (out - out[0])
        message = fresh
    beliefs = [node[v] + sum(message[u, v] for u in range(V) if u != v) for v in range(V)]
    return np.array([b[1] > b[0] for b in beliefs], float)


def joint_feature(x, y, edges, pair_values=None):
    """Psi(x, y): y_u x in block u, then one entry per edge."""
    pairs = [y[u] * y[v] for u, v in edges] if pair_values is None else pair_values
    return np.concatenate([np.outer(y, x).ravel(), pairs])


class SlowMultiLabel(Problem):
    """The multi-label problem, one example and one labeling at a time."""

    oracle_kind = "exact"

    def __init__(self, X, Y, edges):
        self.X, self.Y, self.edges = np.asarray(X), np.asarray(Y, float), edges
        self.n_examples, V = Y.shape
        self.n_features = V * X.shape[1] + len(edges)
        self.outputs = all_labelings(V)

    def truth(self, i):
        return self.Y[i]

    def joint_feature(self, i, y):
        return joint_feature(self.X[i], y, self.edges)

    def loss(self, i, y):
        return 100.0 * np.mean(np.abs(self.Y[i] - y))

    def separate(self, i, w, rule):
        truth = w @ self.joint_feature(i, self.Y[i])
        needs = [rule.violation(self.loss(i, y), w @ self.joint_feature(i, y) - truth) for y in self.outputs]
        return self.outputs[int(np.argmax(needs))]

    def supports(self, rule):
        return True


def dwave(unary, pairwise):
    """Roof duality by dwave-preprocessing, undecided labels as 1/2."""
    import dimod
    from dwave.preprocessing.lower_bounds import roof_duality

    model = dimod.BinaryQuadraticModel(len(unary), "BINARY")
    model.add_linear_from_array(-np.asarray(unary))
    model.add_quadratic_from_dense(-np.triu(pairwise, 1))
    nodes = np.full(len(unary), 0.5)
    for label, value in roof_duality(model, strict=True)[1].items():
        nodes[label] = value
    return nodes
