"""Greedy and local search for H with any loss, one array operation for all neighbours of a partition.

The compiled twins in `_augmented_kernels` make the same steps in the same order for losses that
depend on counts alone. Each generator yields the labels after every step, the start first.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from clustruct._typing import Floats, Ints
from clustruct.losses import LossState
from clustruct.partitions import canonical_labels

if TYPE_CHECKING:
    from .loss_augmented import AugmentedObjective


def last(steps: Iterable[Ints]) -> Ints:
    """The canonical labels a search ends with."""
    *_, labels = steps
    return canonical_labels(labels)


def greedy_steps(K: Floats, state: LossState, objective: "AugmentedObjective") -> Iterator[Ints]:
    """Algorithm 4 from the state's partition, which must be all singletons.

    K is symmetric with zero diagonal. Ties go to the first pair of clusters in the order of their
    smallest items.
    """
    sums, score = K.copy(), 0.0  # sums_cd: what a merge of c and d adds to S
    yield state.labels.copy()
    while state.n_clusters > 1:
        best = _best_join(state, sums, score, objective)
        if best is None:
            return
        c, d = best
        score += float(sums[c, d])
        sums[c] += sums[d]
        sums[:, c] += sums[:, d]
        sums = np.delete(np.delete(sums, d, axis=0), d, axis=1)
        state.merge(c, d)
        yield state.labels.copy()


def climb_steps(K: Floats, state: LossState, objective: "AugmentedObjective") -> Iterator[Ints]:
    """Moves of items and joins of clusters from the state's partition, while H rises."""
    m = state.labels.size
    pull = _pull(K, state)  # pull_ac = sum of K_ab over b in cluster c
    score = float(pull[np.arange(m), state.labels].sum()) / 2
    yield state.labels.copy()
    while True:
        moved = False
        for item in range(m):
            target = _best_move(item, state, pull, score, objective)
            if target is None:
                continue
            source = int(state.labels[item])
            gained = pull[item, target] if target < state.n_clusters else 0.0
            score += float(gained - pull[item, source])
            pull = _pull_after_move(pull, K[:, item], source, target, state.sizes)
            state.move(item, target)
            moved = True
            yield state.labels.copy()
        if moved:
            continue
        sums = np.zeros((state.n_clusters, state.n_clusters))
        np.add.at(sums, state.labels, pull)
        best = _best_join(state, sums, score, objective)
        if best is None:
            return
        score += float(sums[best])
        state.merge(*best)
        pull = _pull(K, state)
        yield state.labels.copy()


def _pull(K: Floats, state: LossState) -> Floats:
    members = np.zeros((state.labels.size, state.n_clusters))
    members[np.arange(state.labels.size), state.labels] = 1.0
    return np.asarray(K @ members, dtype=np.float64)


def _pull_after_move(pull: Floats, column: Floats, source: int, target: int, sizes: Ints) -> Floats:
    """Pull after an item with similarities `column` went from source to target; numbering as in the state."""
    if target == pull.shape[1]:
        pull = np.column_stack([pull, np.zeros(pull.shape[0])])
    pull[:, target] += column
    if sizes[source] == 1:
        return np.delete(pull, source, axis=1)
    pull[:, source] -= column
    return pull


def _best_join(
    state: LossState, sums: Floats, score: float, objective: "AugmentedObjective"
) -> tuple[int, int] | None:
    k = state.n_clusters
    if k < 2:
        return None
    values = np.asarray(objective.value(score + sums, state.merge_values()))
    values[np.tril_indices(k)] = -np.inf
    c, d = divmod(int(values.argmax()), k)
    now = objective.value(score, state.value)
    return (c, d) if values[c, d] > now + objective.tolerance else None


def _best_move(
    item: int, state: LossState, pull: Floats, score: float, objective: "AugmentedObjective"
) -> int | None:
    source = int(state.labels[item])
    scores = score + np.append(pull[item], 0.0) - pull[item, source]
    values = np.asarray(objective.value(scores, state.move_values(item)))
    values[source] = -np.inf
    target = int(values.argmax())
    now = objective.value(score, state.value)
    return target if values[target] > now + objective.tolerance else None
