"""The two relaxations: equal to each other, to the linear program as printed, and persistent."""

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.papers.multilabel import mrf
from tests.reference import mrf as slow

from .test_search import random_problem

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


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_equivalence_with_ties(seed, V):
    """Whole numbers make optima that are not unique: the cut decides what all optima agree on."""
    unary, pairwise = (np.round(part) for part in random_problem(seed, V, 2.0))
    cut = mrf.graph_cut(unary, pairwise)
    best, optima = slow.relaxed_optima(unary, pairwise)
    assert cut.value(unary, pairwise) == pytest.approx(best, abs=1e-9)
    decided = ~cut.undecided
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
    assert (optimal[:, ~cut.undecided] == cut.nodes[~cut.undecided]).all()


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
def test_a_batch_is_its_problems_one_by_one(search):
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
    completed = found.completed(unary, pairwise)
    assert (completed.sum(axis=1) == 2).all()
    np.testing.assert_array_equal(
        mrf.graph_cut(unary[0], pairwise).completed(unary[0], pairwise), completed[0]
    )


@pytest.mark.parametrize("seed", range(10))
def test_completion_keeps_what_is_decided(seed):
    unary, pairwise = random_problem(seed, 9, 2.0)
    found = mrf.graph_cut(unary, pairwise)
    labels = found.completed(unary, pairwise)
    np.testing.assert_array_equal(labels[~found.undecided], found.nodes[~found.undecided])
    assert mrf.score(unary, pairwise, labels) <= found.value(unary, pairwise) + 1e-9
