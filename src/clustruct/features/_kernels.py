"""Numba kernels for sparse rows of listed pairs."""

import numpy as np

from clustruct._jit import kernel


@kernel()
def compare_rows(indptr, indices, data, weight, left, right, out):
    """Of rows of sorted terms: dot product, weight of the shared terms, largest such weight."""
    for p in range(left.size):
        i, i_end = indptr[left[p]], indptr[left[p] + 1]
        j, j_end = indptr[right[p]], indptr[right[p] + 1]
        dot, shared, rarest = 0.0, 0.0, 0.0
        while i < i_end and j < j_end:
            s, t = indices[i], indices[j]
            if s == t:
                dot += data[i] * data[j]
                shared += weight[s]
                rarest = max(rarest, weight[s])
                i += 1
                j += 1
            elif s < t:
                i += 1
            else:
                j += 1
        out[p, 0] = dot
        out[p, 1] = shared
        out[p, 2] = rarest


@kernel()
def row_sums(indptr, indices, weight):
    """The sum of the weights of each row's terms."""
    out = np.zeros(indptr.size - 1)
    for i in range(indptr.size - 1):
        for k in range(indptr[i], indptr[i + 1]):
            out[i] += weight[indices[k]]
    return out
