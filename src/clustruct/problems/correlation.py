"""Supervised correlation clustering as a structured problem (SPEC 4; Finley and Joachims 2005)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from clustruct._typing import Floats
from clustruct.inference.correlation import EdgeDegrees, exact, greedy, local_search, lp_relaxation
from clustruct.itemsets import ItemSet
from clustruct.losses import LinearLoss, PairwiseLoss, as_loss
from clustruct.oracles.loss_augmented import greedy_augmented, local_search_augmented
from clustruct.partitions import canonical_labels
from clustruct.ssvm import OracleKind, SlackRule

from .listed_pairs import ListedPairs, lists_pairs

Oracle = Literal["greedy", "local_search", "lp", "exact"]
ORACLES: tuple[Oracle, ...] = ("greedy", "local_search", "lp", "exact")
PLAIN = SlackRule("margin", 1)


class CorrelationProblem:
    """Learn w so that correlation clustering with K_ab = <w, psi_ab> gives the right partitions.

    ::

        Psi(x, y) = s_x sum_{a < b, together in y} psi_ab,     s_x = 1 / m^2

    Parameters
    ----------
    sets : the item sets
    labels : one label vector per set
    loss : "pairwise", "mitre", "purity", a Loss or a function of two label vectors
    oracle : "greedy" (C_G, Algorithm 4), "local_search", "lp" (C_R, OP 10) or "exact". The last two
        need a loss that is linear in pairs, margin scaling and slack_norm=1, so that the loss can
        be added to K.
    loss_in_oracle : whether the search sees the loss (section 3.6.5); the constraint always counts it
    feature_scale : psi is divided by it, entry by entry (None: as given)
    pair_mean : take s_x = 2 / (m (m - 1)), the mean over pairs, and losses on a 0..1 scale. C then means
        the same for sets of any size: each pair is asked for a margin of 1.

    Of a set that lists its pairs (`pair_index`) and has no nodes only the listed pairs count, in the mean and
    in a pairwise loss, and the search never makes an m x m matrix.

    Examples
    --------
    >>> from clustruct import ItemSet, ssvm
    >>> x = ItemSet(pairs=[[1.0, 1.0], [0.0, 1.0], [0.1, 1.0]])   # a similarity and a bias
    >>> problem = CorrelationProblem([x], [[0, 0, 1]], pair_mean=True)
    >>> w = ssvm.fit(problem, C=100.0).w
    >>> problem.predict(x, w)
    array([0, 0, 1])
    """

    parallel_backend = "threads"

    def __init__(
        self,
        sets: Sequence[ItemSet],
        labels: Sequence[Any],
        loss: Any = "pairwise",
        oracle: Oracle = "greedy",
        *,
        loss_in_oracle: bool = True,
        feature_scale: Floats | None = None,
        pair_mean: bool = False,
    ) -> None:
        if oracle not in ORACLES:
            raise ValueError(f"oracle must be one of {', '.join(ORACLES)}, not {oracle!r}")
        self.sets = list(sets)
        self.labels = [canonical_labels(y) for y in labels]
        self.loss_function = as_loss(loss)
        self.oracle, self.loss_in_oracle = oracle, loss_in_oracle
        if oracle in ("lp", "exact") and not isinstance(self.loss_function, LinearLoss):
            raise ValueError(
                f"the {oracle} oracle adds the loss to the similarities, and {self.loss_function} is not "
                "linear in pairs: use oracle='greedy' or 'local_search'"
            )
        self.n_examples = len(self.sets)
        self.n_features = self.sets[0].n_features if self.sets else 0
        self.feature_scale = np.ones(self.n_features) if feature_scale is None else feature_scale
        self._unit = 0.01 if pair_mean else 1.0
        self._listed = [self._list(x, y) for x, y in zip(self.sets, self.labels, strict=True)]
        self._shrink = [
            _share(x.n_items, pair_mean) if some is None or not pair_mean else 1.0 / some.n_pairs
            for x, some in zip(self.sets, self._listed, strict=True)
        ]

    def _list(self, x: ItemSet, y: Any) -> ListedPairs | None:
        """For sets that list their pairs, where the search knows how to use that."""
        if isinstance(self.loss_function, PairwiseLoss) and self.oracle in ("greedy", "local_search"):
            return ListedPairs(x, y, self.loss_function) if lists_pairs(x) else None
        return None

    @property
    def oracle_kind(self) -> OracleKind:
        if not self.loss_in_oracle:
            return "heuristic" if self.oracle == "lp" else "undergenerating"
        kinds: dict[Oracle, OracleKind] = {"lp": "overgenerating", "exact": "exact"}
        return kinds.get(self.oracle, "undergenerating")

    def supports(self, rule: SlackRule) -> bool:
        """LP and exact search need the loss as a term added to K: margin scaling, slack norm 1."""
        return rule == PLAIN or self.oracle in ("greedy", "local_search")

    def truth(self, i: int) -> NDArray[np.int64]:
        return self.labels[i]

    def joint_feature(self, i: int, y: Any) -> Floats:
        x = self.sets[i]
        psi = x.joint_feature_edges(y.degrees) if isinstance(y, EdgeDegrees) else x.joint_feature_pairs(y)
        return psi * (self._shrink[i] / self.feature_scale)

    def loss(self, i: int, y: Any) -> float:
        if isinstance(y, EdgeDegrees):
            assert isinstance(self.loss_function, LinearLoss)
            return self._unit * self.loss_function.relaxed(self.labels[i], y.degrees)
        some = self._listed[i]
        if some is not None:
            return self._unit * some.loss(y)
        return self._unit * self.loss_function(self.labels[i], y)

    def similarity(self, x: ItemSet, w: Floats) -> Floats:
        """K_ab = <w, psi_ab>, psi as scaled for training."""
        return np.asarray(x.similarity(w / self.feature_scale))

    def separate(self, i: int, w: Floats, rule: SlackRule) -> Any:
        """The most violated partition (or edge degrees) of set i."""
        some = self._listed[i]
        if some is not None and rule == PLAIN:
            return self._separate_listed(i, w, some)
        K = self.similarity(self.sets[i], w) * (self._shrink[i] / self._unit)
        if not self.loss_in_oracle:
            return self._search(K)
        if rule == PLAIN and isinstance(self.loss_function, LinearLoss):
            weights = self.loss_function.pair_weights(self.labels[i]).coefficients
            return self._search(K + squareform(weights, checks=False) if len(weights) else K)
        search = greedy_augmented if self.oracle == "greedy" else local_search_augmented
        # With losses in units of 1/100 the slack rule's "1 + gain" has its gain in the same unit.
        unit = self._unit if rule.scaling == "slack" else self._unit ** (0.0 if rule.norm == 1 else 0.5)
        return search(
            K * unit,
            self.labels[i],
            self.loss_function,
            scaling=rule.scaling,
            slack_norm=rule.norm,
        )

    def _separate_listed(self, i: int, w: Floats, some: ListedPairs) -> Any:
        features: Any = self.sets[i].pairs
        scores = (features @ (w / self.feature_scale)) * (self._shrink[i] / self._unit)
        return self._search(some.graph(scores + some.coefficients if self.loss_in_oracle else scores))

    def _search(self, K: Any) -> Any:
        if self.oracle == "greedy":
            return greedy(K)
        if self.oracle == "local_search":
            return local_search(K, sweeps=0)
        return lp_relaxation(K) if self.oracle == "lp" else exact(K)

    def predict(self, x: ItemSet, w: Floats) -> NDArray[np.int64]:
        """The partition that greedy correlation clustering finds for w."""
        return greedy(self.similarity(x, w))


def _share(m: int, pair_mean: bool) -> float:
    """The factor of the sum over pairs in Psi. A set of one item has no pairs."""
    return 1.0 / max(m * (m - 1) / 2, 1) if pair_mean else 1.0 / m**2
