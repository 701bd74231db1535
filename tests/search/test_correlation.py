"""Greedy and local search: equal to their slow twins, never above brute force, links honoured."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from clustruct.search import correlation
from tests.reference import correlation as slow

# Figure 3.1 of the dissertation, items a to i.
FIGURE = np.zeros((9, 9))
FIGURE[np.triu_indices(9, 1)] = [
    *(9, -9, 1, -7, -5, -2, -6, -8),
    *(7, 9, -8, -3, -4, 8, -6),
    *(9, -4, -3, -4, -9, -5),
    *(-8, -4, -9, -9, -3),
    *(4, 7, -3, -6),
    *(6, -6, -5),
    *(-8, -4),
    4,
]
FIGURE += FIGURE.T
FIGURE_OPTIMUM = [0, 0, 0, 0, 1, 1, 1, 2, 2]

SEARCHES = [correlation.greedy, correlation.local_search]


def scores(m: int, seed: int, whole_numbers: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    K = rng.integers(-3, 4, (m, m)).astype(float) if whole_numbers else rng.standard_normal((m, m))
    return np.triu(K, 1) + np.triu(K, 1).T


small_scores = st.builds(scores, st.integers(1, 7), st.integers(0, 2**32 - 1), st.booleans())
larger_scores = st.builds(scores, st.integers(1, 40), st.integers(0, 2**32 - 1), st.booleans())


@st.composite
def linked_scores(draw: st.DrawFn) -> tuple[np.ndarray, list[tuple[int, int]], list[tuple[int, int]]]:
    """Scores with links that some hidden partition honours."""
    K = draw(st.builds(scores, st.integers(2, 7), st.integers(0, 2**32 - 1), st.booleans()))
    item = st.integers(0, len(K) - 1)
    hidden = draw(st.lists(st.integers(0, 3), min_size=len(K), max_size=len(K)))
    pairs = draw(st.lists(st.tuples(item, item).filter(lambda p: p[0] != p[1]), max_size=6))
    return (
        K,
        [(a, b) for a, b in pairs if hidden[a] == hidden[b]],
        [(a, b) for a, b in pairs if hidden[a] != hidden[b]],
    )


def test_figure_3_1() -> None:
    assert correlation.objective(FIGURE, FIGURE_OPTIMUM) == 47
    assert correlation.local_search(FIGURE).tolist() == FIGURE_OPTIMUM


@given(larger_scores)
@settings(deadline=None)
def test_greedy_merges_as_its_slow_twin(K: np.ndarray) -> None:
    assert correlation.greedy(K).tolist() == slow.greedy_steps(K)[-1]


@given(st.builds(scores, st.integers(2, 9), st.integers(0, 2**32 - 1), st.booleans()))
@settings(deadline=None)
def test_greedy_makes_the_same_merges_step_by_step(K: np.ndarray) -> None:
    """After t merges of the twin, greedy from there (as must-links) still ends where the twin ends."""
    steps = slow.greedy_steps(K)
    for labels in steps:
        ties = [(labels.index(c), a) for a, c in enumerate(labels)]
        assert correlation.greedy(K, must_link=ties).tolist() == steps[-1]


@pytest.mark.parametrize("whole_numbers", [False, True])
def test_greedy_on_more_items_than_one_compaction(whole_numbers: bool) -> None:
    """Merging passes 32 clusters and shrinks its matrix on the way: more than hypothesis tries above."""
    K = scores(150, 3, whole_numbers) + 0.05
    assert correlation.greedy(K).tolist() == slow.greedy_steps(K)[-1]


@pytest.mark.parametrize("search", SEARCHES)
@given(K=small_scores)
@settings(deadline=None)
def test_searches_never_exceed_brute_force(search: object, K: np.ndarray) -> None:
    assert correlation.objective(K, search(K)) <= slow.best_partition(K)[0] + 1e-9  # type: ignore[operator]


@given(small_scores, st.integers(0, 99), st.sampled_from([0, 20]))
@settings(deadline=None)
def test_local_search_is_a_local_optimum_above_its_start(K: np.ndarray, seed: int, sweeps: int) -> None:
    start = np.random.default_rng(seed).integers(0, 4, len(K))
    found = correlation.local_search(K, start, sweeps=sweeps, random_state=seed).tolist()
    assert max(slow.move_gains(K, found)) <= 1e-8
    assert max(slow.join_gains(K, found), default=0.0) <= 1e-8
    assert slow.objective(K, found) >= slow.objective(K, start.tolist()) - 1e-9


def test_annealing_finds_the_optimum_where_descent_stops_short() -> None:
    """Over 40 random matrices descent alone misses the optimum often, annealing hardly ever."""
    missed = {0: 0, 100: 0}
    for seed in range(40):
        K = scores(7, seed)
        top, _ = slow.best_partition(K)
        for sweeps in missed:
            found = correlation.local_search(K, np.zeros(7, int), sweeps=sweeps)
            missed[sweeps] += correlation.objective(K, found) < top - 1e-9
    assert missed[100] <= 2 < missed[0]


@given(linked_scores(), st.booleans())
@settings(deadline=None, max_examples=60)
def test_links_are_honoured(
    case: tuple[np.ndarray, list[tuple[int, int]], list[tuple[int, int]]], as_sparse: bool
) -> None:
    K, must, cannot = case
    top, _ = slow.best_partition(K, must, cannot)
    given_scores = sparse.csr_array(K) if as_sparse else K
    bad_start = np.zeros(len(K), int)
    for labels in (
        correlation.greedy(given_scores, must_link=must, cannot_link=cannot),
        correlation.local_search(given_scores, must_link=must, cannot_link=cannot),
        correlation.local_search(given_scores, bad_start, must_link=must, cannot_link=cannot, sweeps=0),
    ):
        assert slow.allowed(labels.tolist(), must, cannot)
        assert slow.objective(K, labels.tolist()) <= top + 1e-9


@given(
    larger_scores, st.sampled_from(["csr", "csc", "coo", "lil"]), st.sampled_from(["both", "upper", "lower"])
)
@settings(deadline=None)
def test_sparse_equals_dense(K: np.ndarray, form: str, triangle: str) -> None:
    K = np.where(np.abs(K) > 0.5, K, 0.0)
    stored = {"both": K, "upper": np.triu(K), "lower": np.tril(K)}[triangle]
    graph = sparse.coo_array(stored).asformat(form)
    labels = correlation.greedy(K)
    assert np.array_equal(correlation.greedy(graph), labels)
    assert correlation.objective(graph, labels) == pytest.approx(correlation.objective(K, labels))
    for sweeps in (0, 30):
        found = correlation.local_search(graph, sweeps=sweeps)
        assert max(slow.move_gains(K, found.tolist())) <= 1e-8 if len(K) <= 12 else True
        assert correlation.objective(K, found) >= correlation.objective(K, labels) - 1e-9


@given(small_scores, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_order_of_items_does_not_matter(K: np.ndarray, random: object) -> None:
    """Without ties greedy gives the same partition whatever the order of the items."""
    K = K + 1e-3 * scores(len(K), 5)  # no two sums alike
    order = np.array(random.sample(range(len(K)), len(K)))  # type: ignore[attr-defined]
    labels = correlation.greedy(K)
    permuted = correlation.greedy(K[np.ix_(order, order)])
    assert slow.canonical(labels[order].tolist()) == permuted.tolist()


@given(larger_scores, st.floats(1e-3, 1e3))
@settings(deadline=None)
def test_scale_and_diagonal_do_not_matter(K: np.ndarray, factor: float) -> None:
    power = 2.0 ** round(np.log2(factor))  # exact in floating point
    odd = K * power
    np.fill_diagonal(odd, np.nan)
    for search in SEARCHES:
        assert np.array_equal(search(K), search(odd))


@pytest.mark.parametrize("search", SEARCHES)
def test_shape_and_type_of_answers(search: object) -> None:
    for m in (0, 1, 2, 30):
        K = scores(m, 1)
        before = K.copy()
        labels = search(K)  # type: ignore[operator]
        assert labels.dtype == np.int64
        assert labels.shape == (m,)
        assert slow.canonical(labels.tolist()) == labels.tolist()
        assert np.array_equal(K, before)
    assert search(np.zeros((4, 4), int)).tolist() == [0, 1, 2, 3]  # type: ignore[operator]
    assert search(sparse.csr_array((3, 3))).tolist() == [0, 1, 2]  # type: ignore[operator]
    K.flags.writeable = False
    assert np.array_equal(search(K), search(K.astype(np.float32).T)) or search is SEARCHES[1]  # type: ignore[operator]


def test_same_random_state_same_answer() -> None:
    K = scores(60, 8)
    first = correlation.local_search(K, random_state=3)
    assert np.array_equal(first, correlation.local_search(K, random_state=3))
    generator = correlation.local_search(K, random_state=np.random.default_rng(3))
    assert np.array_equal(generator, correlation.local_search(K, random_state=np.random.default_rng(3)))


def test_planted_partition_is_found() -> None:
    """Clusters of 20 among 200 items with noise of twice the signal, where greedy falls short."""
    rng = np.random.default_rng(0)
    planted = rng.integers(10, size=200)
    K = np.where(planted[:, None] == planted, 0.5, -0.5) + scores(200, 1)
    target = correlation.objective(K, planted)
    assert correlation.objective(K, correlation.greedy(K)) < 0.97 * target
    assert correlation.objective(K, correlation.local_search(K)) >= target


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.zeros((2, 3)), r"square matrix, not of shape \(2, 3\)"),
        (np.zeros(4), r"square matrix, not of shape \(4,\)"),
        ([[0, 1], [2, 0]], r"not symmetric: K\[0, 1\] is 1.0 but K\[1, 0\] is 2.0"),
        ([[0, np.nan], [np.nan, 0]], r"K\[0, 1\] is nan; every score must be finite"),
        ([[0, 1], [np.inf, 0]], r"K\[1, 0\] is inf"),
        (sparse.csr_array((2, 3)), r"square matrix, not of shape \(2, 3\)"),
        (sparse.csr_array([[0, 1], [2, 0]]), r"not symmetric: K\[0, 1\] is 1.0 but .*one triangle"),
        (sparse.csr_array([[0, np.nan], [0, 0]]), r"K\[0, 1\] is nan"),
    ],
)
@pytest.mark.parametrize("function", SEARCHES)
def test_bad_scores_are_named(function: object, K: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(K)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ({"must_link": [(0, 3)]}, r"must_link\[0\] names item 3, but there are 3 items"),
        ({"cannot_link": [(0, 1), (-1, 1)]}, r"cannot_link\[1\] names item -1"),
        ({"cannot_link": [(1, 1)]}, r"cannot_link pairs item 1 with itself"),
        ({"must_link": [(0, 1), (1, 2)], "cannot_link": [(2, 0)]}, r"items 2 and 0 are in cannot_link"),
        ({"must_link": [0, 1]}, r"must_link must be pairs"),
        ({"must_link": [(0.5, 1)]}, r"must_link must be pairs"),
    ],
)
@pytest.mark.parametrize("function", SEARCHES)
def test_bad_links_are_named(function: object, links: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(np.zeros((3, 3)), **links)  # type: ignore[operator]


def test_bad_settings_of_local_search_are_named() -> None:
    with pytest.raises(ValueError, match=r"labels has shape \(2,\), but the scores are for 3 items"):
        correlation.local_search(np.zeros((3, 3)), [0, 1])
    with pytest.raises(ValueError, match="labels must be integers, not float64"):
        correlation.local_search(np.zeros((3, 3)), [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="sweeps must not be negative"):
        correlation.local_search(np.zeros((3, 3)), sweeps=-1)
    with pytest.raises(ValueError, match="random_state must not be negative"):
        correlation.local_search(np.zeros((3, 3)), random_state=-1)
