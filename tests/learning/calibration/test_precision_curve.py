"""The curve counts what predictions at each threshold count; its bound holds as often as it says."""

import numpy as np
import pytest

from clustruct.data import PairScores
from clustruct.learning.calibration import HeldOutPart, PrecisionCurve
from clustruct.learning.calibration.precision_bounds import HeldOutPairs
from clustruct.learning.calibration.precision_curve import tried_thresholds
from clustruct.learning.problems.fold_losses import shared_pairs
from clustruct.search.oracles import make_predictor


def pairs_of(right, found, true=None, unit=None):
    """Held-out clusters of one item, each a unit of its own, if nothing else is said."""
    n = len(right)
    held = [np.zeros(n) if true is None else true, np.arange(n) if unit is None else unit]
    return HeldOutPairs(np.asarray(right), np.asarray(found), *held, labelled=0.0)


def bounds(*given):
    return pairs_of(*given).bounds()


def lower_bound(*given):
    return bounds(*given)[0]


def part(seed, m=12):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, m)
    K = 2.0 * (truth[:, None] == truth) - 1.0 + rng.normal(scale=1.0, size=(m, m))
    K = (K + K.T) / 2.0
    np.fill_diagonal(K, 0.0)
    return HeldOutPart(PairScores(m, matrix=K), truth, np.ones(m, bool))


def test_the_curve_is_that_of_predictions():
    parts, search = [part(k) for k in range(3)], make_predictor("local_search", "correlation")
    thresholds = np.array([-0.5, 0.0, 0.7])
    curve = PrecisionCurve.of(parts, search, thresholds)
    for at, threshold in enumerate(thresholds):
        counts = [shared_pairs(p.truth, search.predict(p.scores.above(threshold))) for p in parts]
        right, found, true = np.sum(counts, axis=0)
        assert (curve.right[at], curve.found[at], curve.true) == (right, found, true)
        assert curve.precision[at] == pytest.approx(right / found)
        assert curve.lower[at] < curve.precision[at]


def test_the_dial_goes_from_strict_to_loose_until_one_fails():
    """The lowest threshold that is sure enough would be chosen by its luck: .9 is below one that fails."""
    lower = np.array([0.5, 0.9, 0.8, 0.95, 0.96])
    curve = PrecisionCurve(np.arange(5.0), np.full(5, 800.0), np.full(5, 900.0), 1000.0, lower)
    assert curve.dial(0.85).threshold == 3.0
    assert curve.dial(0.75).threshold == 1.0
    assert curve.dial(0.955).threshold == 4.0
    assert curve.dial(0.85).reached
    assert not curve.dial(0.97).reached


def test_thresholds_at_which_too_little_is_found_are_left_out():
    """At the strictest ones one error among a few pairs says nothing of the others."""
    lower, units = np.array([0.9, 0.97, 0.96, 0.9, 0.5]), np.array([990.0, 900.0, 500.0, 100.0, 10.0])
    curve = PrecisionCurve(np.arange(5.0), 10 * units, 10 * units, 1e4, lower, None, units, 1000)
    assert curve.dial(0.95).threshold == 1.0
    assert curve.dial(0.95).missing == 0


def test_it_says_how_many_labelled_groups_are_missing():
    """.95 takes 59 pairs without an error, .99 takes 299."""
    for n, precision, missing in (
        (58, 0.95, 1),
        (59, 0.95, 0),
        (298, 0.99, 1),
        (299, 0.99, 0),
        (100, 0.99, 199),
    ):
        found = pairs_of(np.ones(n), np.ones(n))
        low, high = found.bounds()
        curve = PrecisionCurve(
            np.array([1.0]), np.array([n]), np.array([n]), n, np.array([low]), np.array([high]),
            np.array([found.n_units]), n,
        )  # fmt: skip
        assert curve.dial(precision).reached == (missing == 0)
        assert curve.dial(precision).missing == missing


def counted(right, found, true=400.0):
    """A curve of clusters with one pair each."""
    right, found = np.asarray(right, float), np.asarray(found, float)
    lower = [
        lower_bound(np.repeat([1.0, 0.0], [int(r), int(f - r)]), np.ones(int(f)))
        for r, f in zip(right, found, strict=True)
    ]
    return PrecisionCurve(np.arange(float(len(right))), right, found, true, np.array(lower))


def test_what_cannot_be_shown_is_the_surest_of_what_seems_so():
    """200 pairs without an error cannot show .99 to be reached, yet they speak for it more than fewer do."""
    curve = counted([300, 250, 200, 150, 60, 8], [330, 255, 200, 150, 60, 8])
    dial = curve.dial(0.995)
    assert not dial.reached
    assert dial.threshold == 2.0
    assert (dial.precision, dial.recall) == (1.0, 0.5)
    assert (
        str(dial)
        == f"precision 100.0 % (at least {100 * dial.lower:.1f} % with 95 % confidence), recall 50.0 %"
    )


