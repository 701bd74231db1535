"""Supervised agglomerative clustering: the links of the truth are latent (Finley 2009, section 6.2).

    min over w   1/2 |w|^2 + C mean_i [ max_{y,h} (Delta(y_i, y, h) + <w, Psi(x_i, y, h)>)
                                        - max_h <w, Psi(x_i, y_i, h)> ],   Psi = sum_{(a,b) in h} B_ab psi_ab

With h_i fixed at the present w this is an upper bound, equal there, and an ordinary structural SVM; the best
h_i at the new w lower it again (Yu and Joachims 2009; CCCP). Where the inner training ends at a tolerance,
or h_i are found greedily, the old w is kept unless the new one is better. The problem has several optima:
training starts from the weights of a pair classifier, and from others near them, and keeps the lowest end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
from scipy import sparse

from clustruct.core.callbacks import training_listener
from clustruct.core.typing import Floats, Indices, Ints, LabelsLike
from clustruct.data import ItemSet
from clustruct.data.matrices import dense
from clustruct.losses import Loss
from clustruct.losses.slack_rule import SlackRule
from clustruct.search.agglomerative import WeightedLinks
from clustruct.search.oracles import ExampleLoss
from clustruct.search.oracles.example_loss import together
from clustruct.search.oracles.link_oracles import LinkLoss, LinkOracle
from clustruct.ssvm import FitResult, Planes, Problem, fit

from .clustering import FAIR, ClusteringProblem
from .training import SimilarityTask, Trained
from .units import Units

MOST_TURNS = 20
# A turn that lowers the objective by less than this share is the last.
LEAST_DROP = 1e-3
# With more features than these (words) the moments would take longer than the training.
MOST_FEATURES = 300
RIDGE = 1e-3


@dataclass(frozen=True)
class Descent:
    """The last training, the problem that it solved, and the objective after each turn, which never rises."""

    result: FitResult
    problem: LinkageProblem
    objectives: tuple[float, ...]


def descend(
    problem: LinkageProblem,
    solve: Callable[[LinkageProblem, Planes | None], FitResult],
    rule: SlackRule,
    weights: Floats,
    C: float,
) -> Descent:
    """Train and complete in turn, until the truths stay or the objective does not fall. ``solve(problem,
    planes)`` trains, from the planes of the turn before, moved to the new truths.
    """
    found = solve(problem, None)
    values = [found.objective]
    for _ in range(MOST_TURNS):
        again = problem.completed_at(found.w)
        if found.was_stopped or again.same_truths(problem):
            break
        before = min(primal(again, found.w, C, rule, weights), values[-1])
        newer = solve(again, move_planes(found, problem, again, rule))
        better, drop = newer.objective < before, 1.0 - newer.objective / max(values[-1], 1e-300)
        if newer.was_stopped and not better:
            found = replace(found, stop_reason=newer.stop_reason)
        values.append(newer.objective if better else before)
        problem, found = again, newer if better else found
        if drop < LEAST_DROP:
            break
    return Descent(found, problem, tuple(values))


def primal(problem: Problem, w: Floats, C: float, rule: SlackRule, weights: Floats) -> float:
    """1/2 |w|^2 + C sum_i weights_i xi_i, with the slacks that the oracle finds at w (slack norm 1)."""
    slacks = []
    for i in range(problem.n_examples):
        y = problem.separate(i, w, rule)
        gain = float((problem.joint_feature(i, y) - problem.joint_feature(i, problem.truth(i))) @ w)
        slacks.append(max(rule.violation(problem.loss(i, y), gain), 0.0))
    return 0.5 * float(w @ w) + C * float(weights @ np.array(slacks))


def move_planes(
    found: FitResult, before: LinkageProblem, after: LinkageProblem, rule: SlackRule
) -> Planes | None:
    """The planes of a training for the truths of another completion: a plane holds Psi(truth) - Psi(output),
    times its loss with slack scaling. None where planes are of several examples at once.
    """
    planes = found.planes
    if planes is None or getattr(found.working_set, "n_groups", 0) != before.n_examples:
        return None
    shift = np.array(
        [
            after.joint_feature(i, after.truth(i)) - before.joint_feature(i, before.truth(i))
            for i in range(before.n_examples)
        ]
    )
    factor = planes.b if rule.scaling == "slack" else np.ones(len(planes))
    return replace(planes, vectors=_dense(planes.vectors) + factor[:, None] * shift[planes.group])


def _dense(vectors: Any) -> Floats:
    return np.asarray(vectors.toarray() if hasattr(vectors, "toarray") else vectors, np.float64)


# How many pairs, sums of psi, and of psi psi' where they are few: each of pairs apart and together.
PairMoments: TypeAlias = tuple[Floats, Floats, Floats | None]


def pair_moments(x: ItemSet, labels: Ints) -> PairMoments:
    """Those of one set. Cost O(p N^2); O(p N) where there are nodes or many features."""
    total = x.joint_feature_pairs(np.zeros(x.n_items, np.int64))
    same = x.joint_feature_pairs(labels)
    right = together(labels, x.pair_list)
    counts = np.array([len(right) - right.sum(), right.sum()])
    sums = np.stack([total - same, same])
    if x.nodes is not None or x.pairs is None or x.n_features > MOST_FEATURES:
        return counts, sums, None
    kinds = [x.pairs[np.flatnonzero(right == kind)] for kind in (0.0, 1.0)]
    squares = [dense(rows.T @ rows) if sparse.issparse(rows) else rows.T @ rows for rows in kinds]
    return counts, sums, np.stack(squares)


def pair_weights(moments: list[PairMoments], scale: Floats) -> Floats:
    """w of least squares for 1 (together) and -1 (apart), both kinds weighing alike, for psi / scale; where
    moments lack the squares, the difference of the two means.

    >>> x = ItemSet(pairs=[[1.0, 0.1], [0.0, 0.3], [0.0, 0.2]])
    >>> pair_weights([pair_moments(x, np.array([0, 0, 1]))], np.ones(2)).round(1)
    array([ 1.4, -3.8])
    """
    counts, sums, squares = zip(*moments, strict=True)
    share = 0.5 / np.maximum(np.sum(counts, axis=0), 1.0)
    sums = np.sum(sums, axis=0) / scale
    target = share[1] * sums[1] - share[0] * sums[0]
    if any(part is None for part in squares):
        return np.asarray(target)
    squares = np.sum(squares, axis=0)
    gram = (share[0] * squares[0] + share[1] * squares[1]) / np.outer(scale, scale)
    ridge = RIDGE * max(float(np.trace(gram)) / len(gram), 1e-12)
    return np.asarray(np.linalg.solve(gram + ridge * np.eye(len(gram)), target))


class LinkageProblem(ClusteringProblem):
    """Learn w so that agglomerative clustering with K_ab = <w, psi_ab> makes the right partitions.

    ``w`` says which links stand for the truths, the best ones at w; see `ClusteringProblem` for the rest.

    Examples
    --------
    >>> x = ItemSet(pairs=[[1.0, 1.0], [0.0, 1.0], [0.1, 1.0]])
    >>> problem = LinkageProblem([x], [[0, 0, 1]], oracle="single")
    >>> problem.truth(0).index.tolist()
    [[0, 1]]
    """

    oracle: LinkOracle

    def __init__(
        self,
        sets: Sequence[ItemSet],
        labels: Sequence[LabelsLike],
        loss: Loss | str | None = None,
        oracle: LinkOracle | str = "single",
        *,
        units: Units | None = None,
        w: Floats | None = None,
    ) -> None:
        super().__init__(sets, labels, loss, oracle, units=units)
        if not isinstance(self.oracle, LinkOracle):
            raise ValueError(f"{self.oracle.name!r} makes no links")
        if units is None and self.oracle.per_item:
            self.units = replace(
                self.units, example_scale=1.0 / np.array([x.n_items for x in self.sets], float)
            )
            self._psi_scale = self.units.example_scale.tolist()
        start = np.zeros(self.n_features) if w is None else w
        self._take([self.best_links(i, start) for i in range(self.n_examples)])

    def best_links(self, i: int, w: Floats) -> WeightedLinks:
        """The best links at w that make the truth of set i."""
        return self.oracle.span(
            self.oracle.scores(self.sets[i], w / self.units.feature_scale), self.labels[i]
        )

    def _take(self, links: Sequence[WeightedLinks]) -> None:
        self.truths = list(links)
        self.losses = [_compared_with(loss, h) for loss, h in zip(self.losses, links, strict=True)]
        self._last, self._truth_features = [None] * self.n_examples, {}

    def completed_at(self, w: Floats) -> Self:
        """The same problem with the best links of each truth at w, or the present ones where these score
        more: average and complete link find theirs greedily.
        """
        links = []
        for i, now in enumerate(self.truths):
            assert isinstance(now, WeightedLinks)
            new = self.best_links(i, w)
            scores = self.oracle.scores(self.sets[i], w / self.units.feature_scale)
            links.append(new if new.score(scores) > now.score(scores) else now)
        other = copy(self)
        other._take(links)
        return other

    def same_truths(self, other: Self) -> bool:
        """Whether the truths of both problems stand for the same links."""
        both = zip(self.truths, other.truths, strict=True)
        return all(
            isinstance(a, WeightedLinks) and isinstance(b, WeightedLinks) and a.same_as(b) for a, b in both
        )

    def natural_C(self) -> float:
        none = [(np.zeros(self.n_features), self._loss_alone(i)) for i in range(self.n_examples)]
        any_links = [self._at_random(i) for i in range(self.n_examples)]
        found = []
        for others in (none, any_links):
            truths = [self._truth_feature(i) for i in range(self.n_examples)]
            distance = sum(float(np.sum((t - psi) ** 2)) for t, (psi, _) in zip(truths, others, strict=True))
            found.append((distance, self.units.loss_unit * sum(loss for _, loss in others)))
        best = max((total / distance for distance, total in found if distance > 0.0), default=0.0)
        return FAIR["links"] * best if best > 0.0 else 1.0

    def _loss_alone(self, i: int) -> float:
        return self.losses[i](WeightedLinks(self.sets[i].n_items, np.empty((0, 2), np.int64), np.empty(0)))

    def _at_random(self, i: int) -> tuple[Floats, float]:
        """The mean Psi of m - 1 links dealt out at random, and their mean loss."""
        x, loss = self.sets[i], self.losses[i]
        everything = x.joint_feature_pairs(np.zeros(x.n_items, np.int64))
        n_links = x.n_items - 1
        psi = everything * (n_links / max(x.n_pairs, 1) * self._psi_scale[i])
        if isinstance(loss, LinkLoss):
            return psi, loss.unit * loss.n_true + n_links * float(
                np.mean(loss.coefficients)
            ) if n_links else 0.0
        return psi, loss(np.zeros(x.n_items, np.int64))


def _compared_with(loss: ExampleLoss, links: WeightedLinks) -> ExampleLoss:
    other = copy(loss)
    other.right = links
    return other


@dataclass
class LinkageTask(SimilarityTask):
    """Trainings of a pair similarity for agglomerative clustering; ``n_starts`` for the last one."""

    n_starts: int = 3
    random_state: int = 0

    def train(
        self,
        C: float,
        chosen: Indices | None = None,
        start: Trained | None = None,
        *,
        rtol: float | None = None,
    ) -> Trained:
        """Train from the weights of a pair classifier; without an ``rtol`` (the last training) from others,
        too.
        """
        chosen = np.arange(len(self.sets)) if chosen is None else chosen
        options = dict(self.options)
        options["rtol"] = options["rtol"] if rtol is None else max(rtol, options["rtol"])
        problem, unit = self._kept_problem(chosen)
        assert isinstance(problem, LinkageProblem)
        best: Descent | None = None
        for begin in self._starts(problem, chosen, self.n_starts if rtol is None else 1):
            found = self._descend(begin, C, unit, chosen, options)
            if best is None or found.objectives[-1] < best.objectives[-1]:
                best = found
            if found.result.was_stopped:
                best = replace(best, result=replace(best.result, stop_reason=found.result.stop_reason))
                break
        assert best is not None
        scale, result = problem.units.feature_scale, best.result
        plain = replace(result, w=np.asarray(result.w / scale), objective=best.objectives[-1])
        return Trained(plain, result, scale, C * unit, best.objectives)

    def _starts(self, problem: LinkageProblem, chosen: Indices, n: int) -> list[LinkageProblem]:
        """The problem with the links of pair weights, and of weights near them that differ in links."""
        begin = [problem]
        w, rng = (
            self._pair_weights(chosen, problem.units.feature_scale),
            np.random.default_rng(self.random_state),
        )
        size = float(np.linalg.norm(w)) / np.sqrt(max(len(w), 1))
        for _ in range(n - 1):
            near = w + size * rng.normal(size=len(w))
            other = copy(problem)
            other._take([problem.best_links(i, near) for i in range(problem.n_examples)])
            if not any(other.same_truths(known) for known in begin):
                begin.append(other)
        return begin

    def _descend(
        self, problem: LinkageProblem, C: float, unit: float, chosen: Indices, options: dict[str, Any]
    ) -> Descent:
        weights = np.ones(len(chosen)) if self.sample_weight is None else self.sample_weight[chosen]

        def solve(problem: LinkageProblem, planes: Planes | None) -> FitResult:
            callback = training_listener(C, options["rtol"], self.verbose)
            return fit(problem, C * unit, **options, sample_weight=weights, w0=planes, callback=callback)

        rule = SlackRule(options["scaling"], options["slack_norm"])
        return descend(problem, solve, rule, weights / weights.sum(), C * unit)

    def _problem(
        self, chosen: Indices, completed: Sequence[Ints] | None = None
    ) -> tuple[ClusteringProblem, float]:
        sets, labels = [self.sets[i] for i in chosen], [self.labels[i] for i in chosen]
        units = self._units(chosen, sets) if self.rescale else None
        scale = np.ones(sets[0].n_features) if units is None else units.feature_scale
        assert isinstance(self.oracle, LinkOracle)
        w = self._pair_weights(chosen, scale)
        problem = LinkageProblem(sets, labels, self.loss, self.oracle, units=units, w=w)
        return problem, problem.natural_C() if self.rescale else 1.0

    def _pair_weights(self, chosen: Indices, scale: Floats) -> Floats:
        return pair_weights([self._moments[i] for i in chosen], scale)

    @cached_property
    def _moments(self) -> list[PairMoments]:
        return [pair_moments(x, y) for x, y in zip(self.sets, self.labels, strict=True)]
