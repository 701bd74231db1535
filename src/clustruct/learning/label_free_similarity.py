r"""A similarity learned without labels, and from the few answers that people gave.

.. math:: \min_{v, b} \; \frac{|v - v_0|^2}{2 C} + \sum_p c_p \, \ell(\langle v, \psi_p \rangle + b, r_p),
   \qquad \ell(s, r) = \log(1 + e^s) - r s

over compared pairs p: r is the answer where people gave one, directly or by what follows from it (weights c
that add up to the number of answers, `_answers`), and the probability of a mixture of classes of pairs
(`fellegi_sunter`) elsewhere, whose weights add up to ``prior``: what is guessed counts as so many answers.
v_0 is the optimum without answers, where each pair counts 1 and v_0 = 0.

Answers are about doubtful pairs, and weights that suit these alone forget the others. So where the mixture is
believed the guess follows: pairs are grouped by what was learned, under the answers, r of a pair without a
judgement is then whether it is inside a group, these count as many answers as there are more, at most
ten, and all is learned again, a few times (self-training).

Equal rows are one: what mates are like is learned from pairs of distinct rows. Of a table whose rows all
stand there twice half of the mates would else agree in everything, and no others would look like mates.

Pairs that others chose to label say little of how many pairs belong together: half of them may, or all. With
``keep_share`` b is such that the mean probability of the other pairs stays that of the guess: answers move
the weights, as in a case-control study.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit

from clustruct.core.partitions import connected_items
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import EqualRows, Evidence, ItemSet, PairScores, pair_table
from clustruct.data.matrices import dense
from clustruct.search.correlation import local_search
from clustruct.search.oracles import make_predictor

from .fellegi_sunter import agreement, field_discounts, fit_mixture, fit_three_classes, levels
from .grouping import search_groups
from .problems import feature_scale

# Where less of the pairs inside groups was compared, groups are chains of neighbours, not to be believed.
CREDIBLE = 0.5
# What is of little use: fewer groups of two and more than this share of the items, a group that holds more
# than that, of more than a few, and so many errors expected for each pair that is together.
LEAST_GROUPED, LARGEST_GROUP, FEW, UNSURE = 0.005, 0.25, 20, 0.5
# Rounds of learning from the pairs that are nearest to each other, and what is held of these and of others.
SEED_ROUNDS, SURE, DOUBTFUL = 3, 0.98, 0.02
# What the mixture begins with: one pair for every two items belongs together, but no larger share of all.
# Near misses are so many times as many, and are no mates where they agree like pairs that are apart: on made
# tables it was -2.2 and less where three classes were better, 1.2 and more where two were.
MATES, LARGEST_SHARE, NEAR_MISSES, LIKE_APART = 0.5, 0.1, 4.0, -0.5
# How often it is looked which fields tell the same thing, among pairs that are taken as apart.
DISCOUNT_ROUNDS = 2
# Of the pairs without a judgement every so-manieth is looked at, at least this many: they count as few
# answers, and a person waits.
GUESSES = 5000
# C of what is learned from guesses: they are many, and alike.
SHRINKAGE = 0.1
# How often the guess follows the groups, how sure of them it is, and what it counts for at most. Mean F
# over the first 120 answers: articles of ECB+ 88.6 (none: 81.7), over the first 100 UCI news 99.2 (99.1). Not
# where the nearest pairs were learned from: cddb 76.0 (none: 90.3), amazon_google 57.1 (62.3).
# Groups that count as much as all answers only grow smaller when these are many: author names beyond those
# reported, random pairs, 1000: 72, with this 81; 300: 77.5 and 77; 100: 78 and 75; ECB+ and litbank level.
SELF_TRAINING_ROUNDS, SELF_TRAINING_TARGET, SELF_TRAINING_MOST = 2, 0.95, 10.0
# What is guessed counts as so many answers, and how far these may move the weights.
PRIOR, ANSWERS_C = 15.0, 2.0
# The score of a pair that people decided about, beside scores that are log-odds.
DECIDED = 50.0


@dataclass(frozen=True)
class LabelFreeSimilarity:
    """What was learned of sets without labels, and how answers change it.

    rows : the compared pairs of all sets
    distinct : those of distinct items, from which the guess was learned
    guess : the probability that each pair belongs together, as far as it is known without answers
    start : weights and intercept of a regression on the guess, in units of the scale of the rows
    from_nearest : whether pairs that are nearest to each other were learned from
    """

    rows: PairRows
    distinct: PairRows
    guess: Floats
    start: tuple[Floats, float]
    from_nearest: bool

    @property
    def linear(self) -> tuple[Floats, float]:
        """Weights and intercept in the units of the input; the score of a pair is a log-odds."""
        return self.start[0] / self.rows.scale, self.start[1]

    def doubt(self) -> str | None:
        """Why the similarity is of little use, None where nothing speaks against it."""
        probability = expit(self.distinct.rows @ self.start[0] + self.start[1])
        sizes, n = np.bincount(self.distinct.quick_groups(2.0 * probability - 1.0)), sum(self.distinct.sizes)
        if np.count_nonzero(sizes > 1) < LEAST_GROUPED * n:
            return "hardly any two rows look alike"
        if sizes.max() > max(LARGEST_GROUP * n, FEW):
            return f"{sizes.max():,} of {n:,} rows are in one group"
        if self.from_nearest:
            return "rows that look alike make chains, not groups"
        if np.minimum(probability, 1.0 - probability).sum() > UNSURE * probability.sum():
            return "most pairs that look alike may as well be apart"
        return None

    def extend_to(self, sets: Sequence[ItemSet]) -> LabelFreeSimilarity | None:
        """The same for all pairs of sets of which the first of equal items were learned from; None where most
        pairs of equal items would be apart: then nothing was learned of mates.
        """
        every = PairRows.of(sets, self.rows.scale)
        items = [EqualRows.of(np.arange(len(x))) if x.equal_rows is None else x.equal_rows for x in sets]
        ends = [one.row[x.pair_list] for one, x in zip(items, sets, strict=True)]
        equal = np.concatenate([pair[:, 0] == pair[:, 1] for pair in ends])
        scores = every.rows @ self.start[0] + self.start[1]
        if equal.any() and np.median(scores[equal]) <= 0.0:
            return None
        first = np.concatenate([one.place for one in items]) == 0
        probability = expit(scores)
        probability[first[every.pairs].all(axis=1)] = self.guess
        return replace(self, rows=every, guess=probability)

    def with_answers(
        self,
        evidence: Sequence[Evidence | None],
        *,
        prior: float = PRIOR,
        C: float = ANSWERS_C,
        keep_share: bool = False,
    ) -> tuple[Floats, float]:
        """Weights and intercept as people's judgements move them; the guess counts as ``prior`` answers.
        ``keep_share``: as many of the other pairs belong together as without answers.
        """
        given = self.rows.answers(evidence)
        found = self.rows.learn(self.guess, self.start, given, prior, C)
        if given.judged.any() and not self.from_nearest:
            found = self._self_train(found, given, prior, C)
        if keep_share and not given.judged.all():
            free = self.rows.rows[~given.judged]
            found = found[0], intercept_of_share(free @ found[0], expit(free @ self.start[0] + self.start[1]))
        return found[0] / self.rows.scale, found[1]

    def _self_train(
        self, found: tuple[Floats, float], given: Answers, prior: float, C: float
    ) -> tuple[Floats, float]:
        """Learned again from the groups that come of it."""
        prior += min(float(given.weights[given.judged].sum()), SELF_TRAINING_MOST)
        for _ in range(SELF_TRAINING_ROUNDS):
            inside = self.rows.together(*found, given)
            guess = np.where(inside, SELF_TRAINING_TARGET, 1.0 - SELF_TRAINING_TARGET)
            found = self.rows.learn(guess, self.start, given, prior, C, found)
        return found


def label_free_similarity(sets: Sequence[ItemSet], names: Sequence[str] | None = None) -> LabelFreeSimilarity:
    """The similarity of pairs that is guessed without labels.

    ``names`` are those of the pair features, by default those that the sets have. Nothing is drawn at random.

    >>> from clustruct.data.datasets import make_records
    >>> from clustruct.features import PairFeatures, guess_blocks
    >>> tables = make_records(n_sets=4, n_people=8)
    >>> sets = PairFeatures(guess_blocks(tables)).fit_transform(tables)
    >>> w, b = label_free_similarity(sets).linear
    >>> bool(w.shape == (sets[0].n_features,)), b < 0.0
    (True, True)
    """
    known = sets[0].feature_names if names is None else names
    numbered = [f"feature {j}" for j in range(sets[0].n_features)]
    found = numbered if known is None else [str(name) for name in known]
    distinct = [x if x.equal_rows is None else x.subset(x.equal_rows.first) for x in sets]
    if sum(map(len, distinct)) == sum(map(len, sets)):
        return _learn(PairRows.of(sets), found)
    if any(x.n_pairs for x in distinct):
        learned = _learn(PairRows.of(distinct), found).extend_to(sets)
        if learned is not None:
            return learned
    return _learn(PairRows.of(sets), found)


def _learn(rows: PairRows, names: Sequence[str]) -> LabelFreeSimilarity:
    guess, from_nearest = _guess_probabilities(rows, names)
    return LabelFreeSimilarity(rows, rows, guess, rows.first(guess), from_nearest)


def _guess_probabilities(table: PairRows, names: Sequence[str]) -> tuple[Floats, bool]:
    """The probability that each pair belongs together, and whether it is from the nearest pairs."""
    surprise, missing = agreement(table.rows, names)
    likeness, gamma = surprise.sum(axis=1), levels(surprise, missing)
    share = min(LARGEST_SHARE, MATES * sum(table.sizes) / len(table.pairs))
    least, near = np.quantile(likeness, [1.0 - share, 1.0 - min(0.5, (1.0 + NEAR_MISSES) * share)])
    found = np.where(likeness > least, 0.9, 0.01)
    three = np.where(likeness[:, None] > near, [0.1, 0.88, 0.02], [0.9, 0.09, 0.01])
    three[likeness > least] = [0.02, 0.08, 0.9]
    for _ in range(DISCOUNT_ROUNDS):
        found = fit_mixture(gamma, found, discounts=field_discounts(surprise, missing, 1.0 - found)).posterior
        classes = fit_three_classes(gamma, three, field_discounts(surprise, missing, 1.0 - three[:, 2]))
        three = classes.posterior
    if classes.near_misses < LIKE_APART:
        found = three[:, 2]
    from_nearest = table.density(2.0 * found - 1.0) < CREDIBLE
    return table.from_nearest(likeness) if from_nearest else found, from_nearest


@dataclass(frozen=True)
class PairRows:
    """Compared pairs of all sets: ``rows`` of features over their ``scale``, ``pairs`` by item numbers that
    go on from set to set, ``sizes`` and ``counts`` of items and pairs of the sets, and whether the pairs are
    some of all.
    """

    rows: Floats
    scale: Floats
    pairs: Ints
    sizes: list[int]
    counts: list[int]
    listed: bool

    @classmethod
    def of(cls, sets: Sequence[ItemSet], scale: Floats | None = None) -> PairRows:
        scale, own = feature_scale(sets) if scale is None else scale, [x.pair_list for x in sets]
        rows = [dense(pair_table(x, pairs)) / scale for x, pairs in zip(sets, own, strict=True)]
        first = np.cumsum([0, *(x.n_items for x in sets)])
        pairs = np.concatenate([p + f for p, f in zip(own, first, strict=False)])
        sizes, listed = [x.n_items for x in sets], any(x.is_sparse for x in sets)
        return cls(np.concatenate(rows), scale, pairs, sizes, list(map(len, own)), listed)

    def answers(self, evidence: Sequence[Evidence | None]) -> Answers:
        given, item, row = [], 0, 0
        for m, n, count in zip(evidence, self.sizes, self.counts, strict=True):
            given.append(_answers(self.pairs[row : row + count] - item, m))
            item, row = item + n, row + count
        return Answers(*(np.concatenate(column) for column in zip(*given, strict=True)))

    def learn(
        self,
        guess: Floats,
        start: tuple[Floats, float],
        given: Answers,
        prior: float,
        C: float,
        begin: tuple[Floats, float] | None = None,
    ) -> tuple[Floats, float]:
        """Weights and intercept, moved from those of the guess as far as the answers ask for."""
        if not given.judged.any():
            return start
        free = np.flatnonzero(~given.judged)
        free = free[:: max(1, len(free) // GUESSES)]
        use = np.concatenate([np.flatnonzero(given.judged), free])
        weights = np.where(given.judged[use], given.weights[use], prior / max(len(free), 1))
        target = np.where(given.judged[use], given.together[use], guess[use])
        return soft_logistic(self.rows[use], target, weights, C, start, begin)

    def together(self, v: Floats, b: float, given: Answers) -> Bools:
        """Which pairs are inside the groups by these weights that respect people's judgements."""
        scores = self.rows @ v + b
        scores[given.judged] = np.where(given.together[given.judged], DECIDED, -DECIDED)
        labels = local_search(PairScores(sum(self.sizes), index=self.pairs, values=scores), sweeps=0)
        return np.asarray(labels[self.pairs[:, 0]] == labels[self.pairs[:, 1]])

    def groups(self, w: Floats, b: float) -> list[Ints]:
        """The groups of each set by these weights, in the units of the input."""
        values = self.rows @ (w * self.scale) + b
        labels = local_search(PairScores(sum(self.sizes), index=self.pairs, values=values), sweeps=0)
        return np.split(labels, np.cumsum(self.sizes)[:-1])

    def first(self, guess: Floats) -> tuple[Floats, float]:
        return soft_logistic(self.rows, guess, np.ones(len(guess)), SHRINKAGE)

    def quick_groups(self, scores: Floats) -> Ints:
        """The groups that these scores give, by merging alone."""
        search = make_predictor("greedy", "correlation", random_state=0)
        return search_groups(search, PairScores(sum(self.sizes), index=self.pairs, values=scores))

    def density(self, scores: Floats) -> float:
        """The share of the pairs inside groups that were compared, for the groups that these scores give."""
        if not self.listed:
            return 1.0
        labels = self.quick_groups(scores)
        sizes = np.bincount(labels).astype(np.float64)
        inside = np.count_nonzero(labels[self.pairs[:, 0]] == labels[self.pairs[:, 1]])
        return float(inside / max(float((sizes * (sizes - 1.0) / 2.0).sum()), 1.0))

    def from_nearest(self, likeness: Floats) -> Floats:
        """Probabilities learned from pairs that are nearest to each other."""
        found = np.where(self._nearest(likeness), SURE, DOUBTFUL)
        each = np.full(len(found), 1.0)
        for _ in range(SEED_ROUNDS):
            v, b = soft_logistic(self.rows, found, each, SHRINKAGE)
            scores = self.rows @ v + b
            p = expit(scores)
            found = np.clip(np.where(self._nearest(scores), 2.0 * p, p), DOUBTFUL, SURE)
        return p

    def _nearest(self, scores: Floats) -> Bools:
        """The pairs of which each is the other's best."""
        best = np.full(sum(self.sizes), -np.inf)
        for end in self.pairs.T:
            np.maximum.at(best, end, scores)
        return np.asarray((scores[:, None] >= best[self.pairs]).all(axis=1))


