"""The held-out figure: pairwise F with an interval that holds, also for few clusters."""

import numpy as np
import pytest

from clustruct.core.partitions import canonical_labels
from clustruct.core.storage import read, save
from clustruct.learning.model_selection import HeldOutF
from clustruct.learning.model_selection.held_out_f import interval
from clustruct.learning.problems.fold_losses import count_pairs, pairwise_f


def _population(rng):
    """Counts of 2000 clusters of 1 to 6 rows in a clustering with splits and wrong merges."""
    n = 2000
    truth = np.repeat(np.arange(n), rng.integers(1, 7, n))
    found = truth.copy()
    split = rng.random(len(truth)) < rng.choice([0.01, 0.03, 0.1])
    found[split] = n + np.arange(np.count_nonzero(split))
    for c in rng.permutation(n)[: int(n * rng.choice([0.0, 0.01, 0.05]))]:
        found[found == c] = rng.integers(n)
    return count_pairs(truth, canonical_labels(found), list(range(n)), True)


def _bootstrap(counts, rng):
    drawn = rng.integers(0, len(counts), (300, len(counts)))
    return np.quantile(pairwise_f(counts[drawn].sum(axis=1)), [0.05, 0.95])


def test_the_interval_holds_where_a_bootstrap_does_not():
    rng = np.random.default_rng(0)
    held, width, bootstrap = [], [], []
    for _ in range(30):
        counts = _population(rng)
        F = pairwise_f(counts.sum(axis=0)[None])[0]
        for k in (12, 30, 100):
            some = counts[rng.permutation(len(counts))[:k]]
            low, high = interval(some)
            other = _bootstrap(some, rng)
            held.append((low <= F <= high, other[0] <= F <= other[1]))
            width.append(high - low)
            bootstrap.append(other[1] - other[0])
    own, simple = np.mean(held, axis=0)
    assert own >= 0.85 > simple
    assert np.mean(width) < 1.5 * np.mean(bootstrap)


def test_no_error_among_few_clusters_is_no_proof():
    low, high = interval(np.ones((12, 3)))
    assert 0.9 < low < 0.97
    assert high == 1.0
    assert interval(np.ones((200, 3)))[0] > 0.99
    assert interval(np.ones((1, 3))) == (0.0, 1.0)


def test_large_clusters_that_are_wrong_as_a_whole_are_few_trials():
    """One cluster of 30 rows in twenty is cut in halves: twelve that were drawn often hold none of these."""
    whole, cut = [435.0, 435.0, 435.0], [210.0, 210.0, 435.0]
    rng = np.random.default_rng(0)
    F = pairwise_f(np.array([[0.95 * a + 0.05 * b for a, b in zip(whole, cut, strict=True)]]))[0]
    held = []
    for _ in range(200):
        low, high = interval(np.array([cut if wrong else whole for wrong in rng.random(12) < 0.05]))
        held.append(low <= F <= high)
    assert np.mean(held) >= 0.85


def test_links_that_may_be_wrong_widen_the_interval_downwards():
    counts = np.tile([3.0, 3.0, 3.0], (20, 1))
    doubtful = counts + [0.0, 1.0, 0.0]
    plain, both = HeldOutF.of(counts), HeldOutF.of(counts, doubtful)
    assert (both.f, both.high) == (plain.f, plain.high)
    assert both.low < plain.low
    assert both.low == pytest.approx(interval(doubtful)[0])


def test_no_true_pairs_make_no_figure():
    assert HeldOutF.of(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0]])) is None


def test_it_is_kept_in_files_and_reads_aloud(tmp_path):
    figure = HeldOutF(0.93, 0.88, 0.961, 40)
    save(tmp_path / "figure", figure)
    assert read(tmp_path / "figure", HeldOutF).object == figure
    assert str(figure) == "93.0 % (88.0 to 96.1 with 90 % confidence)"
    with pytest.raises(ValueError, match="does not fit"):
        HeldOutF(0.93, 0.95, 0.96, 40)
