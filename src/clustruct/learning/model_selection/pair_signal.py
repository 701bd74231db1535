"""How well a few features tell pairs together from pairs apart, on sets that were held out: a cheap look
before any training, which warns of fields that give the answer away, and of tables whose products cannot say
what distances could.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clustruct.core.exceptions import LeakWarning, ProductsWarning
from clustruct.core.typing import Bools, Floats, Indices, Ints, Labels
from clustruct.data import ItemSet, pair_table
from clustruct.data.matrices import dense

# So many pairs are looked at, half of them together; of a set with many pairs they are drawn from so many.
MOST_PAIRS = 6000
DRAWN_FROM = 200_000
# Keeps the least squares of few pairs and collinear features in bounds.
RIDGE = 1e-2
# A field decides where its features alone give pairs with this F, and nearly alone where what the features of
# all other fields leave to be desired is so many times as much, and no less than this.
DECIDES, TIMES_WORSE, LEFT_WRONG = 0.95, 3.0, 0.05
# With fewer pairs of one kind chance decides.
FEWEST_LEAK_PAIRS = 50
# More columns than this are words or the like, whose products are what is wanted.
MOST_COLUMNS = 100
# By how much distances must be the better guide, in shares of pairs (together and apart counting alike).
CLEARLY = 0.1
# With fewer pairs of one kind chance decides.
FEWEST_PRODUCT_PAIRS = 30


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
    total = x.n_pairs
    if x.is_sparse or total <= DRAWN_FROM:
        pairs = x.pair_list
    else:
        drawn = rng.integers(0, x.n_items, (DRAWN_FROM, 2))
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


def check_leak(
    sets: Sequence[ItemSet],
    labels: Sequence[Labels],
    columns: Mapping[str, Indices],
    names: Sequence[str],
    written_freely: Collection[str] = (),
) -> None:
    """Warn of a field that decides nearly alone: F of pairs together by it, and by all other fields.

    ``columns`` are the features of each field by number, ``names`` the names of all features. A field that is
    ``written_freely``, a name whose spelling differs within groups, is what there is to learn from, unless it
    tells by standing or being missing.
    """
    samples = sample_pairs(sets, labels)
    together = np.concatenate([s.together for s in samples])
    if len(columns) < 2 or min(together.sum(), (~together).sum()) < FEWEST_LEAK_PAIRS:
        return
    tables = [dense(pair_table(s.x, s.pairs)) for s in samples]
    for field, own in columns.items():
        alone = _signal(samples, tables, own)
        if alone < DECIDES:
            continue
        rest = np.concatenate([other for name, other in columns.items() if name != field])
        others = _signal(samples, tables, rest)
        if 1.0 - others > max(LEFT_WRONG, TIMES_WORSE * (1.0 - alone)):
            best = max(own.tolist(), key=lambda k: _signal(samples, tables, np.array([k])))
            if field in written_freely and "missing" not in names[best]:
                continue
            warnings.warn(
                f"the field {field!r} decides nearly alone: it tells pairs of held-out sets with an F of "
                f"{alone:.1%} (above all by {names[best]!r}), all other fields together {others:.1%}. "
                "If it is not known, or not the same, for new data, leave it out (--fields, "
                "Recipe(fields=...))",
                LeakWarning,
                stacklevel=3,
            )
            return


def _signal(samples: Sequence[PairSample], tables: Sequence[Floats], columns: Indices) -> float:
    """The F of pairs that these features (and a constant) reach on held-out sets."""
    chosen = [np.column_stack([table[:, columns], np.ones(len(table))]) for table in tables]
    together, stands_for = ([getattr(s, name) for s in samples] for name in ("together", "stands_for"))
    outputs = held_out_outputs(chosen, together)
    return best_f(outputs, np.concatenate(together), np.concatenate(stands_for))


def warn_of_products(sets: Sequence[ItemSet], labels: Sequence[Labels]) -> None:
    """Warn where items have node features only, and distances tell held-out pairs apart clearly better.

    K_ab = sum_k w_k x_ak x_bk has no constant: together and apart are divided at zero, by angles.
    """
    if any(x.nodes is None or x.pairs is not None for x in sets) or sets[0].n_features > MOST_COLUMNS:
        return
    samples = sample_pairs(sets, labels)
    together = sum(int(s.together.sum()) for s in samples)
    if min(together, sum(len(s.pairs) for s in samples) - together) < FEWEST_PRODUCT_PAIRS:
        return
    ends = _ends(samples)
    products, distances = (_accuracy(samples, [form(*e) for e in ends]) for form in (_products, _distances))
    if distances < products + CLEARLY:
        return
    warnings.warn(
        "a table is taken as node features, whose products x_a * x_b (without a constant) tell "
        f"{products:.0%} of the pairs apart on held-out sets; distances |x_a - x_b| and a constant tell "
        f"{distances:.0%}: give [clustruct.data.with_distances(X) for X in tables] instead, in "
        "`fit` and "
        "in `predict`",
        ProductsWarning,
        stacklevel=4,
    )


def _products(left: Floats, right: Floats) -> Floats:
    return left * right


def _distances(left: Floats, right: Floats) -> Floats:
    return np.column_stack([np.abs(left - right), np.ones(len(left))])


def _ends(samples: Sequence[PairSample]) -> list[tuple[Floats, Floats]]:
    """The rows of the two items of each pair, columns divided by their largest entry."""
    found = []
    for s in samples:
        assert s.x.nodes is not None
        found.append((dense(s.x.nodes[s.pairs[:, 0]]), dense(s.x.nodes[s.pairs[:, 1]])))
    largest = np.max([np.abs(side).max(axis=0, initial=0.0) for pair in found for side in pair], axis=0)
    largest = np.where(largest > 0.0, largest, 1.0)
    return [(left / largest, right / largest) for left, right in found]


def _accuracy(samples: Sequence[PairSample], features: Sequence[Floats]) -> float:
    together = [s.together for s in samples]
    return balanced_accuracy(held_out_outputs(features, together), np.concatenate(together))
