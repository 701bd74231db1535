"""Paired tests over sets, and tests against the best of several models."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import ttest_rel, wilcoxon

from clustruct.evaluate.metrics import compare_paired, compare_with_best

# Tables 4.3 and 4.4: Iterative and Spectral trained.
WEBKB_L = ([45.3, 59.8, 53.1, 47.3], [53.3, 56.7, 46.6, 60.2])
WEBKB_N = ([63.0, 69.9, 68.8, 72.6], [61.4, 56.8, 58.2, 66.2])
NEWS = (
    [23.7, 12.7, 28.1, 3.8, 15.2, 35.9, 3.7, 3.6, 22.7, 20.4, 24.6, 20.2, 16.1, 12.2]
    + [19.7, 4.6, 15.0, 19.4, 19.0, 5.8, 4.8],
    [20.6, 22.2, 28.7, 3.8, 14.3, 30.4, 2.4, 4.6, 9.5, 20.4, 23.7, 15.8, 13.8, 11.9]
    + [14.9, 6.3, 16.2, 20.3, 19.0, 11.6, 5.8],
)


@pytest.mark.parametrize(
    ("losses", "counts", "W"), [(WEBKB_L, (2, 0, 2), 4), (WEBKB_N, (0, 0, 4), 10), (NEWS, (8, 3, 10), 31)]
)
def test_table_4_5_from_its_own_tables(losses, counts, W):
    found = compare_paired(*losses)
    assert (found.wins, found.ties, found.losses) == counts
    assert found.W == W
    assert found.n == counts[0] + counts[2]
    assert found.p_wilcoxon > 0.05


def test_compare_ties_and_bad_input():
    assert compare_paired([1.0, 2.0], [1.0, 2.0]).p_sign == 1.0
    with pytest.raises(ValueError, match="equal length"):
        compare_paired([1.0], [1.0, 2.0])


def test_scores_are_losses_the_other_way_round():
    a, b = np.array(NEWS)
    losses, scores = compare_paired(a, b), compare_paired(-a, -b, lower_wins=False)
    assert (losses.wins, losses.W, losses.p_wilcoxon) == (scores.wins, scores.W, scores.p_wilcoxon)
    assert losses.difference == pytest.approx(-scores.difference) == pytest.approx(a.mean() - b.mean())


def test_two_tailed_levels_are_those_of_scipy():
    a, b = np.array(WEBKB_N)
    found = compare_paired(a, b)
    assert found.p_two_tailed == pytest.approx(wilcoxon(a, b).pvalue)
    assert found.p_t_test == pytest.approx(ttest_rel(a, b).pvalue)
    assert compare_paired(a, a + 1.0).p_t_test is None
    assert compare_paired(a, a).p_two_tailed == 1.0


def test_groups_are_compared_by_their_means():
    rng = np.random.default_rng(3)
    a, b, groups = rng.normal(size=12), rng.normal(size=12), [*"xxyyyzzuuvvw"]
    means = [[values[[g == name for g in groups]].mean() for name in "xyzuvw"] for values in (a, b)]
    found, plain = compare_paired(a, b, groups=groups), compare_paired(*means)
    assert found.n_groups == plain.n_groups == 6
    assert (found.wins, found.W, found.p_wilcoxon, found.p_t_test) == (
        plain.wins,
        plain.W,
        plain.p_wilcoxon,
        plain.p_t_test,
    )
    assert found.difference == pytest.approx(a.mean() - b.mean())
    with pytest.raises(ValueError, match="12 sets but 3 groups"):
        compare_paired(a, b, groups="xyz")


def slow_level(values, m):
    """The level of model m with all sign vectors, by the largest paired t-statistic."""
    others = [row - values[m] for j, row in enumerate(values) if j != m and (row != values[m]).any()]

    def largest_t(signs):
        moved = [signs * d for d in others]
        return max(np.sqrt(len(d)) * d.mean() / max(d.std(ddof=1), 1e-300) for d in moved)

    n = values.shape[1]
    found = largest_t(np.ones(n))
    as_large = [largest_t(np.array(s)) >= found - 1e-9 for s in product((1.0, -1.0), repeat=n)]
    return np.mean(as_large)


@pytest.mark.parametrize(("models", "sets"), [(2, 6), (3, 7), (5, 8)])
def test_the_level_is_that_of_all_signs(models, sets):
    scores = np.random.default_rng(models).normal(size=(models, sets))
    for m, found in enumerate(compare_with_best(scores, lower_wins=False)):
        assert found.is_exact
        assert found.p == pytest.approx(slow_level(scores, m))


def test_drawn_signs_come_near_to_all_of_them():
    scores = np.random.default_rng(4).normal(size=(4, 12))
    exact = compare_with_best(scores, n_draws=2**12)
    drawn = compare_with_best(scores, n_draws=4000)
    assert [exact[0].is_exact, drawn[0].is_exact] == [True, False]
    for one, other in zip(exact, drawn, strict=True):
        assert (one.best, one.difference) == (other.best, other.difference)
        assert other.p == pytest.approx(one.p, abs=4 * np.sqrt(0.25 / 4000))


def test_the_order_of_models_and_of_sets_does_not_matter():
    rng = np.random.default_rng(5)
    scores, sets, models = rng.normal(size=(4, 9)), rng.permutation(9), rng.permutation(4)
    for n_draws in (512, 300):  # all signs, and some
        levels = np.array([found.p for found in compare_with_best(scores, n_draws=n_draws)])
        moved = compare_with_best(scores[models], n_draws=n_draws)
        assert [found.p for found in moved] == pytest.approx(levels[models].tolist())
        assert [models[found.best] for found in moved] == [
            compare_with_best(scores, n_draws=n_draws)[m].best for m in models
        ]
    exact = [found.p for found in compare_with_best(scores, n_draws=512)]
    assert [found.p for found in compare_with_best(scores[:, sets], n_draws=512)] == pytest.approx(exact)


def test_scores_are_losses_the_other_way_round_and_units_do_not_matter():
    scores = np.random.default_rng(6).normal(size=(3, 8))
    first = compare_with_best(scores, lower_wins=False)
    second = compare_with_best(-100.0 * scores)
    assert [found.p for found in first] == pytest.approx([found.p for found in second])
    assert [found.best for found in first] == [found.best for found in second]


def test_the_level_is_kept_where_no_model_is_better():
    rng = np.random.default_rng(7)
    rejected = uncorrected = 0
    for _ in range(300):
        scores = rng.normal(size=(1, 20)) + rng.normal(size=(8, 20))
        rejected += compare_with_best(scores, n_draws=400)[0].p <= 0.05
        best = 1 + int(np.argmin(scores[1:].mean(axis=1)))
        uncorrected += compare_with_best(scores[[0, best]], n_draws=400)[0].p <= 0.05
    # 15 are expected, with a standard deviation of 3.8; without the correction several times as many.
    assert rejected <= 27
    assert uncorrected > 40


def test_one_that_is_clearly_worse_is_found_and_the_best_is_not():
    rng = np.random.default_rng(8)
    scores = rng.normal(size=(1, 30)) + 0.5 * rng.normal(size=(6, 30))
    scores[2] -= 1.0
    found = compare_with_best(scores, lower_wins=False, n_draws=2000)
    assert found[2].p < 0.01
    assert found[2].difference < -0.5
    assert max(one.p for one in found) > 0.5


def test_ties_groups_and_bad_input():
    same = compare_with_best([[1.0, 2.0], [1.0, 2.0]])
    assert [found.p for found in same] == [1.0, 1.0]
    rng = np.random.default_rng(9)
    values, groups = rng.normal(size=(3, 8)), [*"aabbccdd"]
    grouped = compare_with_best(values, groups=groups)
    means = compare_with_best(values.reshape(3, 4, 2).mean(axis=2))
    assert [found.p for found in grouped] == pytest.approx([found.p for found in means])
    with pytest.raises(ValueError, match="two models at least"):
        compare_with_best([[1.0, 2.0]])
    with pytest.raises(ValueError, match="n_draws"):
        compare_with_best([[1.0], [2.0]], n_draws=0)
    with pytest.raises(ValueError, match="8 sets but 3 groups"):
        compare_with_best(values, groups="abc")
