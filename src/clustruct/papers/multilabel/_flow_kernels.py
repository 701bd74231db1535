# mypy: disable-error-code="no-untyped-def"
# mypy: check-untyped-defs=False
"""Roof duality by maximum flow on the doubled graph (Boros and Hammer 2002; Kolmogorov and Rother 2007).

Nodes of the network: literal y_u at 2k, its opposite at 2k + 1 (k counts the labels left after fixing),
then source and sink. An arc from literal a to literal b with capacity c says: a without b costs c.
"""

from __future__ import annotations

import numpy as np

from clustruct.core.jit import kernel

FREE = 2


@kernel()
def fix_dominated_labels(unary, phi, state):
    """Settle labels whose best value does not depend on the others; repeat while some are settled.

    If phi_u + sum_v min(0, phi_uv) > 0, the relaxation's value rises with y_u whatever the others are,
    so every optimum has y_u = 1 (and likewise for 0): nothing of roof duality is lost. On trained
    models most labels go here, and the flow is left with the rest.
    """
    V = len(unary)
    again = True
    while again:
        again = False
        for u in range(V):
            if state[u] != FREE:
                continue
            low = high = unary[u]
            for v in range(V):
                if v != u and state[v] == FREE:
                    low += min(0.0, phi[u, v])
                    high += max(0.0, phi[u, v])
                elif v != u and state[v] == 1:
                    low += phi[u, v]
                    high += phi[u, v]
            if low > 0.0 or high < 0.0:
                state[u] = 1 if low > 0.0 else 0
                again = True


@kernel()
def build_network(unary, phi, state, free, capacity):
    """Capacities of the implication network of the labels left free; returns the largest."""
    n = len(free)
    source, sink = 2 * n, 2 * n + 1
    capacity[: 2 * n + 2, : 2 * n + 2] = 0.0
    for i in range(n):
        u = free[i]
        linear = -unary[u]
        for v in range(len(unary)):
            if v != u and state[v] == 1:
                linear -= phi[u, v]
        for j in range(n):
            value = phi[u, free[j]]
            if i == j or value == 0.0:
                continue
            if value < 0.0:
                capacity[2 * i, 2 * j + 1] = -0.5 * value
            else:
                # -c y_u y_v = -c/2 (y_u + y_v) + c/2 (y_u (1 - y_v) + (1 - y_u) y_v)
                linear -= 0.5 * value
                capacity[2 * i, 2 * j] = 0.25 * value
                capacity[2 * i + 1, 2 * j + 1] = 0.25 * value
        if linear > 0.0:
            capacity[source, 2 * i + 1] = capacity[2 * i, sink] = 0.5 * linear
        else:
            capacity[source, 2 * i] = capacity[2 * i + 1, sink] = -0.5 * linear
    return capacity[: 2 * n + 2, : 2 * n + 2].max()


@kernel()
def levels(capacity, size, source, least, level, queue):
    """Breadth-first distances from the source over arcs with capacity left; returns how many were reached."""
    level[:size] = -1
    level[source] = 0
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        a = queue[head]
        head += 1
        row = capacity[a]
        for b in range(size):
            if level[b] < 0 and row[b] > least:
                level[b] = level[a] + 1
                queue[tail] = b
                tail += 1
    return tail


@kernel()
def saturate(capacity, size, least, level, pointer, path):
    """One phase of Dinic's algorithm: a blocking flow along shortest paths."""
    source, sink = size - 2, size - 1
    pointer[:size] = 0
    depth = 0
    path[0] = source
    while True:
        a = path[depth]
        if a == sink:
            flow = np.inf
            for k in range(depth):
                flow = min(flow, capacity[path[k], path[k + 1]])
            back = 0
            for k in range(depth - 1, -1, -1):
                capacity[path[k], path[k + 1]] -= flow
                capacity[path[k + 1], path[k]] += flow
                if capacity[path[k], path[k + 1]] <= least:
                    back = k
            depth = back
            continue
        b = pointer[a]
        row = capacity[a]
        while b < size and not (level[b] == level[a] + 1 and row[b] > least):
            b += 1
        pointer[a] = b
        if b < size:
            depth += 1
            path[depth] = b
        elif depth == 0:
            return
        else:
            # A dead end: no other path need try it.
            depth -= 1
            pointer[path[depth]] += 1


@kernel()
def roof_dual(unary, pairwise, out):
    """Labels 0, 1 or FREE of each problem: those that every optimum of the relaxation agrees on."""
    B, V = unary.shape
    capacity = np.empty((2 * V + 2, 2 * V + 2))
    level, pointer = np.empty(2 * V + 2, np.int64), np.empty(2 * V + 2, np.int64)
    scratch = np.empty(2 * V + 3, np.int64)
    for b in range(B):
        phi, state = pairwise[b if len(pairwise) > 1 else 0], out[b]
        state[:] = FREE
        fix_dominated_labels(unary[b], phi, state)
        free = np.flatnonzero(state == FREE)
        if len(free) == 0:
            continue
        size = 2 * len(free) + 2
        source, sink = size - 2, size - 1
        least = 1e-13 * build_network(unary[b], phi, state, free, capacity)
        levels(capacity, size, source, least, level, scratch)
        while level[sink] >= 0:
            saturate(capacity, size, least, level, pointer, scratch)
            levels(capacity, size, source, least, level, scratch)
        for i in range(len(free)):
            on, off = level[2 * i] >= 0, level[2 * i + 1] >= 0
            if on != off:
                state[free[i]] = 1 if on else 0
