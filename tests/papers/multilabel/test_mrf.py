"""Every search against enumeration by an obvious twin, the relaxations against the program as printed."""

import importlib.util
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from clustruct.papers.multilabel import mrf
from tests.reference import mrf as slow

SEARCHES = [mrf.greedy, mrf.loopy_bp, mrf.combine, mrf.exact]


def random_problem(seed, V, scale=1.0, edge_share=1.0):
    rng = np.random.default_rng(seed)
    pairwise = np.triu(rng.normal(size=(V, V)), 1) * (rng.random((V, V)) < edge_share)
    return scale * rng.normal(size=V), pairwise + pairwise.T


@pytest.mark.parametrize("V", [1, 2, 5, 8])
@pytest.mark.parametrize("seed", range(5))
def test_exact_is_the_best_of_all(V, seed):
    unary, pairwise = random_problem(seed, V)
    values = slow.all_values(unary, pairwise)
    found = mrf.exact(unary, pairwise)
    np.testing.assert_array_equal(found, slow.all_labelings(V)[values.argmax()])
    assert mrf.score(unary, pairwise, found) == pytest.approx(values.max())


def test_the_first_of_equal_labelings_counts():
    np.testing.assert_array_equal(mrf.exact([1.0, 1.0], [[0.0, -1.0], [0.0, 0.0]]), [1, 0])
    np.testing.assert_array_equal(mrf.exact(np.zeros(9), np.zeros((9, 9))), np.zeros(9))


@pytest.mark.parametrize("seed", range(20))
def test_greedy_does_what_it_says(seed):
    unary, pairwise = random_problem(seed, 7)
    np.testing.assert_array_equal(mrf.greedy(unary, pairwise), slow.greedy(unary, pairwise))


@pytest.mark.parametrize("damping", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_belief_propagation_is_max_product(seed, damping):
    unary, pairwise = random_problem(seed, 5)
    found = mrf.loopy_bp(unary, pairwise, damping=damping, max_iter=13, tol=0.0)
    np.testing.assert_array_equal(found, slow.loopy_bp(unary, pairwise, damping, 13))


@pytest.mark.parametrize("seed", range(10))
def test_belief_propagation_and_max_product_are_exact_on_trees(seed):
    rng = np.random.default_rng(seed)
    V = 7
    unary, pairwise = rng.normal(size=V), np.zeros((V, V))
    for v in range(1, V - 1):  # the last label stays alone: a forest
        u = rng.integers(0, v)
        pairwise[u, v] = pairwise[v, u] = 2 * rng.normal()
    best = slow.best_value(unary, pairwise)
    for search in (mrf.loopy_bp, mrf.max_product, mrf.exact):
        assert mrf.score(unary, pairwise, search(unary, pairwise)) == pytest.approx(best)


def test_a_cycle_is_refused():
    with pytest.raises(ValueError, match="cycle"):
        mrf.max_product(np.ones(3), np.ones((3, 3)))
    assert mrf.forest(4, [(0, 1), (1, 2), (2, 3), (3, 0)]) is None
    assert mrf.forest(4, [(3, 2)]) is not None


@pytest.mark.parametrize("seed", range(20))
def test_combine_is_the_better_of_both(seed):
    unary, pairwise = random_problem(seed, 8)
    values = [mrf.score(unary, pairwise, f(unary, pairwise)) for f in SEARCHES]
    assert values[2] == pytest.approx(max(values[:2]))
    assert values[2] <= values[3] + 1e-12


@pytest.mark.parametrize("search", [*SEARCHES, mrf.max_product])
def test_a_batch_is_its_problems_one_by_one(search):
    problems = [random_problem(seed, 6) for seed in range(12)]
    unary = np.array([u for u, _ in problems])
    pairwise = np.array([p for _, p in problems])
    if search is mrf.max_product:
        pairwise = np.array([np.diag(np.diag(p, 1), 1) for p in pairwise])
    before = unary.copy(), pairwise.copy()
    alone = [search(u, p) for u, p in zip(unary, pairwise, strict=True)]
    np.testing.assert_array_equal(search(unary, pairwise), alone)
    shared = [search(u, pairwise[0]) for u in unary]
    np.testing.assert_array_equal(search(unary, pairwise[0]), shared)
    upper = np.triu(pairwise[0], 1) + np.tril(np.full((6, 6), 99.0))
    np.testing.assert_array_equal(search(unary, upper), shared)
    np.testing.assert_array_equal(unary, before[0])
    np.testing.assert_array_equal(pairwise, before[1])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7))
