"""Linear relaxation, exact search and rounding: bounds hold, optima equal brute force, links are honoured."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from clustruct.search import correlation
from clustruct.search._kernels.matrix import violated_stars
from clustruct.search.correlation import EdgeDegrees
from clustruct.search.correlation.programs import TriangleProgram, relax
from tests.reference import correlation as slow
from tests.reference.partitions import all_partitions
from tests.search.test_correlation import FIGURE, FIGURE_OPTIMUM, linked_scores, scores, small_scores

# A star: its middle is liked by three items that dislike each other. The relaxation answers 1/2 everywhere.
STAR = np.array([[0.0, 1, 1, 1], [1, 0, -1, -1], [1, -1, 0, -1], [1, -1, -1, 0]])


def planted(m: int, noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    labels = np.random.default_rng(seed).integers(m // 10, size=m)
    return np.where(labels[:, None] == labels, 0.5, -0.5) + noise * scores(m, seed), labels


def all_triangles_hold(e: EdgeDegrees) -> bool:
    E = e.matrix()
    return bool((E[:, None, :] + E[None, :, :] - E[:, :, None] <= 1 + 3e-6).all())


def test_figure_3_1() -> None:
    e = correlation.lp_relaxation(FIGURE)
    assert e.value == pytest.approx(47)
    assert correlation.exact(FIGURE).tolist() == FIGURE_OPTIMUM
    assert correlation.round_edges(e).tolist() == FIGURE_OPTIMUM


@given(linked_scores(), st.booleans())
@settings(deadline=None, max_examples=60)
def test_exact_equals_brute_force(
    case: tuple[np.ndarray, list[tuple[int, int]], list[tuple[int, int]]], as_sparse: bool
) -> None:
    K, must, cannot = case
    top, _ = slow.best_partition(K, must, cannot)
    given_scores = sparse.csr_array(np.triu(K)) if as_sparse else K
    labels = correlation.exact(given_scores, must_link=must, cannot_link=cannot)
    assert labels.dtype == np.int64
    assert slow.canonical(labels.tolist()) == labels.tolist()
    assert slow.allowed(labels.tolist(), must, cannot)
    assert slow.objective(K, labels.tolist()) == pytest.approx(top)


@given(linked_scores(), st.booleans())
@settings(deadline=None, max_examples=60)
def test_relaxation_bounds_brute_force(
    case: tuple[np.ndarray, list[tuple[int, int]], list[tuple[int, int]]], as_sparse: bool
) -> None:
    K, must, cannot = case
    top, _ = slow.best_partition(K, must, cannot)
    e = correlation.lp_relaxation(sparse.coo_array(K) if as_sparse else K, must_link=must, cannot_link=cannot)
    E = e.matrix()
    assert e.converged
    assert all_triangles_hold(e)
    assert all(E[a, b] == 1 for a, b in must)
    assert all(E[a, b] == 0 for a, b in cannot)
    assert e.value == pytest.approx(K[np.triu_indices(len(K), 1)] @ e.degrees)
    assert e.value >= top - 1e-6
    if e.is_integral():
        assert e.value == pytest.approx(top)
        for method in ("best", "algorithm5", "ball"):
            labels = correlation.round_edges(e, method)  # type: ignore[arg-type]
            assert slow.objective(K, labels.tolist()) == pytest.approx(top)
            assert slow.allowed(labels.tolist(), must, cannot)


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1e-9, 1e-6, 1e6, 1e150])
def test_programmes_do_not_depend_on_the_unit(unit: float) -> None:
    for seed in range(6):
        K = scores(9, seed)
        once, scaled = correlation.lp_relaxation(K), correlation.lp_relaxation(K * unit)
        assert scaled.value == pytest.approx(once.value * unit, rel=1e-9)
        best, found = (slow.objective(K, correlation.exact(K * times)) for times in (1.0, unit))
        assert found == pytest.approx(best, rel=1e-9)


def test_relaxation_of_a_star_is_fractional() -> None:
    e = correlation.lp_relaxation(STAR)
    assert e.value == pytest.approx(1.5)
    assert not e.is_integral()
    assert correlation.objective(STAR, correlation.exact(STAR)) == 1


@pytest.mark.parametrize("noise", [0.3, 1.5])
def test_relaxation_equals_the_programme_with_all_rows(noise: float) -> None:
    from scipy.optimize import linprog

    K, _ = planted(20, noise)
    a, b = np.triu_indices(20, 1)
    number = np.zeros((20, 20), int)
    number[a, b] = number[b, a] = np.arange(190)
    rows = []
    for x, y in zip(a, b, strict=True):
        for z in set(range(20)) - {x, y}:
            row = np.zeros(190)
            row[[number[x, z], number[y, z], number[x, y]]] = 1, 1, -1
            rows.append(row)
    whole = linprog(-K[a, b], A_ub=np.array(rows), b_ub=np.ones(len(rows)), bounds=(0, 1))
    assert correlation.lp_relaxation(K).value == pytest.approx(-whole.fun, rel=1e-6)


def test_stars_cut_off_the_half_integral_star() -> None:
    program = TriangleProgram(STAR, np.empty((0, 2), int))
    relax(program, max_rounds=10)
    assert program.value == pytest.approx(1.5)
    assert program.add_violated_stars() > 0
    program.solve()
    assert program.value == pytest.approx(1.0)


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=30)
def test_stars_hold_for_every_clustering(seed: int) -> None:
    E = np.abs(scores(6, seed)).clip(0, 1)
    np.fill_diagonal(E, -np.inf)
    centres, starts, members = violated_stars(E, 0.01)
    for a, begin, end in zip(centres, starts[:-1], starts[1:], strict=True):
        T = members[begin:end].tolist()
        together = [(a, t) for t in T]
        among = [(s, t) for s in T for t in T if s < t]
        assert sum(E[p] for p in together) - sum(E[p] for p in among) > 1.01 - 1e-9
        for y in all_partitions(6):
            assert sum(y[p] == y[q] for p, q in together) - sum(y[p] == y[q] for p, q in among) <= 1


def test_branch_and_bound_agrees_with_the_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same optimum without the stars, where the integer programme has to branch."""
    program = import_module("clustruct.search.correlation.programs")
    for seed in range(4):
        K = scores(13, seed)
        cut = correlation.objective(K, correlation.exact(K))
        with monkeypatch.context() as patch:
            patch.setattr(program, "_tighten", lambda program, enough: None)
            patch.setattr(program, "local_search", lambda W, **settings: np.arange(len(W)))
            assert correlation.objective(K, correlation.exact(K)) == pytest.approx(cut)
        assert cut >= correlation.objective(K, correlation.local_search(K)) - 1e-9


