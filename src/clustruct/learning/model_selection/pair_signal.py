"""How well a few features tell pairs together from pairs apart, on sets that were held out: a cheap look
before (or without) any training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clustruct.core.typing import Bools, Floats, Ints, Labels
from clustruct.data import ItemSet, all_pairs

# So many pairs are looked at, half of them together; of a set with many pairs they are drawn from so many.
MOST_PAIRS = 6000
DRAWN_FROM = 200_000
# Keeps the least squares of few pairs and collinear features in bounds.
RIDGE = 1e-2


@dataclass(frozen=True)
class PairSample:
    """Some pairs (p x 2) of one set, which of them are together, and how many pairs each stands for."""

    x: ItemSet
    pairs: Ints
    together: Bools
    stands_for: Floats


def sample_pairs(sets: Sequence[ItemSet], labels: Sequence[Labels]) -> list[PairSample]:
    """Pairs of each set, as many together as apart where there are so many, the same ones each time."""
    rng = np.random.default_rng(0)
    each = max(20, MOST_PAIRS // len(sets))
    return [_sample(x, y, each, rng) for x, y in zip(sets, labels, strict=True)]


def _sample(x: ItemSet, y: Labels, most: int, rng: np.random.Generator) -> PairSample:
    m, total = x.n_items, x.n_items * (x.n_items - 1) // 2
    if x.is_sparse and x.pair_index is not None:
        pairs, total = x.pair_index, len(x.pair_index)
    elif total <= DRAWN_FROM:
        pairs = all_pairs(m)
    else:
        drawn = rng.integers(0, m, (DRAWN_FROM, 2))
        pairs = drawn[drawn[:, 0] != drawn[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    stands_for = np.zeros(len(pairs))
    for side in (same, ~same):
        kept = rng.permutation(np.flatnonzero(side))[: most // 2]
        stands_for[kept] = side.sum() / max(len(kept), 1) * (total / max(len(pairs), 1))
    chosen = np.flatnonzero(stands_for)
    return PairSample(x, pairs[chosen], same[chosen], stands_for[chosen])


def held_out_outputs(features: Sequence[Floats], together: Sequence[Bools]) -> Floats:
    """What least squares makes of the pairs of each set, learned from the other half of the sets.

    One set is its own test: with far more pairs than features that is no great matter.
    """
    halves = [list(range(0, len(features), 2)), list(range(1, len(features), 2))]
    tests = halves if len(features) > 1 else [[0]]
    out: list[Floats] = [np.zeros(0)] * len(features)
    for test, train in zip(tests, tests[::-1], strict=True):
        w = _least_squares(
            np.concatenate([features[i] for i in train]), np.concatenate([together[i] for i in train])
        )
        for i in test:
            out[i] = features[i] @ w
    return np.concatenate(out)


def _least_squares(features: Floats, together: Bools) -> Floats:
    """Weights for outputs of 1 and -1, both kinds of pairs counting alike."""
    share = np.mean(together) if len(together) else 0.5
    weight = np.where(together, 0.5 / max(share, 1e-9), 0.5 / max(1.0 - share, 1e-9))
    size = np.sqrt(np.maximum((features**2).mean(axis=0), 1e-300)) if len(features) else 1.0
    A = features / size
    gram = (A * weight[:, None]).T @ A / max(len(A), 1)
    target = (A * weight[:, None]).T @ np.where(together, 1.0, -1.0) / max(len(A), 1)
    return np.asarray(np.linalg.solve(gram + RIDGE * np.eye(len(gram)), target) / size, np.float64)


def best_f(outputs: Floats, together: Bools, stands_for: Floats) -> float:
    """The F of pairs called together, at the best border between outputs.

    >>> best_f(np.array([3.0, 2.0, 1.0, 2.5]), np.array([True, True, False, False]), np.ones(4))
    0.8
    """
    order = np.argsort(-outputs, kind="stable")
    found, called = (np.cumsum((w * stands_for)[order]) for w in (together, np.ones(len(outputs))))
    # A border lies between different outputs only.
    ends = np.append(np.diff(outputs[order]) != 0.0, True)
    total = float(stands_for[together].sum())
    return float((2.0 * found / np.maximum(called + total, 1e-300))[ends].max()) if len(outputs) else 0.0


def balanced_accuracy(outputs: Floats, together: Bools) -> float:
    """The mean share of right signs over pairs together and pairs apart.

    >>> balanced_accuracy(np.array([3.0, 2.0, -1.0, 2.0]), np.array([True, True, False, False]))
    0.75
    """
    sides = [
        np.mean((outputs > 0.0)[together == side] == side)
        for side in (True, False)
        if (together == side).any()
    ]
    return float(np.mean(sides)) if sides else 0.5
