"""Listed pairs cut into the components of their positive scores, and each component clustered on its own;
those of a few nodes exactly, in less time than it takes to set up a search.
"""

import numpy as np

from clustruct.core.jit import kernel
from clustruct.core.typing import Floats, Ints

from .matrix import canonical
from .merging import find_root, merge_sparse
from .moving import anneal_sparse, settle_sparse


@kernel()
def small_matrix(indptr: Ints, indices: Ints, data: Floats) -> Floats:
    """The scores of a few nodes as a dense matrix."""
    n = indptr.shape[0] - 1
    W = np.zeros((n, n))
    for a in range(n):
        for at in range(indptr[a], indptr[a + 1]):
            W[a, indices[at]] = data[at]
    return W


@kernel()
def merge_three(indptr: Ints, indices: Ints, data: Floats) -> Ints:
    """Greedy on three nodes, which is exact: the best pair, and the third node where that gains.

    With x >= y >= z the three scores, the optimum is max(0, x, x + y + z), and x > 0 in a component.
    """
    W = small_matrix(indptr, indices, data)
    a, b, c = 0, 1, 2
    if W[0, 2] > W[a, b]:
        a, b, c = 0, 2, 1
    if W[1, 2] > W[a, b]:
        a, b, c = 1, 2, 0
    labels = np.empty(3, np.int64)
    labels[a] = labels[b] = a
    labels[c] = c
    if W[min(a, c), max(a, c)] + W[min(b, c), max(b, c)] > 0.0:
        labels[:] = 0
    return labels


@kernel()
def bounds(W: Floats) -> Floats:
    """For each node i, what the nodes from i on can add at most: their positive scores to earlier ones."""
    n = W.shape[0]
    rest = np.zeros(n + 1)
    for i in range(n - 1, -1, -1):
        rest[i] = rest[i + 1]
        for j in range(i):
            rest[i] += max(W[i, j], 0.0)
    return rest


@kernel()
def best_partition(indptr: Ints, indices: Ints, data: Floats, known: Ints, tolerance: float) -> Ints:
    """The partition of highest value; ``known`` where none is better by more than the tolerance.

    All partitions as strings of cluster numbers that start new clusters in order, depth first; a beginning
    that cannot get above the best is left.
    """
    W = small_matrix(indptr, indices, data)
    n = W.shape[0]
    rest, sums = bounds(W), np.zeros(n + 1)
    labels, used = np.full(n + 1, -1, np.int64), np.zeros(n + 1, np.int64)
    best, best_labels = 0.0, known
    for a in range(n):
        for b in range(a):
            if known[a] == known[b]:
                best += W[a, b]
    i = 0
    while i >= 0:
        labels[i] += 1
        if labels[i] > used[i]:
            labels[i] = -1
            i -= 1
            continue
        value = sums[i]
        for j in range(i):
            if labels[j] == labels[i]:
                value += W[i, j]
        if value + rest[i + 1] <= best + tolerance:
            continue
        if i == n - 1:
            best, best_labels = value, labels[:n].copy()
            continue
        sums[i + 1], used[i + 1] = value, max(used[i], labels[i] + 1)
        i += 1
    return best_labels


# Up to here every partition is looked at (877 of 7 items, most of them cut off by a bound): 3 microseconds
# and the optimum, where a hundred sweeps of annealing take 40.
MOST_ENUMERATED = 7


@kernel()
def positive_roots(n: int, index: Ints, values: Floats) -> Ints:
    """The smallest node of each node's component under the pairs of positive score."""
    root = np.arange(n)
    for e in range(values.shape[0]):
        if values[e] > 0.0:
            a, b = find_root(root, index[e, 0]), find_root(root, index[e, 1])
            if a < b:
                root[b] = a
            else:
                root[a] = b
    for a in range(n):  # a root is always a smaller node, so one pass in order resolves the chains
        root[a] = root[root[a]]
    return root


