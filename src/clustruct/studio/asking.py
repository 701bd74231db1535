"""Which question to ask next: a board.

Up to a dozen cards are shown, an item and those most like it, in piles as the groups are now. Who moves what
is wrong and says "as shown" has answered about all their pairs: eleven answers or more for a few clicks,
about mates and about what is nearest to them. Of two cards it is asked: do these belong together?

Round which item? Every second is drawn at random, so that what is learned is not of hard cases alone. Every
other is an end of the pair whose answer would teach most, as far as is known: doubt is p (1 - p), p the
probability by the model; disagreement is the variance of p over a committee of models that have seen other
answers (bootstrap). Both are large where answers change something.

In one batch no item is asked about twice, so that one answer does not make the next useless.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from clustruct.core.typing import Bools, Floats, Ints

# Members of the committee, and how much their disagreement counts beside doubt.
COMMITTEE, DISAGREEMENT = 5, 4.0
# Cards of a board. Mean F of the first 100 decisions with 8 / 12 / 16: author names beyond those reported
# 69 / 70 / 67, from the last set on 63 / 66 / 65, litbank 60 / 56 / 57, articles of ECB+ 95 / 97 / 96.
CARDS = 12
# What boards are made round, by turns. Decisions needed for 95 % of what all labels give, with this / any
# item: author names beyond those reported 59 / 52, from the last set on 93 / over 100, litbank 75 / 49,
# articles of ECB+ 11 / 16, cddb 8 / 20, amazon_google 74 / over 80.
TURNS = ("any", "doubt")
# Boards between two models, also where the table is large, which takes long to learn. Three at a time, round
# any items: mean F of the first 100 decisions on the first four of these 69, 65, 52 and 95; one at a time 71,
# 67, 57 and 97.
BATCH, LARGE_BATCH = 1, 5
# One side of 95 %.
Z = 1.959964


@dataclass(frozen=True)
class Question:
    """Are these items in the right piles? Or of two: do they belong together? ``why``: "any" item, or
    "doubt".
    """

    items: tuple[int, ...]
    why: str
    piles: tuple[tuple[int, ...], ...]

    @property
    def is_board(self) -> bool:
        """Whether it is about more than a pair."""
        return len(self.items) > 2


def usefulness(p: Floats, committee: Sequence[Floats]) -> Floats:
    """How much an answer to each pair may teach."""
    spread = np.var(np.array(committee), axis=0) if len(committee) else np.zeros(len(p))
    return p * (1.0 - p) + DISAGREEMENT * spread


@dataclass
class Pool:
    """What can be asked about, nothing of it twice.

    pairs : compared pairs of item numbers; p : their probabilities
    open_ : which pairs nothing is known of yet
    groups : the group of each item
    """

    pairs: Ints
    p: Floats
    open_: Bools
    groups: Ints
    used: Bools = field(init=False)

    def __post_init__(self) -> None:
        self.used = np.zeros(len(self.groups), np.bool_)

    def free(self) -> Bools:
        """Pairs that can be asked about."""
        return np.asarray(self.open_ & ~self.used[self.pairs].any(axis=1))

    def board(self, start: int, why: str, cards: int = CARDS) -> Question:
        """Ask about an item and those most like it."""
        at = np.flatnonzero(self.free() & (self.pairs == start).any(axis=1))
        at = at[np.argsort(-self.p[at], kind="stable")][: cards - 1]
        return self.ask([start, *self.pairs[at][self.pairs[at] != start].tolist()], why)

    def ask(self, items: Sequence[int], why: str) -> Question:
        """Ask about these, in piles by their groups."""
        piles = dict[int, list[int]]()
        for item in items:
            piles.setdefault(int(self.groups[item]), []).append(item)
        self.used[list(items)] = True
        return Question(tuple(items), why, tuple(map(tuple, piles.values())))


def questions(
    pool: Pool, committee: Sequence[Floats], n: int, rng: np.random.Generator, n_before: int = 0
) -> list[Question]:
    """The next n questions, given probabilities of the pairs by other models and how many were answered
    before.

    >>> pairs = np.array([[0, 1], [0, 2], [1, 2]])
    >>> p, groups, rng = np.array([0.8, 0.1, 0.1]), np.array([0, 0, 1]), np.random.default_rng(0)
    >>> (one,) = questions(Pool(pairs, p, np.ones(3, bool), groups), [], 1, rng)
    >>> sorted(map(sorted, one.piles))
    [[0, 1], [2]]
    """
    worth, asked = usefulness(pool.p, committee), list[Question]()
    for place in range(n_before, n_before + n):
        free = pool.free()
        if not free.any():
            break
        kind = TURNS[place % len(TURNS)]
        most_useful = pool.pairs[np.argmax(np.where(free, worth, -1.0))]
        able = most_useful if kind == "doubt" else np.unique(pool.pairs[free])
        asked.append(pool.board(int(rng.choice(able)), kind))
    return asked


@dataclass(frozen=True)
class Agreement:
    """How often models agreed with n answers (a board is one) not seen before; 95 % interval."""

    n: int
    share: float
    low: float
    high: float


def agreement(right: Floats, sizes: Ints) -> Agreement:
    """The mean share with Wilson's interval, for as many single answers as the spread of the shares speaks
    for: at least one for each answer, at most ``sizes`` (one for each of its items but one).

    >>> found = agreement(np.repeat([1.0, 0.0], [18, 2]), np.ones(20, int))
    >>> round(found.share, 2), round(found.low, 2), round(found.high, 2)
    (0.9, 0.7, 0.97)
    >>> round(agreement(np.ones(7), np.full(7, 11)).low, 2)
    0.95
    """
    if not len(right):
        return Agreement(0, 0.0, 0.0, 1.0)
    share, most, z2 = float(right.mean()), float(sizes.sum()), Z * Z
    spread = float(right.var()) / len(right)
    n = min(max(share * (1.0 - share) / spread, len(right)), most) if spread > 0.0 else most
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z / (1 + z2 / n) * float(np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)))
    return Agreement(len(right), share, max(0.0, centre - half), min(1.0, centre + half))


def held_out(sizes: Ints, folds: int, learn: Callable[[Bools], Callable[[Bools], Floats]]) -> Agreement:
    """Answers foretold by models that have not seen them: each fold by a model of the others.

    Given which answers to learn from, ``learn`` makes a function that says how far some are foretold, 0 to 1.
    """
    n = len(sizes)
    fold, right = np.arange(n) % folds, np.zeros(n)
    for k in range(min(folds, n)):
        right[fold == k] = learn(fold != k)(fold == k)
    return agreement(right, sizes)


# So many answers, and something can be said of the share that is foretold.
FEWEST_ANSWERS = 10


def is_enough(
    curve: Sequence[Agreement], wanted: float = 0.95, gain: float = 0.01, sure: float = 0.05
) -> tuple[bool, str]:
    """Whether there are enough answers, and why: a plain sign, not a promise. So it is where the last third
    of them has gained less than ``gain``, if the lower end of the interval is no further than ``sure`` from
    the share.

    >>> [is_enough([agreement(np.ones(n), np.full(n, 11))])[0] for n in (9, 12)]
    [False, True]
    """
    n = curve[-1].n if curve else 0
    if n < FEWEST_ANSWERS:
        return False, f"{FEWEST_ANSWERS - n} more answers, and one can say something"
    last = curve[-1]
    if last.low >= wanted:
        return True, f"answers it had not seen were foretold in {100 * last.share:.0f} % of cases"
    older = [one for one in curve if FEWEST_ANSWERS <= one.n <= last.n / 1.5]
    if (
        older
        and n >= 2 * FEWEST_ANSWERS
        and last.share - last.low <= sure
        and last.share - older[-1].share < gain
    ):
        return True, f"a third of the answers has gained less than {100 * gain:.0f} %"
    return (
        False,
        f"it foretells {100 * last.low:.0f} to {100 * last.high:.0f} % of new answers; more will help",
    )
