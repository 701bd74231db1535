"""Probabilities of pairs, items and groups, and the dial between merges and splits, from held-out data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from clustruct import learning
from clustruct.core.partitions import UNKNOWN
from clustruct.core.storage import DataclassState, register
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import PairScores
from clustruct.learning.problems.fold_losses import LOOSE
from clustruct.search import oracles

from .held_out import HeldOutPart, OutOfFoldSets, held_out_parts, with_neighbours
from .item_probability import ItemRule, MateEvidence, in_right_place
from .pair_probability import PairContext, ScoreMap, SetPairs, least_mates
from .precision_curve import Dial, PrecisionCurve, tried_thresholds

if TYPE_CHECKING:
    from clustruct.features import UncomparedPairs
    from clustruct.learning.model_selection.choose_c import Choice
    from clustruct.learning.problems import SimilarityTask
    from clustruct.search.oracles import Predictor

# Pairs of each kind that the map is learned from, drawn at random where there are more.
MOST_PAIRS = 100_000
LARGEST_SHARE = 0.1
# Pairs that are held at once, of any kind; of more a share is drawn set by set.
MOST_HELD = 4_000_000
# Pairs of each held-out set that tell what the other pairs of their items say.
MOST_IN_CONTEXT = 3000
# With fewer held-out pairs of a kind there are no probabilities.
FEWEST_PAIRS = 10


@register("Calibration")
@dataclass(frozen=True)
class Calibration(DataclassState):
    """What scores of a model mean, learned from data that trainings had not seen.

    It is about pairs that are compared: where likely pairs are listed, about those. ``pairs`` maps scores to
    probabilities, ``items`` what pairs say to the confidence in an item's place. What was held out,
    ``held_out``, is "set" or "cluster"; ``n_true`` and ``n_false`` are weighted numbers of held-out pairs.
    ``skill`` is 1 - Brier score / that of the share of true pairs. ``contested`` is the curve of scores less
    those of the best rival, from 0 on (None in models of older versions). ``context`` is there where the
    other pairs of two items help with held-out sets. ``matched`` maps the scores of pairs that were put
    together to probabilities, where no group may have two items of a source: such a pair has won a contest,
    and is more likely right than others of its score.
    """

    pairs: ScoreMap
    items: ItemRule
    curve: PrecisionCurve
    held_out: str
    n_true: float
    n_false: float
    log_loss: float
    skill: float
    contested: PrecisionCurve | None = None
    context: PairContext | None = None
    matched: ScoreMap | None = None

    def __post_init__(self) -> None:
        numbers = (self.n_true, self.n_false, self.log_loss)
        if self.held_out not in ("set", "cluster") or not all(0.0 <= v < np.inf for v in numbers):
            raise ValueError("the numbers of a calibration do not fit")

    @classmethod
    def fit(
        cls,
        parts: Sequence[HeldOutPart],
        predictor: Predictor,
        held_out: str,
        random_state: int = 0,
        rest: Sequence[UncomparedPairs | None] = (),
    ) -> Self | None:
        """The calibration by held-out parts; None where they have too few pairs of a kind.

        ``rest`` are, for each set, pairs that the parts do not have but prediction will.
        """
        rng = np.random.default_rng(random_state)
        share = min(1.0, MOST_HELD / max(sum(part.scores.n_pairs for part in parts), 1))
        found = _limit_weights([_judged_pairs(part, share, rng) for part in parts])
        s, same, weights = (np.concatenate(column) for column in zip(*found, strict=True))
        if min(np.count_nonzero(same), np.count_nonzero(~same)) < FEWEST_PAIRS or not np.abs(s).max() > 0.0:
            return None
        true_scores = s[same]
        s, same, weights = _sample(s, same, weights, rng)
        rule = ScoreMap.fit(s, same, weights)
        unit = float(np.sqrt(np.average(s**2, weights=weights)))
        tried = tried_thresholds(true_scores)
        parts = with_neighbours(parts, rest, float(tried[0]))
        curve = PrecisionCurve.of(parts, predictor, tried)
        contested = PrecisionCurve.of(parts, predictor, tried[tried >= 0.0], beats_rivals=True)
        labels = [learning.search_groups(predictor, part.scores) for part in parts]
        items = _item_rule(parts, labels, rule, unit)
        context = _context(parts, rule, rng) if held_out == "set" else None
        matched = _matched_rule(parts, labels, rule)
        return cls(
            rule, items, curve, held_out, *_fit_of(rule, s, same, weights), contested, context, matched
        )

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        # Older versions kept one curve, no context and nothing of matched pairs.
        return super().from_state({"contested": None, "context": None, "matched": None, **state})

    def probability(self, scores: Floats) -> Floats:
        """The probability that pairs with these scores belong together, whatever the other pairs are."""
        return self.pairs.probability(scores)

    def of_pairs(self, scores: PairScores) -> Floats:
        """The probability that the two items of each compared pair of a set belong together, by its score
        and (where that was found to help) by how many mates the two are expected to have.
        """
        listed = scores.list_pairs()
        assert listed.values is not None
        if self.context is None:
            return self.pairs.probability(listed.values)
        return self.context.probability(listed, self.pairs)

    def of_matches(self, scores: Floats) -> Floats:
        """The probability that pairs with these scores, which were matched one to one, belong together."""
        return (self.matched or self.pairs).probability(scores)

    def threshold(self, probability: float, *, matched: bool = False) -> float:
        """The score of that probability: pairs that score more are more likely together. ``matched``: pairs
        that are matched one to one, where that was learned from; not below zero, where no pair is matched.
        """
        if matched and self.matched is not None:
            return max(self.matched.score(probability), 0.0)
        return self.pairs.score(probability)

    def precision(self, wanted: float, *, rivals: bool = True) -> Dial:
        """The threshold on scores at which precision is at least as wanted, by held-out clusters: of two
        rules the one of higher recall, scores alone, or less those of the best rival (``rivals``).
        """
        alone = self.curve.dial(wanted)
        if self.contested is None or not rivals:
            return alone
        both = self.contested.dial(wanted)._replace(beats_rivals=True)
        return max(both, alone, key=lambda dial: (dial.reached, dial.reached and dial.recall))

    def item_probability(self, scores: PairScores, labels: Ints) -> Floats:
        """The probability that each item is in the right place (`in_right_place`), by the model's scores."""
        return self.items.confidence(MateEvidence.of(scores, labels, self.pairs, self.items.unit))


