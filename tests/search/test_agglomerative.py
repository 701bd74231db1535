"""Agglomerative clustering that stops at zero, against enumeration and plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.data import PairScores
from clustruct.search.agglomerative import LINKAGES, WeightedLinks, left_links, single_link
from tests.reference import agglomerative as slow

SEEDS = st.integers(0, 10**6)


def scores(seed: int, m: int, listed: bool) -> PairScores:
    """Random scores, of all pairs or of a random half of them in any order."""
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(m, m))
    K = K + K.T
    if not listed:
        return PairScores(m, matrix=K)
    index = np.argwhere(np.triu(rng.random((m, m)) < 0.5, 1))
    index = rng.permutation(index)
    return PairScores(m, index=index, values=K[index[:, 0], index[:, 1]])


def as_dict(s: PairScores) -> slow.Scores:
    listed = s.list_pairs()
    return {(int(a), int(b)): float(v) for (a, b), v in zip(listed.index, listed.values, strict=True)}


def pairs_of(links: WeightedLinks) -> list[slow.Pair]:
    return [(int(a), int(b)) for a, b in links.index]


@pytest.mark.parametrize("listed", [False, True])
@given(seed=SEEDS, m=st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_single_link_is_the_best_forest(listed, seed, m):
    s = scores(seed, m, listed)
    known = as_dict(s)
    best = max(slow.total(known, forest) for forest in slow.all_forests(m, list(known)))
    found = single_link(s)
    assert found.score(s) == pytest.approx(best)
    assert found.labels.tolist() == slow.pieces(m, [p for p, v in known.items() if v >= 0.0])


@pytest.mark.parametrize("listed", [False, True])
@given(seed=SEEDS, m=st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_left_links_are_the_best_choice_for_every_item(listed, seed, m):
    s = scores(seed, m, listed)
    known = as_dict(s)
    best = max(slow.total(known, links) for links in slow.all_left_links(m, list(known)))
    assert left_links(s).score(s) == pytest.approx(best)


@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
@pytest.mark.parametrize("listed", [False, True])
@given(seed=SEEDS, m=st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_merges_are_those_of_plain_loops(linkage, listed, seed, m):
    s = scores(seed, m, listed)
    merges = slow.agglomerate(m, as_dict(s), linkage)
    assert LINKAGES[linkage](s).labels.tolist() == slow.labels_after(m, merges)


@pytest.mark.parametrize("listed", [False, True])
@given(seed=SEEDS, m=st.integers(1, 10))
@settings(max_examples=30, deadline=None)
def test_score_of_average_link_sums_the_means_of_its_merges(listed, seed, m):
    s = scores(seed, m, listed)
    known = as_dict(s)
    for linkage, value in (("average", np.mean), ("complete", np.min)):
        merges = slow.agglomerate(m, known, linkage)
        wanted = sum(float(value(slow.between(known, *merge))) for merge in merges)
        assert LINKAGES[linkage](s).score(s) == pytest.approx(wanted)


@pytest.mark.parametrize("listed", [False, True])
@given(seed=SEEDS, m=st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_links_within_labels_span_them_and_score_most(listed, seed, m):
    s = scores(seed, m, listed)
    known = as_dict(s)
    truth = np.random.default_rng(seed).integers(0, 3, m)
    inside = [(a, b) for a, b in known if truth[a] == truth[b]]
    n = slow.n_true_links(truth, known)
    spanning = [f for f in slow.all_forests(m, inside) if len(f) == n]
    found = single_link(s, within=truth)
    assert found.score(s) == pytest.approx(max(slow.total(known, f) for f in spanning))
    for linkage, link in LINKAGES.items():
        if linkage != "left" or not listed:  # an item takes one earlier item, which may not reach the others
            assert link(s, within=truth).labels.tolist() == slow.pieces(m, inside), linkage
    left = left_links(s, within=truth)
    best = {b: max(known[p] for p in inside if p[1] == b) for _, b in inside}
    assert left.score(s) == pytest.approx(sum(best.values()))


def test_matrix_and_list_of_all_pairs_are_one():
    s = scores(3, 30, listed=False)
    for linkage, link in LINKAGES.items():
        assert link(s).same_as(link(s.list_pairs())), linkage


def test_a_score_of_zero_joins_by_single_link_and_not_to_the_left():
    K = np.zeros((3, 3))
    assert single_link(K).labels.tolist() == [0, 0, 0]
    assert left_links(K).labels.tolist() == [0, 1, 2]


def test_unlisted_pairs_join_nothing():
    s = PairScores(4, index=np.array([[0, 1], [2, 3]]), values=np.array([1.0, 2.0]))
    for linkage, link in LINKAGES.items():
        assert link(s).labels.tolist() == [0, 0, 1, 1], linkage


def test_links_follow_a_permutation_of_the_items():
    s, order = scores(5, 25, listed=False), np.random.default_rng(5).permutation(25)
    mixed = PairScores(25, matrix=s.matrix[np.ix_(order, order)])
    for linkage in ("single", "average", "complete"):
        one, other = LINKAGES[linkage](s).labels[order], LINKAGES[linkage](mixed).labels
        assert ((one[:, None] == one) == (other[:, None] == other)).all()


def test_gains_are_added_to_what_a_merge_scores():
    K = np.array([[0.0, -1.0, -1.0], [-1.0, 0.0, -1.0], [-1.0, -1.0, 0.0]])
    gains = np.array([3.0, 0.0, 0.0])  # of the pair 0, 1
    for linkage in ("average", "complete"):
        assert LINKAGES[linkage](K, gains=gains).labels.tolist() == [0, 0, 1]
