"""Hinges of all documents in one pass over their scores."""

from __future__ import annotations

import numpy as np

from clustruct.core.jit import kernel


@kernel()
def target_cut(scores, labels, M):
    """Fill M with +1 per rival inside the margin at the label, -1 at each such rival; how many there are.

    ``scores`` and ``M`` are k x n. Four times as fast as the comparisons over whole arrays.
    """
    k, n = scores.shape
    total = 0
    for i in range(n):
        own = labels[i]
        least = scores[own, i] - 1.0
        count = 0
        for r in range(k):
            if r != own and scores[r, i] > least:
                M[r, i] = -1.0
                count += 1
            else:
                M[r, i] = 0.0
        M[own, i] = count
        total += count
    return total


@kernel()
def target_line(scores, moves, labels, share):
    """Sum of the hinges at ``scores + share * moves``, both k x n, and its slope by the share."""
    k, n = scores.shape
    value, slope = 0.0, 0.0
    for i in range(n):
        own = labels[i]
        move = moves[own, i]
        least = scores[own, i] + share * move - 1.0
        for r in range(k):
            if r != own:
                excess = scores[r, i] + share * moves[r, i] - least
                if excess > 0.0:
                    value += excess
                    slope += moves[r, i] - move
    return value, slope


@kernel()
def universum_line(scores, moves, margin, share):
    """The same of the Universum."""
    k, n = scores.shape
    value, slope = 0.0, 0.0
    for i in range(n):
        top, largest, mean, mean_move = 0, -np.inf, 0.0, 0.0
        for r in range(k):
            score = scores[r, i] + share * moves[r, i]
            mean += score / k
            mean_move += moves[r, i] / k
            if score > largest:
                top, largest = r, score
        excess = k / (k - 1) * (largest - mean) - margin
        if excess > 0.0:
            value += excess
            slope += k / (k - 1) * (moves[top, i] - mean_move)
    return value, slope


@kernel()
def move_to_nearest(Z, scores, half_squares, starts, labels, sums, sizes):
    """Each row of Z goes to the nearest of k centres c, in some starts; how many rows moved in each of them.

    ``scores`` is n x len(starts) x k: inner products with the centres; ``half_squares`` is half of <c, c>.
    ``labels`` (-1: none yet), ``sums`` and ``sizes`` of the clusters of all starts follow.
    """
    n, count, k = scores.shape
    d = Z.shape[1]
    moved = np.zeros(count, np.intp)
    for i in range(n):
        for a in range(count):
            best, value = 0, scores[i, a, 0] - half_squares[a, 0]
            for r in range(1, k):
                other = scores[i, a, r] - half_squares[a, r]
                if other > value:
                    best, value = r, other
            s = starts[a]
            old = labels[i, s]
            if best == old:
                continue
            moved[a] += 1
            labels[i, s] = best
            sizes[s, best] += 1
            for c in range(d):
                sums[s, best, c] += Z[i, c]
            if old >= 0:
                sizes[s, old] -= 1
                for c in range(d):
                    sums[s, old, c] -= Z[i, c]
    return moved


@kernel()
def target_planes(scores, labels, M):
    """`target_cut` for many starts: ``scores`` and ``M`` are n x starts x k."""
    n, starts, k = scores.shape
    for i in range(n):
        for s in range(starts):
            own = labels[i, s]
            least = scores[i, s, own] - 1.0
            active = 0
            for r in range(k):
                if r != own and scores[i, s, r] > least:
                    M[i, s, r] = -1.0
                    active += 1
                else:
                    M[i, s, r] = 0.0
            M[i, s, own] = active


@kernel()
def target_sums(scores, moves, labels, shares, sums):
    """Add to sums[t, s] the hinges of start s at ``scores + shares[t] * moves``."""
    n, starts, k = scores.shape
    for i in range(n):
        for s in range(starts):
            own = labels[i, s]
            for r in range(k):
                if r == own:
                    continue
                excess = scores[i, s, r] - scores[i, s, own] + 1.0
                slope = moves[i, s, r] - moves[i, s, own]
                for t in range(len(shares)):
                    sums[t, s] += max(0.0, excess + shares[t] * slope)


@kernel()
def universum_planes(scores, margin, M):
    """M of `UniversumTerm.cut` for many starts, times N."""
    n, starts, k = scores.shape
    for i in range(n):
        for s in range(starts):
            top, mean = 0, 0.0
            for r in range(k):
                mean += scores[i, s, r] / k
                if scores[i, s, r] > scores[i, s, top]:
                    top = r
            outside = 1.0 if k / (k - 1) * (scores[i, s, top] - mean) > margin else 0.0
            for r in range(k):
                M[i, s, r] = outside / (k - 1)
            M[i, s, top] = -outside


@kernel()
def universum_sums(scores, moves, margin, shares, sums):
    """Add to sums[t, s] the hinges of the Universum of start s at ``scores + shares[t] * moves``."""
    n, starts, k = scores.shape
    for i in range(n):
        for s in range(starts):
            for t in range(len(shares)):
                top, mean = -1e30, 0.0
                for r in range(k):
                    score = scores[i, s, r] + shares[t] * moves[i, s, r]
                    mean += score / k
                    top = max(top, score)
                sums[t, s] += max(0.0, k / (k - 1) * (top - mean) - margin)