@kernel()
def in_order(root: Ints) -> tuple[Ints, Ints, Ints]:
    """Nodes by component (of two nodes or more, by smallest node), where each begins, each node's place."""
    n = root.shape[0]
    sizes = np.bincount(root, minlength=n)
    begin = np.empty(n, np.int64)
    starts = np.zeros(np.count_nonzero(sizes > 1) + 1, np.int64)
    count = 0
    for a in range(n):
        if sizes[a] > 1:
            begin[a] = starts[count]
            starts[count + 1] = starts[count] + sizes[a]
            count += 1
    nodes, place = np.empty(starts[count], np.int64), np.full(n, -1, np.int64)
    for a in range(n):
        if sizes[root[a]] > 1:
            place[a] = begin[root[a]]
            nodes[place[a]] = a
            begin[root[a]] += 1
    return nodes, starts, place


@kernel()
def row_ends(root: Ints, place: Ints, index: Ints, values: Floats, n_rows: int) -> Ints:
    """Where the row of each place ends among the pairs that stay inside a component; zeros are dropped."""
    ends = np.zeros(n_rows + 1, np.int64)
    for e in range(values.shape[0]):
        a, b = index[e, 0], index[e, 1]
        if root[a] == root[b] and values[e] != 0.0:
            ends[place[a] + 1] += 1
            ends[place[b] + 1] += 1
    for row in range(n_rows):
        ends[row + 1] += ends[row]
    return ends