class Answers(NamedTuple):
    """Of which pairs something is known, what, and how much it counts."""

    judged: Bools
    together: Bools
    weights: Floats


def _answers(pairs: Ints, evidence: Evidence | None) -> Answers:
    """Of which pairs something is known, what, and how much it counts.

    k items that are tied by what was said of them count as k - 1 answers, whatever follows for their pairs:
    half of that for pairs that are the same, half for those that are different, where there are both. (Every
    two pieces that are judged apart as one answer: author names, mean F of six draws of five sets, 66 and 64,
    so 78 and 69.)
    """
    if evidence is None:
        none = np.zeros(len(pairs), np.bool_)
        return Answers(none, none, np.zeros(len(pairs)))
    n, k = len(evidence.piece), int(evidence.piece.max(initial=-1)) + 1
    judged, together, worth = evidence.judges(pairs), np.zeros(len(pairs), np.bool_), np.zeros(len(pairs))
    at, side = np.flatnonzero(judged), np.where(evidence.piece >= 0, evidence.piece, k + np.arange(n))
    ends = side[pairs[at]]
    same = together[at] = ends[:, 0] == ends[:, 1]
    part = connected_items(k + n, np.concatenate([ends, evidence.apart]))
    n_answers = np.bincount(part[side]) - 1
    kinds = np.stack([np.bincount(part[ends[which, 0]], minlength=len(n_answers)) for which in (same, ~same)])
    share = n_answers / np.maximum(kinds, 1) / np.maximum((kinds > 0).sum(axis=0), 1)
    worth[at] = share[np.where(same, 0, 1), part[ends[:, 0]]]
    return Answers(judged, together, worth)


