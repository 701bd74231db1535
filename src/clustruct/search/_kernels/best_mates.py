"""Numba kernel: the best matching of a sparse bipartite graph, by shortest augmenting paths."""

from heapq import heappop, heappush

import numpy as np

from clustruct.core.jit import kernel
from clustruct.core.typing import Floats, Ints


@kernel()
def best_mates(indptr: Ints, columns: Ints, values: Floats, n_columns: int) -> Ints:
    """The column of each row, -1 for none, such that the sum of values is largest; values are positive.

    Rows are matched one by one, each by the path that raises the sum most (Jonker and Volgenant 1987): a row
    may end at a column that is free, or free of any at a value of 0. ``v`` are prices of the columns, such
    that the value of a pair less the price is at most that of the row's own mate.
    """
    n_rows = indptr.size - 1
    mate, own = np.full(n_rows, -1, np.int64), np.zeros(n_rows)
    row_of, v = np.full(n_columns, -1, np.int64), np.zeros(n_columns)
    distance, step, cost = np.full(n_columns, np.inf), np.full(n_columns, -1, np.int64), np.zeros(n_columns)
    done = np.zeros(n_columns, np.bool_)
    touched = np.empty(n_columns, np.int64)
    for first in range(n_rows):
        heap = [(0.0, -1)]
        n, row, here = 0, first, 0.0
        shortest, last_row, end = np.inf, -1, -1
        while True:
            # What a row pays already: nothing for the first one, else that of its pair.
            paid = 0.0 if mate[row] < 0 else own[row] - v[mate[row]]
            if here - paid < shortest:
                shortest, last_row = here - paid, row
            for k in range(indptr[row], indptr[row + 1]):
                j = columns[k]
                there = here - values[k] - paid - v[j]
                if not done[j] and there < distance[j]:
                    if distance[j] == np.inf:
                        touched[n] = j
                        n += 1
                    distance[j], step[j], cost[j] = there, row, -values[k]
                    heappush(heap, (there, j))
            end = -1
            while len(heap):
                there, j = heappop(heap)
                if j >= 0 and not done[j] and there == distance[j]:
                    end = j
                    break
            if end < 0 or distance[end] >= shortest:
                end = -1
                break
            if row_of[end] < 0:
                shortest = distance[end]
                break
            done[end] = True
            row, here = row_of[end], distance[end]
        for i in range(n):
            j = touched[i]
            if done[j]:
                v[j] += distance[j] - shortest
            distance[j], done[j] = np.inf, False
        if end < 0 and last_row != first:
            end, mate[last_row] = mate[last_row], -1
        rematch(first, end, step, cost, mate, own, row_of)
    return mate


@kernel()
def rematch(first: int, end: int, step: Ints, cost: Floats, mate: Ints, own: Floats, row_of: Ints) -> None:
    """Give each row on the path from ``first`` to the column ``end`` the column that follows it there."""
    while end >= 0:
        row = step[end]
        before = mate[row]
        mate[row], row_of[end], own[row] = end, row, cost[end]
        end = -1 if row == first else before
