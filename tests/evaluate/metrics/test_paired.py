"""Paired comparisons: the counts of Table 4.5, and scipy's levels."""

import numpy as np
import pytest
from scipy.stats import ttest_rel, wilcoxon

from clustruct.evaluate.metrics import compare_paired

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