def intercept_of_share(scores: Floats, probabilities: Floats) -> float:
    """The b for which the probabilities of scores + b have the mean of those given.

    >>> abs(round(intercept_of_share(np.array([-1.0, 1.0]), np.array([0.5, 0.5])), 6))
    0.0
    """
    wanted = float(np.clip(probabilities.mean(), 1e-12, 1.0 - 1e-12))
    reach = float(np.abs(scores).max()) + 30.0
    return float(brentq(lambda b: float(expit(scores + b).mean()) - wanted, -reach, reach))


def soft_logistic(
    rows: Floats,
    target: Floats,
    weights: Floats,
    C: float,
    start: tuple[Floats, float] | None = None,
    begin: tuple[Floats, float] | None = None,
) -> tuple[Floats, float]:
    """The minimum of |v - v_0|^2 / (2 C) + sum of weights times the log loss for targets between 0 and 1.

    ``start`` is v_0 and where b begins (zeros by default), ``begin`` where the search begins, if not there.

    >>> v, b = soft_logistic(np.array([[1.0], [-1.0]]), np.array([1.0, 0.0]), np.ones(2), 1e9)
    >>> bool(v[0] > 5.0), round(abs(b), 6)
    (True, 0.0)
    """
    total = max(float(weights.sum()), 1e-9)
    each, n = weights / total, rows.shape[1]
    first = np.zeros(n + 1) if start is None else np.append(*start)

    def value(x: Floats) -> tuple[float, Floats]:
        s, away = rows @ x[:-1] + x[-1], x[:-1] - first[:-1]
        loss = float(each @ (np.logaddexp(0.0, s) - target * s)) + float(away @ away) / (2.0 * C * total)
        slope = each * (expit(s) - target)
        return loss, np.append(rows.T @ slope + away / (C * total), slope.sum())

    at = first if begin is None else np.append(*begin)
    found = minimize(value, at, jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return found.x[:-1], float(found.x[-1])