def test_names_of_labels_do_not_matter(seed, V):
    unary, pairwise = random_problem(seed, V)
    order = np.random.default_rng(seed).permutation(V)
    for search in SEARCHES:
        renamed = search(unary[order], pairwise[np.ix_(order, order)])
        np.testing.assert_array_equal(renamed, search(unary, pairwise)[order])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_standard_form_keeps_every_value(seed, V):
    rng = np.random.default_rng(seed)
    nodes, edges = rng.normal(size=(V, 2)), rng.normal(size=(V, V, 2, 2))
    unary, pairwise, constant = mrf.standard_form(nodes, edges)
    for y in slow.all_labelings(V).astype(int):
        general = sum(nodes[u, y[u]] for u in range(V))
        general += sum(edges[u, v, y[u], y[v]] for u, v in combinations(range(V), 2))
        assert constant + mrf.score(unary, pairwise, y) == pytest.approx(general)
    batch = mrf.standard_form(nodes[None], edges[None])
    np.testing.assert_allclose(batch[0][0], unary)
    np.testing.assert_allclose(batch[1][0], pairwise)


@pytest.mark.parametrize("rho", [1.0, 0.9, 0.5, 0.0])
@pytest.mark.parametrize("seed", range(5))
def test_rho_oracles(seed, rho):
    unary, pairwise = random_problem(seed, 6)
    values = slow.all_values(unary, pairwise) + 3.0
    below = mrf.score(unary, pairwise, mrf.closest_below(unary, pairwise, rho, 3.0)) + 3.0
    above = mrf.score(unary, pairwise, mrf.closest_above(unary, pairwise, rho, 3.0)) + 3.0
    goal = rho * values.max()
    assert below == pytest.approx(values[values <= goal + 1e-12].max(initial=values.min()))
    assert above == pytest.approx(values[values >= goal - 1e-12].min())


def test_rho_oracle_where_everything_is_above():
    np.testing.assert_array_equal(mrf.closest_below([1.0], [[0.0]], 0.5, 100.0), [0])


@pytest.mark.parametrize("slack_scaling", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_most_violated_is_the_best_of_all(seed, slack_scaling):
    rng = np.random.default_rng(seed)
    unary, pairwise = random_problem(seed, 5)
    truth, sizes = rng.integers(0, 2, 5), np.sqrt(20.0 * np.arange(6))

    def need(y):
        size = sizes[int(np.abs(y - truth).sum())]
        gain = slow.value(unary, pairwise, y) - slow.value(unary, pairwise, truth)
        return size * (1 + gain) if slack_scaling else size + gain

    found = mrf.max_violation(unary, pairwise, truth, sizes, slack_scaling)
    assert need(found) == pytest.approx(max(need(y) for y in slow.all_labelings(5)))


def test_chow_liu_tree_has_the_most_information():
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 4)) < 0.4).astype(int)
    Y[:, 2] = Y[:, 0] ^ (rng.random(60) < 0.1)
    Y[:, 3] = Y[:, 2] & (rng.random(60) < 0.7)
    pairs = list(combinations(range(4), 2))
    trees = [t for t in combinations(pairs, 3) if mrf.forest(4, t) is not None]
    assert len(trees) == 16
    information = {p: mutual_info_score(Y[:, p[0]], Y[:, p[1]]) for p in pairs}
    best = max(sum(information[p] for p in t) for t in trees)
    found = [tuple(p) for p in mrf.chow_liu_edges(Y).tolist()]
    assert sum(information[p] for p in found) == pytest.approx(best)


