"""New items for known groups, against every partition that keeps the groups as they are."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.data import Evidence, PairScores, all_pairs
from clustruct.groups import assign
from clustruct.search.correlation import constrained
from tests.reference.correlation import allowed, objective
from tests.reference.partitions import all_partitions

M = 7


def listed(K, keep=None):
    """The pairs of a matrix that are kept (all by default), as scores."""
    index = all_pairs(len(K))
    index = index if keep is None else index[keep(index)]
    return PairScores(len(K), index=index, values=K[index[:, 0], index[:, 1]])


def matrix(rng, m=M):
    K = np.triu(rng.normal(size=(m, m)).round(2), 1)
    return K + K.T


def keeps(labels, groups):
    """Are the known groups whole, and apart from each other?"""
    old = [a for a, g in enumerate(groups) if g >= 0]
    return all((labels[a] == labels[b]) == (groups[a] == groups[b]) for a in old for b in old)


def best(K, groups, must=(), cannot=()):
    values = [
        objective(K, y) for y in all_partitions(len(K)) if keeps(y, groups) and allowed(y, must, cannot)
    ]
    return max(values)


GROUPS = [
    [0, 0, 1, 2, -1, -1, -1],
    [0, 1, 2, 3, -1, -1, -1],
    [-1, 0, -1, 1, -1, 0, -1],
    [0, -1, -1, -1, -1, -1, -1],
    [-1] * 7,
    [0, 0, 1, 1, 2, 2, -1],
]


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("seed", range(12))
def test_no_partition_that_keeps_the_groups_is_better(groups, seed):
    K = matrix(np.random.default_rng(seed))
    found = assign(listed(K), groups).labels
    assert keeps(found, groups)
    assert objective(K, found) == pytest.approx(best(K, groups))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(GROUPS), st.data())
def test_constraints_on_new_items_hold_exactly(seed, groups, data):
    K = matrix(np.random.default_rng(seed))
    new = [a for a, g in enumerate(groups) if g < 0]
    pair = st.tuples(st.sampled_from(new), st.integers(0, M - 1)).filter(lambda p: p[0] != p[1])
    cannot = data.draw(st.lists(pair, max_size=3))
    found = assign(listed(K), groups, evidence=Evidence.of_pairs(len(K), (), cannot)).labels
    assert allowed(found, (), cannot)
    assert keeps(found, groups)
    assert objective(K, found) == pytest.approx(best(K, groups, (), cannot))


def test_the_best_is_found_where_annealing_misses_it(monkeypatch):
    K, groups, cannot = matrix(np.random.default_rng(170)), [0, *[-1] * 6], [(1, 2), (1, 3)]
    assert objective(
        K, assign(listed(K), groups, evidence=Evidence.of_pairs(len(K), (), cannot)).labels
    ) == pytest.approx(10.18)
    monkeypatch.setattr(constrained, "STEPS", 0)
    assert objective(
        K, assign(listed(K), groups, evidence=Evidence.of_pairs(len(K), (), cannot)).labels
    ) == pytest.approx(8.65)


def apart_at_random(rng, m, n_pairs):
    pairs = rng.integers(2, m, (10 * n_pairs, 2))
    return [(int(a), int(b)) for a, b in pairs if a != b][:n_pairs]


@pytest.mark.parametrize(("m", "exact"), [(10, True), (14, True), (20, False), (40, False)])
def test_branch_and_bound_never_lowers_the_score(m, exact, monkeypatch):
    better = 0
    for seed in range(40):
        rng = np.random.default_rng([m, seed])
        K, groups, cannot = matrix(rng, m), [0, 1, *[-1] * (m - 2)], apart_at_random(rng, m, 4)
        found = [assign(listed(K), groups, evidence=Evidence.of_pairs(len(K), (), cannot)).labels]
        if exact:  # nothing better in a hundred times the steps
            monkeypatch.setattr(constrained, "STEPS_OF_COMPONENT", 2_000_000)
            found.append(assign(listed(K), groups, evidence=Evidence.of_pairs(len(K), (), cannot)).labels)
            assert found[0].tolist() == found[1].tolist()
        monkeypatch.setattr(constrained, "STEPS", 0)
        annealed = assign(listed(K), groups, evidence=Evidence.of_pairs(len(K), (), cannot)).labels
        monkeypatch.undo()
        assert allowed(found[0], (), cannot)
        assert keeps(found[0], groups)
        gain = objective(K, found[0]) - objective(K, annealed)
        assert gain > -1e-9
        better += gain > 1e-9
    # Of a component beyond the limit the annealed answer stays.
    assert better > 0 if m <= constrained.SMALL else better == 0


@pytest.mark.parametrize("seed", range(10))
def test_many_small_components_are_each_solved(seed):
    rng = np.random.default_rng(seed)
    K, n = np.full((60, 60), -0.5), 6
    cannot, expected = [], 0.0
    for at in range(0, 60, n):
        own = matrix(rng, n)
        K[at : at + n, at : at + n] = own
        cannot.append((at + 1, at + 3))
        expected += best(own, [0, *[-1] * (n - 1)], (), [(1, 3)])
    np.fill_diagonal(K, 0.0)
    groups = [a // n if a % n == 0 else -1 for a in range(60)]
    found = assign(listed(K), groups, evidence=Evidence.of_pairs(len(K), (), cannot)).labels
    assert allowed(found, (), cannot)
    assert keeps(found, groups)
    assert objective(K, found) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("n_anchors", [0, 2, 4])
def test_branch_and_bound_equals_brute_force(seed, n_anchors):
    from clustruct.search._kernels.anchored import branch_and_bound

    rng = np.random.default_rng(seed)
    K, groups = matrix(rng, 6), [*range(n_anchors), *[-1] * (6 - n_anchors)]
    cannot = [(a, b) for a, b in [(0, 3), (2, 5)] if b >= n_anchors]
    barred = K.copy()
    for a, b in cannot:
        barred[a, b] = barred[b, a] = -np.inf
    labels, top = np.full(6, -1), best(K, groups, (), cannot)
    # Anchors score nothing with each other, whatever stands there.
    assert branch_and_bound(barred, n_anchors, top - 0.001, 0.0, 10**6, labels)[0]
    assert objective(K, labels) == pytest.approx(top)
    assert allowed(labels, (), cannot)
    better, steps = branch_and_bound(barred, n_anchors, top, 1e-9, 10**6, labels)
    assert not better
    assert steps < 10**6


@pytest.mark.parametrize("seed", range(20))
def test_a_must_link_joins_what_it_names(seed):
    K, groups = matrix(np.random.default_rng(seed)), [0, 0, 1, 2, -1, -1, -1]
    found = assign(listed(K), groups, evidence=Evidence.of_pairs(M, [(4, 2), (5, 6)])).labels
    assert objective(K, found) == pytest.approx(best(K, groups, [(4, 2), (5, 6)]))
    # Two known groups that people call the same are one.
    joined = assign(listed(K), groups, evidence=Evidence.of_pairs(M, [(0, 3)])).labels
    assert objective(K, joined) == pytest.approx(best(K, [0, 0, 1, 0, -1, -1, -1]))


def test_of_two_items_that_differ_the_one_with_weaker_ties_leaves_its_group():
    K = np.zeros((5, 5))
    K[0, 1] = K[1, 2] = K[0, 2] = 2.0
    K[2, 3] = K[1, 3] = K[0, 3] = 1.0
    K[3, 4] = 3.0
    K += K.T
    groups = [0, 0, 0, 0, -1]
    found = assign(listed(K), groups, evidence=Evidence.of_pairs(5, (), [(0, 3)]))
    assert found.freed == (3,)
    assert found.labels.tolist() == [0, 0, 0, 1, 1]
    # Without scores of old pairs the later one leaves, and takes along what must be with it.
    bare = assign(
        PairScores(5, index=np.zeros((0, 2), int), values=np.zeros(0)),
        groups,
        evidence=Evidence.of_pairs(5, (), [(0, 3)]),
    )
    assert bare.freed == (3,)
    tied = assign(listed(0 * K), groups, evidence=Evidence.of_pairs(5, [(2, 3)], [(0, 3)]))
    assert tied.freed == (0,)
    assert tied.labels[2] == tied.labels[3] != tied.labels[0]


def mixed_group(rng):
    """A group of 7 and 5 of two kinds, and a strange one of 4, with noisy scores; one clash of the kinds."""
    kinds = np.repeat([0, 1, 2], [7, 5, 4])
    K = np.triu(np.where(np.equal.outer(kinds, kinds), 3.0, -3.0) + rng.normal(0, 4.0, (16, 16)), 1)
    return K + K.T, np.where(kinds == 2, 1, 0), (int(rng.integers(7)), 7 + int(rng.integers(5)))


@pytest.mark.parametrize("seed", range(60))
def test_a_mixed_group_is_cut_where_that_scores_more_than_one_item_leaving(seed):
    K, groups, clash = mixed_group(np.random.default_rng(seed))
    found = assign(listed(K), groups, evidence=Evidence.of_pairs(16, (), [clash]))
    assert found.labels[clash[0]] != found.labels[clash[1]]
    alone = []
    weaker = min(clash, key=lambda item: K[item, :12].sum())
    for place in (0, 1, 2):
        labels = groups.copy()
        labels[weaker] = 2 if place == groups[weaker] else place
        alone.append(objective(K, labels))
    assert objective(K, found.labels) >= max(alone) - 1e-9


def test_a_different_between_two_kinds_parts_them():
    """Defect 9: one row alone left, and its mates stayed behind."""
    for seed in range(10):
        K, groups, clash = mixed_group(np.random.default_rng(seed))
        kinds = np.repeat([0, 1, 2], [7, 5, 4])
        K = np.where(np.equal.outer(kinds, kinds), np.abs(K), -np.abs(K))
        found = assign(listed(K), groups, evidence=Evidence.of_pairs(16, (), [clash]))
        assert found.labels.tolist() == kinds.tolist()
        assert found.freed == (7, 8, 9, 10, 11)


def test_only_what_differs_is_parted():
    """A third kind stays with the side it scores better with, and its split is proposed."""
    kinds = np.repeat([0, 1, 2], [5, 3, 2])
    K = np.where(np.equal.outer(kinds, kinds), 5.0, -2.0)
    K[np.ix_(kinds == 1, kinds == 2)] = K[np.ix_(kinds == 2, kinds == 1)] = -4.0
    np.fill_diagonal(K, 0.0)
    found = assign(listed(K), [0] * 10, evidence=Evidence.of_pairs(10, (), [(0, 5)]))
    assert found.labels.tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 0, 0]
    assert [p.parts for p in found.proposals] == [((0, 1, 2, 3, 4), (8, 9))]
    # What people have said of the others holds for the parts, too.
    for more in ([(8, 0)], [(8, 5)], [(8, 0), (8, 5)], [(1, 6), (9, 2)]):
        found = assign(listed(K), [0] * 10, evidence=Evidence.of_pairs(10, (), [(0, 5), *more])).labels
        assert allowed(found, (), [(0, 5), *more])
        assert found[:5].tolist() == [0] * 5
        assert found[5] == found[6] == found[7] == 1


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="complete groups do not go with new items"):
        assign(listed(np.zeros((3, 3))), [-1] * 3, evidence=Evidence.of_pairs(3, [(0, 1)], complete=[0]))
    with pytest.raises(ValueError, match="groups must be 3 whole numbers"):
        assign(listed(np.zeros((3, 3))), [0, 1])
    with pytest.raises(ValueError, match="the score of items 0 and 1 is nan"):
        assign(listed(np.full((2, 2), np.nan)), [0, 1])


@pytest.mark.parametrize("seed", range(15))
def test_merges_are_proposed_with_what_they_gain(seed):
    K, groups = matrix(np.random.default_rng(seed)) + 0.3, [0, 0, 1, 2, -1, -1, -1]
    np.fill_diagonal(K, 0.0)
    found = assign(listed(K), groups)
    before = objective(K, found.labels)
    for proposal in [p for p in found.proposals if p.kind == "merge"]:
        names = {found.labels[groups.index(g)] for g in proposal.groups}
        after = [min(names) if y in names else y for y in found.labels]
        # A merge may take new groups along; it gains no less than its known groups alone.
        assert proposal.gain > 0
        if len(set(found.labels.tolist())) == len(names):
            assert objective(K, after) - before == pytest.approx(proposal.gain)
    names = [found.labels[groups.index(g)] for g in range(3)]
    for g, h in [(0, 1), (0, 2), (1, 2)]:
        after = [names[g] if y == names[h] else y for y in found.labels]
        if objective(K, after) > before + 1e-9:
            assert any({g, h} & set(p.groups) for p in found.proposals if p.kind == "merge")


def test_splits_are_proposed_where_pairs_of_the_group_are_listed():
    K = np.array([[0, 2, -3, 1], [2, 0, -3, 1], [-3, -3, 0, -1], [1, 1, -1, 0]], dtype=float)
    (split,) = assign(listed(K), [0, 0, 0, -1]).proposals
    assert (split.kind, split.groups, split.parts) == ("split", (0,), ((0, 1, 3), (2,)))
    assert split.gain == pytest.approx(7.0)
    only_new = listed(K, lambda index: (index == 3).any(axis=1))
    assert assign(only_new, [0, 0, 0, -1]).proposals == ()


@pytest.mark.parametrize("seed", range(20))
def test_revision_reaches_the_best_of_all_partitions(seed):
    K = matrix(np.random.default_rng(seed))
    found = assign(listed(K), [0, 0, 1, 2, -1, -1, -1], revise=True)
    assert objective(K, found.labels) == pytest.approx(best(K, [-1] * M))
    assert found.proposals == ()


@pytest.mark.parametrize("seed", range(10))
def test_confirmed_groups_are_neither_split_nor_merged_by_a_revision(seed):
    K = matrix(np.random.default_rng(seed))
    known = Evidence.of_labels(np.array([5, 5, 9, 9, -1, -1, -1]))
    found = assign(listed(K), [0, 0, 1, 1, 1, 2, -1], evidence=known, revise=True).labels
    assert objective(K, found) == pytest.approx(best(K, [0, 0, 1, 1, -1, -1, -1]))


@pytest.mark.parametrize("seed", range(10))
def test_a_group_without_listed_pairs_is_revised_as_a_whole(seed):
    K = matrix(np.random.default_rng(seed))
    K[:3, :3] = 0.0
    inside = lambda index: ~(index < 3).all(axis=1)  # noqa: E731
    found = assign(listed(K, inside), [0, 0, 0, 1, 2, -1, -1], revise=True).labels
    assert objective(K, found) == pytest.approx(best(K, [-1] * M, must=[(0, 1), (1, 2)]))


@pytest.mark.parametrize("seed", range(5))
def test_the_answer_does_not_depend_on_the_names_of_groups(seed):
    K = matrix(np.random.default_rng(seed))
    first = assign(listed(K), [0, 0, 1, 2, -1, -1, -1]).labels
    assert first.tolist() == assign(listed(K), [7, 7, 3, 5, -1, -1, -1]).labels.tolist()


def test_cost_goes_with_the_new_items():
    rng = np.random.default_rng(0)
    n_old, n_new = 300_000, 1_000
    groups = np.r_[np.arange(n_old) // 3, np.full(n_new, -1)]
    new = np.repeat(np.arange(n_old, n_old + n_new), 20)
    index = np.unique(np.column_stack([rng.integers(0, n_old, len(new)), new]), axis=0)
    scores = PairScores(len(groups), index=index, values=rng.normal(size=len(index)))
    assign(scores, groups)  # compiles
    start = time.process_time()
    found = assign(scores, groups).labels
    assert time.process_time() - start < 2.0
    assert np.array_equal(found[:n_old], np.arange(n_old) // 3)


@pytest.mark.parametrize("seed", range(30))
def test_without_anchors_the_greedy_search_is_that_of_correlation_clustering(seed):
    from clustruct.core.partitions import canonical_labels
    from clustruct.search._kernels.anchored import merge_with_anchors
    from clustruct.search.correlation import greedy
    from clustruct.search.correlation.constrained import NodeGraph

    rng = np.random.default_rng(seed)
    K = matrix(rng, 25) * (rng.random((25, 25)) < 0.3)
    K = np.triu(K, 1) + np.triu(K, 1).T
    index = all_pairs(25)
    index = index[K[index[:, 0], index[:, 1]] != 0]
    free = np.zeros(25, bool)
    graph = NodeGraph.from_pairs(index[:, 0], index[:, 1], K[index[:, 0], index[:, 1]], free)
    assert canonical_labels(merge_with_anchors(*graph.csr, free)).tolist() == greedy(K).tolist()


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("seed", range(12))
def test_settled_items_stay_and_no_partition_that_keeps_them_is_better(groups, seed):
    """Known groups whose pairs are listed are free but for their settled items (here the first four)."""
    K, settled = matrix(np.random.default_rng(seed)), np.arange(M) < 4
    found = assign(listed(K), groups, revise=True, settled=settled).labels
    calm = np.where(settled, groups, -1)
    assert keeps(found, calm)
    # A local search from the kept groups: never worse than these, and at most the best that is allowed.
    assert best(K, groups) - 1e-9 <= objective(K, found) <= best(K, calm) + 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_all_settled_is_kept_and_none_is_revised(seed):
    K = matrix(np.random.default_rng(seed))
    for settled, revise in ((np.ones(M, bool), False), (np.zeros(M, bool), True)):
        found = assign(listed(K), GROUPS[0], revise=True, settled=settled)
        assert found.labels.tolist() == assign(listed(K), GROUPS[0], revise=revise).labels.tolist()


def test_merges_of_settled_groups_are_proposed_still():
    scores = PairScores(3, index=np.array([[0, 1], [0, 2], [1, 2]]), values=np.array([5.0, 1.0, 1.0]))
    found = assign(scores, [0, 1, -1], revise=True, settled=np.array([True, True, False]))
    assert [p.groups for p in found.proposals] == [(0, 1)]
    assert found.labels[0] != found.labels[1]