def test_a_tail_of_a_few_pairs_is_not_taken():
    """Precision that does not rise any more: pairs are given up for nothing."""
    curve = counted([300, 200, 100, 30, 6], [400, 220, 110, 33, 7])
    assert curve.dial(0.99).threshold == 1.0
    lucky = counted([300, 200, 100, 30, 6], [400, 220, 110, 33, 6])
    assert lucky.dial(0.99).threshold == 1.0


def test_the_estimate_rises_and_is_that_of_the_counts_where_they_rise():
    curve = counted([300, 200, 100, 30, 6], [400, 220, 105, 33, 7])
    assert (np.diff(curve.rising) >= 0.0).all()
    expected = (np.array([300, 200]) + 0.5) / np.array([401, 221])
    np.testing.assert_allclose(curve.rising[:2], expected)
    pooled = (100.5 + 30.5 + 6.5) / (106 + 34 + 8)
    np.testing.assert_allclose(curve.rising[2:], pooled)


@pytest.mark.parametrize("seed", range(5))
def test_more_precision_never_takes_a_lower_threshold_once_it_is_shown(seed):
    rng = np.random.default_rng(seed)
    found = np.sort(rng.integers(5, 2000, 12))[::-1]
    curve = counted(np.round(found * np.sort(rng.uniform(0.8, 1.0, 12))), found)
    dials = [d for d in map(curve.dial, np.linspace(0.5, 0.995, 30)) if d.reached]
    assert [d.threshold for d in dials] == sorted(d.threshold for d in dials)
    assert all(d.lower <= d.precision for d in dials)


def test_the_bound_holds_in_nineteen_of_twenty_samples():
    """Clusters of different sizes, whose errors come together: right pairs of each are all or half."""
    rng, truth, held = np.random.default_rng(0), 0.96, 0
    for _ in range(400):
        found = rng.integers(1, 6, 150).astype(float)
        right = np.where(rng.random(150) < 0.08, found / 2.0, found)
        held += lower_bound(right, found) <= truth
    assert held >= 0.93 * 400


def test_the_bound_holds_where_items_go_astray():
    """Groups of very different sizes, most of them without an error: spread alone says nothing then."""
    rng, rate = np.random.default_rng(0), 0.005

    def drawn(n):
        size = rng.geometric(0.5, n)
        right = size * (size - 1) / 2.0
        return right, right + rng.binomial(size, rate) * size / 2.0

    right, found = drawn(200_000)
    truth = right.sum() / found.sum()
    assert np.mean([lower_bound(*drawn(500)) <= truth for _ in range(400)]) >= 0.93


@pytest.mark.parametrize("truth", [0.9, 0.99])
def test_both_bounds_fail_about_as_often_as_they_say(truth):
    """Pairs one by one, where the true precision is known; the bounds keep the words "at least"."""
    rng, pairs = np.random.default_rng(1), []
    for n in rng.integers(200, 600, 1000).tolist():
        pairs.append(bounds(np.ones(n) * (rng.random(n) < truth), np.ones(n)))
    low, high = np.array(pairs).T
    assert 0.94 <= np.mean(high >= truth) <= 0.99
    assert 0.94 <= np.mean(low <= truth) <= 0.99
    assert (low <= high).all()


def simulated(rng, n, highest):
    """Held-out pairs, one for each cluster, whose precision rises with the threshold to ``highest``."""
    score, thresholds = rng.random(n), np.linspace(0.0, 0.9, 10)
    truth = highest - 0.3 * (1.0 - score) ** 2  # of a pair with that score
    right = rng.random(n) < truth
    rows = [(right[score > t].astype(float), np.ones(np.count_nonzero(score > t))) for t in thresholds]
    table = np.array([(r.sum(), f.sum(), *bounds(r, f)) for r, f in rows]).T
    curve = PrecisionCurve(thresholds, table[0], table[1], float(n), table[2], table[3])
    true = np.array([highest - 0.1 * (1.0 - t) ** 2 for t in thresholds])  # its mean over scores above t
    return curve, true


def test_what_is_taken_as_reached_is_reached_and_what_can_be_had_is_rarely_refused():
    """Tables of known precision: .95 is to be had at the highest thresholds, or nowhere."""
    rng = np.random.default_rng(2)
    refused, wrong, reached = 0, 0, 0
    for _ in range(300):
        curve, true = simulated(rng, 600, 1.0)
        dial = curve.dial(0.95)
        refused += not dial.possible
        reached += dial.reached
        wrong += dial.reached and true[np.argmin(np.abs(curve.thresholds - dial.threshold))] < 0.95
    assert refused <= 0.02 * 300
    assert reached >= 0.5 * 300
    # Of ten thresholds the first that seems good is taken: a little more often wrong than one in twenty.
    assert wrong <= 0.1 * 300
    hopeless = [simulated(rng, 600, 0.9)[0].dial(0.99) for _ in range(300)]
    assert not any(dial.reached for dial in hopeless)
    assert np.mean([dial.possible for dial in hopeless]) < 0.15