def calibrate_task(
    task: SimilarityTask,
    choice: Choice,
    w: Floats,
    random_state: int,
    rest: Sequence[UncomparedPairs | None] = (),
    out_of_fold: OutOfFoldSets | None = None,
) -> Calibration | None:
    """What the scores by w mean, by the trainings of the choice of C that had not seen all of the data (nor
    had the features, with ``out_of_fold``); None where they tell too little.
    """
    if not choice.folds:
        return None
    parts = held_out_parts(task, choice.folds, choice.unit, w, choice.C, LOOSE, out_of_fold)
    searched = task.predictor
    if searched.name not in ("greedy", "local_search"):
        searched = oracles.make_predictor("local_search", "correlation", random_state=random_state)
    return Calibration.fit(parts, searched, choice.unit, random_state, rest)


JudgedPairs: TypeAlias = tuple[Floats, Bools, Floats]


def _limit_weights(found: Sequence[JudgedPairs]) -> list[JudgedPairs]:
    """The same with weights by which no set counts for more than a tenth of all (of few sets, twice its
    turn): its pairs tell the same thing over and over.
    """
    totals = np.array([weights.sum() for _, _, weights in found])
    limit = max(LARGEST_SHARE, 2.0 / len(found)) * totals.sum()
    factors = np.minimum(1.0, limit / np.maximum(totals, 1e-300))
    return [(s, same, w * f) for (s, same, w), f in zip(found, factors.tolist(), strict=True)]


def _judged_pairs(
    part: HeldOutPart,
    share: float = 1.0,
    rng: np.random.Generator | None = None,
    together: Ints | None = None,
) -> JudgedPairs:
    """Scores of the pairs that touch a held-out item, whether they are together, and their weights. A pair
    with an item that was not held out counts by half: over all folds it comes twice, or its likes do not come
    at all. With a ``share`` below 1 each is drawn with that probability. ``together``: only those within
    these clusters.
    """
    listed = part.scores.list_pairs()
    assert listed.index is not None
    assert listed.values is not None
    a, b = listed.index.T
    kept = (part.mine[a] | part.mine[b]) & part.judged_items[a] & part.judged_items[b]
    if together is not None:
        kept &= together[a] == together[b]
    if share < 1.0 and rng is not None:
        kept &= rng.random(len(kept)) < share
    a, b = a[kept], b[kept]
    same = (part.truth[a] == part.truth[b]) & (part.truth[a] != UNKNOWN)
    return listed.values[kept], same, np.where(part.mine[a] & part.mine[b], 1.0, 0.5) / share


