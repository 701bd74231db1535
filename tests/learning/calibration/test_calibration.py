"""Probabilities of a fitted model: where they come from, how they are kept, what they are good for."""

import numpy as np
import pytest

import clustruct
from clustruct import ItemSet, SupervisedCorrelationClustering
from clustruct.core.exceptions import ChoiceWarning
from clustruct.data import PairScores
from clustruct.evaluate.metrics import brier_skill, calibration_error
from clustruct.learning.calibration import Calibration, HeldOutPart, less_rivals
from clustruct.learning.calibration.calibration import _judged_pairs, _limit_weights


def toy(seed, n_sets=8, m=16, noise=0.6):
    rng, sets, labels = np.random.default_rng(seed), [], []
    for _ in range(n_sets):
        y = rng.integers(0, 5, m)
        a, b = np.triu_indices(m, 1)
        alike = (y[a] == y[b]) + noise * rng.normal(size=len(a))
        sets.append(ItemSet(pairs=np.column_stack([alike, np.ones(len(a))])))
        labels.append(y)
    return sets, labels


@pytest.fixture(scope="module")
def model():
    return SupervisedCorrelationClustering().fit(*toy(0))


def test_probabilities_are_right_on_new_sets(model):
    sets, labels = toy(1, n_sets=40)
    p, same = [], []
    for x, y in zip(sets, labels, strict=True):
        a, b = np.triu_indices(len(y), 1)
        p.append(model.pair_probabilities(model.decision_function(x)[a, b]))
        same.append(y[a] == y[b])
    p, same = np.concatenate(p), np.concatenate(same)
    assert calibration_error(same, p, between=(0.05, 0.95)) < 0.06
    assert brier_skill(same, p) > 0.3


def test_a_file_keeps_them(model, tmp_path):
    clustruct.save(tmp_path / "m", model)
    loaded = clustruct.load(tmp_path / "m")
    s = np.linspace(-2.0, 2.0, 9)
    np.testing.assert_array_equal(loaded.pair_probabilities(s), model.pair_probabilities(s))
    assert loaded.dial(0.8) == model.dial(0.8)
    x = toy(1)[0][0]
    scores = PairScores(16, matrix=model.decision_function(x))
    y = model.predict(x)
    np.testing.assert_array_equal(loaded.item_probability(scores, y), model.item_probability(scores, y))


def test_a_model_of_an_older_version_loads_and_says_that_it_has_none(model):
    state = model.state()
    for name in ("calibration_", "threshold_"):
        del state["learned"][name]
    del state["parameters"]["calibrate"]
    old = SupervisedCorrelationClustering.from_state(state)
    x = toy(1)[0][0]
    np.testing.assert_array_equal(old.predict(x), model.predict(x))
    with pytest.raises(ValueError, match="no probabilities"):
        old.pair_probabilities(np.zeros(1))


def test_a_calibration_of_an_older_version_has_one_curve_and_the_old_rule(model):
    state = model.calibration_.state()
    del state["contested"]
    curve = state["curve"].state()
    del curve["upper"]
    old = Calibration.from_state({**state, "curve": type(state["curve"]).from_state(curve)})
    assert old.contested is None
    assert old.precision(0.8) == old.curve.dial(0.8)
    assert not old.precision(0.8).beats_rivals
    states = model.state()
    del states["learned"]["beats_rivals_"]
    x = toy(1)[0][0]
    loaded = SupervisedCorrelationClustering.from_state(states)
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))


def test_a_model_at_a_precision_is_kept_with_its_rule(model, tmp_path):
    cut = model.at_threshold(score=0.1, beats_rivals=True)
    clustruct.save(tmp_path / "m", cut)
    loaded = clustruct.load(tmp_path / "m")
    assert (loaded.threshold_, loaded.beats_rivals_) == (0.1, True)
    for x in toy(1)[0]:
        np.testing.assert_array_equal(loaded.predict(x), cut.predict(x))
        matrix = PairScores(16, matrix=model.decision_function(x))
        expected = less_rivals(matrix, model.predict(x)).above(0.1)
        np.testing.assert_array_equal(cut.predict(x), model.group_scores(expected).labels)


@pytest.mark.parametrize("part", ["pairs", "curve", "items"])
def test_a_damaged_calibration_is_refused(model, part):
    state = model.calibration_.state()
    state[part] = None
    with pytest.raises(ValueError, match=part):
        Calibration.from_state(state)


