"""Compiled searches over labelings y in {0, 1}^V: enumeration, greedy, belief propagation, trees.

``unary`` has shape (B, V); ``pairwise`` has shape (1, V, V) where the batch shares it, else (B, V, V),
symmetric with a zero diagonal. A labeling is a number in enumerations: bit u is the value of label u.
"""

from __future__ import annotations

import numpy as np

from clustruct.core.jit import kernel
from clustruct.losses._kernels import violation

BLOCK = 64


@kernel()
def pair_table(pairwise, table):
    """table[y] = sum_{u<v} y_u y_v phi_uv for all 2^V labelings, by doubling: O(2^V) additions."""
    V = len(pairwise)
    row = np.zeros(1 << max(V - 1, 0))
    table[0] = 0.0
    for k in range(V):
        half = 1 << k
        row[0] = 0.0
        for v in range(k):
            step, value = 1 << v, pairwise[v, k]
            low, high = row[:step], row[step : 2 * step]
            for y in range(step):
                high[y] = low[y] + value
        low, high, extra = table[:half], table[half : 2 * half], row[:half]
        for y in range(half):
            high[y] = low[y] + extra[y]


@kernel()
def node_table(unary, table):
    """table[y] = sum_u y_u phi_u for all labelings, by doubling."""
    table[0] = 0.0
    for k in range(len(unary)):
        half, value = 1 << k, unary[k]
        low, high = table[:half], table[half : 2 * half]
        for y in range(half):
            high[y] = low[y] + value


@kernel()
def fill_tables(unary, pairwise, b, nodes, pairs):
    """The tables of problem b; pair potentials that the batch shares have theirs from the first."""
    if b < len(pairwise):
        pair_table(pairwise[b], pairs)
    node_table(unary[b], nodes)


# The maximum of a block may be taken in any order, so that it runs in vector registers.
@kernel(fastmath={"nnan", "nsz", "reassoc"})
def largest_sum(a, b):
    """The first index of the largest a + b."""
    best, at = -np.inf, 0
    for begin in range(0, len(a), BLOCK):
        x, y = a[begin : begin + BLOCK], b[begin : begin + BLOCK]
        top = -np.inf
        for i in range(len(x)):
            value = x[i] + y[i]
            top = value if value > top else top
        if top > best:
            best, at = top, begin
    winner, best = at, -np.inf
    for i in range(at, min(at + BLOCK, len(a))):
        if a[i] + b[i] > best:
            winner, best = i, a[i] + b[i]
    return winner


@kernel()
def write_bits(number, out):
    for u in range(len(out)):
        out[u] = (number >> u) & 1


@kernel()
def enumerate_best(unary, pairwise, out):
    """The best labeling of each problem. A few additions per labeling, so 10 us at V = 14."""
    B, V = unary.shape
    pairs, nodes = np.empty(1 << V), np.empty(1 << V)
    for b in range(B):
        fill_tables(unary, pairwise, b, nodes, pairs)
        write_bits(largest_sum(nodes, pairs), out[b])


@kernel()
def popcount(number):
    count = 0
    while number:
        number &= number - 1
        count += 1
    return count


@kernel()
def enumerate_violations(unary, pairwise, truth, sizes, slack_scaling, out):
    """The labeling of largest slack, for rules that are not linear in the labels.

    ``sizes[k]`` is how much a labeling with k wrong labels counts (the loss, or its square root).
    """
    B, V = unary.shape
    pairs, nodes = np.empty(1 << V), np.empty(1 << V)
    for b in range(B):
        fill_tables(unary, pairwise, b, nodes, pairs)
        right = 0
        for u in range(V):
            right |= truth[b, u] << u
        base = nodes[right] + pairs[right]
        best, at = -np.inf, right
        for y in range(1 << V):
            size, gain = sizes[popcount(y ^ right)], nodes[y] + pairs[y] - base
            need = violation(size, gain, slack_scaling, False)
            if need > best:
                best, at = need, y
        write_bits(at, out[b])


