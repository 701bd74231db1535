"""Slow, obvious twins of trees in plain arrays: paths followed node by node, means taken row by row."""

import math
from itertools import pairwise

import numpy as np


def path(trees, root, row):
    """The nodes that a row comes through, from the root to its leaf."""
    nodes = [root]
    while trees.feature[nodes[-1]] >= 0:
        at = nodes[-1]
        goes_left = row[trees.feature[at]] <= trees.threshold[at]
        nodes.append(int(trees.left[at] if goes_left else trees.right[at]))
    return nodes


def node_means(trees, rows, weight):
    """In each node the mean of the leaf values of the rows that come through it; leaves have their own."""
    sums, counts = np.zeros(len(trees.value)), np.zeros(len(trees.value))
    for row, count in zip(rows, weight, strict=True):
        for root in trees.roots:
            nodes = path(trees, int(root), row)
            for node in nodes:
                sums[node] += count * trees.value[nodes[-1]]
                counts[node] += count
    return np.where((trees.feature < 0) | (counts == 0.0), trees.value, sums / np.maximum(counts, 1e-300))


def credits(trees, row):
    """A logit that all rows have in common, and what each feature adds for one row."""
    steps, start, end = np.zeros(len(row)), 0.0, 0.0
    for root in trees.roots:
        nodes = path(trees, int(root), row)
        start, end = start + trees.value[root], end + trees.value[nodes[-1]]
        for parent, child in pairwise(nodes):
            steps[trees.feature[parent]] += trees.value[child] - trees.value[parent]
    if not trees.averaged:
        return trees.baseline + start, steps
    n = len(trees.roots)
    before, after = (math.log((s + 0.5) / (n - s + 0.5)) for s in (start, end))
    return before, steps * (after - before) / (end - start) if end != start else steps
