"""Compiled parts of `clustruct.search.agglomerative`."""

import numpy as np

from clustruct.core.jit import kernel

from .merging import find_root


@kernel()
def kruskal(index, order, parent, kept):
    """Join the ends of the pairs, taken in this order, where they are not joined yet; ``kept`` says which."""
    for r in order:
        a, b = find_root(parent, index[r, 0]), find_root(parent, index[r, 1])
        if a != b:
            parent[max(a, b)] = min(a, b)
            kept[r] = True


@kernel()
def prim(K, labels, floor, links):
    """The links of the maximum spanning trees inside the labels that score at least the floor; how many.

    Links below the floor start a new tree: what is open then scores less, too.
    """
    m, n_links = len(K), 0
    done, best, mate = np.zeros(m, np.bool_), np.full(m, -np.inf), np.full(m, -1)
    for _ in range(m):
        item = -1
        for a in range(m):
            if not done[a] and (item < 0 or best[a] > best[item]):
                item = a
        if best[item] > -np.inf and best[item] >= floor:
            links[n_links, 0], links[n_links, 1] = min(item, mate[item]), max(item, mate[item])
            n_links += 1
        done[item] = True
        for a in range(m):
            if not done[a] and labels[a] == labels[item] and K[item, a] > best[a]:
                best[a], mate[a] = K[item, a], item
    return n_links


@kernel()
def left_of_matrix(K, labels, best, mate):
    """The best earlier item of the same label for every item, and its score; ``best`` holds what to beat."""
    for j in range(len(K)):
        for i in range(j):
            if labels[i] == labels[j] and K[i, j] > best[j]:
                best[j], mate[j] = K[i, j], i


@kernel()
def left_of_list(index, values, labels, best, mate):
    """The same for listed pairs."""
    for r in range(len(index)):
        i, j = index[r, 0], index[r, 1]
        if labels[i] == labels[j] and (
            values[r] > best[j] or (values[r] == best[j] and mate[j] >= 0 and i < mate[j])
        ):
            best[j], mate[j] = values[r], i


@kernel()
def worth(a, b, S, N, L, labels, complete):
    """What a merge of two clusters scores: the mean or least score of their pairs, and the gain in loss."""
    if N[a, b] == 0.0 or labels[a] != labels[b]:
        return -np.inf
    return (S[a, b] if complete else S[a, b] / N[a, b]) + L[a, b]


@kernel()
def nearest(a, alive, S, N, L, labels, complete):
    """The cluster that it is best merged with, and what that scores."""
    best, mate = -np.inf, -1
    for b in range(len(alive)):
        if b != a and alive[b]:
            value = worth(a, b, S, N, L, labels, complete)
            if value > best:
                best, mate = value, b
    return best, mate


@kernel()
def merge_into(a, b, alive, S, N, L, pair, complete):
    """Cluster b becomes a part of a."""
    alive[b] = False
    for k in range(len(alive)):
        if k == a or not alive[k]:
            continue
        if complete:
            if N[b, k] > 0.0 and (N[a, k] == 0.0 or S[b, k] < S[a, k]):
                S[a, k] = S[k, a] = S[b, k]
                pair[a, k] = pair[k, a] = pair[b, k]
        else:
            S[a, k] = S[k, a] = S[a, k] + S[b, k]
        N[a, k] = N[k, a] = N[a, k] + N[b, k]
        L[a, k] = L[k, a] = L[a, k] + L[b, k]


@kernel()
def agglomerate(S, N, L, pair, labels, complete, floor, merges):
    """Merge the two clusters of highest worth until it is below the floor; how many merges.

    S: sums (or least) of scores between clusters, N: numbers of scored pairs, L: what the loss gains, pair:
    a * m + b of the least similar pair. ``merges`` gets both clusters (their first items) and that pair.
    """
    m, n_merges = len(S), 0
    alive, best, mate = np.ones(m, np.bool_), np.full(m, -np.inf), np.full(m, -1)
    for a in range(m):
        best[a], mate[a] = nearest(a, alive, S, N, L, labels, complete)
    for _ in range(m - 1):
        a = -1
        for k in range(m):
            if alive[k] and mate[k] >= 0 and (a < 0 or best[k] > best[a]):
                a = k
        if a < 0 or best[a] < floor:
            break
        a, b = min(a, mate[a]), max(a, mate[a])
        merges[n_merges, 0], merges[n_merges, 1], merges[n_merges, 2] = a, b, pair[a, b]
        n_merges += 1
        merge_into(a, b, alive, S, N, L, pair, complete)
        for k in range(m):
            if not alive[k]:
                continue
            if k == a or mate[k] == a or mate[k] == b:
                best[k], mate[k] = nearest(k, alive, S, N, L, labels, complete)
            else:
                value = worth(k, a, S, N, L, labels, complete)
                if value > best[k]:
                    best[k], mate[k] = value, a
    return n_merges


@kernel()
def spread_means(merges, scored, links, weights):
    """The scored pairs across each merge, each with one over their number; how many pairs.

    Members of a cluster are a chain from its first item on.
    """
    m, n = len(scored), 0
    after, last = np.full(m, -1), np.arange(m)
    for t in range(len(merges)):
        a, b, begin = merges[t, 0], merges[t, 1], n
        i = a
        while i >= 0:
            j = b
            while j >= 0:
                if scored[i, j]:
                    links[n, 0], links[n, 1] = min(i, j), max(i, j)
                    n += 1
                j = after[j]
            i = after[i]
        for r in range(begin, n):
            weights[r] = 1.0 / (n - begin)
        after[last[a]], last[a] = b, last[b]
    return n
