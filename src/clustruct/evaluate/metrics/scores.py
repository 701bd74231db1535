"""Scores of predicted partitions: of pairs, of coreference, from information theory, by best matching.

Write t for true (key) clusters, c for predicted (response) clusters, n_tc = |t n c|. The coreference scores
are those of the CoNLL reference scorer (Pradhan et al. 2014), and for LEA those of Moosavi and Strube 2016.
As the two partitions cover the same items, items missing from one side need no rule. Singletons are kept:
they are clusters of one item. A fraction 0/0 counts as `zero_division`, in coreference 0 as in the scorer.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, rand_score

from clustruct.core.partitions import canonical_labels, contingency
from clustruct.core.typing import Bools, Floats, Ints, Labels, LabelsLike
from clustruct.losses import best_matching

Average = Literal["arithmetic", "geometric", "min", "max"]


class Scores(NamedTuple):
    """Precision P, recall R and f1 = 2PR/(P+R), 0 where P + R = 0."""

    precision: float
    recall: float
    f1: float


class Fractions(NamedTuple):
    """Numerators and denominators of precision and recall.

    Their sums over item sets give the pooled (micro) scores, as the CoNLL scorer pools documents.

    Examples
    --------
    >>> one, other = Fractions(1, 2, 1, 2), Fractions(2, 2, 2, 2)
    >>> one.pooled_with(other).scores(zero_division=0.0)
    Scores(precision=0.75, recall=0.75, f1=0.75)
    """

    precision_top: float
    precision_bottom: float
    recall_top: float
    recall_bottom: float

    def pooled_with(self, other: "Fractions") -> "Fractions":
        """Numerators and denominators added."""
        return Fractions(*(a + b for a, b in zip(self, other, strict=True)))

    def scores(self, zero_division: float) -> Scores:
        """The scores; a fraction 0/0 counts as `zero_division`."""
        P = self.precision_top / self.precision_bottom if self.precision_bottom else zero_division
        R = self.recall_top / self.recall_bottom if self.recall_bottom else zero_division
        return Scores(P, R, 2 * P * R / (P + R) if P + R > 0 else 0.0)


def pairwise_fractions(y_true: LabelsLike, y_pred: LabelsLike) -> Fractions:
    """Pairs together in both, over pairs together in the prediction and in the truth."""
    table = contingency(y_true, y_pred)
    both = _pairs(np.asarray(table.data))
    return Fractions(both, _pairs(np.asarray(table.sum(axis=0))), both, _pairs(np.asarray(table.sum(axis=1))))


def _pairs(counts: Ints) -> float:
    return float((counts * (counts - 1) // 2).sum())


def pairwise_scores(y_true: LabelsLike, y_pred: LabelsLike, *, zero_division: float = 1.0) -> Scores:
    """P = |together in both| / |together in y_pred|, R = |together in both| / |together in y_true|.

    Pairs a < b. Where no pair is together P (or R) is 0/0 and counts as `zero_division`: 1, so that
    all singletons predicted for all singletons score 1. Cost O(m log m).

    Examples
    --------
    >>> pairwise_scores([0, 0, 0, 1], [0, 0, 1, 1])
    Scores(precision=0.5, recall=0.3333333333333333, f1=0.4)
    """
    return pairwise_fractions(y_true, y_pred).scores(zero_division)


def rand_index(y_true: LabelsLike, y_pred: LabelsLike) -> float:
    """Share of pairs on which the two partitions agree (scikit-learn's `rand_score`); 1 for one item.

    Examples
    --------
    >>> rand_index([0, 0, 1], [0, 0, 0]) == 1 / 3
    True
    """
    return float(rand_score(*_canonical(y_true, y_pred)))


def adjusted_rand_index(y_true: LabelsLike, y_pred: LabelsLike) -> float:
    """Rand index corrected for chance (Hubert and Arabie 1985; scikit-learn's `adjusted_rand_score`).

    Examples
    --------
    >>> adjusted_rand_index([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return float(adjusted_rand_score(*_canonical(y_true, y_pred)))


def _canonical(y_true: LabelsLike, y_pred: LabelsLike) -> tuple[Labels, Labels]:
    truth = canonical_labels(y_true, name="y_true")
    return truth, canonical_labels(y_pred, n_items=truth.size, name="y_pred")


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

    Examples
    --------
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

    Examples
    --------
    >>> b_cubed([0, 0, 1, 1], [0, 0, 0, 0])
    Scores(precision=0.5, recall=1.0, f1=0.6666666666666666)
    """
    return b_cubed_fractions(y_true, y_pred).scores(0.0)


def ceaf_mention_fractions(y_true: LabelsLike, y_pred: LabelsLike) -> Fractions:
    """Items in matched clusters, over all items, both ways."""
    table = contingency(y_true, y_pred)
    aligned, m = best_matching(table), float(table.sum())
    return Fractions(aligned, m, aligned, m)


def ceaf_mention(y_true: LabelsLike, y_pred: LabelsLike) -> Scores:
    """CEAF with phi_3(t, c) = n_tc: P = R = 1/m max over one-to-one maps g of sum_t n_{t,g(t)} (Luo 2005).

    Cost O(k^3) for the k clusters that hang together.

    Examples
    --------
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

    Examples
    --------
    >>> ceaf_entity([0, 0, 1, 1], [0, 0, 0, 0])
    Scores(precision=0.6666666666666666, recall=0.3333333333333333, f1=0.4444444444444444)
    """
    return ceaf_entity_fractions(y_true, y_pred).scores(0.0)


def lea_fractions(y_true: LabelsLike, y_pred: LabelsLike) -> Fractions:
    """Sizes times resolved links, over sizes, both ways."""
    t, c, n, true_sizes, pred_sizes = _cells(y_true, y_pred)
    m = float(n.sum())
    recall_top = _link_share(n, true_sizes[t], pred_sizes[c])
    precision_top = _link_share(n, pred_sizes[c], true_sizes[t])
    return Fractions(precision_top, m, recall_top, m)


def _link_share(n: Ints, own: Ints, other: Ints) -> float:
    """sum over cells of |own| link(n) / link(own); a singleton's one self-link needs a singleton there."""
    links = n * (n - 1) / 2
    own_links = np.where(own == 1, 1.0, own * (own - 1) / 2)
    found = np.where(own == 1, (other == 1).astype(np.float64), links)
    return float((own * found / own_links).sum())


def lea(y_true: LabelsLike, y_pred: LabelsLike) -> Scores:
    """R = 1/m sum_t |t| sum_c link(n_tc) / link(|t|), link(n) = n(n-1)/2; P with the two exchanged.

    Moosavi and Strube 2016. A singleton has one self-link, found only where the other side has the same
    item as a singleton. Cost O(m log m).

    Examples
    --------
    >>> lea([0, 0, 0, 1], [0, 0, 1, 2])
    Scores(precision=0.75, recall=0.5, f1=0.6)
    """
    return lea_fractions(y_true, y_pred).scores(0.0)


def variation_of_information(y_true: LabelsLike, y_pred: LabelsLike) -> float:
    """VI = H(y | ybar) + H(ybar | y) = -1/m sum_tc n_tc (log n_tc/|t| + log n_tc/|c|), in nats.

    A metric on partitions, 0 where they are equal, at most log m (Meila 2007). Cost O(m log m).

    Examples
    --------
    >>> round(variation_of_information([0, 0, 1, 1], [0, 0, 0, 0]), 4)
    0.6931
    """
    t, c, n, true_sizes, pred_sizes = _cells(y_true, y_pred)
    logs = np.log(n / true_sizes[t]) + np.log(n / pred_sizes[c])
    return max(0.0, -float((n * logs).sum()) / max(float(n.sum()), 1.0))


def normalized_mutual_information(
    y_true: LabelsLike, y_pred: LabelsLike, *, average: Average = "arithmetic"
) -> float:
    """NMI = I(y; ybar) / mean(H(y), H(ybar)), the mean being arithmetic unless `average` says otherwise.

    scikit-learn's `normalized_mutual_info_score`. Strehl and Ghosh 2002 and the Universum paper use
    the geometric mean: pass `average="geometric"`. 1 where both partitions have a single cluster.

    Examples
    --------
    >>> round(normalized_mutual_information([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8
    """
    return float(normalized_mutual_info_score(*_canonical(y_true, y_pred), average_method=average))


def matched_accuracy(y_true: LabelsLike, y_pred: LabelsLike) -> float:
    """1/m max over one-to-one maps g of sum_t n_{t,g(t)} (Hungarian method). O(k^3).

    Examples
    --------
    >>> matched_accuracy([0, 0, 1, 1], [1, 1, 1, 0])
    0.75
    """
    table = contingency(y_true, y_pred)
    if table.shape[0] == 0:
        raise ValueError("y_true is empty; accuracy needs at least one item")
    return best_matching(table) / float(table.sum())


def calibration_error(
    truth: ArrayLike, probability: ArrayLike, *, bins: int = 10, between: tuple[float, float] = (0.0, 1.0)
) -> float:
    """Mean over bins of equally many cases of |mean probability - share that is true|; nan without cases.

    Only cases with a probability strictly between the two bounds count. With n cases in all, chance alone
    gives about 0.4 sqrt(bins / n) where probabilities are near 1/2.

    Examples
    --------
    >>> calibration_error([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75], bins=2)
    0.25
    """
    y, p = _cases(truth, probability)
    inside = (p > between[0]) & (p < between[1]) if between != (0.0, 1.0) else np.ones(len(p), np.bool_)
    y, p = y[inside], p[inside]
    if not len(p):
        return float("nan")
    parts = np.array_split(np.argsort(p, kind="stable"), min(bins, len(p)))
    return float(sum(abs(p[part].sum() - y[part].sum()) for part in parts) / len(p))


def brier_skill(truth: ArrayLike, probability: ArrayLike) -> float:
    """1 - (mean squared error of the probabilities) / (that of the share that is true, for every case).

    1 is best; 0 is no better than to know the share. nan where all cases are alike.

    Examples
    --------
    >>> brier_skill([0, 1], [0.0, 1.0]), brier_skill([0, 1], [0.5, 0.5])
    (1.0, 0.0)
    """
    y, p = _cases(truth, probability)
    share = y.mean() if len(y) else 0.0
    if not 0.0 < share < 1.0:
        return float("nan")
    return float(1.0 - np.mean((p - y) ** 2) / (share * (1.0 - share)))


def _cases(truth: ArrayLike, probability: ArrayLike) -> tuple[Bools, Floats]:
    y, p = np.asarray(truth, np.bool_), np.asarray(probability, np.float64)
    if y.shape != p.shape or y.ndim != 1:
        raise ValueError(f"truth of shape {y.shape} does not fit probabilities of shape {p.shape}")
    if len(p) and not ((p >= 0.0) & (p <= 1.0)).all():
        raise ValueError("probabilities lie between 0 and 1")
    return y, p
