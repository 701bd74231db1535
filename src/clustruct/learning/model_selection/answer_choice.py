"""How far people's answers move a similarity that was guessed without labels: held-out answers say.

Items that belong together by the answers are a piece. Pieces are held out, never single pairs, since the
other pairs of a piece would give the answer away. A held-out pair counts for each of its pieces by half.

Whoever labels pairs rarely draws them at random. So of held-out pieces only three things are taken: R, the
share of their pairs that are found; the share of pairs found that are right, as far as answers say so; and
R M_0 / (R_0 M), how precise all M pairs put together in the whole table are, beside the M_0 of the guess
alone: a model that puts more strangers together must find as many more of the pairs that are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from clustruct.core.partitions import UNKNOWN
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import Evidence
from clustruct.learning.label_free_similarity import ANSWERS_C, PRIOR, LabelFreeSimilarity

FOLDS = 5
# What the guess counts for beside the answers; as many as there are of them, and more.
PRIORS = (PRIOR, 100.0)
# The pairs of the guess count as so many held-out ones.
GUESSED_PAIRS = 10.0

Linear = tuple[Floats, float]


class AnswerWeight(NamedTuple):
    """How much the guess counts beside answers, and whether as many pairs belong together as it says; without
    a prior the guess is all that counts.
    """

    prior: float | None
    keep_share: bool = True


SETTINGS = (AnswerWeight(None), *(AnswerWeight(p, keep) for keep in (True, False) for p in PRIORS))


@dataclass(frozen=True)
class HeldOutAnswers:
    """What models say of pairs that they were not told of: how many belong together and are found, and how
    many do not and are put together all the same.
    """

    same: float
    found: float
    different: float
    joined: float

    @property
    def pairwise_f(self) -> float:
        """F of the held-out pairs; 1 where nothing is to be found and nothing was."""
        both = self.same + self.found + self.joined
        return 2.0 * self.found / both if both else 1.0


@dataclass(frozen=True)
class AnswerChoice:
    """Weights and intercept, the settings whose mean they are, and what held-out answers say of them; None
    where too few pieces were there to hold any out.
    """

    linear: Linear
    settings: tuple[AnswerWeight, ...]
    held_out: HeldOutAnswers | None
    n_judged: int

    def summary(self) -> dict[str, Any]:
        """As plain values: compared pairs that are judged, whether the guess was left, held-out pairs."""
        held = None if self.held_out is None else asdict(self.held_out)
        guess = [one.prior is None for one in self.settings]
        counts = "all" if all(guess) else "part" if any(guess) else "none"
        return {"compared": self.n_judged, "guess": counts, "held_out": held}


def choose_answer_weight(
    similarity: LabelFreeSimilarity, evidence: Sequence[Evidence | None], C: float = ANSWERS_C
) -> AnswerChoice:
    """The mean of all settings that are as good as the best on held-out answers, within a standard error.

    The guess alone is one of them: to leave it takes evidence, to stay with it takes none.
    """
    pieces = Pieces.of(similarity, evidence)
    n_judged = int(np.count_nonzero(similarity.rows.answers(evidence).judged))
    models = [_learn(similarity, evidence, one, C) for one in SETTINGS]
    if pieces.n < 2:
        return AnswerChoice(_mean(models), SETTINGS, None, n_judged)
    folds, counts = list[tuple[Bools, list[Linear]]](), [_Counts.none(pieces.n) for _ in SETTINGS]
    guess = similarity.rows.groups(*similarity.linear)
    for number in range(min(FOLDS, pieces.n)):
        hidden = pieces.fold == number
        rest = pieces.without(evidence, hidden)
        learned = [_learn(similarity, rest, one, C) for one in SETTINGS]
        folds.append((hidden, learned))
        for own, model in zip(counts, learned, strict=True):
            own.add(pieces, similarity.rows.groups(*model), guess, hidden)
    chosen = _as_good_as_the_best(counts)
    held_out = _Counts.none(pieces.n)
    for hidden, learned in folds:
        model = _mean([learned[s] for s in chosen])
        held_out.add(pieces, similarity.rows.groups(*model), guess, hidden)
    settings = tuple(SETTINGS[s] for s in chosen)
    return AnswerChoice(_mean([models[s] for s in chosen]), settings, held_out.summary(), n_judged)


def _learn(
    similarity: LabelFreeSimilarity, evidence: Sequence[Evidence | None], one: AnswerWeight, C: float
) -> Linear:
    if one.prior is None:
        return similarity.linear
    return similarity.with_answers(evidence, prior=one.prior, C=C, keep_share=one.keep_share)


def _mean(models: Sequence[Linear]) -> Linear:
    return np.mean([w for w, _ in models], axis=0), float(np.mean([b for _, b in models]))


@dataclass(frozen=True)
class Pieces:
    """Pieces of all sets, numbered through: the piece of each item (-1: none), pairs of pieces that differ,
    how many items each has, and the fold in which it is held out.
    """

    of_item: Ints
    apart: Ints
    sizes: Floats
    fold: Ints
    set_sizes: list[int]

    @classmethod
    def of(cls, similarity: LabelFreeSimilarity, evidence: Sequence[Evidence | None]) -> Pieces:
        set_sizes, items, apart, n = similarity.rows.sizes, list[Ints](), [np.zeros((0, 2), np.int64)], 0
        for one, size in zip(evidence, set_sizes, strict=True):
            own = np.full(size, UNKNOWN) if one is None else one.piece
            items.append(np.where(own >= 0, own + n, UNKNOWN))
            if one is not None:
                apart.append(one.apart + n)
                n += len(one.complete)
        of_item = np.concatenate(items)
        sizes = np.bincount(of_item[of_item >= 0], minlength=n).astype(np.float64)
        differing = np.unique(np.sort(np.concatenate(apart), axis=1), axis=0)
        return cls(of_item, differing, sizes, _deal(similarity, of_item, sizes), set_sizes)

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.sizes)

    def without(self, evidence: Sequence[Evidence | None], hidden: Bools) -> list[Evidence | None]:
        """What is known but for the pieces that are hidden."""
        items = np.append(hidden, np.False_)[self.of_item]
        own = np.split(items, np.cumsum(self.set_sizes)[:-1])
        return [None if e is None else e.without(out) for e, out in zip(evidence, own, strict=True)]

    def count(self, groups: Sequence[Ints]) -> tuple[Floats, Floats, Floats]:
        """For each piece its pairs that these groups put together; those that they put together with pieces
        which differ, and how many of these there are, by half.
        """
        labels, known = np.concatenate(groups), self.of_item >= 0
        shape = (self.n, int(labels.max(initial=0)) + 1)
        ones = np.ones(int(known.sum()))
        cells = sparse.csr_array((ones, (self.of_item[known], labels[known])), shape=shape)
        cells.sum_duplicates()
        found = np.asarray((cells * cells).sum(axis=1)).ravel() - self.sizes
        first, second = self.apart.T
        both = np.asarray((cells[first] * cells[second]).sum(axis=1)).ravel()
        different = self.sizes[first] * self.sizes[second]
        halves = [
            sum(np.bincount(end, weights=each / 2.0, minlength=self.n) for end in (first, second))
            for each in (both, different)
        ]
        return found / 2.0, np.asarray(halves[0]), np.asarray(halves[1])


def _deal(similarity: LabelFreeSimilarity, of_item: Ints, sizes: Floats) -> Ints:
    """Pieces dealt out to folds by size and by how alike they are to others, whatever the order of items."""
    rows = similarity.rows
    scores = rows.rows @ similarity.start[0]
    sums = np.bincount(rows.pairs.ravel(), weights=np.repeat(scores, 2), minlength=len(of_item))
    known = of_item >= 0
    total = np.bincount(of_item[known], weights=sums[known], minlength=len(sizes))
    order = np.lexsort((np.round(total, 6), -sizes))
    fold = np.empty(len(sizes), np.int64)
    fold[order] = np.arange(len(sizes)) % FOLDS
    return fold


@dataclass
class _Counts:
    """What models without them make of held-out pieces, and how their groups compare to those of the guess:
    pairs put together in all, over those of the guess, and the share of its pairs that they keep.
    """

    same: Floats
    found: Floats
    joined: Floats
    different: Floats
    sizes: list[float]
    kept: list[float]

    @classmethod
    def none(cls, n: int) -> _Counts:
        same, found, joined, different = np.zeros((4, n))
        return cls(same, found, joined, different, [], [])

    def add(self, pieces: Pieces, groups: Sequence[Ints], guess: Sequence[Ints], hidden: Bools) -> None:
        for mine, new in zip((self.found, self.joined, self.different), pieces.count(groups), strict=True):
            mine[hidden] = new[hidden]
        self.same[hidden] = (pieces.sizes * (pieces.sizes - 1.0) / 2.0)[hidden]
        both = [_pair_counts(a, b) for a, b in zip(guess, groups, strict=True)]
        kept, own, before = np.sum(both, axis=0)
        self.sizes.append(own / max(before, 1.0))
        self.kept.append(kept / max(before, 1.0))

    def summary(self) -> HeldOutAnswers:
        """All pieces together."""
        sums = (float(one.sum()) for one in (self.same, self.found, self.different, self.joined))
        return HeldOutAnswers(*sums)


def _pair_counts(one: Ints, other: Ints) -> tuple[float, float, float]:
    """Pairs together in both groupings, in the second, and in the first."""
    cells = one.astype(np.int64) * (int(other.max(initial=0)) + 1) + other
    counts = [np.unique(y, return_counts=True)[1].astype(np.float64) for y in (cells, other, one)]
    return tuple(float((n * (n - 1.0)).sum() / 2.0) for n in counts)  # type: ignore[return-value]


def _as_good_as_the_best(counts: Sequence[_Counts]) -> list[int]:
    """The numbers of the settings that are within a standard error of the best, the first being the guess.

    The error is that of the difference, by the jackknife over pieces. Where all held-out pairs are found it
    would be none, whatever became of others: that a share q of the pairs of the guess is given up shows in a
    piece with about this chance, and so the recall of n pieces has an error of the root of q / n, F of half.
    """
    every = _figures(counts, None)
    n = len(counts[0].same)
    without = np.array([_figures(counts, p) for p in range(n)])
    best = int(np.argmax(every))
    spread = without[:, [best]] - without
    given_up = np.array([1.0 - np.mean(one.kept) for one in counts])
    n_telling = max(int(np.count_nonzero(counts[0].same)), 1)
    unseen = (given_up + given_up[best]) / (4.0 * n_telling)
    error = np.sqrt((n - 1) / n * ((spread - spread.mean(axis=0)) ** 2).sum(axis=0) + unseen)
    return np.flatnonzero(every >= every[best] - error).tolist()


def _figures(counts: Sequence[_Counts], left_out: int | None) -> Floats:
    """F of each setting, of recall and of precision as far as it is known; without one of the pieces."""
    sums = np.array([[one.same.sum(), one.found.sum(), one.joined.sum()] for one in counts])
    if left_out is not None:
        p = left_out
        sums -= np.array([[one.same[p], one.found[p], one.joined[p]] for one in counts])
    same, found, joined = sums.T
    kept = np.array([np.mean(one.kept) for one in counts])
    size = np.array([np.mean(one.sizes) for one in counts])
    recall = (found + GUESSED_PAIRS * kept) / (same + GUESSED_PAIRS)
    right = (found + GUESSED_PAIRS) / (found + joined + GUESSED_PAIRS)
    precision = right * (recall / np.maximum(size, 1e-12)) / max(recall[0], 1e-12)
    return np.asarray(2.0 * recall * precision / np.maximum(recall + precision, 1e-12))
