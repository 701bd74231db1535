"""The coreference scores, for a key and a response over the same items (mentions).

Definitions are those of the CoNLL reference scorer (Pradhan et al. 2014), and for LEA those of Moosavi and
Strube 2016. Write t for true (key) clusters, c for predicted (response) clusters, n_tc = |t n c|. As the two
partitions cover the same items, items missing from one side need no rule. Singletons are kept: they
are clusters of one item. A fraction 0/0 counts as `zero_division`, 0 by default as in the scorer.
"""

from itertools import pairwise

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from clustruct._typing import Floats, Ints, LabelsLike
from clustruct.itemsets import Matrix
from clustruct.partitions import contingency

from .fractions import Fractions, Scores


def _cells(y_true: LabelsLike, y_pred: LabelsLike) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """The occupied cells (t, c, n_tc) and the sizes of the true and predicted clusters."""
    table = contingency(y_true, y_pred).tocoo()
    t, c, n = table.row.astype(np.int64), table.col.astype(np.int64), np.asarray(table.data, dtype=np.int64)
    return t, c, n, np.bincount(t, weights=n).astype(np.int64), np.bincount(c, weights=n).astype(np.int64)


def muc_fractions(y_true: LabelsLike, y_pred: LabelsLike) -> Fractions:
    """Links found over links wanted; both numerators are m minus the number of occupied cells."""
    _, _, n, true_sizes, pred_sizes = _cells(y_true, y_pred)
    m, found = int(n.sum()), float(n.sum() - n.size)
    return Fractions(found, m - pred_sizes.size, found, m - true_sizes.size)


def muc(y_true: LabelsLike, y_pred: LabelsLike, *, zero_division: float = 0.0) -> Scores:
    """R = sum_t (|t| - number of c that t meets) / sum_t (|t| - 1); P with key and response exchanged.

    Vilain et al. 1995. Singletons carry no links: with all singletons on one side its fraction is 0/0,
    which is 0 here, as in the CoNLL scorer, and 1 inside `MitreLoss`; pass `zero_division=1` for that.
    Cost O(m log m).

    >>> muc([0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2])
    Scores(precision=1.0, recall=0.75, f1=0.8571428571428571)
    """
    return muc_fractions(y_true, y_pred).scores(zero_division)


def b_cubed_fractions(y_true: LabelsLike, y_pred: LabelsLike) -> Fractions:
    """Sums over items of the share of each item's cluster that is right."""
    t, c, n, true_sizes, pred_sizes = _cells(y_true, y_pred)
    m = float(n.sum())
    squares = n.astype(np.float64) ** 2
    return Fractions(float((squares / pred_sizes[c]).sum()), m, float((squares / true_sizes[t]).sum()), m)


def b_cubed(y_true: LabelsLike, y_pred: LabelsLike) -> Scores:
    """R = 1/m sum_tc n_tc^2 / |t|, P = 1/m sum_tc n_tc^2 / |c| (Bagga and Baldwin 1998). O(m log m).

    >>> b_cubed([0, 0, 1, 1], [0, 0, 0, 0])
    Scores(precision=0.5, recall=1.0, f1=0.6666666666666666)
    """
    return b_cubed_fractions(y_true, y_pred).scores(0.0)


def best_matching(weights: Matrix) -> float:
    """Total weight of the best one-to-one map of rows to columns, weights not negative (Hungarian method).

    Clusters that share no item gain nothing from each other, so each connected part of the table is
    matched alone: tables of many thousand clusters never become dense.
    """
    table = sparse.coo_array(weights)
    rows, columns = table.coords
    ends = (rows, table.shape[0] + columns)
    graph = sparse.coo_array((np.ones(len(rows)), ends), shape=(sum(table.shape), sum(table.shape)))
    part = connected_components(graph, directed=False)[1][rows]
    order = np.argsort(part, kind="stable")
    stops = np.flatnonzero(np.diff(part[order], append=-1)) + 1
    total = 0.0
    for start, stop in pairwise([0, *stops.tolist()]):
        chosen = order[start:stop]
        total += _matched(rows[chosen], columns[chosen], table.data[chosen])
    return total


