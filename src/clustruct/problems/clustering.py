"""Supervised clustering as a structured problem (Finley and Joachims 2005 and 2008): units, problem, task.

    Psi(x, y) = s_x sum_ab B_ab(y) psi_ab / f,     loss = u Delta(y_i, y)

with the feature scale f (entry by entry), the example scale s_x and the loss unit u. Those of the papers are
f = 1, u = 1, and s_x = 1/m^2 (correlation clustering) or 1 (k-means). In means, s_x makes the sum a mean over
pairs or items, losses go from 0 to 1, and C means the same for every data set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from clustruct._typing import Bools, Floats, Indices, Ints, LabelsLike
from clustruct.callbacks import observed
from clustruct.itemsets import ItemSet, PairScores
from clustruct.itemsets.pairs import Matrix
from clustruct.losses import Loss, as_loss
from clustruct.losses.function import LabelFunction
from clustruct.oracles import ExampleLoss, Oracle, OracleResult, Output, Predictor, make_oracle
from clustruct.oracles.base import Objective
from clustruct.partitions import canonical_labels
from clustruct.slack_rule import SlackRule
from clustruct.ssvm import FitResult, OracleKind, SmoothedResult, fit

__all__ = [
    "ClusteringProblem",
    "Judged",
    "SimilarityTask",
    "Trained",
    "Units",
    "feature_scale",
    "mean_squares",
]

# The natural unit times this is C = 1. Correlation: on news, records and mentions the best C lay between 100
# and 10,000 times the unit (``benchmarks/supervised.py``, "choice of C").
FAIR: dict[Objective, float] = {"correlation": 1000.0, "kmeans": 10.0}
# Up to this size the smoothed oracle, which needs all eigenvectors, costs little beside what it saves.
SOFT_LIMIT = 500


@dataclass(frozen=True)
class Units:
    """Feature scale f, example scales s_x (one per set), loss unit u."""

    feature_scale: Floats
    example_scale: Floats
    loss_unit: float

    @classmethod
    def of_paper(cls, sets: Sequence[ItemSet], objective: Objective) -> Units:
        """Sums as the papers take them, and losses up to 100."""
        sizes = np.array([x.n_items for x in sets], dtype=np.float64)
        scale = 1.0 / sizes**2 if objective == "correlation" else np.ones(len(sets))
        return cls(np.ones(sets[0].n_features if len(sets) else 0), scale, 1.0)

    @classmethod
    def of_means(
        cls, sets: Sequence[ItemSet], objective: Objective, feature_scale: Floats | None = None
    ) -> Units:
        """Means over (scored) pairs or over items, and losses up to 1: C is the same for sets of any size."""
        counts = [n_pairs(x) if objective == "correlation" else x.n_items for x in sets]
        scale = np.ones(sets[0].n_features if len(sets) else 0) if feature_scale is None else feature_scale
        return cls(scale, 1.0 / np.maximum(np.array(counts, dtype=np.float64), 1.0), 0.01)

    def of_search(self, i: int, w: Floats, rule: SlackRule, objective: Objective) -> tuple[Floats, float]:
        """Weights, and what K is multiplied by then, to stand beside losses from 0 to 100 as the rule says.

        A factor of the loss can be taken out of H: H = u (Delta + gain/u), u^1/2 (Delta^1/2 + gain/u^1/2),
        and with slack scaling u Delta (1 + gain), where the gain must keep its unit.
        """
        unit = {("margin", 1): self.loss_unit, ("margin", 2): self.loss_unit**0.5}
        per = unit.get((rule.scaling, rule.norm), 1.0)
        s = self.example_scale[i]
        if objective == "kmeans":  # large K are never formed: they are scaled through their weights
            return np.asarray(w * (s / (per * self.feature_scale))), 1.0
        return np.asarray(w / self.feature_scale), float(s / per)


def n_pairs(x: ItemSet) -> float:
    """The number of pairs that have features: those listed, or all."""
    if x.is_sparse and x.pair_index is not None:
        return len(x.pair_index)
    return x.n_items * (x.n_items - 1) / 2


def feature_scale(sets: Sequence[ItemSet], objective: Objective = "correlation") -> Floats:
    """The root mean square of each pair feature over the pairs of all sets, sets counting alike.

    Products of dense nodes are scaled one by one; those of sparse nodes by one number, since a word that is
    rare must not be blown up by being rare, and so are sparse pair features (links) for k-means. A
    feature that is zero everywhere has scale 1.

    >>> feature_scale([ItemSet(nodes=[[2.0, 0.0], [2.0, 1.0], [2.0, 0.0]])])
    array([4., 1.])
    """
    squares = np.mean([mean_squares(x) for x in sets], axis=0)
    thin = _thin(sets[0], pairs=objective == "kmeans")
    squares[thin] = squares[thin].sum()
    return np.where(squares > 0.0, np.sqrt(np.maximum(squares, 1e-300)), 1.0)


def _thin(x: ItemSet, *, pairs: bool) -> Bools:
    """Which features are sparse, node products and where asked for pair features."""
    thin = np.zeros(x.n_features, np.bool_)
    thin[: x.n_node_features] = x.nodes is not None and sparse.issparse(x.nodes)
    thin[x.n_node_features :] = pairs and x.pairs is not None and sparse.issparse(x.pairs)
    return thin


def mean_squares(x: ItemSet) -> Floats:
    """Mean of psi_ab^2 over the pairs a < b of one set; for node products (sum x^2)^2 - sum x^4 over 2."""
    parts = []
    if x.nodes is not None:
        parts.append(np.maximum(_power_sums(x.nodes, 2) ** 2 - _power_sums(x.nodes, 4), 0.0) / 2)
    if x.pairs is not None:
        parts.append(_power_sums(x.pairs, 2))
    return np.concatenate(parts) / max(n_pairs(x), 1)


def _power_sums(A: Matrix, power: int) -> Floats:
    """The sum of the powers of each column."""
    raised = A.power(power) if isinstance(A, sparse.csr_array) else A**power
    return np.asarray(raised.sum(axis=0)).ravel()


class ClusteringProblem:
    """Learn w so that clustering with K_ab = <w, psi_ab> gives the right partitions.

    ::

        Psi(x, y) = s_x sum_ab B_ab(y) psi_ab / f

    The oracle says what is clustered by. Correlation clustering ("greedy", "local_search", "lp", "exact"): B
    is 1 for pairs a < b together. k-means ("iterative", "spectral", "centred", "discrete"), k of each set
    known: B = Y Y' over all ordered pairs, diagonal included, Y_ac = |c|^(-1/2) for a in c, so that <w, Psi>
    = s_x trace(Y'KY).

    Parameters
    ----------
    sets : the item sets
    labels : one label vector per set
    loss : a Loss, its name, or a function of two label vectors
        None: the oracle's own, "pairwise" or "normalised".
    oracle : an `Oracle`, or the name of one (`clustruct.oracles.make_oracle` gives it options)
    units : f, s_x and the unit of the loss, see `Units`; None: those of the papers
    judged : for each set a mask of its scored pairs that count in the loss, or None for all of them

    Of a set that lists its pairs (`pair_index`) and has no nodes only the listed pairs are scored in
    correlation clustering, and judged by a loss of pairs; no m x m matrix is made. The last answer for a set
    starts the next search for it, where the search can use that.

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

    parallel_backend = "threads"

    def __init__(
        self,
        sets: Sequence[ItemSet],
        labels: Sequence[LabelsLike],
        loss: Loss | str | LabelFunction | None = None,
        oracle: Oracle | str = "greedy",
        *,
        units: Units | None = None,
        judged: Sequence[Bools | None] | None = None,
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
        self.losses = [
            self.oracle.example_loss(self.loss_function, y, x, mask)
            for x, y, mask in zip(self.sets, self.labels, self.judged, strict=True)
        ]
        self.oracle_kind: OracleKind = self.oracle.kind
        self.n_examples = len(self.sets)
        self.n_features = self.sets[0].n_features if self.sets else 0
        self._last: list[OracleResult | None] = [None] * self.n_examples
        self._truth_features: dict[int, Floats] = {}
        self._psi_scale = [s / self.units.feature_scale for s in self.units.example_scale]

    def supports(self, rule: SlackRule) -> bool:
        """Whether the oracle can search by this rule."""
        return self.oracle.refusal(rule, self.loss_function) is None

    @property
    def preferred_formulation(self) -> Literal["n_slack", "smoothed"]:
        """Relaxations have more corners than planes can hold: they are trained smoothed."""
        small = all(x.n_items <= SOFT_LIMIT for x in self.sets)
        return "smoothed" if small and self.oracle.can_smooth else "n_slack"

    def truth(self, i: int) -> Ints:
        return self.labels[i]

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
        """The most violated output of set i: a partition, edge degrees or a relaxed clustering."""
        return self.search(i, w, rule).output

    def search(self, i: int, w: Floats, rule: SlackRule) -> OracleResult:
        """The most violated output of set i with the coefficients of its pairs and its loss (0 to 100)."""
        last = self._last[i]
        start = None if last is None else last.output if last.start is None else last.start
        found = self.oracle.separate(self._scores(i, w, rule), self.losses[i], rule, start)
        self._last[i] = found
        return found

    def separate_smoothed(self, i: int, w: Floats, mu: float) -> SmoothedResult:
        """The oracle with an entropy of weight mu: see `clustruct.inference.spectral`."""
        if not self.oracle.can_smooth:
            raise ValueError(f"the {self.oracle.name} oracle cannot be smoothed")
        unit, scores = self.units.loss_unit, self._scores(i, w, SlackRule())
        found = self.oracle.smooth(scores, self.losses[i], mu / unit)
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

        To tell the truth from another clustering at distance R with loss D takes |w| of D / R, so 1/2 |w|^2
        = C D at C of the order D / R^2. The others are the trivial clusterings (each item alone, or all in
        one; the larger C counts), and for k-means, where k is given, the same labels dealt out at random.
        """
        best = 0.0
        for others in self._alternatives():
            distance = total = 0.0
            for i, y in enumerate(others):
                psi = self.joint_feature(i, self.labels[i]) - self.joint_feature(i, y)
                distance += float(psi @ psi)
                total += self.loss(i, y)
            if distance > 0.0:
                best = max(best, total / distance)
        return FAIR[self.oracle.objective] * best if best > 0.0 else 1.0

    def _alternatives(self) -> list[list[Ints]]:
        if self.oracle.objective == "kmeans":
            rng = np.random.default_rng(0)
            return [[rng.permutation(y) for y in self.labels]]
        alone = [np.arange(y.size, dtype=np.int64) for y in self.labels]
        return [alone, [np.zeros(y.size, np.int64) for y in self.labels]]

    def predict(self, x: ItemSet, w: Floats, n_clusters: int | None = None) -> Output:
        """The clustering of a set that the oracle's search finds at w."""
        return self.oracle.predict(self.oracle.scores(x, w / self.units.feature_scale), n_clusters)

    def _truth_feature(self, i: int) -> Floats:
        if i not in self._truth_features:
            self._truth_features[i] = self.joint_feature(i, self.labels[i])
        return self._truth_features[i]


@dataclass(frozen=True)
class Trained:
    """A training: its result with w in the user's units, and as the engine left it, to start another from."""

    result: FitResult
    scaled: FitResult
    feature_scale: Floats


class Judged(NamedTuple):
    """A prediction beside the truth: the loss, and how many pairs are together rightly, by the prediction,
    and by the truth.
    """

    loss: float
    pairs: tuple[float, float, float] = (0.0, 0.0, 0.0)


def shared_pairs(truth: Ints, predicted: Ints) -> tuple[float, float, float]:
    """Pairs together in both partitions, in the predicted one, and in the true one.

    >>> shared_pairs(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]))
    (1.0, 2.0, 3.0)
    """
    both = canonical_labels(truth * (int(predicted.max()) + 1) + predicted)
    sizes = [np.bincount(y) for y in (both, predicted, truth)]
    return tuple(float((n * (n - 1)).sum() // 2) for n in sizes)  # type: ignore[return-value]


@dataclass
class SimilarityTask:
    """Labelled sets with their weights, the loss, and the searches for violated and for best clusterings.

    With ``rescale`` features are divided by their root mean square over the sets trained on, sums are means,
    and C is measured in the unit that these sets suggest; without it the problem is that of the papers.
    ``options`` are further ones of `clustruct.ssvm.fit`.
    """

    sets: Sequence[ItemSet]
    labels: Sequence[Ints]
    loss: Loss
    oracle: Oracle
    predictor: Predictor
    options: Mapping[str, Any]
    rescale: bool = True
    sample_weight: Floats | None = None
    verbose: int = 0

    def __post_init__(self) -> None:
        for x in self.sets:
            self.oracle.check_set(x)

    def train(self, C: float, chosen: Indices | None = None, start: Trained | None = None) -> Trained:
        """Train on the sets chosen (all of them without), from an earlier training of the same sets."""
        chosen = np.arange(len(self.sets)) if chosen is None else chosen
        problem, unit = self._problem(chosen)
        found = fit(
            problem,
            C * unit,
            **self.options,
            sample_weight=None if self.sample_weight is None else self.sample_weight[chosen],
            w0=None if start is None else start.scaled,
            callback=observed(C, self.options["rtol"], self.verbose),
        )
        scale = problem.units.feature_scale
        return Trained(replace(found, w=np.asarray(found.w / scale)), found, scale)

    def judge(self, trained: Trained, i: int) -> Judged:
        """Delta of the prediction for set i, with as many clusters as the truth where that is to be given."""
        truth = self.labels[i]
        scores = self.predictor.scores(self.sets[i], trained.result.w)
        predicted = self.predictor.predict(scores, int(truth.max()) + 1)
        assert isinstance(predicted, np.ndarray)
        return Judged(ExampleLoss(self.loss, truth)(predicted), shared_pairs(truth, predicted))

    def _problem(self, chosen: Indices) -> tuple[ClusteringProblem, float]:
        """The problem of some sets, and the unit in which C is measured."""
        sets, labels = [self.sets[i] for i in chosen], [self.labels[i] for i in chosen]
        units = None
        if self.rescale:
            kind = self.oracle.objective
            units = Units.of_means(sets, kind, feature_scale(sets, kind))
        problem = ClusteringProblem(sets, labels, self.loss, self.oracle, units=units)
        return problem, problem.natural_C() if self.rescale else 1.0
