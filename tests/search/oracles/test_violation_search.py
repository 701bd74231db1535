"""The oracles make the steps of their slow twins, and never exceed brute force over all partitions."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from clustruct.core.partitions import canonical_labels
from clustruct.data import PairScores
from clustruct.losses import (
    BCubedLoss,
    CEAFEntityLoss,
    CEAFMentionLoss,
    FunctionLoss,
    LEALoss,
    Loss,
    MitreLoss,
    MutualPurityLoss,
    PairwiseFLoss,
    PairwiseLoss,
    VariationOfInformationLoss,
)
from clustruct.losses.slack_rule import SlackRule
from clustruct.search.oracles import ExampleLoss, make_oracle
from clustruct.search.oracles import violation_search as search
from clustruct.search.oracles.violation_search import ViolationSearch
from tests.reference import loss_augmented as twin
from tests.reference import losses as definitions


def lopsided(y: list[int], ybar: list[int]) -> float:
    return definitions.pairwise(y, ybar, 2.0, 0.5)


LOSSES: dict[str, tuple[Loss, Callable[[list[int], list[int]], float]]] = {
    "pairwise": (PairwiseLoss(), definitions.pairwise),
    "costs": (PairwiseLoss(2.0, 0.5), lopsided),
    "mitre": (MitreLoss(), definitions.mitre),
    "pairwise_f": (PairwiseFLoss(), definitions.pairwise_f),
    "purity": (MutualPurityLoss(), definitions.mutual_purity),
    "b_cubed": (BCubedLoss(), definitions.b_cubed),
    "lea": (LEALoss(), definitions.lea),
    "information": (VariationOfInformationLoss(), definitions.variation_of_information),
    "ceaf_mention": (CEAFMentionLoss(), definitions.ceaf_mention),
    "ceaf_entity": (CEAFEntityLoss(), definitions.ceaf_entity),
    "function": (FunctionLoss(lambda y, z: definitions.mitre(y.tolist(), z.tolist())), definitions.mitre),
}
SETTINGS = list(product(LOSSES, ["margin", "slack"], [1, 2]))


def instance(seed: int, m: int) -> tuple[np.ndarray, list[int]]:
    """A similarity around a random truth; over the seeds its size goes from below the loss to above it."""
    rng = np.random.default_rng(seed)
    y = canonical_labels(rng.integers(0, max(2, m // 3), size=m))
    K = np.where(np.equal.outer(y, y), 1.0, -1.0) + rng.normal(scale=1.5, size=(m, m))
    K = (0.03, 0.3, 3.0, 20.0)[seed % 4] * (K + K.T)
    np.fill_diagonal(K, rng.normal(size=m))  # the diagonal must not matter
    return K, y.tolist()


def search_of(K: np.ndarray, y: list[int], loss: Loss, scaling: str, norm: int) -> ViolationSearch:
    return ViolationSearch(K, ExampleLoss(loss, np.array(y)), SlackRule(scaling, norm))  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "scaling", "norm"), SETTINGS)
def test_never_above_brute_force_and_equal_to_the_twins(name: str, scaling: str, norm: int) -> None:
    loss, delta = LOSSES[name]
    hits = 0
    for seed in range(6):
        m = 1 + seed
        K, y = instance(seed, m)
        H = twin.objective(K, y, delta, scaling, norm)
        top = twin.best_of_all(m, H)
        problem = search_of(K, y, loss, scaling, norm)
        greedy, local = problem.greedy().tolist(), problem.local_search().tolist()
        *_, expected = twin.greedy_steps(m, H)
        assert greedy == expected
        starts = [expected, y, list(range(m))]
        ends = [list(twin.climb_steps(start, H))[-1] for start in starts]
        assert H(local) == pytest.approx(max(map(H, ends)), abs=1e-9)
        assert max(H(greedy), 0.0) <= H(local) + 1e-9
        assert H(local) <= top + 1e-9
        assert problem.value(np.array(local)) == pytest.approx(H(local))
        hits += H(local) >= top - 1e-9
    assert hits >= 4


@pytest.mark.parametrize(("name", "scaling", "norm"), SETTINGS)
def test_every_step_is_the_twins_step(name: str, scaling: str, norm: int) -> None:
    loss, delta = LOSSES[name]
    for seed in range(10, 14):
        m = 8
        K, y = instance(seed, m)
        H = twin.objective(K, y, delta, scaling, norm)
        problem = search_of(K, y, loss, scaling, norm)
        steps = search.greedy_steps(problem, loss.start(y, range(m)))
        assert [canonical_labels(s).tolist() for s in steps] == list(twin.greedy_steps(m, H))
        for start in (y, list(range(m)), [0] * m):
            climbed = search.climb_steps(problem, loss.start(y, start))
            assert [canonical_labels(s).tolist() for s in climbed] == list(twin.climb_steps(start, H))


@pytest.mark.parametrize(("scaling", "norm"), list(product(["margin", "slack"], [1, 2])))
@pytest.mark.parametrize(
    "loss",
    [
        PairwiseLoss(),
        PairwiseLoss(3.0, 0.2),
        MitreLoss(),
        PairwiseFLoss(1.5),
        BCubedLoss(),
        LEALoss(),
        VariationOfInformationLoss(),
        CEAFMentionLoss(),
        CEAFEntityLoss(),
    ],
)
def test_compiled_search_equals_array_search(loss: Loss, scaling: str, norm: int) -> None:
    """The compiled kernels against the search that asks a loss state, on larger sets."""
    m = 12 if isinstance(loss, CEAFMentionLoss | CEAFEntityLoss) else 30  # one by one, these are slow
    for seed in range(4):
        K, y = instance(seed + 52, m)
        problem = search_of(K, y, loss, scaling, norm)
        by_steps = search.last(search.greedy_steps(problem, loss.start(y, range(m))))
        assert np.array_equal(problem.greedy(), by_steps)
        starts = [by_steps, y, range(m), *([np.zeros(m, int)] if m == 12 else [])]  # CEAF: all together, too
        ends = [search.last(search.climb_steps(problem, loss.start(y, s))) for s in starts]
        values = [problem.value(end) for end in ends]
        assert np.array_equal(problem.local_search(), ends[int(np.argmax(values))])


def test_margin_pairwise_greedy_is_plain_greedy_on_the_augmented_matrix() -> None:
    for seed in range(8):
        K, y = instance(seed, 7)
        weights = PairwiseLoss().pair_weights(y).coefficients
        augmented = K.copy()
        augmented[np.triu_indices(7, 1)] += weights
        augmented[np.tril_indices(7, -1)] = augmented.T[np.tril_indices(7, -1)]
        plain = make_oracle("greedy").predict(PairScores.from_matrix(augmented))
        assert np.array_equal(search_of(K, y, PairwiseLoss(), "margin", 1).greedy(), plain)


def test_figure_3_2_most_violated_clustering() -> None:
    """On the right matrix of Figure 3.2 the best partition is found, and it is not the truth."""
    K = np.zeros((5, 5))
    K[np.triu_indices(5, 1)] = [9, -4, -1, -7, 7, -3, -8, 2, -4, 9]
    K += K.T
    y = [0, 0, 0, 1, 1]
    H = twin.objective(K, y, definitions.pairwise, "margin", 1)
    found = search_of(K, y, PairwiseLoss(), "margin", 1).local_search().tolist()
    assert H(found) == pytest.approx(twin.best_of_all(5, H))
    assert found != y


@pytest.mark.parametrize("name", ["greedy", "local_search"])
def test_loss_left_out_of_the_search(name: str) -> None:
    oracle = make_oracle(name, loss_in_oracle=False)
    for seed in range(6):
        K, y = instance(seed, 6)
        H = twin.objective(K, y, lambda a, b: 0.0, "margin", 1)
        settings = product([MitreLoss(), MutualPurityLoss()], ["margin", "slack"], [1, 2])
        scores = PairScores.from_matrix(K)
        results = [
            (oracle.separate(scores, ExampleLoss(loss, np.array(y)), SlackRule(scaling, norm)), loss)
            for loss, scaling, norm in settings
        ]
        answers = [result.output.tolist() for result, _ in results]
        assert all(answer == answers[0] for answer in answers)
        assert all(result.loss == loss(y, result.output) for result, loss in results)
        if name == "greedy":
            assert answers[0] == list(twin.greedy_steps(6, H))[-1]
        assert H(answers[0]) <= twin.best_of_all(6, H) + 1e-9


def test_single_item() -> None:
    K = np.array([[5.0]])
    assert search_of(K, [0], MitreLoss(), "slack", 1).local_search().tolist() == [0]


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.zeros((2, 3)), "square matrix"),
        (np.zeros((0, 0)), "square matrix"),
        ([[0.0, 1.0], [2.0, 0.0]], "not symmetric"),
        ([[0.0, np.nan], [np.nan, 0.0]], "row 0, column 1 is nan"),
    ],
)
def test_bad_scores_are_refused(K: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PairScores.from_matrix(K)
