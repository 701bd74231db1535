"""Supervised agglomerative clustering: the links of the truth are latent (Finley 2009, section 6.2).

    min over w   1/2 |w|^2 + C mean_i [ max_{y,h} (Delta(y_i, y, h) + <w, Psi(x_i, y, h)>)
                                        - max_h <w, Psi(x_i, y_i, h)> ],   Psi = sum_{(a,b) in h} B_ab psi_ab

The problem has several optima: training starts from the weights of a pair classifier, and from others near
them, and keeps the lowest end.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from clustruct.core.callbacks import training_listener
from clustruct.core.typing import Floats, Indices, Ints, LabelsLike
from clustruct.data import ItemSet
from clustruct.losses import Loss
from clustruct.losses.slack_rule import SlackRule
from clustruct.search.agglomerative import WeightedLinks
from clustruct.search.oracles import ExampleLoss
from clustruct.search.oracles.links import LinkLoss, LinkOracle
from clustruct.ssvm import FitResult, Planes, fit

from .cccp import Descent, LatentProblem, descend
from .clustering import FAIR, ClusteringProblem
from .pair_weights import PairMoments, pair_weights
from .training import SimilarityTask, Trained
from .units import Units


class LinkageProblem(ClusteringProblem, LatentProblem):
    """Learn w so that agglomerative clustering with K_ab = <w, psi_ab> makes the right partitions.

    ``w`` says which links stand for the truths, the best ones at w; see `ClusteringProblem` for the rest.

    Parameters
    ----------
    sets : sequence of ItemSet
        Item sets.
    labels : sequence of array-like
        The right clusters of each.
    loss : Loss, str, optional
        The loss, or its name.
    oracle : LinkOracle or str, default="single"
        The search, or its name.
    units : Units, optional
        The units of features and losses.
    w : array of float, optional
        Weights that choose the links of the truths.

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
        """Whether the truths of both have the same links."""
        both = zip(self.truths, other.truths, strict=True)
        return all(
            isinstance(a, WeightedLinks) and isinstance(b, WeightedLinks) and a.same_as(b) for a, b in both
        )

    def natural_C(self) -> float:
        """As for other clusterings; the trivial ones are no links, and as many as there can be at random."""
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
        n_pairs = max(
            len(x.pair_index)
            if x.is_sparse and x.pair_index is not None
            else x.n_items * (x.n_items - 1) // 2,
            1,
        )
        n_links = x.n_items - 1
        psi = everything * (n_links / n_pairs * self._psi_scale[i])
        if isinstance(loss, LinkLoss):
            return psi, loss.unit * loss.n_true + n_links * float(
                np.mean(loss.coefficients)
            ) if n_links else 0.0
        return psi, loss(np.zeros(x.n_items, np.int64))


def _compared_with(loss: ExampleLoss, links: WeightedLinks) -> ExampleLoss:
    other = copy(loss)
    other.right = links
    return other


@dataclass(frozen=True)
class TrainedLinks(Trained):
    """With the objective after each turn of the descent that was best."""

    objectives: tuple[float, ...] = ()


@dataclass
class LinkageTask(SimilarityTask):
    """Trainings of a pair similarity for agglomerative clustering; ``n_starts`` for the last one.

    Attributes
    ----------
    sets : sequence of ItemSet
        Item sets.
    labels : sequence of array of int
        The labels of each, -1 where not known.
    loss : Loss
        The loss.
    oracle : Oracle
        The search for violated clusterings.
    predictor : Predictor
        The search for best clusterings.
    options : mapping
        Further options of `clustruct.ssvm.fit`.
    rescale : bool, default=True
        Whether features and C are in natural units.
    sample_weight : array of float, optional
        How much each set counts.
    verbose : int, default=0
        1 prints some rounds, 2 all of them.
    checkpoint : path, optional
        A file in which trainings are kept, and taken up again.
    unlabelled : Unlabelled, default="apart"
        Whether items without a label are "apart" or "unknown".
    memory_limit : int or str, optional
        What needs more is refused.
    n_starts : int, default=3
        How many starts the last training has.
    random_state : int, default=0
        Seed of the starts.
    """

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
        """Train on the sets chosen, from the weights of a pair classifier; without an ``rtol`` (the last
        training) from others, too.
        """
        chosen = np.arange(len(self.sets)) if chosen is None else chosen
        options = dict(self.options)
        options["rtol"] = options["rtol"] if rtol is None else max(rtol, options["rtol"])
        problem, unit = self._kept_problem(chosen)
        assert isinstance(problem, LinkageProblem)
        best: Descent[LinkageProblem] | None = None
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
        return TrainedLinks(plain, result, scale, C * unit, best.objectives)

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
    ) -> Descent[LinkageProblem]:
        weights = np.ones(len(chosen)) if self.sample_weight is None else self.sample_weight[chosen]

        def solve(problem: LinkageProblem, planes: Planes | None) -> FitResult:
            heard = training_listener(C, options["rtol"], self.verbose)
            return fit(problem, C * unit, **options, sample_weight=weights, w0=planes, callback=heard)

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
        return [PairMoments.of(x, y) for x, y in zip(self.sets, self.labels, strict=True)]