@kernel()
def enumerate_near(unary, pairwise, constant, rho, at_least, out):
    """The value closest to rho times the best: from above where ``at_least``, else from below."""
    B, V = unary.shape
    pairs, nodes = np.empty(1 << V), np.empty(1 << V)
    for b in range(B):
        fill_tables(unary, pairwise, b, nodes, pairs)
        nodes += pairs
        nodes += constant[b]
        goal = rho * nodes.max()
        best, at = np.inf, (np.argmax(nodes) if at_least else np.argmin(nodes))
        for y in range(1 << V):
            off = nodes[y] - goal if at_least else goal - nodes[y]
            if 0.0 <= off < best:
                best, at = off, y
        write_bits(at, out[b])


@kernel()
def flip_greedily(unary, pairwise, out):
    """From the labeling in ``out``: flip the label that gains most, until none gains. O(V) per flip."""
    B, V = unary.shape
    field = np.empty(V)
    for b in range(B):
        phi, y = pairwise[b if len(pairwise) > 1 else 0], out[b]
        size = 0.0
        for u in range(V):
            field[u] = unary[b, u]
            size = max(size, abs(unary[b, u]))
            for v in range(V):
                size = max(size, abs(phi[u, v]))
                if y[v]:
                    field[u] += phi[u, v]
        while True:
            # Gains that are rounding only could go round in circles.
            best, at = 1e-12 * size, -1
            for u in range(V):
                gain = -field[u] if y[u] else field[u]
                if gain > best:
                    best, at = gain, u
            if at < 0:
                break
            sign = -1.0 if y[at] else 1.0
            y[at] = 1 - y[at]
            for v in range(V):
                field[v] += sign * phi[v, at]


@kernel()
def propagate(unary, pairwise, damping, max_iter, tol, out):
    """Max-product: d_uv = max(0, h + phi_uv) - max(0, h), h = phi_u plus all messages to u but v's."""
    B, V = unary.shape
    message, field = np.zeros((V, V)), np.empty(V)
    for b in range(B):
        phi = pairwise[b if len(pairwise) > 1 else 0]
        message[:] = 0.0
        size = 0.0
        for u in range(V):
            size = max(size, abs(unary[b, u]))
            for v in range(V):
                size = max(size, abs(phi[u, v]))
        for _ in range(max_iter):
            for u in range(V):
                field[u] = unary[b, u]
            for u in range(V):
                for v in range(V):
                    field[v] += message[u, v]
            for u in range(V):
                for v in range(u):
                    # Both messages of a pair come from the old ones: the update is parallel.
                    to_v, to_u = field[u] - message[v, u], field[v] - message[u, v]
                    p = phi[u, v]
                    message[u, v] = damping * message[u, v] + (1.0 - damping) * (
                        max(0.0, to_v + p) - max(0.0, to_v)
                    )
                    message[v, u] = damping * message[v, u] + (1.0 - damping) * (
                        max(0.0, to_u + p) - max(0.0, to_u)
                    )
            change = 0.0
            for v in range(V):
                total = unary[b, v]
                for u in range(V):
                    total += message[u, v]
                change = max(change, abs(total - field[v]))
                out[b, v] = 1 if total > 0.0 else 0
            if change <= tol * size:
                break


@kernel()
def tree_best(unary, pairwise, order, parent, out):
    """Exact max-product on a forest; ``order`` lists parents before children. O(V) per problem."""
    B, V = unary.shape
    field = np.empty(V)
    for b in range(B):
        phi = pairwise[b if len(pairwise) > 1 else 0]
        field[:] = unary[b]
        for k in range(V - 1, -1, -1):
            u = order[k]
            p = parent[u]
            if p >= 0:
                field[p] += max(0.0, field[u] + phi[u, p]) - max(0.0, field[u])
        for k in range(V):
            u = order[k]
            p = parent[u]
            value = field[u] + (phi[u, p] if p >= 0 and out[b, p] else 0.0)
            out[b, u] = 1 if value > 0.0 else 0
