"""DEFECTS 24: a loss of one's own that costs much is announced, called less often, and can be stopped."""

import time

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, fowlkes_mallows_score, v_measure_score

from clustruct import ItemSet, SupervisedCorrelationClustering
from clustruct.core.exceptions import CostWarning
from clustruct.core.partitions import canonical_labels
from clustruct.losses import FunctionLoss, MitreLoss, PairwiseLoss
from clustruct.losses.slack_rule import SlackRule
from clustruct.search.oracles.violation_search import ExampleLoss, ViolationSearch


def toy(m, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, m)
    a, b = np.triu_indices(m, 1)
    return ItemSet(pairs=np.c_[(y[a] == y[b]) + 0.5 * rng.normal(size=len(a)), np.ones(len(a))]), y


def rand_loss(y, other):
    return 100.0 * (1.0 - max(0.0, adjusted_rand_score(y, other)))


class Counted:
    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, y, other):
        self.calls += 1
        return self.function(y, other)


def test_an_expensive_loss_is_announced_before_the_training():
    calls = []

    def slow(y, other):
        time.sleep(0.02)
        calls.append(1)
        if len(calls) > 200:
            raise RuntimeError("enough")
        return rand_loss(y, other)

    X, y = zip(*[toy(25, k) for k in range(6)], strict=True)
    words = r"2\d ms a call.*training will take about.*of your own about"
    with pytest.warns(CostWarning, match=words), pytest.raises(RuntimeError, match="enough"):
        SupervisedCorrelationClustering(loss=slow).fit(X, y)


def test_steps_of_equal_counts_are_tried_once():
    y = toy(20, 0)[1]
    loss = Counted(rand_loss)
    every = Counted(lambda y, other: rand_loss(y, other) + 1e-6 * other[-1])
    found = [FunctionLoss(f).start(y, np.arange(20)).merge_values() for f in (loss, every)]
    np.testing.assert_allclose(*found, atol=1e-4)
    assert loss.calls < 40  # 32 of them to see what it looks at
    assert every.calls > 190


def test_a_loss_that_looks_at_items_is_found_out():
    y = np.arange(12) // 3
    weight = np.arange(12)
    assert FunctionLoss(rand_loss).sight(y) == "pairs"
    assert FunctionLoss(lambda y, other: float(weight[other == other[0]].sum())).sight(y) == "items"


MEASURES = {
    "pairs": {
        "adjusted Rand": rand_loss,
        "Fowlkes-Mallows": lambda y, z: 100.0 * (1.0 - fowlkes_mallows_score(y, z)),
        "pairwise": lambda y, z: PairwiseLoss()(y, z),
    },
    "counts": {
        "information": lambda y, z: 100.0 * (1.0 - v_measure_score(y, z)),
        "MITRE": lambda y, z: MitreLoss()(y, z),
        "clusters": lambda y, z: float(abs(int(y.max()) - int(z.max()))),
        "clipped": lambda y, z: 0.0 if rand_loss(y, z) > 90.0 else 100.0 * (1.0 - v_measure_score(y, z)),
    },
    "items": {"first": lambda y, z: float(100 * (z[0] != z[1]))},
}


@pytest.mark.parametrize("sight", MEASURES)
@pytest.mark.parametrize("m", [12, 25, 40])
def test_what_a_function_looks_at_is_seen(sight, m):
    y = toy(m, m)[1]
    for name, f in MEASURES[sight].items():
        assert FunctionLoss(f).sight(y) == sight, name


@pytest.mark.parametrize("name", MEASURES["pairs"])
@pytest.mark.parametrize("scaling", ["margin", "slack"])
def test_searches_are_the_same_as_with_every_call(name, scaling):
    """Steps that a function of pairs cannot tell apart are tried once: same values, same ends."""
    f = MEASURES["pairs"][name]
    for seed in range(3):
        y = toy(14, seed)[1]
        K = np.random.default_rng(seed).normal(size=(14, 14)) * 20.0
        K += K.T
        seen, every = FunctionLoss(f), FunctionLoss(f)
        every.known["sight", canonical_labels(y).tobytes()] = 0.0  # items
        found = []
        for loss in (seen, every):
            search = ViolationSearch(K, ExampleLoss(loss, canonical_labels(y)), SlackRule(scaling))
            found.append((search.greedy().tolist(), search.local_search().tolist()))
        assert found[0] == found[1]


def test_choosing_C_calls_a_loss_of_pairs_a_few_times_for_each_pair_of_items():
    """The case of the report, six sets of 25 items, makes 12,000 calls."""
    X, y = zip(*[toy(12, k) for k in range(4)], strict=True)
    loss = Counted(rand_loss)
    SupervisedCorrelationClustering(loss=loss).fit(X, y)
    assert loss.calls < 4 * 5 * 12**2


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr("clustruct.losses.function.MOST_KNOWN", 10)
    loss = FunctionLoss(rand_loss)
    state = loss.start(np.arange(12) // 3, np.arange(12))
    state.merge_values()
    assert len(loss.known) <= 10


@pytest.mark.filterwarnings("ignore::clustruct.core.exceptions.ChoiceWarning")
@pytest.mark.parametrize("C", [1.0, "cv"])
def test_ctrl_c_in_the_loss_keeps_what_was_learned(C):
    X, y = zip(*[toy(10, k) for k in range(4)], strict=True)
    calls = []

    def interrupted(y, other):
        calls.append(1)
        if len(calls) == 400:
            raise KeyboardInterrupt
        return rand_loss(y, other)

    model = SupervisedCorrelationClustering(C=C, loss=interrupted, rtol=1e-9)
    assert model.fit(X, y).result_.stop_reason == "interrupted"
    assert model.w_.shape == (2,)
