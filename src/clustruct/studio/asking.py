"""Which question to ask next. Three kinds take turns:

- a board: up to a dozen cards, any item and those most like it, in piles as the groups are now. Who moves
  what is wrong has answered about all their pairs at once;
- a pair whose answer would teach most, as far as can be told: doubt is p (1 - p), p the probability by the
  model; disagreement is the variance of p over a committee of models that have seen other answers
  (bootstrap). Both are large where answers change something;
- any pair, drawn at random: only such say how common mates are, which doubtful pairs and boards cannot.

In one batch no item is asked about twice, so that one answer does not make the next useless.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from clustruct._typing import Bools, Floats, Ints

# Members of the committee, and how much their disagreement counts beside doubt.
COMMITTEE, DISAGREEMENT = 5, 4.0
# Kinds of question that take turns, where the groups of the first guess are more than chains of neighbours.
# When they were about whole groups, mean F of the first 80 decisions with these / a group every second time,
# one in ten at random / without groups: author names beyond those reported 74 / 68 / 76, litbank 43 / 32 /
# 31, articles of ECB+ 93 / 95 / 82 (when k items said to be together counted as the root of k - 1). Begun
# with random pairs: no better.
TURNS = ("board", "doubt", "random")
# Where they are chains, what is said of them spoils the model (mean F of the first 100 decisions on
# amazon_google 34 with groups, 54 without); pairs alone are asked about, one of so many drawn at random.
CHECK_EVERY = 5
# Cards of a board.
CARDS = 12
# One side of 95 %.
Z = 1.959964


@dataclass(frozen=True)
class Question:
    """A pair to ask about, do these belong together? Or a board, are these in the right piles?

    items : their numbers; p : the probability that they belong together, of a board the mean over its pairs
    why : "doubt", "many" for a board, that gives many answers at once, "check" for what was drawn at random
    piles : of a board, its items as they are put together now
    """

    items: tuple[int, ...]
    p: float
    why: str
    piles: tuple[tuple[int, ...], ...] = ()

    @property
    def is_board(self) -> bool:
        """Whether it is about cards in piles."""
        return bool(self.piles)


def batch_size(n_answers: int) -> int:
    """How many questions come before the next model: few as long as each answer changes much. (Ten from 40
    answers on: mean F of the first 120 on amazon_google 60.2 instead of 61.2.)

    >>> [batch_size(n) for n in (0, 12)]
    [3, 5]
    """
    return 3 if n_answers < 12 else 5


@dataclass(frozen=True)
class Asked:
    """What was asked so far, and of what.

    n : how many answers there are
    credible : whether groups found without answers were more than chains of neighbours
    """

    n: int = 0
    credible: bool = True

    def kind(self, place: int) -> str:
        """What a question is to be about, by how many were answered before it.

        >>> [Asked().kind(place) for place in range(4)]
        ['board', 'doubt', 'random', 'board']
        >>> [Asked(credible=False).kind(place) for place in range(5)]
        ['doubt', 'doubt', 'doubt', 'doubt', 'check']
        """
        if self.credible:
            return TURNS[place % len(TURNS)]
        return "check" if place % CHECK_EVERY == CHECK_EVERY - 1 else "doubt"


NOTHING_ASKED = Asked()


def usefulness(p: Floats, committee: Sequence[Floats]) -> Floats:
    """How much an answer to each pair may teach."""
    spread = np.var(np.array(committee), axis=0) if len(committee) else np.zeros(len(p))
    return p * (1.0 - p) + DISAGREEMENT * spread


@dataclass
class Pool:
    """What can be asked about: open pairs, and boards; nothing of it twice.

    pairs : compared pairs of item numbers; p : their probabilities
    open_ : which pairs nothing is known of yet
    groups : the group of each item; None where there are no boards
    """

    pairs: Ints
    p: Floats
    open_: Bools
    groups: Ints | None = None
    used: Bools = field(init=False)

    def __post_init__(self) -> None:
        n = int(self.pairs.max(initial=-1)) + 1 if self.groups is None else len(self.groups)
        self.used = np.zeros(n, np.bool_)

    def free(self) -> Bools:
        """Pairs that can be asked about."""
        return np.asarray(self.open_ & ~self.used[self.pairs].any(axis=1))

    def pair(self, at: int, why: str) -> Question:
        """Ask about a pair."""
        return self._ask(Question((int(self.pairs[at, 0]), int(self.pairs[at, 1])), float(self.p[at]), why))

    def board(self, start: int, why: str) -> Question:
        """Ask about an item and those most like it, in piles by their groups."""
        assert self.groups is not None
        at = np.flatnonzero(self.free() & (self.pairs == start).any(axis=1))
        at = at[np.argsort(-self.p[at], kind="stable")][: CARDS - 1]
        items = [start, *self.pairs[at][self.pairs[at] != start].tolist()]
        piles = dict[int, list[int]]()
        for item in items:
            piles.setdefault(int(self.groups[item]), []).append(item)
        inside = np.isin(self.pairs, items).all(axis=1)
        p = float(self.p[inside].mean())
        return self._ask(Question(tuple(items), p, why, tuple(map(tuple, piles.values()))))

    def _ask(self, one: Question) -> Question:
        self.used[list(one.items)] = True
        return one


def questions(
    pool: Pool,
    committee: Sequence[Floats],
    n: int,
    rng: np.random.Generator,
    before: Asked = NOTHING_ASKED,
) -> list[Question]:
    """The next n questions.

    Parameters
    ----------
    pool : what can be asked about
    committee : probabilities of its pairs by other models
    n, rng : how many, and what draws the checks
    before : what was asked before

    >>> pairs = np.array([[0, 1], [1, 2], [3, 4]])
    >>> p, rng = np.array([0.9, 0.5, 0.6]), np.random.default_rng(0)
    >>> [one.items for one in questions(Pool(pairs, p, np.ones(3, bool)), [], 2, rng)]
    [(1, 2), (3, 4)]
    >>> pairs = np.array([[0, 1], [0, 2], [1, 2]])
    >>> p, groups = np.array([0.8, 0.1, 0.1]), np.array([0, 0, 1])
    >>> (one,) = questions(Pool(pairs, p, np.ones(3, bool), groups), [], 1, rng)
    >>> sorted(map(sorted, one.piles))
    [[0, 1], [2]]
    """
    worth, asked = usefulness(pool.p, committee), list[Question]()
    for place in range(before.n, before.n + n):
        kind, one = before.kind(place), None
        if kind == "board":
            one = _board(pool, rng)
        elif kind != "doubt":
            one = _drawn(pool, rng, even=kind == "check")
        if one is None:
            one = _doubtful(pool, worth)
        if one is not None:
            asked.append(one)
    return asked


def _board(pool: Pool, rng: np.random.Generator) -> Question | None:
    """A board round any item of which something is open."""
    able = np.unique(pool.pairs[pool.free()])
    if pool.groups is None or not len(able):
        return None
    return pool.board(int(rng.choice(able)), "many")


def _doubtful(pool: Pool, worth: Floats) -> Question | None:
    """The pair of which an answer teaches most."""
    free = pool.free()
    return pool.pair(int(np.argmax(np.where(free, worth, -1.0))), "doubt") if free.any() else None


def _drawn(pool: Pool, rng: np.random.Generator, *, even: bool) -> Question | None:
    """A pair drawn at random from all, or as often from those that the model puts together as from others."""
    free = pool.free()
    if even:
        side = free & ((pool.p > 0.5) if rng.random() < 0.5 else (pool.p <= 0.5))
        free = side if side.any() else free
    able = np.flatnonzero(free)
    return pool.pair(int(rng.choice(able)), "check") if len(able) else None


@dataclass(frozen=True)
class Agreement:
    """How often models agreed with answers that they had not seen, with a 95 % interval."""

    n: int
    share: float
    low: float
    high: float


def agreement(right: float, n: int) -> Agreement:
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


def held_out(n: int, folds: int, learn: Callable[[Bools], Callable[[Bools], Floats]]) -> Agreement:
    """Answers foretold by models that have not seen them: each fold by a model of the others.

    learn : given which answers to learn from, a function that says how far some answers are foretold, 0 to 1
    """
    fold, right = np.arange(n) % folds, 0.0
    for k in range(min(folds, n)):
        right += float(np.sum(learn(fold != k)(fold == k)))
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
