"""Numba kernels for texts that lie in one buffer."""

from clustruct.core.jit import kernel


@kernel()
def gather(data, start, length, between, out):
    """The texts one after the other, with a byte between each two."""
    at = 0
    for i in range(start.size):
        if i:
            out[at] = between
            at += 1
        for k in range(start[i], start[i] + length[i]):
            out[at] = data[k]
            at += 1
    return at
