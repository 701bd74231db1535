"""Supervised k-means and spectral clustering as a structured problem (SPEC 5; Finley and Joachims 2008)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from clustruct._typing import Floats
from clustruct.inference import kmeans, spectral, spectral_soft
from clustruct.itemsets import ItemSet
from clustruct.losses import NormalisedLoss, as_loss
from clustruct.oracles.kmeans_augmented import iterative_augmented
from clustruct.partitions import RelaxedClustering, canonical_labels, normalised_indicator
from clustruct.ssvm import OracleKind, SlackRule, SmoothedResult

Oracle = Literal["iterative", "spectral", "centred", "discrete"]
ORACLES: tuple[Oracle, ...] = ("iterative", "spectral", "centred", "discrete")
PLAIN = SlackRule("margin", 1)
# Eigenvalues to this relative accuracy are as good as exact beside the gaps at which training ends.
ORACLE_TOL = 1e-7
# Up to this size the smoothed oracle, which needs all eigenvectors, costs little beside what it saves.
SOFT_LIMIT = 500


class KMeansProblem:
    """Learn w so that k-means with K_ab = <w, psi_ab> gives the right partitions, k of each set known.

    ::

        Psi(x, Y) = s_x sum_ab (Y Y')_ab psi_ab,    <w, Psi(x, Y)> = s_x trace(Y'KY),    s_x = 1

    over all ordered pairs, diagonal included (the convention of SPEC 5). For node features it is the row
    sums of (X'Y)^2, and no m x m matrix is made of it. The oracles work on K - (100/k) Y_i Y_i'.

    Parameters
    ----------
    sets : the item sets
    labels : one label vector per set
    loss : "normalised" (Delta_k); "iterative" takes any loss, for k loss evaluations per reassignment
    oracle : "iterative" (local search, undergenerating), "spectral" (k leading eigenvectors,
        overgenerating: its answers are `RelaxedClustering`), "centred" (the same among those that span
        the constant vector, a tighter relaxation, not in the papers) or "discrete" (the spectral answer
        made a partition, undergenerating). All but the first need the normalised loss, margin scaling and
        slack_norm=1, so that the loss can be added to K.
    n_init : random starts of a search, besides the truth's and the last answer's
    feature_scale : psi is divided by it, entry by entry (None: as given)
    item_mean : take s_x = 1/m and losses on a 0..1 scale, so that C means the same for sets of any size
    random_state : int

    The last answer for each set starts the next search for it: searches get shorter as training goes on.

    Examples
    --------
    >>> from clustruct import ItemSet, ssvm
    >>> x = ItemSet(nodes=[[1.0, 0.3], [1.0, -0.3], [-1.0, 0.3], [-1.0, -0.3]])
    >>> problem = KMeansProblem([x], [[0, 0, 1, 1]])
    >>> w = ssvm.fit(problem, C=100.0).w
    >>> bool(w[0] > abs(w[1])), problem.predict(x, w, 2)
    (True, array([0, 0, 1, 1]))
    """

    parallel_backend = "threads"

    def __init__(
        self,
        sets: Sequence[ItemSet],
        labels: Sequence[Any],
        loss: Any = "normalised",
        oracle: Oracle = "iterative",
        *,
        n_init: int = 3,
        feature_scale: Floats | None = None,
        item_mean: bool = False,
        random_state: int = 0,
    ) -> None:
        if oracle not in ORACLES:
            raise ValueError(f"oracle must be one of {', '.join(ORACLES)}, not {oracle!r}")
        self.sets = list(sets)
        self.labels = [canonical_labels(y) for y in labels]
        self.loss_function = as_loss(loss)
        self.oracle, self.n_init, self.random_state = oracle, n_init, random_state
        if oracle != "iterative" and not isinstance(self.loss_function, NormalisedLoss):
            raise ValueError(
                f"the {oracle} oracle adds the loss to the similarities, and {self.loss_function} is not "
                "linear in Y Y': use oracle='iterative'"
            )
        self.n_examples = len(self.sets)
        self.n_features = self.sets[0].n_features if self.sets else 0
        self.feature_scale = np.ones(self.n_features) if feature_scale is None else feature_scale
        self._unit = 0.01 if item_mean else 1.0
        self._shrink = [1.0 / x.n_items if item_mean else 1.0 for x in self.sets]
        self._factors = [normalised_indicator(y) for y in self.labels]
        self._last: list[Any] = [None] * self.n_examples
        self._truth_features: dict[int, Floats] = {}

    @property
    def oracle_kind(self) -> OracleKind:
        return "overgenerating" if self.oracle in ("spectral", "centred") else "undergenerating"

    def supports(self, rule: SlackRule) -> bool:
        """Spectral and discrete search need the loss as a term added to K: margin scaling, slack norm 1."""
        return rule == PLAIN or self.oracle == "iterative"

    @property
    def preferred_formulation(self) -> Literal["n_slack", "smoothed"]:
        """Relaxations have more corners than planes can hold: they are trained smoothed."""
        small = all(x.n_items <= SOFT_LIMIT for x in self.sets)
        return "smoothed" if small and self.oracle in ("spectral", "centred") else "n_slack"

    def n_clusters(self, i: int) -> int:
        """k of set i, from its labels."""
        return int(self._factors[i].shape[1])

    def truth(self, i: int) -> NDArray[np.int64]:
        return self.labels[i]

    def joint_feature(self, i: int, y: Any) -> Floats:
        factor = y.Y if isinstance(y, RelaxedClustering) else normalised_indicator(y)
        return self.sets[i].joint_feature_factor(factor) * (self._shrink[i] / self.feature_scale)

    def loss(self, i: int, y: Any) -> float:
        return self._unit * self.loss_function(self.labels[i], y)

    def separate(self, i: int, w: Floats, rule: SlackRule) -> Any:
        """The most violated clustering of set i: a partition, or a relaxed clustering."""
        scale = self._scaled(i, w)
        if self.oracle == "iterative":
            self._last[i] = self._iterative(i, scale, rule)
            return self._last[i]
        relaxed = self._last[i] = self._spectral(i, scale)
        if self.oracle != "discrete":
            return relaxed
        return spectral.discretise(relaxed, n_init=self.n_init, random_state=self.random_state)

    def separate_smoothed(self, i: int, w: Floats, mu: float) -> SmoothedResult:
        """The spectral oracles with an entropy of weight mu: see `clustruct.inference.spectral_soft`."""
        if self.oracle not in ("spectral", "centred"):
            raise ValueError(f"the {self.oracle} oracle cannot be smoothed")
        x, k, Y = self.sets[i], self.n_clusters(i), self._factors[i]
        K = np.asarray(x.similarity(self._scaled(i, w)))
        augmented = K - (100.0 / k) * (Y @ Y.T).toarray()
        found = spectral_soft.soft_relax(augmented, k, mu / self._unit, centred=self.oracle == "centred")
        truth = float(np.sum(Y.toarray() * (K @ Y.toarray())))
        here = x.joint_feature_factor(found.U) * (self._shrink[i] / self.feature_scale)
        loss = 100.0 * (1.0 - float(np.sum((Y.T @ found.U) ** 2)) / k)
        base = 100.0 - truth
        return SmoothedResult(
            violation=self._unit * max(0.0, found.largest + base),
            value=self._unit * (found.smoothed + base),
            difference=self._truth_feature(i) - here,
            loss=self._unit * max(0.0, loss),
        )

    def _scaled(self, i: int, w: Floats) -> Floats:
        """w for which K has losses up to 100 beside it."""
        return w * (self._shrink[i] / (self._unit * self.feature_scale))

    def _truth_feature(self, i: int) -> Floats:
        if i not in self._truth_features:
            self._truth_features[i] = self.joint_feature(i, self.labels[i])
        return self._truth_features[i]

    def _iterative(self, i: int, scale: Floats, rule: SlackRule) -> NDArray[np.int64]:
        x, k, y = self.sets[i], self.n_clusters(i), self.labels[i]
        K = np.asarray(x.similarity(scale))
        begin = [y] if self._last[i] is None else [y, self._last[i]]
        options: dict[str, Any] = {"n_init": self.n_init, "random_state": self.random_state, "labels": begin}
        if rule == PLAIN and isinstance(self.loss_function, NormalisedLoss):
            Y = self._factors[i]
            return kmeans.iterative(K - (100.0 / k) * (Y @ Y.T).toarray(), k, **options)
        # With losses in units of 1/100 the slack rule's "1 + gain" has its gain in the same unit.
        unit = self._unit if rule.scaling == "slack" else self._unit ** (0.0 if rule.norm == 1 else 0.5)
        return iterative_augmented(
            K * unit, y, self.loss_function, scaling=rule.scaling, slack_norm=rule.norm, **options
        )

    def _spectral(self, i: int, scale: Floats) -> RelaxedClustering:
        x, k, Y = self.sets[i], self.n_clusters(i), self._factors[i]
        centred = self.oracle == "centred"
        if x.n_items < spectral.SMALL:
            K = np.asarray(x.similarity(scale)) - (100.0 / k) * (Y @ Y.T).toarray()
            return spectral.relax(K, k, centred=centred)
        start = None if self._last[i] is None else self._last[i].Y
        operator = augmented_operator(x.similarity_operator(scale), Y, 100.0 / k)
        return spectral.relax(operator, k, centred=centred, tol=ORACLE_TOL, start=start)

    def predict(self, x: ItemSet, w: Floats, k: int) -> NDArray[np.int64]:
        """The partition into k clusters that iterative k-means finds for w."""
        return kmeans.iterative(x.similarity(w / self.feature_scale), k, random_state=self.random_state)


def augmented_operator(K: LinearOperator, Y: Any, factor: float) -> LinearOperator:
    """V -> K V - factor Y (Y'V), never formed."""
    back = Y.T.tocsr()

    def times(V: Any) -> Any:
        return K @ V - factor * (Y @ (back @ V))

    return LinearOperator(K.shape, matvec=times, matmat=times, rmatvec=times, dtype=np.float64)
