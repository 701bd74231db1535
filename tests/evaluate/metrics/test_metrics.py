"""Scores of partitions and of probabilities, against scikit-learn, brute force and published figures."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from sklearn.model_selection import GridSearchCV

from clustruct import SupervisedCorrelationClustering
from clustruct.data.datasets import make_synth
from clustruct.evaluate import metrics
from clustruct.evaluate.metrics import brier_skill, calibration_error, ceaf_entity, evaluate
from clustruct.losses import MitreLoss, PairwiseLoss, best_matching
from tests.reference import metrics as twin
from tests.reference.partitions import all_partitions

two_labelings = st.integers(1, 9).flatmap(
    lambda m: st.tuples(*[st.lists(st.integers(0, 3), min_size=m, max_size=m)] * 2)
)


def labeling(text: str, items: str) -> np.ndarray:
    """ "ab cd" -> labels of the items a, b, c, d."""
    return np.array([next(k for k, word in enumerate(text.split()) if item in word) for item in items])


def test_worked_example() -> None:
    """Key {a,b,c} {d,e,f,g}, response {a,b} {c,d} {e,f,g}: every fraction worked by hand."""
    key, response = labeling("abc defg", "abcdefg"), labeling("ab cd efg", "abcdefg")
    expected = {
        metrics.pairwise_scores: (Fraction(4, 5), Fraction(4, 9)),
        metrics.muc: (Fraction(3, 4), Fraction(3, 5)),
        metrics.b_cubed: (Fraction(6, 7), Fraction(25, 42)),
        metrics.ceaf_mention: (Fraction(5, 7), Fraction(5, 7)),
        metrics.ceaf_entity: (Fraction(58, 105), Fraction(29, 35)),
        metrics.lea: (Fraction(5, 7), Fraction(3, 7)),
    }
    for score, (precision, recall) in expected.items():
        got = score(key, response)
        assert got.precision == pytest.approx(float(precision))
        assert got.recall == pytest.approx(float(recall))
        assert got.f1 == pytest.approx(float(2 * precision * recall / (precision + recall)))
        assert score(response, key)[:2] == pytest.approx((got.recall, got.precision))


@pytest.mark.parametrize(
    ("response", "muc", "b_cubed", "phi3", "phi4"),
    [
        ("ABCDE FGHIJKL", 0.947, 0.865, 0.833, 0.733),
        ("ABCDEHIJKL FG", 0.947, 0.737, 0.583, 0.667),
        ("ABCDEFGHIJKL", 0.900, 0.545, 0.417, 0.294),
        ("A B C D E F G H I J K L", 0.0, 0.400, 0.250, 0.178),
    ],
)
def test_published_comparison(response: str, muc: float, b_cubed: float, phi3: float, phi4: float) -> None:
    """The four system responses that Luo (2005) compares for the truth {1-5} {6,7} {8-12}: F values."""
    items = "ABCDEFGHIJKL"
    y, z = labeling("ABCDE FG HIJKL", items), labeling(response, items)
    got = [s(y, z).f1 for s in (metrics.muc, metrics.b_cubed, metrics.ceaf_mention, metrics.ceaf_entity)]
    assert got == pytest.approx([muc, b_cubed, phi3, phi4], abs=6e-4)


def test_zero_by_zero_conventions() -> None:
    alone, joined = [0, 1, 2], [0, 0, 0]
    assert metrics.muc(alone, alone) == (0.0, 0.0, 0.0)
    assert metrics.muc(alone, alone, zero_division=1.0) == (1.0, 1.0, 1.0)
    assert metrics.pairwise_scores(alone, alone) == (1.0, 1.0, 1.0)
    assert metrics.pairwise_scores(joined, alone) == (1.0, 0.0, 0.0)
    assert metrics.lea(alone, alone).f1 == 1.0
    assert metrics.lea([0, 1, 1], [0, 0, 1]) == (0.0, 0.0, 0.0)
    assert metrics.rand_index(["x"], ["y"]) == metrics.matched_accuracy(["x"], ["y"]) == 1.0


@given(two_labelings)
@settings(max_examples=80, deadline=None)
def test_scores_equal_their_definitions(two: tuple[list[int], list[int]]) -> None:
    y, z = two
    by_recall = {
        metrics.muc: twin.muc_recall,
        metrics.b_cubed: twin.b_cubed_recall,
        metrics.lea: twin.lea_recall,
    }
    for score, recall in by_recall.items():
        P, R = recall(z, y), recall(y, z)
        assert score(y, z) == pytest.approx((P, R, twin.f1(P, R)))
    P, R = twin.pairwise(y, z)
    assert metrics.pairwise_scores(y, z) == pytest.approx((P, R, twin.f1(P, R)))
    phi3, phi4 = twin.best_match(y, z, "phi3"), twin.best_match(y, z, "phi4")
    assert metrics.ceaf_mention(y, z).f1 == pytest.approx(phi3 / len(y))
    assert metrics.matched_accuracy(y, z) == pytest.approx(phi3 / len(y))
    assert metrics.ceaf_entity(y, z)[:2] == pytest.approx((phi4 / len(set(z)), phi4 / len(set(y))))
    assert metrics.variation_of_information(y, z) == pytest.approx(
        twin.variation_of_information(y, z), abs=1e-12
    )
    assert metrics.rand_index(y, z) == pytest.approx(twin.rand(y, z))
    assert PairwiseLoss()(y, z) == pytest.approx(100 * (1 - metrics.rand_index(y, z)), abs=1e-9)
    assert MitreLoss()(y, z) == pytest.approx(100 * (1 - metrics.muc(y, z, zero_division=1.0).f1), abs=1e-9)


@given(two_labelings, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_names_and_order_do_not_matter(two: tuple[list[int], list[int]], random: object) -> None:
    y, z = two
    order = random.sample(range(len(y)), len(y))  # type: ignore[attr-defined]
    renamed = [f"cluster {9 - y[a]}" for a in order], [-z[a] for a in order]
    before, after = metrics.evaluate([y], [z]), metrics.evaluate([renamed[0]], [renamed[1]])
    assert after.mean == pytest.approx(before.mean, abs=1e-12)


def test_equal_partitions_are_perfect_and_variation_is_a_metric() -> None:
    parts = list(all_partitions(4))
    for y in parts:
        for name, value in metrics.evaluate([y], [y]).mean.items():
            if name == "variation_of_information":
                assert value == 0.0
            elif not name.startswith(("muc", "conll")) or max(y) < 3:
                assert value == pytest.approx(1.0)
    distance = np.array([[metrics.variation_of_information(y, z) for z in parts] for y in parts])
    assert np.allclose(distance, distance.T)
    assert (distance[:, :, None] <= distance[:, None, :] + distance[None, :, :].swapaxes(1, 2) + 1e-12).all()


def test_mutual_information_means() -> None:
    y, z = [0, 0, 1, 1], [0, 0, 1, 2]
    entropy_y, entropy_z, shared = np.log(2), 1.5 * np.log(2), np.log(2)
    nmi = metrics.normalized_mutual_information
    assert nmi(y, z) == pytest.approx(shared / ((entropy_y + entropy_z) / 2))
    assert nmi(y, z, average="geometric") == pytest.approx(shared / np.sqrt(entropy_y * entropy_z))


def test_evaluate_averages_and_pools() -> None:
    """A small perfect set and a larger wrong one: macro counts sets alike, micro counts links."""
    trues, preds = [["a", "a"], [0, 0, 0, 1, 1]], [[5, 5], [0, 0, 1, 1, 1]]
    result = metrics.evaluate(trues, preds)
    second = metrics.muc(trues[1], preds[1])
    assert result.per_set["muc_f1"] == pytest.approx([1.0, second.f1])
    assert result.mean["muc_recall"] == pytest.approx((1 + 2 / 3) / 2)
    assert result.micro["muc_recall"] == pytest.approx(3 / 4)
    assert result.micro["b_cubed_precision"] == pytest.approx((2 + 2 + 1 / 3 + 4 / 3) / 7)
    assert result.micro["ceaf_entity_recall"] == pytest.approx((1 + 0.8 + 0.8) / 3)
    three = [result.micro[f"{name}_f1"] for name in ("muc", "b_cubed", "ceaf_entity")]
    assert result.micro["conll_f1"] == pytest.approx(np.mean(three))
    assert "rand" not in result.micro
    assert str(result).count("\n") == len(result.mean)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="2 true labelings for 1"):
        metrics.evaluate([[0], [0]], [[0]])
    with pytest.raises(ValueError, match=r"y_preds\[1\] has 1 entries for 2 items"):
        metrics.evaluate([[0], [0, 1]], [[0], [0]])
    with pytest.raises(ValueError, match=r"y_trues\[0\] is empty"):
        metrics.evaluate([[]], [[]])
    with pytest.raises(ValueError, match="nothing to evaluate"):
        metrics.evaluate([], [])
    with pytest.raises(ValueError, match="y_pred has 1 entries for 2 items"):
        metrics.muc([0, 1], [0])
    with pytest.raises(ValueError, match="at least one item"):
        metrics.matched_accuracy([], [])


@pytest.mark.parametrize("name", ["b_cubed", "conll", "lea_recall", "rand", "neg_variation_of_information"])
def test_scorers_are_means_over_sets(name):
    X, y = make_synth(n_sets=3, n_clusters=3, cluster_size=3)
    model = SupervisedCorrelationClustering(C=1.0).fit(X, y)
    said = metrics.evaluate(y, model.predict(X)).mean
    key = {"b_cubed": "b_cubed_f1", "conll": "conll_f1"}.get(name, name.removeprefix("neg_"))
    sign = -1.0 if name.startswith("neg_") else 1.0
    scorer = pickle.loads(pickle.dumps(metrics.get_scorer(name)))
    assert scorer(model, X, y) == pytest.approx(sign * said[key])


def test_scorers_choose_parameters():
    X, y = make_synth(n_sets=4, n_clusters=3, cluster_size=4)
    grid = {"C": [1e-6, 1.0]}
    search = GridSearchCV(
        SupervisedCorrelationClustering(), grid, scoring=metrics.get_scorer("b_cubed"), cv=2
    )
    assert search.fit(X, y).best_params_ == {"C": 1.0}
    with pytest.raises(ValueError, match="unknown score 'variation_of_information'; known are pairwise, muc"):
        metrics.get_scorer("variation_of_information")


@pytest.mark.parametrize("seed", range(20))
def test_parts_add_up_to_the_whole(seed):
    rng = np.random.default_rng(seed)
    table = rng.random((rng.integers(1, 12), rng.integers(1, 12)))
    table[rng.random(table.shape) < 0.8] = 0.0
    assert best_matching(table) == pytest.approx(table[linear_sum_assignment(table, maximize=True)].sum())


def test_many_clusters_take_little_memory():
    """A dense table of these clusters would take 3 GB."""
    truth = np.repeat(np.arange(20_000), 2)
    assert ceaf_entity(truth, np.arange(40_000)).recall == pytest.approx(2 / 3)
    assert evaluate([truth], [truth]).mean["matched_accuracy"] == 1.0


def test_right_probabilities_have_little_error_and_wrong_ones_their_distance():
    rng = np.random.default_rng(0)
    p = rng.random(50_000)
    y = rng.random(50_000) < p
    assert calibration_error(y, p) < 0.01
    assert calibration_error(y, np.clip(p + 0.2, 0, 1)) == pytest.approx(0.18, abs=0.02)
    assert brier_skill(y, p) == pytest.approx(1.0 - (1 / 6) / (1 / 4), abs=0.02)


def test_only_cases_between_the_bounds_count():
    y, p = np.array([0, 0, 1, 1]), np.array([0.99, 0.5, 0.5, 0.01])
    assert calibration_error(y, p, bins=1, between=(0.05, 0.95)) == 0.0
    assert np.isnan(calibration_error(y, p, between=(0.6, 0.7)))
    assert np.isnan(brier_skill([1, 1], [0.5, 0.5]))


def test_refusals():
    with pytest.raises(ValueError, match="between 0 and 1"):
        brier_skill([1, 0], [2.0, 0.0])
    with pytest.raises(ValueError, match="shape"):
        brier_skill([1, 0], [0.5])
