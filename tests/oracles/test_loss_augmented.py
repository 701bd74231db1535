"""The oracles make the steps of their slow twins, and never exceed brute force over all partitions."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from clustruct.losses import FunctionLoss, Loss, MitreLoss, MutualPurityLoss, PairwiseLoss
from clustruct.oracles import search_steps as search
from clustruct.oracles.loss_augmented import (
    AugmentedObjective,
    augmented_value,
    greedy_augmented,
    local_search_augmented,
    together_score,
)
from clustruct.partitions import canonical_labels
from tests.reference import loss_augmented as twin
from tests.reference import losses as definitions


def lopsided(y: list[int], ybar: list[int]) -> float:
    return definitions.pairwise(y, ybar, 2.0, 0.5)


LOSSES: dict[str, tuple[Loss, Callable[[list[int], list[int]], float]]] = {
    "pairwise": (PairwiseLoss(), definitions.pairwise),
    "costs": (PairwiseLoss(2.0, 0.5), lopsided),
    "mitre": (MitreLoss(), definitions.mitre),
    "purity": (MutualPurityLoss(), definitions.mutual_purity),
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


@pytest.mark.parametrize(("name", "scaling", "norm"), SETTINGS)
def test_never_above_brute_force_and_equal_to_the_twins(name: str, scaling: str, norm: int) -> None:
    loss, delta = LOSSES[name]
    hits = 0
    for seed in range(6):
        m = 1 + seed
        K, y = instance(seed, m)
        H = twin.objective(K, y, delta, scaling, norm)
        top = twin.best_of_all(m, H)
        greedy = greedy_augmented(K, y, loss, scaling=scaling, slack_norm=norm).tolist()
        local = local_search_augmented(K, y, loss, scaling=scaling, slack_norm=norm).tolist()
        *_, expected = twin.greedy_steps(m, H)
        assert greedy == expected
        starts = [expected, y, list(range(m))]
        ends = [list(twin.climb_steps(start, H))[-1] for start in starts]
        assert H(local) == pytest.approx(max(map(H, ends)), abs=1e-9)
        assert max(H(greedy), 0.0) <= H(local) + 1e-9
        assert H(local) <= top + 1e-9
        assert augmented_value(K, local, y, loss, scaling=scaling, slack_norm=norm) == pytest.approx(H(local))
        hits += H(local) >= top - 1e-9
    assert hits >= 4


@pytest.mark.parametrize(("name", "scaling", "norm"), SETTINGS)
def test_every_step_is_the_twins_step(name: str, scaling: str, norm: int) -> None:
    loss, delta = LOSSES[name]
    for seed in range(10, 14):
        m = 8
        K, y = instance(seed, m)
        np.fill_diagonal(K, 0.0)
        H = twin.objective(K, y, delta, scaling, norm)
        objective = AugmentedObjective(scaling, norm, together_score(K, np.array(y)), 1e-9)
        steps = search.greedy_steps(K, loss.start(y, range(m)), objective)
        assert [canonical_labels(s).tolist() for s in steps] == list(twin.greedy_steps(m, H))
        for start in (y, list(range(m)), [0] * m):
            climbed = search.climb_steps(K, loss.start(y, start), objective)
            assert [canonical_labels(s).tolist() for s in climbed] == list(twin.climb_steps(start, H))


@pytest.mark.parametrize(("scaling", "norm"), list(product(["margin", "slack"], [1, 2])))
@pytest.mark.parametrize("loss", [PairwiseLoss(), PairwiseLoss(3.0, 0.2), MitreLoss()])
def test_compiled_search_equals_array_search(loss: Loss, scaling: str, norm: int) -> None:
    """The compiled kernels against the search that asks a loss state, on larger sets."""
    for seed in range(4):
        K, y = instance(seed + 52, 30)
        np.fill_diagonal(K, 0.0)
        objective = AugmentedObjective(scaling, norm, together_score(K, np.array(y)), 1e-9)
        by_steps = search.last(search.greedy_steps(K, loss.start(y, range(30)), objective))
        assert np.array_equal(greedy_augmented(K, y, loss, scaling=scaling, slack_norm=norm), by_steps)
        starts = [by_steps, y, range(30)]
        ends = [search.last(search.climb_steps(K, loss.start(y, s), objective)) for s in starts]
        values = [augmented_value(K, end, y, loss, scaling=scaling, slack_norm=norm) for end in ends]
        local = local_search_augmented(K, y, loss, scaling=scaling, slack_norm=norm)
        assert np.array_equal(local, ends[int(np.argmax(values))])


def test_margin_pairwise_greedy_is_plain_greedy_on_the_augmented_matrix() -> None:
    for seed in range(8):
        K, y = instance(seed, 7)
        weights = PairwiseLoss().pair_weights(y).coefficients
        augmented = K.copy()
        augmented[np.triu_indices(7, 1)] += weights
        augmented[np.tril_indices(7, -1)] = augmented.T[np.tril_indices(7, -1)]
        plain = greedy_augmented(augmented, y, loss_in_oracle=False)
        assert np.array_equal(greedy_augmented(K, y, "pairwise"), plain)


def test_figure_3_2_most_violated_clustering() -> None:
    """On the right matrix of Figure 3.2 the best partition is found, and it is not the truth."""
    K = np.zeros((5, 5))
    K[np.triu_indices(5, 1)] = [9, -4, -1, -7, 7, -3, -8, 2, -4, 9]
    K += K.T
    y = [0, 0, 0, 1, 1]
    H = twin.objective(K, y, definitions.pairwise, "margin", 1)
    found = local_search_augmented(K, y, "pairwise").tolist()
    assert H(found) == pytest.approx(twin.best_of_all(5, H))
    assert found != y


@pytest.mark.parametrize("procedure", [greedy_augmented, local_search_augmented])
def test_loss_left_out_of_the_search(procedure: Callable[..., np.ndarray]) -> None:
    for seed in range(6):
        K, y = instance(seed, 6)
        H = twin.objective(K, y, lambda a, b: 0.0, "margin", 1)
        answers = [
            procedure(K, y, loss, scaling=scaling, slack_norm=norm, loss_in_oracle=False).tolist()
            for loss, scaling, norm in product(["mitre", "purity"], ["margin", "slack"], [1, 2])
        ]
        assert all(answer == answers[0] for answer in answers)
        if procedure is greedy_augmented:
            assert answers[0] == list(twin.greedy_steps(6, H))[-1]
        assert H(answers[0]) <= twin.best_of_all(6, H) + 1e-9


def test_truth_score_can_be_given() -> None:
    K, y = instance(3, 8)
    np.fill_diagonal(K, 0.0)
    score = together_score(K, np.array(y))
    for scaling in ("margin", "slack"):
        given = greedy_augmented(K, y, "mitre", scaling=scaling, truth_score=score)
        assert np.array_equal(given, greedy_augmented(K, y, "mitre", scaling=scaling))
    other = augmented_value(K, y, y, "mitre", truth_score=score - 1.0)
    assert other == pytest.approx(1.0)


def test_sparse_matrix_and_single_item() -> None:
    K, y = instance(2, 6)
    assert np.array_equal(greedy_augmented(sp.csr_array(K), y), greedy_augmented(K, y))
    assert local_search_augmented([[5.0]], ["only"], "mitre", scaling="slack").tolist() == [0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scaling": "both"}, "scaling must be"),
        ({"slack_norm": 3}, "slack_norm must be 1 or 2"),
        ({"K": np.zeros((3, 3))}, "K has shape"),
        ({"K": [[0.0, 1.0], [2.0, 0.0]]}, "not symmetric"),
        ({"K": [[0.0, np.nan], [np.nan, 0.0]]}, "row 0, column 1 is nan"),
        ({"loss": "rand"}, "unknown loss"),
        ({"K": np.zeros((0, 0)), "y_true": []}, "at least one item"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        greedy_augmented(**({"K": np.zeros((2, 2)), "y_true": [0, 1]} | arguments))  # type: ignore[arg-type]
