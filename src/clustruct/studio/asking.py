"""Which question to ask next: the pair or the group whose answer would teach most, as far as can be told.

Doubt is p (1 - p), p the probability by the model; disagreement is the variance of p over a committee of
models that have seen other answers (bootstrap). Both are large where answers change something. A group of k
items that is one takes k items to read and gives k - 1 answers at once; one that is not is work. It is worth
the mean over its pairs times 2 (k - 1) / k, answers per item read, times the probability of its least likely
pair. In one batch no item is asked about twice, so that one answer does not make the next useless.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from clustruct._typing import Bools, Floats, Ints

# Members of the committee, and how much their disagreement counts beside doubt.
COMMITTEE, DISAGREEMENT = 5, 4.0
# One question of so many is drawn at random, to see how good the model is where it was not in doubt.
CHECK_EVERY = 5
# Where all pairs are compared, mates are common, and how common nobody knows: so many first questions are all
# drawn at random. (ECB+ articles, C = 1: F over the first 100 answers 81.2, 80.6 without.)
WARM_UP = 10
# A group that is asked about has so many items at most: more is work for the page Group.
MOST_READ = 8
# So many of the most useful pairs are looked at for a batch: those that are asked share no item.
LOOKED_AT = 5000
# One side of 95 %.
Z = 1.959964


@dataclass(frozen=True)
class Question:
    """A pair or a group to ask about: do these belong together?

    items : their numbers; p : the probability that they belong together, of a group the mean over its pairs
    why : "doubt", or "check" for one drawn at random
    """

    items: tuple[int, ...]
    p: float
    why: str


def check_interval(n_answers: int, all_compared: bool) -> int:
    """One question of how many is drawn at random.

    >>> check_interval(0, all_compared=True), check_interval(0, all_compared=False)
    (1, 5)
    """
    return 1 if all_compared and n_answers < WARM_UP else CHECK_EVERY


def usefulness(p: Floats, committee: Sequence[Floats]) -> Floats:
    """How much an answer to each pair may teach."""
    spread = np.var(np.array(committee), axis=0) if len(committee) else np.zeros(len(p))
    return p * (1.0 - p) + DISAGREEMENT * spread


def questions(
    pairs: Ints,
    p: Floats,
    committee: Sequence[Floats],
    open_: Bools,
    n: int,
    rng: np.random.Generator,
    groups: Ints | None = None,
    check_every: int = CHECK_EVERY,
) -> list[Question]:
    """The next n questions.

    Parameters
    ----------
    pairs : compared pairs of item numbers; p : their probabilities; committee : the same by other models
    open_ : which pairs nothing is known of yet
    n, rng : how many, and what draws the checks
    groups : the group of each item, where whole groups may be asked about, too
    check_every : one question of so many is drawn at random (`check_interval`)

    >>> pairs = np.array([[0, 1], [1, 2], [3, 4]])
    >>> p, rng = np.array([0.9, 0.5, 0.6]), np.random.default_rng(0)
    >>> [one.items for one in questions(pairs, p, [], np.ones(3, bool), 2, rng)]
    [(1, 2), (3, 4)]
    >>> pairs = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
    >>> p, groups = np.array([0.8, 0.8, 0.8, 0.1]), np.array([0, 0, 0, 1])
    >>> [one.items for one in questions(pairs, p, [], np.ones(4, bool), 2, rng, groups)]
    [(0, 1, 2)]
    """
    worth = np.where(open_, usefulness(p, committee), 0.0)
    able = [*_of_pairs(pairs, p, worth, open_), *_of_groups(pairs, p, worth, groups)]
    asked: list[Question] = []
    used: set[int] = set()
    for _, one in sorted(able, key=lambda entry: -entry[0]):
        if len(asked) == n:
            break
        if not used.intersection(one.items):
            asked.append(one)
            used.update(one.items)
    for place in range(check_every - 1, len(asked), check_every):
        chosen = _check(pairs, p, open_, used, rng)
        if chosen is not None:
            asked[place] = Question(_pair(pairs, chosen), float(p[chosen]), "check")
            used.update(_pair(pairs, chosen))
    return asked


def _pair(pairs: Ints, at: int) -> tuple[int, int]:
    return int(pairs[at, 0]), int(pairs[at, 1])


def _of_pairs(pairs: Ints, p: Floats, worth: Floats, open_: Bools) -> list[tuple[float, Question]]:
    """The most useful open pairs, with what they are worth."""
    order = np.argsort(np.where(open_, -worth, np.inf), kind="stable")[:LOOKED_AT]
    return [
        (float(worth[at]), Question(_pair(pairs, at), float(p[at]), "doubt"))
        for at in order.tolist()
        if open_[at]
    ]


def _of_groups(pairs: Ints, p: Floats, worth: Floats, groups: Ints | None) -> list[tuple[float, Question]]:
    """Groups of three items and more that can be read at once, with what they are worth; what is known of a
    pair, and pairs that were not compared, teach nothing.
    """
    if groups is None:
        return []
    sizes = np.bincount(groups)
    home = groups[pairs[:, 0]]
    inside = (home == groups[pairs[:, 1]]) & (sizes[home] > 2) & (sizes[home] <= MOST_READ)
    n_pairs = np.maximum(sizes * (sizes - 1) // 2, 1)
    count = np.bincount(home[inside], minlength=len(sizes))
    mean = np.bincount(home[inside], weights=p[inside], minlength=len(sizes)) / np.maximum(count, 1)
    taught = np.bincount(home[inside], weights=worth[inside], minlength=len(sizes)) / n_pairs
    least = np.ones(len(sizes))
    np.minimum.at(least, home[inside], p[inside])
    taught *= 2.0 * (sizes - 1) / np.maximum(sizes, 1) * least
    best = [g for g in np.argsort(-taught, kind="stable")[:LOOKED_AT].tolist() if taught[g] > 0.0]
    order = np.argsort(groups, kind="stable")
    first = np.cumsum(sizes) - sizes
    return [
        (
            float(taught[g]),
            Question(tuple(order[first[g] : first[g] + sizes[g]].tolist()), float(mean[g]), "doubt"),
        )
        for g in best
    ]


def _check(pairs: Ints, p: Floats, open_: Bools, used: set[int], rng: np.random.Generator) -> int | None:
    """A pair drawn at random, as often of those that the model puts together as of the others."""
    wanted = open_ & ~np.isin(pairs, list(used)).any(axis=1)
    side = wanted & ((p > 0.5) if rng.random() < 0.5 else (p <= 0.5))
    able = np.flatnonzero(side if side.any() else wanted)
    return int(rng.choice(able)) if len(able) else None


@dataclass(frozen=True)
class Agreement:
    """How often models agreed with answers that they had not seen, with a 95 % interval."""

    n: int
    share: float
    low: float
    high: float


def agreement(right: int, n: int) -> Agreement:
    """The share with Wilson's interval.

    >>> found = agreement(18, 20)
    >>> round(found.share, 2), round(found.low, 2), round(found.high, 2)
    (0.9, 0.7, 0.97)
    """
    if n == 0:
        return Agreement(0, 0.0, 0.0, 1.0)
    share, z2 = right / n, Z * Z
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z / (1 + z2 / n) * float(np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)))
    return Agreement(n, share, max(0.0, centre - half), min(1.0, centre + half))


def held_out(n: int, folds: int, learn: Callable[[Bools], Callable[[Bools], Bools]]) -> Agreement:
    """Answers foretold by models that have not seen them: each fold by a model of the others.

    learn : given which answers to learn from, a function that says which of some answers it foretells rightly
    """
    fold, right = np.arange(n) % folds, 0
    for k in range(min(folds, n)):
        right += int(np.count_nonzero(learn(fold != k)(fold == k)))
    return agreement(right, n)


def is_enough(curve: Sequence[Agreement], wanted: float = 0.95, gain: float = 0.01) -> tuple[bool, str]:
    """Whether more answers are worth the trouble, and why: a plain sign, not a promise.

    >>> is_enough([agreement(98, 100)])[0], is_enough([agreement(5, 10)])[0]
    (False, False)
    >>> is_enough([agreement(198, 200)])[0]
    True
    """
    if not curve or curve[-1].n < 30:
        return False, f"{30 - (curve[-1].n if curve else 0)} more answers, and one can say something"
    last = curve[-1]
    if last.low >= wanted:
        return True, f"answers it had not seen were foretold in {100 * last.share:.0f} % of cases"
    older = [one for one in curve if 30 <= one.n <= last.n / 1.5]
    if older and last.n >= 60 and last.share - older[-1].share < gain:
        return True, f"a third of the answers has gained less than {100 * gain:.0f} %"
    return (
        False,
        f"it foretells {100 * last.low:.0f} to {100 * last.high:.0f} % of new answers; more will help",
    )
