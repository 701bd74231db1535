"""Losses equal their definitions, and their states equal the losses after any walk of merges and moves."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import squareform

from clustruct.core.partitions import canonical_labels, co_membership
from clustruct.evaluate import metrics
from clustruct.losses import (
    BCubedLoss,
    CEAFEntityLoss,
    CEAFMentionLoss,
    CountLoss,
    FunctionLoss,
    LEALoss,
    Loss,
    MitreLoss,
    MutualPurityLoss,
    PairCounts,
    PairwiseFLoss,
    PairwiseLoss,
    VariationOfInformationLoss,
    as_loss,
)
from tests.reference import losses as twin
from tests.reference.partitions import all_partitions


def costly(y: list[int], ybar: list[int]) -> float:
    return twin.pairwise(y, ybar, 3.0, 0.5)


def recall_minded(y: list[int], ybar: list[int]) -> float:
    return twin.pairwise_f(y, ybar, 2.0)


LOSSES: list[tuple[Loss, Callable[[list[int], list[int]], float]]] = [
    (PairwiseLoss(), twin.pairwise),
    (PairwiseLoss(merge_cost=3.0, split_cost=0.5), costly),
    (MitreLoss(), twin.mitre),
    (PairwiseFLoss(), twin.pairwise_f),
    (PairwiseFLoss(beta=2.0), recall_minded),
    (MutualPurityLoss(), twin.mutual_purity),
    (BCubedLoss(), twin.b_cubed),
    (LEALoss(), twin.lea),
    (VariationOfInformationLoss(), twin.variation_of_information),
    (CEAFMentionLoss(), twin.ceaf_mention),
    (CEAFEntityLoss(), twin.ceaf_entity),
    (FunctionLoss(lambda y, ybar: twin.mitre(y.tolist(), ybar.tolist())), twin.mitre),
]

two_labelings = st.integers(1, 9).flatmap(
    lambda m: st.tuples(*[st.lists(st.integers(0, 4), min_size=m, max_size=m)] * 2)
)


@pytest.mark.parametrize(("loss", "definition"), LOSSES)
def test_loss_equals_its_definition_on_all_small_partitions(loss: Loss, definition: Callable) -> None:
    for m in range(1, 6):
        for y in all_partitions(m):
            for ybar in all_partitions(m):
                assert loss(y, ybar) == pytest.approx(definition(y, ybar), abs=1e-9)


@pytest.mark.parametrize(("loss", "definition"), LOSSES)
@given(two=two_labelings, seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_state_follows_any_walk(loss: Loss, definition: Callable, two: tuple, seed: int) -> None:
    y, start = two
    rng = np.random.default_rng(seed)
    state = loss.start(y, start)
    mine = list(canonical_labels(start))
    if seed % 2 and state.n_clusters > 1:  # before the tables of all merges are made
        state.merge(0, 1)
        mine = [0 if c == 1 else c for c in mine]
    for _ in range(6):
        k = state.n_clusters
        assert state.value == pytest.approx(definition(y, mine), abs=1e-9)
        assert np.array_equal(canonical_labels(state.labels), canonical_labels(mine))
        merges = state.merge_values()
        for c in range(k):
            for d in range(k):
                merged = [c if label == d else int(label) for label in state.labels]
                assert merges[c, d] == pytest.approx(definition(y, merged), abs=1e-9)
        item = int(rng.integers(len(y)))
        moves = state.move_values(item)
        assert moves.shape == (k + 1,)
        for c in range(k + 1):
            moved = [c if a == item else int(label) for a, label in enumerate(state.labels)]
            assert moves[c] == pytest.approx(definition(y, moved), abs=1e-9)
        if rng.random() < 0.5:
            c, d = (int(v) for v in rng.integers(k, size=2))
            mine = [c if label == d else int(label) for label in state.labels]
            state.merge(c, d)
        else:
            c = int(rng.integers(k + 1))
            mine = [c if a == item else int(label) for a, label in enumerate(state.labels)]
            state.move(item, c)


@given(two_labelings)
def test_losses_are_the_complements_of_the_scores(two: tuple) -> None:
    y, ybar = two
    by_score = {
        "b_cubed": metrics.b_cubed(y, ybar).f1,
        "lea": metrics.lea(y, ybar).f1,
        "ceaf_mention": metrics.ceaf_mention(y, ybar).f1,
        "ceaf_entity": metrics.ceaf_entity(y, ybar).f1,
    }
    for name, score in by_score.items():
        assert as_loss(name)(y, ybar) == pytest.approx(100.0 * (1.0 - score), abs=1e-9)
        assert as_loss(name)(y, y) == 0.0
    nats = metrics.variation_of_information(y, ybar)
    assert as_loss("variation_of_information")(y, ybar) * np.log(max(len(y), 2)) == pytest.approx(100 * nats)
    assert as_loss("variation_of_information")(y, y) == 0.0


@given(two_labelings)
def test_relaxed_pairwise_loss_is_linear_and_meets_the_discrete_one(two: tuple) -> None:
    y, ybar = two
    loss = PairwiseLoss(merge_cost=2.0, split_cost=0.7)
    e = co_membership(ybar).astype(float)
    assert loss.degree_loss(y, e) == pytest.approx(loss(y, ybar), abs=1e-9)
    weights = loss.pair_weights(y)
    half = 0.5 * e + 0.25
    assert loss.degree_loss(y, half) == pytest.approx(
        max(0.0, weights.constant + weights.coefficients @ half), abs=1e-9
    )
    together = co_membership(y)
    if together.size:
        wrong = np.where(together, 0.7 * (1 - half), 2.0 * half)
        assert loss.degree_loss(y, half) == pytest.approx(100 * wrong.mean(), abs=1e-9)


@pytest.mark.parametrize("loss", [PairwiseFLoss(), PairwiseFLoss(beta=0.6), PairwiseFLoss(1.0, 0.5)])
@given(two=two_labelings, seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_pairwise_f_of_some_known_labels(loss: PairwiseFLoss, two: tuple, seed: int) -> None:
    y, ybar = (np.array(labels) for labels in two)
    known = np.random.default_rng(seed).random(len(y)) < 0.6
    y[~known] = 10 + np.arange((~known).sum())
    expected = twin.pairwise_f(y.tolist(), ybar.tolist(), loss.beta, known.tolist(), loss.background_weight)
    assert loss.partial(y, ybar, known) == pytest.approx(expected, abs=1e-9)
    assert loss.partial(y, y, known) == 0.0
    form = loss.partial_form(y, known)
    sizes, strangers = (np.bincount(ybar[mask], minlength=5) for mask in (known, ~known))
    cells = np.unique(np.column_stack([y, ybar])[known], axis=0, return_counts=True)[1]
    Q, P = form.statistics(cells, sizes, strangers)
    assert float(form.value(Q, P, 1)) == pytest.approx(expected, abs=1e-9)


@given(*[st.floats(0.0, 1.0)] * 2, st.floats(0.3, 3.0))
def test_slopes_of_pairwise_f_are_its_derivatives(a: float, b: float, beta: float) -> None:
    loss, T, step = PairwiseFLoss(beta=beta), 20.0, 1e-5
    a, b = 1.0 + 18.0 * a, 1.0 + 30.0 * b

    def delta(a: float, b: float) -> float:
        return loss.of_counts(PairCounts(a, a + b, T))

    lost, added = loss.slopes(PairCounts(a, a + b, T))
    assert -lost == pytest.approx((delta(a + step, b) - delta(a - step, b)) / (2 * step), rel=1e-5)
    assert added == pytest.approx((delta(a, b + step) - delta(a, b - step)) / (2 * step), rel=1e-5)


def test_figure_3_2_of_the_dissertation() -> None:
    """The loss-augmented matrix of five items with truth {a, b, c}, {d, e}; without the 1/m^2."""
    K = np.array([9, -4, -1, -7, 7, -3, -8, 2, -4, 9], dtype=float)
    printed = np.array([-1, -14, 9, 3, -3, 7, 2, 12, 6, -1], dtype=float)
    weights = PairwiseLoss().pair_weights([0, 0, 0, 1, 1])
    assert np.array_equal(K + weights.coefficients, printed)
    assert weights.constant == 40.0
    assert squareform(weights.coefficients)[0].tolist() == [0, -10, -10, 10, 10]


def test_mitre_default_clustering_is_half_wrong_at_muc6_density() -> None:
    """All in one cluster, 1.48 items per true cluster: 100 (1 - F) is near the published 51.0."""
    m, k = 1480, 1000
    y = np.r_[np.arange(k), np.arange(m - k)]
    assert MitreLoss()(y, np.zeros(m, dtype=int)) == pytest.approx(50.8, abs=0.5)


def test_one_item_and_names() -> None:
    for loss, _ in LOSSES:
        assert loss(["x"], [3]) == 0.0
        assert isinstance(loss, Loss)
    assert as_loss("pairwise") == PairwiseLoss()
    assert as_loss("purity") == MutualPurityLoss()
    assert as_loss(LOSSES[2][0]) is LOSSES[2][0]
    assert isinstance(as_loss(lambda y, ybar: 0.0), FunctionLoss)
    assert as_loss("pairwise_f") == PairwiseFLoss()
    assert isinstance(MitreLoss(), CountLoss)
    assert not isinstance(MutualPurityLoss(), CountLoss)


def test_bad_losses_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown loss 'rand'"):
        as_loss("rand")
    with pytest.raises(ValueError, match="not a loss"):
        as_loss(3)
    with pytest.raises(ValueError, match="instance of MitreLoss"):
        as_loss(MitreLoss)
    with pytest.raises(ValueError, match="merge_cost"):
        PairwiseLoss(merge_cost=-1.0)
    with pytest.raises(ValueError, match="beta"):
        PairwiseFLoss(beta=0.0)
    with pytest.raises(ValueError, match="background_weight"):
        PairwiseFLoss(background_weight=-1.0)
    with pytest.raises(ValueError, match="gave -1"):
        FunctionLoss(lambda y, ybar: -1.0)([0], [0])
    with pytest.raises(ValueError, match="must be callable"):
        FunctionLoss(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"entry 1 is 1\.5"):
        PairwiseLoss().degree_loss([0, 0, 1], [0.0, 1.5, 0.0])
    with pytest.raises(ValueError, match="y_pred has 1 entries for 2 items"):
        MitreLoss()([0, 0], [1])
    with pytest.raises(ValueError, match="cluster 5 is not in"):
        MitreLoss().start([0, 0], [0, 1]).merge(0, 5)
    state = PairwiseLoss().start([0, 0], [0, 1])
    for wrong in (lambda: state.merge(-1, 0), lambda: state.move(0, 3), lambda: state.move(0, -1)):
        with pytest.raises(ValueError, match=r"cluster -?\d is not in"):
            wrong()
    assert state.value == 100.0
