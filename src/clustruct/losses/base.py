"""What a loss must offer, the state through which a search sees it, and how losses get names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from clustruct.core import storage
from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Floats, Ints, LabelsLike


class PairWeights(NamedTuple):
    """Delta(y, e) = constant + sum_{a<b} c_ab e_ab, pairs in the order of `pdist` or of a list."""

    constant: float
    coefficients: Floats


class Loss(ABC):
    """Delta(y, ybar) >= 0, and 0 where the two partitions are equal."""

    @abstractmethod
    def __call__(self, y_true: LabelsLike, y_pred: LabelsLike) -> float:
        """The loss of predicting `y_pred` where `y_true` is right."""

    @abstractmethod
    def start(self, y_true: LabelsLike, labels: LabelsLike) -> LossState:
        """A state at the partition `labels`, from which a search merges and moves."""


class LinearLoss(Loss):
    """A loss that is linear in co-membership: it has a relaxed form and pair weights."""

    @abstractmethod
    def pair_weights(self, y_true: LabelsLike, pairs: Ints | None = None) -> PairWeights:
        """The constant and the coefficient of each pair, or of each listed one (``pairs``, p x 2)."""

    @abstractmethod
    def degree_loss(self, y_true: LabelsLike, e: ArrayLike) -> float:
        """The loss of edge degrees e in [0, 1]."""


C = TypeVar("C", bound=type)
# Those whose modules have been imported.
LOSSES: dict[str, Callable[[], Loss]] = {}


def register(name: str) -> Callable[[C], C]:
    """Class decorator: the loss with its default parameters is called by this name, and files may hold it.

    Parameters
    ----------
    name : str
        The word for ``loss=``, ``--loss`` and model files.

    Returns
    -------
    callable
        The decorator.
    """

    def enter(cls: C) -> C:
        if not issubclass(cls, Loss):
            raise TypeError(f"{cls.__qualname__} is no loss: derive it from clustruct.losses.Loss")
        held = storage.register(name)(cls)
        LOSSES[name] = cls
        return held

    return enter


class LossState(ABC):
    """A partition under search, and Delta(y, .) of the partitions one step away from it.

    Clusters are numbered 0..k-1; the number k stands for a new cluster in moves. A merge of c < d keeps the
    number c; when cluster d disappears, the clusters above it move down by one. `labels` shows the current
    numbering, `sizes` the s_c and `counts` the n_ct = |c n t|; none of them is to be changed from outside.
    """

    def __init__(self, y_true: LabelsLike, labels: LabelsLike) -> None:
        self.truth: Ints = canonical_labels(y_true, name="y_true")
        self.labels: Ints = canonical_labels(labels, n_items=self.truth.size)
        self.counts: Ints = count_table(self.truth, self.labels)
        self.sizes: Ints = self.counts.sum(axis=1)

    @property
    def n_clusters(self) -> int:
        """k, the number of clusters now."""
        return self.sizes.size

    @property
    @abstractmethod
    def value(self) -> float:
        """Delta(y, labels)."""

    @abstractmethod
    def merge_values(self) -> Floats:
        """Delta after merging clusters c and d (k x k, symmetric, the present value on the diagonal)."""

    @abstractmethod
    def move_values(self, item: int) -> Floats:
        """Delta after moving the item to each cluster (length k + 1, the last a new cluster)."""

    def merge(self, c: int, d: int) -> None:
        """Merge clusters c and d."""
        self._check_cluster(c, self.n_clusters)
        self._check_cluster(d, self.n_clusters)
        if c == d:
            return
        c, d = min(c, d), max(c, d)
        self.labels[self.labels == d] = c
        self.sizes[c] += self.sizes[d]
        self.counts[c] += self.counts[d]
        self._drop(d)
        self._update()

    def move(self, item: int, cluster: int) -> None:
        """Move the item to the cluster (k: a new one)."""
        self._check_cluster(cluster, self.n_clusters + 1)
        source = int(self.labels[item])
        if cluster == source or (cluster == self.n_clusters and self.sizes[source] == 1):
            return
        if cluster == self.n_clusters:
            self.sizes = np.append(self.sizes, 0)
            self.counts = np.vstack([self.counts, np.zeros_like(self.counts[:1])])
        t = self.truth[item]
        self.labels[item] = cluster
        for c, step in ((source, -1), (cluster, 1)):
            self.sizes[c] += step
            self.counts[c, t] += step
        if self.sizes[source] == 0:
            self._drop(source)
        self._update()

    def _update(self) -> None:
        """After every step: what a state keeps beside the partition."""
        return

    def _drop(self, d: int) -> None:
        self.labels[self.labels > d] -= 1
        self.sizes = np.delete(self.sizes, d)
        self.counts = np.delete(self.counts, d, axis=0)

    def _check_cluster(self, cluster: int, stop: int) -> None:
        if not 0 <= cluster < stop:
            raise ValueError(f"cluster {cluster} is not in 0..{stop - 1}")


def count_table(truth: Ints, labels: Ints) -> Ints:
    """n_ct = items of predicted cluster c in true cluster t, dense, predicted clusters as rows."""
    k_true = int(truth.max()) + 1 if truth.size else 0
    k = int(labels.max()) + 1 if labels.size else 0
    return np.bincount(labels * k_true + truth, minlength=k * k_true).reshape(k, k_true).astype(np.int64)
