"""Groups by scores: what is known of items holds exactly, bounds and doubts beside it."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

from clustruct.data import Evidence, GroupingOptions, PairScores
from clustruct.learning import group_scores
from clustruct.search.oracles import make_predictor
from tests.reference.partitions import all_partitions

SEARCH = make_predictor("local_search", "correlation", random_state=0)


def drawn(seed, m=6):
    """Scores, and evidence that goes together, with the clusters that it was drawn from."""
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(m, m))
    truth = rng.integers(0, 3, m)
    pairs = [p for p in combinations(range(m), 2) if rng.random() < 0.2]
    same = [p for p in pairs if truth[p[0]] == truth[p[1]]]
    different = [p for p in pairs if truth[p[0]] != truth[p[1]]]
    labels = np.where(rng.random(m) < 0.3, truth, -1) if seed % 2 else None
    whole = np.flatnonzero(truth == 0) if seed % 3 == 0 else []
    same += [(a, b) for a, b in pairwise(whole)]
    known = Evidence.of_pairs(m, same, different, labels=labels, complete=whole)
    return PairScores(m, matrix=np.triu(K, 1) + np.triu(K, 1).T), known


def holds(known, y, sources=None):
    """Whether pieces are whole, and nothing is together that is known to differ."""
    pairs = np.array(list(combinations(range(len(y)), 2)))
    a, b = pairs.T
    one_piece = (known.piece[a] == known.piece[b]) & (known.piece[a] >= 0)
    together = y[a] == y[b]
    apart = known.judges(pairs) & ~one_piece
    if sources is not None:
        apart |= (sources[a] == sources[b]) & ~one_piece
    return bool(together[one_piece].all() and not together[apart].any())


def value(K, y):
    return K[np.triu(y[:, None] == y, 1)].sum()


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("with_sources", [False, True])
def test_evidence_holds_and_costs_little(listed, with_sources):
    short = 0.0
    for seed in range(30):
        scores, known = drawn(seed)
        K, m = scores.matrix, scores.n_items
        sources = np.random.default_rng(seed).integers(0, 4, m) if with_sources else None
        given = scores.list_pairs() if listed else scores
        given = replace(given, sources=sources)
        y = group_scores(given, SEARCH, known).labels
        assert holds(known, y, sources)
        able = [value(K, p) for p in map(np.asarray, all_partitions(m)) if holds(known, p, sources)]
        short += max(able) - value(K, y)
        assert value(K, y) <= max(able) + 1e-9
    assert short < 0.5 * 30


@pytest.mark.parametrize("seed", range(12))
def test_bounds_and_evidence_hold_together(seed):
    scores, known = drawn(seed)
    n_most = max(2, int(np.bincount(known.piece[known.piece >= 0], minlength=1).max()))
    found = group_scores(scores, SEARCH, known, GroupingOptions(max_size=n_most, min_groups=2))
    assert holds(known, found.labels)
    assert np.bincount(found.labels).max() <= n_most
    assert found.n_groups >= 2
    assert found.options.max_size == n_most
    assert found.search == "local_search"


def test_doubtful_items_stay_alone_unless_they_are_known_to_be_with_others():
    scores = PairScores(4, matrix=np.ones((4, 4)) - np.eye(4))
    sure = np.array([0.9, 0.4, 0.3, 0.2])
    found = group_scores(
        scores,
        SEARCH,
        Evidence.of_pairs(4, same=[(0, 3)]),
        GroupingOptions(reject_below=0.5),
        item_probabilities=lambda scores, labels: sure,
    )
    assert found.labels.tolist() == [0, 1, 2, 0]
    assert found.rejected.tolist() == [False, True, True, False]
    assert found.is_probability
    with pytest.raises(ValueError, match="probabilities"):
        group_scores(scores, SEARCH, options=GroupingOptions(reject_below=0.5))


def test_evidence_that_rules_nothing_out_changes_nothing():
    scores, _ = drawn(3)
    plain = group_scores(scores, SEARCH)
    unsure = group_scores(scores, SEARCH, Evidence.of_pairs(6, unsure=[(0, 1)]))
    np.testing.assert_array_equal(plain.labels, unsure.labels)


@pytest.mark.parametrize(("name", "objective"), [("iterative", "kmeans"), ("single", "links")])
def test_other_searches_take_no_evidence_and_no_bounds(name, objective):
    scores, _ = drawn(3)
    search = make_predictor(name, objective)
    with pytest.raises(ValueError, match="evidence"):
        group_scores(scores, search, Evidence.of_pairs(6, same=[(0, 1)]), n_clusters=2)
    with pytest.raises(ValueError, match="bounds"):
        group_scores(scores, search, options=GroupingOptions(max_size=2), n_clusters=2)