def _context(parts: Sequence[HeldOutPart], rule: ScoreMap, rng: np.random.Generator) -> PairContext | None:
    """What the other pairs of two items say, by some pairs of each held-out set."""
    found: list[SetPairs] = []
    for part in parts:
        listed = part.scores.list_pairs()
        assert listed.index is not None
        assert listed.values is not None
        a, b = listed.index.T
        known = np.flatnonzero((part.mine[a] | part.mine[b]) & part.judged_items[a] & part.judged_items[b])
        drawn = rng.permutation(known)[:MOST_IN_CONTEXT]
        weights = np.full(len(drawn), len(known) / max(len(drawn), 1))
        same = (part.truth[a[drawn]] == part.truth[b[drawn]]) & (part.truth[a[drawn]] != UNKNOWN)
        found.append((rule.logit(listed.values[drawn]), least_mates(listed, rule)[drawn], same, weights))
    limited = _limit_weights([(u, same, w) for u, _, same, w in found])
    held = [(u, m, same, w) for (u, m, same, _), (_, _, w) in zip(found, limited, strict=True)]
    return PairContext.fit(held, [part.scores.n_items for part in parts])


def _sample(
    s: Floats, same: Bools, weights: Floats, rng: np.random.Generator
) -> tuple[Floats, Bools, Floats]:
    """Pairs of each kind drawn at random where there are many, with weights that make up for it."""
    chosen, factors = [], []
    for kind in (same, ~same):
        rows = np.flatnonzero(kind)
        drawn = rng.choice(rows, MOST_PAIRS, replace=False) if len(rows) > MOST_PAIRS else rows
        chosen.append(drawn)
        factors.append(np.full(len(drawn), weights[rows].sum() / weights[drawn].sum()))
    rows = np.concatenate(chosen)
    return s[rows], same[rows], weights[rows] * np.concatenate(factors)


def _matched_rule(parts: Sequence[HeldOutPart], labels: Sequence[Ints], rule: ScoreMap) -> ScoreMap | None:
    """The map of the compared pairs that are put together in the clusters predicted; None where items of a
    source are not kept apart, or nothing is put together. Where hardly any of them are wrong it is that of
    all pairs, shifted so that as many are right.
    """
    if any(part.scores.sources is None for part in parts):
        return None
    found = [_judged_pairs(part, together=y) for part, y in zip(parts, labels, strict=True)]
    s, same, weights = (np.concatenate(column) for column in zip(*found, strict=True))
    if not len(s):
        return None
    if min(np.count_nonzero(same), np.count_nonzero(~same)) >= FEWEST_PAIRS:
        return ScoreMap.fit(s, same, weights)
    return rule.with_share(s, float((weights @ same + 1.0) / (weights.sum() + 2.0)), weights)


def _item_rule(parts: Sequence[HeldOutPart], labels: Sequence[Ints], rule: ScoreMap, unit: float) -> ItemRule:
    """The rule of the held-out items, in the clusters that are predicted for them."""
    evidence, right = [], []
    for part, predicted in zip(parts, labels, strict=True):
        evidence.append(MateEvidence.of(part.scores, predicted, rule, unit).of_items(part.mine))
        right.append(in_right_place(part.truth, predicted)[part.mine])
    return ItemRule.fit(evidence, right, unit)


def _fit_of(rule: ScoreMap, s: Floats, same: Bools, weights: Floats) -> tuple[float, float, float, float]:
    """Weighted numbers of pairs of both kinds, log loss and Brier skill score."""
    n1, n0 = float(weights[same].sum()), float(weights[~same].sum())
    u, share = rule.logit(s), n1 / (n1 + n0)
    loss = np.average(np.logaddexp(0.0, u) - same * u, weights=weights)
    brier = np.average((rule.probability(s) - same) ** 2, weights=weights)
    return n1, n0, float(loss), float(1.0 - brier / (share * (1.0 - share)))