def test_exact_beyond_brute_force_meets_the_bound() -> None:
    K, labels = planted(60, 0.4)
    e = correlation.lp_relaxation(K)
    found = correlation.exact(K)
    assert e.is_integral()
    assert correlation.objective(K, found) == pytest.approx(e.value)
    assert correlation.objective(K, found) >= correlation.objective(K, labels)


def test_separate_components_are_solved_alone() -> None:
    """Two groups without a positive score between them: 80 items, but never 80 * 79 / 2 variables at once."""
    blocks = [planted(40, 0.4, seed)[0] for seed in (1, 2)]
    K = np.full((80, 80), -1.0)
    K[:40, :40], K[40:, 40:] = blocks
    e = correlation.lp_relaxation(K)
    assert e.value == pytest.approx(sum(correlation.lp_relaxation(block).value for block in blocks))
    assert e.matrix()[:40, 40:].max() == 0


def test_too_few_rounds_give_a_bound_and_a_warning() -> None:
    K, _ = planted(30, 1.0)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 rounds"):
        loose = correlation.lp_relaxation(K, max_rounds=1)
    assert not loose.converged
    assert loose.value >= correlation.lp_relaxation(K).value - 1e-9


@given(linked_scores(), st.sampled_from(["best", "algorithm5", "ball"]))
@settings(deadline=None, max_examples=60)
def test_rounding_honours_links(
    case: tuple[np.ndarray, list[tuple[int, int]], list[tuple[int, int]]], method: str
) -> None:
    """Also for degrees that know nothing of the links."""
    K, must, cannot = case
    m = len(K)
    e = EdgeDegrees(np.random.default_rng(m).random(m * (m - 1) // 2), m, 0.0)
    for given_scores in (None, K):
        labels = correlation.round_edges(e, method, 0.4, given_scores, must_link=must, cannot_link=cannot)  # type: ignore[arg-type]
        assert slow.allowed(labels.tolist(), must, cannot)
        assert slow.canonical(labels.tolist()) == labels.tolist()


def test_the_two_rules_of_the_documents_differ() -> None:
    """A chain a - b - c with e_ac low: algorithm 5 puts c with b, ball growing finds b taken."""
    chain = EdgeDegrees(np.array([0.8, 0.1, 0.8]), 3, 0.0)
    assert correlation.round_edges(chain, "algorithm5").tolist() == [0, 0, 0]
    assert correlation.round_edges(chain, "ball").tolist() == [0, 0, 1]
    assert correlation.round_edges(chain, "ball", threshold=0.8).tolist() == [0, 1, 2]


@given(small_scores)
@settings(deadline=None, max_examples=40)
def test_rounding_with_scores_is_as_good_as_without(K: np.ndarray) -> None:
    e = correlation.lp_relaxation(K)
    with_scores = correlation.objective(K, correlation.round_edges(e, K=K))
    assert with_scores >= correlation.objective(K, correlation.round_edges(e)) - 1e-9


def test_edge_cases_and_errors() -> None:
    for m in (0, 1):
        assert correlation.exact(np.zeros((m, m))).tolist() == [0] * m
        e = correlation.lp_relaxation(np.zeros((m, m)))
        assert e.value == 0
        assert correlation.round_edges(e).tolist() == [0] * m
    for function in (correlation.exact, correlation.lp_relaxation):
        with pytest.raises(ValueError, match="not symmetric"):
            function([[0, 1], [2, 0]])
        with pytest.raises(ValueError, match="items 0 and 1 are in cannot_link"):
            function(np.zeros((2, 2)), must_link=[(0, 1)], cannot_link=[(0, 1)])
        with pytest.raises(ValueError, match="5000 items are too many"):
            function(sparse.csr_array((5000, 5000)))
        with pytest.raises(ValueError, match="1200 items are connected by positive scores"):
            function(np.ones((1200, 1200)))
    with pytest.raises(ValueError, match=r"3 items have 3 pairs, but degrees has shape \(2,\)"):
        EdgeDegrees(np.zeros(2), 3, 0.0)
    with pytest.raises(ValueError, match="method must be 'best'"):
        correlation.round_edges(e, "worst")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"threshold must lie in \[0, 1\], but is 2"):
        correlation.round_edges(e, threshold=2)