def test_with_a_given_C_they_are_learned_where_asked_for():
    sets, labels = toy(0)
    assert SupervisedCorrelationClustering(C=1.0).fit(sets, labels).calibration_ is None
    assert SupervisedCorrelationClustering(calibrate=False).fit(sets, labels).calibration_ is None
    found = SupervisedCorrelationClustering(C=1.0, calibrate=True).fit(sets, labels).calibration_
    assert found.held_out == "set"
    with pytest.raises(ValueError, match="calibrate"):
        SupervisedCorrelationClustering(calibrate="yes").fit(sets, labels)


def test_too_few_sets_give_none():
    sets, labels = toy(0, n_sets=2)
    with pytest.warns(ChoiceWarning, match="the model has no probabilities"):
        assert SupervisedCorrelationClustering(C=1.0, calibrate=True).fit(sets, labels).calibration_ is None


@pytest.mark.parametrize("listed", [False, True])
def test_a_threshold_is_a_shift_of_all_similarities(model, listed):
    x = toy(1)[0][0]
    if listed:
        x = ItemSet(pairs=x.pairs[::2], pair_index=np.array(np.triu_indices(16, 1)).T[::2], n_items=16)
    moved = model.at_threshold(threshold=0.8)
    score = model.calibration_.threshold(0.8)
    before, after = (np.asarray(K.todense() if listed else K) for K in map(_similarity(x), (model, moved)))
    off = before != 0.0
    np.fill_diagonal(off, False)
    np.testing.assert_allclose(after[off], before[off] - score)
    np.testing.assert_allclose(moved.linear_similarity()[1], -score)
    K = moved.decision_function(x)
    np.testing.assert_array_equal(moved.predict(x), moved.group_scores(PairScores.from_matrix(K)).labels)
    # Probabilities are those of the pairs, wherever zero is.
    np.testing.assert_allclose(moved.pair_probabilities(after[off]), model.pair_probabilities(before[off]))
    assert model.threshold_ == 0.0


def _similarity(x):
    return lambda model: model.decision_function(x)


def test_a_higher_threshold_joins_less(model):
    sets, _ = toy(1)
    n = [sum(model.at_threshold(threshold=t).predict(x).max() for x in sets) for t in (0.05, 0.5, 0.95)]
    assert n == sorted(n)
    assert n[0] < n[-1]
    with pytest.raises(ValueError, match="one of"):
        model.at_threshold()


def test_what_was_not_held_out_counts_by_half():
    truth, mine = np.array([0, 0, 1, -1]), np.array([True, True, False, False])
    index = np.array([[0, 1], [0, 2], [1, 3], [2, 3]])
    scores = PairScores(4, index=index, values=np.arange(4.0))
    s, same, weights = _judged_pairs(HeldOutPart(scores, truth, mine))
    assert s.tolist() == [0.0, 1.0, 2.0]  # the last has nothing to do with what was held out
    assert same.tolist() == [True, False, False]
    assert weights.tolist() == [1.0, 0.5, 0.5]
    assert _judged_pairs(HeldOutPart(scores, truth, mine, unknown_apart=False))[0].tolist() == [0.0, 1.0]


def test_a_stop_in_the_last_step_keeps_the_model(monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("clustruct.learning.calibration.calibrate_task", stopped)
    with pytest.warns(ChoiceWarning, match="no probabilities"):
        model = SupervisedCorrelationClustering().fit(*toy(0))
    assert model.calibration_ is None
    assert len(model.predict(toy(1)[0][0])) == 16


def test_a_table_is_calibrated_by_clusters_held_out():
    """Listed pairs of one table, half of it without labels."""
    rng, m = np.random.default_rng(0), 240
    y = np.arange(m) // 3
    index = np.array([(a, b) for a in range(m) for b in range(a + 1, min(a + 9, m))])
    same = y[index[:, 0]] == y[index[:, 1]]
    pairs = np.column_stack([same + 0.5 * rng.normal(size=len(index)), np.ones(len(index))])
    labels = [int(c) if c % 2 else None for c in y]
    x = ItemSet(pairs=pairs, pair_index=index, n_items=m)
    model = SupervisedCorrelationClustering(loss="pairwise_f").fit([x], [labels])
    found = model.calibration_
    assert found.held_out == "cluster"
    assert found.n_true == 3 * 40
    p = model.pair_probabilities(model.pair_scores(x, index))
    unseen = (y[index] % 2 == 0).any(axis=1)
    assert calibration_error(same[unseen], p[unseen]) < 0.06
    assert model.dial(0.4).reached


def test_no_set_counts_for_much_more_than_others():
    sets = [(np.zeros(n), np.zeros(n, bool), np.ones(n)) for n in (1000, *[10] * 30)]
    weights = [w.sum() for _, _, w in _limit_weights(sets)]
    assert weights == pytest.approx([130.0] + [10.0] * 30)
    assert [w.sum() for _, _, w in _limit_weights(sets[1:3])] == [10.0, 10.0]
