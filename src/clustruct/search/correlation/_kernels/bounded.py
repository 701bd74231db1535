"""Greedy merging with a largest size of clusters, down to a number of clusters."""

# mypy: allow-untyped-decorators
import numpy as np

from clustruct.core.jit import kernel
from clustruct.core.typing import Floats, Ints

from .merging import (
    find_root,
    find_slot,
    initial_table,
    join_sums,
    neighbour_chains,
    push,
    renewed_table,
    sift_down,
)


@kernel()
def merge_bounded(
    indptr: Ints, indices: Ints, data: Floats, sizes: Ints, most: int, wanted: int, least: float
) -> Ints:
    """Merge the two clusters of largest sum above ``least`` that have ``most`` items together at most, while
    there are more than ``wanted``.

    On a symmetric CSR graph without diagonal, whose nodes stand for ``sizes`` items; -inf forbids a pair.
    Labels are the smallest node of each cluster. A pair of clusters that is too large stays so, and is
    dropped for good.
    """
    n = indptr.shape[0] - 1
    keys, sums, gains, pairs, size = initial_table(indptr, indices, data, least)
    used, count = indices.shape[0] // 2, n
    head, following = neighbour_chains(indptr)
    parent, met, total = np.arange(n), np.full(n, -1, np.int64), sizes.copy()
    while size > 0 and count > wanted:
        gain, pair = gains[0], pairs[0]
        size -= 1
        gains[0], pairs[0] = gains[size], pairs[size]
        sift_down(gains, pairs, 0, size)
        a, b = pair // n, pair % n
        if parent[a] != a or parent[b] != b or total[a] + total[b] > most:
            continue
        if sums[find_slot(keys, pair)] != gain:  # every sum is entered anew when it changes
            continue
        parent[b] = a
        total[a] += total[b]
        count -= 1
        at = head[b]
        while at >= 0:
            here, at = at, following[at]
            x = find_root(parent, indices[here])
            if x == a or met[x] == b:
                continue
            met[x] = b
            slot, _, fresh = join_sums(keys, sums, a, b, x, n)
            if fresh:
                used += 1
                following[here], head[a] = head[a], here
            if sums[slot] > least:
                gains, pairs = push(gains, pairs, size, sums[slot], keys[slot])
                size += 1
        if 2 * used > keys.shape[0]:
            keys, sums, used = renewed_table(keys, sums, parent)
    for i in range(n):
        parent[i] = parent[parent[i]]
    return parent