def test_what_is_refuted_has_a_threshold_beyond_all_scores():
    right, found = np.array([700.0, 80.0]), np.array([1000.0, 100.0])
    curve = PrecisionCurve(
        np.array([0.0, 5.0]), right, found, 900.0, np.array([0.68, 0.72]), np.array([0.7, 0.86])
    )
    dial = curve.dial(0.9)
    assert not dial.possible
    assert not dial.reached
    assert dial.threshold >= 1000 * 5.0
    assert (dial.precision, dial.lower) == (0.8, 0.72)  # of the surest
    assert curve.dial(0.85).possible
    old = PrecisionCurve.from_state({k: v for k, v in curve.state().items() if k != "upper"})
    assert old.dial(0.9).threshold == 5.0


def test_more_clusters_make_it_surer():
    bounds = [lower_bound(np.ones(n), np.ones(n)) for n in (1, 10, 100, 1000)]
    assert bounds == sorted(bounds)
    assert bounds[2] == pytest.approx(0.05 ** (1 / 100))
    assert lower_bound(np.array([45.0]), np.array([45.0])) == pytest.approx(bounds[0])
    assert lower_bound(np.zeros(3), np.zeros(3)) == 0.0


def test_thresholds_lie_on_both_sides_of_zero():
    found = tried_thresholds(np.array([-2.0, -1.0, 1.0, 2.0, 3.0]))
    assert found[0] < 0.0 < found[-1]
    assert 0.0 in found
    assert tried_thresholds(np.zeros(0)).tolist() == [0.0]


def test_refusals():
    with pytest.raises(ValueError, match="does not fit"):
        PrecisionCurve(np.zeros(2), np.zeros(2), np.zeros(2), 1.0, np.zeros(2))
    curve = PrecisionCurve(np.zeros(1), np.zeros(1), np.zeros(1), 0.0, np.zeros(1))
    with pytest.raises(ValueError, match="between 0 and 1"):
        curve.dial(1.5)


def test_errors_that_come_in_one_cluster_make_the_bound_lower():
    """One wrong group of eight among a hundred right pairs: what if there are more of its kind?"""
    right, found = np.r_[0.0, np.ones(100)], np.r_[28.0, np.ones(100)]
    p = 100 / 128
    spread = np.sqrt((28 * p) ** 2 + 100 * (1 - p) ** 2) / 128
    assert 0.2 < lower_bound(right, found) < p - 1.645 * spread
    # The same share of errors, one by one, is surer.
    spread_out = np.repeat([1.0, 0.0], [100, 28])
    assert lower_bound(spread_out, np.ones(128)) > lower_bound(right, found) + 0.1


def test_clusters_that_a_wrong_link_joins_are_one_unit():
    """Ten wrong links between pairs: each shows in two clusters, but it is one error."""
    right, found = np.ones(200), np.ones(200)
    found[:20] = 3.0
    apart = pairs_of(right, found)
    together = pairs_of(right, found, unit=np.r_[np.repeat(np.arange(10), 2), np.arange(10, 190)])
    assert together.bounds()[0] < apart.bounds()[0] - 0.01


def test_without_an_error_a_wrong_link_is_taken_to_join_two_usual_clusters():
    """A wrong link between two clusters of three makes nine wrong pairs, so that pairs are fewer units."""
    ones = np.ones(90)
    single, triple = pairs_of(3 * ones, 3 * ones, 0 * ones), pairs_of(3 * ones, 3 * ones, 3 * ones)
    assert single.n_units == 90.0
    assert triple.n_units == pytest.approx(90 * 3 / 4.5)
    assert triple._replace(labelled=1.0).n_units == pytest.approx(90 * 3 / 9.0)  # both halves are seen


def test_links_join_units_across_parts():
    """Two clusters held out by different trainings, each of which links them."""
    truth = np.array([0, 0, 1, 1, 2, 2, -1])
    labels = np.array([0, 0, 0, 0, 1, 1, 2])
    parts = [
        HeldOutPart(PairScores(7, index=np.zeros((0, 2), int), values=np.zeros(0)), truth, truth == c)
        for c in range(3)
    ]
    found = HeldOutPairs.of(parts, [labels] * 3)
    assert found.unit[0] == found.unit[1] != found.unit[2]
    assert found.right.tolist() == [1.0, 1.0, 1.0]
    assert found.found.tolist() == [3.0, 3.0, 1.0]
    assert found.labelled == pytest.approx(6 / 7)
    assert found.n_large == 3