def test_chow_liu_of_one_label_is_empty():
    assert mrf.chow_liu_edges(np.ones((4, 1))).shape == (0, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mrf.exact(np.zeros(21), np.zeros((21, 21))), "2\\^21"),
        (lambda: mrf.greedy(np.zeros((2, 2, 2)), np.zeros((2, 2))), "unary must have shape"),
        (lambda: mrf.greedy(np.zeros(3), np.zeros((2, 2))), "pairwise must have shape"),
        (lambda: mrf.greedy([np.nan], [[0.0]]), "finite"),
        (lambda: mrf.loopy_bp([1.0], [[0.0]], damping=1.0), "damping"),
        (lambda: mrf.closest_above([1.0], [[0.0]], rho=2.0), "rho"),
        (lambda: mrf.standard_form(np.zeros((3, 2)), np.zeros((2, 2, 2, 2))), "expected"),
        (lambda: mrf.chow_liu_edges([1.0, 0.0]), "rows and columns"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


SCALES = [0.3, 1.0, 3.0]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from(SCALES), st.sampled_from([1.0, 0.5]))
def test_equivalence(seed, V, scale, edge_share):
    unary, pairwise = random_problem(seed, V, scale, edge_share)
    cut, program = mrf.graph_cut(unary, pairwise), mrf.linear_program(unary, pairwise)
    best, optima = slow.relaxed_optima(unary, pairwise)
    assert cut.value(unary, pairwise) == pytest.approx(best, abs=1e-6)
    assert program.value(unary, pairwise) == pytest.approx(best, abs=1e-6)
    if len(optima) == 1:
        np.testing.assert_array_equal(cut.nodes, optima[0])
        np.testing.assert_array_equal(program.nodes, optima[0])
        np.testing.assert_array_equal(cut.edges, program.edges)


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1e-9, 1e-6, 1e6, 1e150])
def test_relaxations_do_not_depend_on_the_unit(unit):
    """The program stays above every labeling, and level with the cut, however small potentials are."""
    for seed in range(20):
        unary, pairwise = random_problem(seed, 6)
        best, _ = slow.relaxed_optima(unary, pairwise)
        nodes = mrf.linear_program(unary * unit, pairwise * unit).nodes
        assert slow.relaxed_value(unary, pairwise, nodes) == pytest.approx(best, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_equivalence_with_ties(seed, V):
    """Whole numbers make optima that are not unique: the cut decides what all optima agree on."""
    unary, pairwise = (np.round(part) for part in random_problem(seed, V, 2.0))
    cut = mrf.graph_cut(unary, pairwise)
    best, optima = slow.relaxed_optima(unary, pairwise)
    assert cut.value(unary, pairwise) == pytest.approx(best, abs=1e-9)
    decided = ~cut.is_undecided
    assert (optima[:, decided] == cut.nodes[decided]).all()
    assert mrf.linear_program(unary, pairwise).value(unary, pairwise) == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_the_program_is_the_printed_one(seed):
    unary, pairwise = random_problem(seed, 7)
    printed = slow.full_linear_program(unary, pairwise)
    assert mrf.linear_program(unary, pairwise).value(unary, pairwise) == pytest.approx(printed, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 7), st.sampled_from(SCALES))
def test_persistence(seed, V, scale):
    """A decided label has that value in every optimal labeling."""
    unary, pairwise = random_problem(seed, V, scale)
    values = slow.all_values(unary, pairwise)
    optimal = slow.all_labelings(V)[values > values.max() - 1e-9]
    cut = mrf.graph_cut(unary, pairwise)
    assert cut.value(unary, pairwise) >= values.max() - 1e-9
    assert (optimal[:, ~cut.is_undecided] == cut.nodes[~cut.is_undecided]).all()


