"""Supervised clustering as a structured problem (Finley and Joachims 2005 and 2008)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Literal

import numpy as np
from scipy import sparse

from clustruct.core.partitions import canonical_labels
from clustruct.core.storage import digest
from clustruct.core.storage.encoding import entry_of
from clustruct.core.typing import Bools, Floats, Indices, Ints, LabelsLike
from clustruct.data import ItemSet, PairScores
from clustruct.losses import Loss, as_loss
from clustruct.losses.function import LabelFunction
from clustruct.losses.slack_rule import SlackRule
from clustruct.search.oracles import Oracle, OracleResult, Output, make_oracle
from clustruct.search.oracles.base import Objective
from clustruct.ssvm import OracleKind, Problem, SmoothedResult
from clustruct.ssvm.problem import Backend

from .units import Units

# The natural unit times this is C = 1. Correlation: on news, records and mentions the best C lay between 100
# and 10,000 times the unit (``studies.correlation2005``, "choice-of-C").
FAIR: dict[Objective, float] = {"correlation": 1000.0, "kmeans": 10.0, "links": 1000.0}
# Each item alone, and all in one cluster, for a number of items.
TRIVIAL: tuple[Callable[[int], Ints], ...] = (
    lambda m: np.arange(m, dtype=np.int64),
    lambda m: np.zeros(m, np.int64),
)
# Deals of the same labels over which a loss is averaged.
DEALS = 10


class ClusteringProblem(Problem):
    """Learn w so that clustering with K_ab = <w, psi_ab> gives the right partitions.

    ::

        Psi(x, y) = s_x sum_ab B_ab(y) psi_ab / f

    In correlation clustering B is 1 for pairs a < b together. In k-means, k of each set known, B = Y Y' over
    all ordered pairs, Y_ac = |c|^(-1/2) for a in c, so that <w, Psi> = s_x trace(Y'KY).

    The oracle says what is clustered by; without a loss it is the oracle's own, "pairwise" or "normalised".
    `Units` are f, s_x and the unit of the loss. For each set ``judged`` may mask the scored pairs that count
    in the loss, ``known`` the items whose label is known, and ``completed`` holds labels whose Psi stands for
    the truth, where some are guessed. Of a set that lists its pairs (`pair_index`) and has no nodes only the
    listed pairs are scored and judged. The last answer for a set starts the next search for it, where the
    search can use that.

    Examples
    --------
    >>> from clustruct import ItemSet, ssvm
    >>> x = ItemSet(pairs=[[1.0, 1.0], [0.0, 1.0], [0.1, 1.0]])   # a similarity and a bias
    >>> problem = ClusteringProblem([x], [[0, 0, 1]])
    >>> problem.predict(x, ssvm.fit(problem, C=100.0).w)
    array([0, 0, 1])
    >>> x = ItemSet(nodes=[[1.0, 0.3], [1.0, -0.3], [-1.0, 0.3], [-1.0, -0.3]])
    >>> problem = ClusteringProblem([x], [[0, 0, 1, 1]], oracle="iterative")
    >>> w = ssvm.fit(problem, C=100.0).w
    >>> bool(w[0] > abs(w[1])), problem.predict(x, w, 2)
    (True, array([0, 0, 1, 1]))
    """

    parallel_backend: Backend = "threads"

    def __init__(
        self,
        sets: Sequence[ItemSet],
        labels: Sequence[LabelsLike],
        loss: Loss | str | LabelFunction | None = None,
        oracle: Oracle | str = "greedy",
        *,
        units: Units | None = None,
        judged: Sequence[Bools | None] | None = None,
        known: Sequence[Bools | None] | None = None,
        completed: Sequence[Ints] | None = None,
    ) -> None:
        self.oracle = make_oracle(oracle) if isinstance(oracle, str) else oracle
        self.loss_function = self.oracle.default_loss if loss is None else as_loss(loss)
        if (refused := self.oracle.refusal(SlackRule(), self.loss_function)) is not None:
            raise ValueError(refused)
        self.sets, self.labels = list(sets), [canonical_labels(y) for y in labels]
        for x in self.sets:
            self.oracle.check_set(x)
        self.units = Units.of_paper(self.sets, self.oracle.objective) if units is None else units
        self.judged = [None] * len(self.sets) if judged is None else list(judged)
        self.known = [None] * len(self.sets) if known is None else list(known)
        self.losses = [
            self.oracle.example_loss(self.loss_function, y, x, mask, items)
            for x, y, mask, items in zip(self.sets, self.labels, self.judged, self.known, strict=True)
        ]
        found = self.labels if completed is None else [canonical_labels(y) for y in completed]
        self.truths: list[Output] = list(found)
        self.oracle_kind = self.oracle.kind
        self.n_examples = len(self.sets)
        self.n_features = self.sets[0].n_features if self.sets else 0
        self._last: list[OracleResult | None] = [None] * self.n_examples
        self._soft_start: dict[int, Floats | None] = {}
        self._truth_features: dict[int, Floats] = {}
        self._psi_scale = [s / self.units.feature_scale for s in self.units.example_scale]

    def part(self, examples: Indices) -> ClusteringProblem:
        """The problem of some of the sets, in the same units, with what is remembered of them."""
        chosen, found = np.asarray(examples).tolist(), copy(self)
        for name in ("sets", "labels", "judged", "known", "losses", "truths", "_last", "_psi_scale"):
            setattr(found, name, [getattr(self, name)[i] for i in chosen])
        found.units = replace(self.units, example_scale=self.units.example_scale[chosen])
        found.n_examples = len(chosen)
        found._soft_start = {k: self._soft_start.get(i) for k, i in enumerate(chosen)}
        found._truth_features = {}
        return found

    def memory(self) -> tuple[list[OracleResult | None], dict[int, Floats | None]]:
        """The last answers, from which the next searches start."""
        return list(self._last), dict(self._soft_start)

    def remember(self, memory: tuple[list[OracleResult | None], dict[int, Floats | None]]) -> None:
        """Start from these answers."""
        self._last, self._soft_start = list(memory[0]), dict(memory[1])

    def identity(self) -> dict[str, str]:
        units, masks = self.units, [None if mask is None else np.asarray(mask) for mask in self.judged]
        described: tuple[object, ...] = (self.labels, masks)
        if any(items is not None for items in self.known):
            described = (*described, self.known, self.truths)
        return {
            "features": digest([x.digest for x in self.sets]),
            "labels": digest(*described),
            "loss": self._digest_of_loss(),
            "oracle": digest(self.oracle.describe()),
            "units": digest(units.feature_scale, units.example_scale, units.loss_unit),
        }

    def _digest_of_loss(self) -> str:
        """Of a loss that files do not know, a function for example: its values for some clusterings."""
        if entry_of(type(self.loss_function)) is not None:
            return digest(self.loss_function)
        if self.oracle.objective == "kmeans":
            compared = [pair for truth in self.labels for pair in deal_labels(truth)]
        else:
            compared = [(truth, of(truth.size)) for truth in self.labels for of in TRIVIAL]
        return digest([float(self.loss_function(y, other)) for y, other in compared])

    def supports(self, rule: SlackRule) -> bool:
        return self.oracle.refusal(rule, self.loss_function) is None

    def kind_for(self, rule: SlackRule) -> OracleKind:
        return self.oracle.kind_for(rule)

    def violation_bound(self, i: int, w: Floats, rule: SlackRule) -> float | None:
        self.separate(i, w, rule)
        found = self._last[i]
        return None if found is None or found.bound is None else self.units.loss_unit * found.bound

    def is_quick(self, rule: SlackRule) -> bool:
        return any(self.oracle.is_quick(rule, loss) for loss in self.losses)

    @property
    def preferred_formulation(self) -> Literal["n_slack", "one_slack", "smoothed"]:
        """Relaxations have more corners than planes can hold: they are trained smoothed. One large set that
        is searched quickly takes a third of the rounds by "one_slack" (40,000 listed pairs, 50 features).
        """
        if self.n_examples == 1 and self.is_quick(SlackRule()):
            return "one_slack"
        return "smoothed" if self.can_smooth else "n_slack"

    def truth(self, i: int) -> Output:
        return self.truths[i]

    def joint_feature(self, i: int, y: Output) -> Floats:
        found = self._last[i]
        known = found is not None and y is found.output
        coefficients = found.coefficients if found is not None and known else self.oracle.coefficients(y)
        return coefficients.joint_feature(self.sets[i]) * self._psi_scale[i]

    def loss(self, i: int, y: Output) -> float:
        found = self._last[i]
        value = found.loss if found is not None and y is found.output else self.losses[i](y)
        return self.units.loss_unit * value

    def separate(self, i: int, w: Floats, rule: SlackRule) -> Output:
        scores, start = self._scores(i, w, rule), self._start(i)
        self._last[i] = found = self.oracle.separate(scores, self.losses[i], rule, start)
        return found.output

    def separate_thoroughly(self, i: int, w: Floats, rule: SlackRule) -> Output:
        scores, start = self._scores(i, w, rule), self._start(i)
        self._last[i] = found = self.oracle.separate_thoroughly(scores, self.losses[i], rule, start)
        return found.output

    def _start(self, i: int) -> Output | None:
        """Where the next search for set i begins."""
        last = self._last[i]
        return None if last is None else last.output if last.start is None else last.start

    @property
    def can_smooth(self) -> bool:
        return self.oracle.can_smooth

    def separate_smoothly(self, i: int, w: Floats, mu: float) -> SmoothedResult:
        """The oracle with an entropy of weight mu: see `clustruct.search.spectral`."""
        unit, scores = self.units.loss_unit, self._scores(i, w, SlackRule())
        found = self.oracle.smooth(scores, self.losses[i], mu / unit, self._soft_start.get(i))
        self._soft_start[i] = found.start
        here = found.coefficients.joint_feature(self.sets[i]) * self._psi_scale[i]
        return SmoothedResult(
            violation=unit * found.violation,
            value=unit * found.value,
            difference=self._truth_feature(i) - here,
            loss=unit * found.loss,
        )

    def _scores(self, i: int, w: Floats, rule: SlackRule) -> PairScores:
        weights, factor = self.units.of_search(i, w, rule, self.oracle.objective)
        return self.oracle.scores(self.sets[i], weights, factor)

    def natural_C(self) -> float:
        """The C at which regulariser and loss weigh alike, times a factor.

        To tell the truth from another clustering at distance R with loss D takes |w| of D / R, so 1/2 |w|^2 =
        C D at C of the order D / R^2. The others are each item alone and all in one; for k-means, where k is
        given, the same labels dealt out at random.
        """
        if self.oracle.objective == "kmeans":
            others = [self._contrast_with_deals()]
        else:
            others = [self._contrast(of) for of in TRIVIAL]
        best = max((total / distance for distance, total in others if distance > 0.0), default=0.0)
        return FAIR[self.oracle.objective] * best if best > 0.0 else 1.0

    def _contrast(self, trivial: Callable[[int], Ints]) -> tuple[float, float]:
        """The squared distances of the truths from trivial clusterings, and their losses, summed."""
        distance = total = 0.0
        for i, truth in enumerate(self.truths):
            y = trivial(self.labels[i].size)
            psi = self.joint_feature(i, truth) - self.joint_feature(i, y)
            distance += float(psi @ psi)
            total += self.loss(i, y)
        return distance, total

    def _contrast_with_deals(self) -> tuple[float, float]:
        """The same for labels dealt out at random, over which it is a mean: the order of items is nothing."""
        distance = total = 0.0
        for i, truth in enumerate(self.labels):
            psi = self.joint_feature(i, truth) - mean_over_deals(self.sets[i], truth) * self._psi_scale[i]
            distance += float(psi @ psi)
            losses = [self.loss_function(y, other) for y, other in deal_labels(truth)]
            total += self.units.loss_unit * float(np.mean(losses))
        return distance, total

    def predict(self, x: ItemSet, w: Floats, n_clusters: int | None = None) -> Output:
        """The clustering of a set that the search of the oracle finds at w."""
        return self.oracle.predict(self.oracle.scores(x, w / self.units.feature_scale), n_clusters)

    def _truth_feature(self, i: int) -> Floats:
        if i not in self._truth_features:
            self._truth_features[i] = self.joint_feature(i, self.truths[i])
        return self._truth_features[i]


def deal_labels(truth: Ints) -> list[tuple[Ints, Ints]]:
    """A clustering with clusters of these sizes, and the same labels dealt out at random, some times.

    >>> deal_labels(np.array([0, 1, 1]))[0]
    (array([0, 1, 1]), array([1, 0, 1]))
    """
    sizes = np.sort(np.bincount(truth))
    y, rng = np.repeat(np.arange(len(sizes)), sizes), np.random.default_rng(0)
    return [(y, rng.permutation(y)) for _ in range(DEALS)]


def mean_over_deals(x: ItemSet, truth: Ints) -> Floats:
    """The mean of Psi (k-means) over all ways to deal out the labels: of (Y Y')_aa it is k/m, of (Y Y')_ab
    (m - k) / (m (m - 1)).
    """
    m, k = truth.size, int(truth.max()) + 1
    beside = (m - k) / (m * (m - 1)) if m > 1 else 0.0
    everything = x.joint_feature_factor(np.ones((m, 1)))
    diagonal = x.joint_feature(sparse.eye_array(m, format="csr"))
    return np.asarray(beside * everything + (k / m - beside) * diagonal)