@kernel()
def cut(n: int, index: Ints, values: Floats) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Nodes by component, where each component begins, and the pairs inside components as one symmetric CSR.

    Columns are counted from the first node of the component, and ascend in each row. A pair listed twice is
    found as two equal columns of one row: then the last three arrays are empty and ``nodes`` is that pair.
    """
    root = positive_roots(n, index, values)
    nodes, starts, place = in_order(root)
    indptr = row_ends(root, place, index, values, nodes.shape[0])
    rows, data = np.empty(indptr[-1], np.int64), np.empty(indptr[-1])
    cursor = indptr[:-1].copy()
    for e in range(values.shape[0]):
        a, b = index[e, 0], index[e, 1]
        if root[a] == root[b] and values[e] != 0.0:
            for here, there in ((place[a], place[b]), (place[b], place[a])):
                rows[cursor[here]], data[cursor[here]] = there, values[e]
                cursor[here] += 1
    # The transpose of a symmetric matrix is itself, with its columns in order.
    columns, scores = np.empty_like(rows), np.empty_like(data)
    cursor[:] = indptr[:-1]
    for here in range(nodes.shape[0]):
        begin = place[root[nodes[here]]]
        for at in range(indptr[here], indptr[here + 1]):
            to = cursor[rows[at]]
            if to > indptr[rows[at]] and columns[to - 1] == here - begin:
                return np.array([nodes[rows[at]], nodes[here]]), starts[:0], starts[:0], starts[:0], data[:0]
            columns[to], scores[to] = here - begin, data[at]
            cursor[rows[at]] += 1
    return nodes, starts, indptr, columns, scores


@kernel()
def merge_part(indptr: Ints, indices: Ints, data: Floats) -> Ints:
    """Greedy labels of one component; its nodes are connected by positive scores."""
    n = indptr.shape[0] - 1
    if data.min() >= 0.0:
        return np.zeros(n, np.int64)
    if n == 3:
        return merge_three(indptr, indices, data)
    return merge_sparse(indptr, indices, data)


@kernel()
def part_scale(data: Floats) -> tuple[float, float]:
    """Sum and mean of |score| over the pairs of a component; -inf, for pairs kept apart, is not counted."""
    total, count = 0.0, 0
    for score in data:
        if score > -np.inf:
            total += abs(score)
            count += 1
    return 0.5 * total, total / count


@kernel()
def better_of(indptr: Ints, indices: Ints, data: Floats, first: Ints, second: Ints) -> Ints:
    """The better of two clusterings, region by region; the first where they are level.

    A region is a smallest set of items that is a union of clusters in both. No cluster of either crosses its
    edge, so values add up over regions and each can be taken from the clustering that does better there.
    """
    m = first.shape[0]
    root, leaders = np.arange(m), np.full((2, m), -1, np.int64)
    for a in range(m):
        for which, label in ((0, first[a]), (1, second[a])):
            if leaders[which, label] < 0:
                leaders[which, label] = a
            x, y = find_root(root, a), find_root(root, leaders[which, label])
            root[max(x, y)] = min(x, y)
    gain = np.zeros(m)
    for a in range(m):
        root[a] = root[root[a]]
        for at in range(indptr[a], indptr[a + 1]):
            b = indices[at]
            if b > a:
                # items together in either lie in one region
                gain[root[a]] += data[at] if second[a] == second[b] else 0.0
                gain[root[a]] -= data[at] if first[a] == first[b] else 0.0
    out = np.empty(m, np.int64)
    for a in range(m):
        out[a] = leaders[1, second[a]] if gain[root[a]] > 0.0 else leaders[0, first[a]]
    return out


@kernel()
def search_part(
    indptr: Ints, indices: Ints, data: Floats, start: Ints, temperatures: Floats, seed: np.uint64
) -> Ints:
    """Descent from ``start`` (from greedy where it is empty), then annealing; the better of the two.

    Temperatures are in units of the component's mean |score|; without any it is descent alone. The seed is
    the same for all components, so that each is clustered as it would be if it were the whole graph.
    """
    n = indptr.shape[0] - 1
    if data.min() >= 0.0:
        return np.zeros(n, np.int64)
    if n == 3:
        return merge_three(indptr, indices, data)
    labels = start if start.shape[0] else merge_sparse(indptr, indices, data)
    total, scale = part_scale(data)
    # More than any clustering can gain: to break a cannot-link never pays, to mend one always does.
    penalty, barred = 5.0 * total, data.min() == -np.inf
    if barred:
        data = np.maximum(data, -penalty)
    # Sums that once held the penalty carry its rounding error.
    tolerance = 1e-9 * scale + (1e-15 * penalty if barred else 0.0)
    best = settle_sparse(indptr, indices, data, labels, tolerance)
    if not temperatures.shape[0]:
        return best
    if n <= MOST_ENUMERATED:
        return best_partition(indptr, indices, data, best, tolerance)
    state = np.array([seed])
    annealed = anneal_sparse(indptr, indices, data, best, scale * temperatures, state)
    annealed = settle_sparse(indptr, indices, data, annealed, tolerance)
    best = better_of(indptr, indices, data, best, annealed)
    return settle_sparse(indptr, indices, data, best, tolerance)


@kernel()
def merge_parts(n: int, nodes: Ints, starts: Ints, indptr: Ints, indices: Ints, data: Floats) -> Ints:
    """Greedy labels of all nodes: each is the smallest node of its cluster."""
    labels = np.arange(n)
    for part in range(starts.shape[0] - 1):
        begin, end = starts[part], starts[part + 1]
        first, last = indptr[begin], indptr[end]
        found = merge_part(indptr[begin : end + 1] - first, indices[first:last], data[first:last])
        for a in range(end - begin):
            labels[nodes[begin + a]] = nodes[begin + found[a]]
    return labels


@kernel()
def search_parts(
    labels: Ints,
    nodes: Ints,
    starts: Ints,
    indptr: Ints,
    indices: Ints,
    data: Floats,
    temperatures: Floats,
    seed: np.uint64,
    from_labels: bool,
) -> Ints:
    """`search_part` on every component; nodes of no component stay alone. Labels lie in 0..n-1."""
    out = np.arange(labels.shape[0])
    names = np.full(labels.shape[0], -1, np.int64)
    for part in range(starts.shape[0] - 1):
        begin, end = starts[part], starts[part + 1]
        first, last = indptr[begin], indptr[end]
        start = own_labels(labels, nodes[begin:end], names) if from_labels else nodes[:0]
        found = canonical(
            search_part(
                indptr[begin : end + 1] - first,
                indices[first:last],
                data[first:last],
                start,
                temperatures,
                seed,
            )
        )
        leaders = np.empty(end - begin, np.int64)
        seen = 0
        for a in range(end - begin):
            if found[a] == seen:
                leaders[seen] = nodes[begin + a]
                seen += 1
            out[nodes[begin + a]] = leaders[found[a]]
    return out


@kernel()
def own_labels(labels: Ints, members: Ints, names: Ints) -> Ints:
    """Labels of the nodes of one component, by first appearance. ``names`` is scratch of -1 and stays so."""
    out = np.empty(members.shape[0], np.int64)
    count = 0
    for a in range(members.shape[0]):
        old = labels[members[a]]
        if names[old] < 0:
            names[old] = count
            count += 1
        out[a] = names[old]
    for a in members:
        names[labels[a]] = -1
    return out