def _matched(rows: Ints, columns: Ints, weights: Floats) -> float:
    """The best matching of one connected part."""
    if len(weights) == 1:
        return float(weights[0])
    i, j = np.unique(rows, return_inverse=True)[1], np.unique(columns, return_inverse=True)[1]
    dense = np.zeros((i.max() + 1, j.max() + 1))
    dense[i, j] = weights
    return float(dense[linear_sum_assignment(dense, maximize=True)].sum())


def ceaf_mention_fractions(y_true: LabelsLike, y_pred: LabelsLike) -> Fractions:
    """Items in matched clusters, over all items, both ways."""
    table = contingency(y_true, y_pred)
    aligned, m = best_matching(table), float(table.sum())
    return Fractions(aligned, m, aligned, m)


def ceaf_mention(y_true: LabelsLike, y_pred: LabelsLike) -> Scores:
    """CEAF with phi_3(t, c) = n_tc: P = R = 1/m max over one-to-one maps g of sum_t n_{t,g(t)} (Luo 2005).

    Cost O(k^3) for the k clusters that hang together.

    >>> ceaf_mention([0, 0, 1, 1], [0, 0, 0, 1])
    Scores(precision=0.75, recall=0.75, f1=0.75)
    """
    return ceaf_mention_fractions(y_true, y_pred).scores(0.0)


def ceaf_entity_fractions(y_true: LabelsLike, y_pred: LabelsLike) -> Fractions:
    """Total similarity of matched clusters, over the numbers of predicted and true clusters."""
    t, c, n, true_sizes, pred_sizes = _cells(y_true, y_pred)
    likeness = 2.0 * n / (true_sizes[t] + pred_sizes[c])
    aligned = best_matching(sparse.coo_array((likeness, (t, c)), shape=(len(true_sizes), len(pred_sizes))))
    return Fractions(aligned, len(pred_sizes), aligned, len(true_sizes))


def ceaf_entity(y_true: LabelsLike, y_pred: LabelsLike) -> Scores:
    """CEAF with phi_4(t, c) = 2 n_tc / (|t| + |c|): R = Phi / k_true, P = Phi / k_pred (Luo 2005).

    Phi is the largest sum of phi_4 over one-to-one maps. Cost O(k^3) where k clusters hang together.

    >>> ceaf_entity([0, 0, 1, 1], [0, 0, 0, 0])
    Scores(precision=0.6666666666666666, recall=0.3333333333333333, f1=0.4444444444444444)
    """
    return ceaf_entity_fractions(y_true, y_pred).scores(0.0)


def lea_fractions(y_true: LabelsLike, y_pred: LabelsLike) -> Fractions:
    """Sizes times resolved links, over sizes, both ways."""
    t, c, n, true_sizes, pred_sizes = _cells(y_true, y_pred)
    m = float(n.sum())
    recall_top = _resolved(n, true_sizes[t], pred_sizes[c])
    precision_top = _resolved(n, pred_sizes[c], true_sizes[t])
    return Fractions(precision_top, m, recall_top, m)


def _resolved(n: Ints, own: Ints, other: Ints) -> float:
    """sum over cells of |own| link(n) / link(own); a singleton's one self-link needs a singleton there."""
    links = n * (n - 1) / 2
    own_links = np.where(own == 1, 1.0, own * (own - 1) / 2)
    found = np.where(own == 1, (other == 1).astype(np.float64), links)
    return float((own * found / own_links).sum())


def lea(y_true: LabelsLike, y_pred: LabelsLike) -> Scores:
    """R = 1/m sum_t |t| sum_c link(n_tc) / link(|t|), link(n) = n(n-1)/2; P with the two exchanged.

    Moosavi and Strube 2016. A singleton has one self-link, found only where the other side has the same
    item as a singleton. Cost O(m log m).

    >>> lea([0, 0, 0, 1], [0, 0, 1, 2])
    Scores(precision=0.75, recall=0.5, f1=0.6)
    """
    return lea_fractions(y_true, y_pred).scores(0.0)