@pytest.mark.parametrize("seed", range(5))
def test_attractive_fields_are_solved(seed):
    unary, pairwise = random_problem(seed, 12)
    found = mrf.graph_cut(unary, np.abs(pairwise))
    assert found.undecided_share == 0.0
    np.testing.assert_array_equal(found.nodes, mrf.exact(unary, np.abs(pairwise)))


@pytest.mark.parametrize("V", [10, 40])
def test_larger_fields(V):
    for seed in range(5):
        unary, pairwise = random_problem(seed, V, 3.0)
        cut, program = mrf.graph_cut(unary, pairwise), mrf.linear_program(unary, pairwise)
        assert cut.value(unary, pairwise) == pytest.approx(program.value(unary, pairwise), abs=1e-6)
        np.testing.assert_array_equal(cut.nodes, program.nodes)


@pytest.mark.skipif(importlib.util.find_spec("dwave") is None, reason="dwave-preprocessing is not installed")
@pytest.mark.parametrize("V", [1, 6, 14, 60])
def test_own_flow_decides_what_dwave_decides(V):
    for seed in range(10):
        unary, pairwise = random_problem(seed, V, np.sqrt(V))
        np.testing.assert_array_equal(mrf.graph_cut(unary, pairwise).nodes, slow.dwave(unary, pairwise))


@pytest.mark.parametrize("search", [mrf.graph_cut, mrf.linear_program])
def test_a_batch_of_relaxations_is_its_problems_one_by_one(search):
    problems = [random_problem(seed, 6) for seed in range(12)]
    unary, pairwise = np.array([u for u, _ in problems]), np.array([p for _, p in problems])
    for phi, each in ((pairwise, pairwise), (pairwise[0], [pairwise[0]] * 12)):
        batch = search(unary, phi)
        alone = [search(u, p) for u, p in zip(unary, each, strict=True)]
        np.testing.assert_array_equal(batch.nodes, [a.nodes for a in alone])
        np.testing.assert_array_equal(batch.edges, [a.edges for a in alone])
        values = [a.value(u, p) for a, u, p in zip(alone, unary, each, strict=True)]
        np.testing.assert_allclose(batch.value(unary, phi), values)


def test_pairs_of_undecided_labels_take_the_better_end():
    phi = np.array([[0.0, 1.0, -1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    found = mrf.RelaxedLabeling.from_nodes([0.5, 0.5, 1.0], phi)
    np.testing.assert_array_equal(found.edges, [0.5, 0.5, 0.5])
    np.testing.assert_array_equal(mrf.RelaxedLabeling.from_nodes([0.5, 0.5, 0.0], -phi).edges, [0, 0, 0])


def test_undecided_labels_are_tossed_or_completed():
    unary, pairwise = np.ones((200, 3)), -9.0 * (1 - np.eye(3))
    unary = np.hstack([unary, np.full((200, 1), 5.0)])
    pairwise = np.pad(pairwise, (0, 1))
    found = mrf.graph_cut(unary, pairwise)
    np.testing.assert_array_equal(found.nodes[0], [0.5, 0.5, 0.5, 1.0])
    assert found.undecided_share == 0.75
    tossed = found.at_random(3)
    np.testing.assert_array_equal(tossed, found.at_random(3))
    assert (tossed[:, 3] == 1).all()
    assert 0.4 < tossed[:, :3].mean() < 0.6
    completed = found.complete_greedily(unary, pairwise)
    assert (completed.sum(axis=1) == 2).all()
    np.testing.assert_array_equal(
        mrf.graph_cut(unary[0], pairwise).complete_greedily(unary[0], pairwise), completed[0]
    )


@pytest.mark.parametrize("seed", range(10))
def test_completion_keeps_what_is_decided(seed):
    unary, pairwise = random_problem(seed, 9, 2.0)
    found = mrf.graph_cut(unary, pairwise)
    labels = found.complete_greedily(unary, pairwise)
    np.testing.assert_array_equal(labels[~found.is_undecided], found.nodes[~found.is_undecided])
    assert mrf.score(unary, pairwise, labels) <= found.value(unary, pairwise) + 1e-9
