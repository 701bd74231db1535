"""Compiled point-incremental k-means on a similarity matrix, and on a factor of one.

    value(y) = sum_c q_c / s_c,   q_c = sum_{a,b in c} K_ab,   s_c = |c|

Moving item a from c to d changes it by (q_c - 2 G_ac + K_aa)/(s_c - 1) - q_c/s_c
+ (q_d + 2 G_ad + K_aa)/(s_d + 1) - q_d/s_d with the pulls G_ac = sum_{b in c} K_ab. The last item of a
cluster stays, so that there are k clusters from the first step to the last.
"""

import numpy as np

from clustruct.core.jit import kernel
from clustruct.core.typing import Floats, Ints


@kernel()
def _best_cluster(pull: Floats, own: float, source: int, q: Floats, s: Ints, tolerance: float) -> int:
    """The cluster that raises the value most, or the item's own where none raises it beyond rounding."""
    leave = (q[source] - 2.0 * pull[source] + own) / (s[source] - 1) - q[source] / s[source]
    best, chosen = tolerance, source
    for d in range(s.size):
        if d != source:
            gain = leave + (q[d] + 2.0 * pull[d] + own) / (s[d] + 1) - q[d] / s[d]
            if gain > best:
                best, chosen = gain, d
    return chosen


@kernel()
def hill_climb(K: Floats, labels: Ints, k: int, tolerance: float, passes: int) -> float:
    """Move items one by one, in order, until a pass moves none. Changes labels; the value reached.

    O(m k) for a pass and O(m) for a move, after O(m^2) for the pulls.
    """
    m = labels.size
    G = np.zeros((m, k))
    s = np.bincount(labels, minlength=k)
    q = np.zeros(k)
    for a in range(m):
        for b in range(m):
            G[a, labels[b]] += K[a, b]
        q[labels[a]] += G[a, labels[a]]
    for _ in range(passes):
        moved = False
        for a in range(m):
            c = labels[a]
            if s[c] == 1:
                continue
            d = _best_cluster(G[a], K[a, a], c, q, s, tolerance)
            if d == c:
                continue
            q[c] += K[a, a] - 2.0 * G[a, c]
            q[d] += K[a, a] + 2.0 * G[a, d]
            s[c] -= 1
            s[d] += 1
            labels[a] = d
            for b in range(m):
                G[b, c] -= K[a, b]
                G[b, d] += K[a, b]
            moved = True
        if not moved:
            break
    value = 0.0
    for c in range(k):
        total = 0.0
        for a in range(m):
            if labels[a] == c:
                total += G[a, c]
        value += total / s[c]
    return value


@kernel()
def hill_climb_rows(F: Floats, labels: Ints, k: int, tolerance: float, passes: int) -> float:
    """`hill_climb` for K = F F' (m x r), with cluster sums of rows in place of pulls: O(m k r) for a pass."""
    m, r = F.shape
    sums = np.zeros((k, r))
    s = np.bincount(labels, minlength=k)
    own = np.zeros(m)
    for a in range(m):
        sums[labels[a]] += F[a]
        own[a] = np.dot(F[a], F[a])
    q = np.zeros(k)
    for c in range(k):
        q[c] = np.dot(sums[c], sums[c])
    pull = np.zeros(k)
    for _ in range(passes):
        moved = False
        for a in range(m):
            c = labels[a]
            if s[c] == 1:
                continue
            for d in range(k):
                pull[d] = np.dot(sums[d], F[a])
            d = _best_cluster(pull, own[a], c, q, s, tolerance)
            if d == c:
                continue
            sums[c] -= F[a]
            sums[d] += F[a]
            q[c] = np.dot(sums[c], sums[c])
            q[d] = np.dot(sums[d], sums[d])
            s[c] -= 1
            s[d] += 1
            labels[a] = d
            moved = True
        if not moved:
            break
    return float(np.sum(q / s))
