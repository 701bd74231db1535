"""Any user function as a loss, and losses as users name them."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from clustruct._typing import Floats, Ints, LabelsLike
from clustruct.partitions import canonical_labels

from .base import LOSSES, Loss, LossState, names

LabelFunction = Callable[[Ints, Ints], float]


@dataclass(frozen=True)
class FunctionLoss:
    """Delta(y, ybar) = f(y, ybar) for any f that gives a finite number of at least 0.

    f receives two canonical label vectors. It should be on the 0..100 scale of the other losses, and 0
    for equal partitions. Searches call it once for each candidate step.

    >>> loss = FunctionLoss(lambda y, ybar: 100.0 * abs(y.max() - ybar.max()) / y.size)
    >>> loss(["a", "a", "b", "b"], [0, 0, 0, 0])
    25.0
    """

    function: LabelFunction

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"a loss function must be callable, got {self.function!r}")

    def __call__(self, y_true: LabelsLike, y_pred: LabelsLike) -> float:
        """The loss of `y_pred`."""
        truth = canonical_labels(y_true, name="y_true")
        return self.of_canonical(truth, canonical_labels(y_pred, n_items=truth.size, name="y_pred"))

    def of_canonical(self, truth: Ints, pred: Ints) -> float:
        """The loss of label vectors already in canonical form."""
        value = float(self.function(truth, pred))
        if not (np.isfinite(value) and value >= 0):
            name = getattr(self.function, "__name__", repr(self.function))
            raise ValueError(f"the loss function {name} gave {value}; expected a finite number of at least 0")
        return value

    def start(self, y_true: LabelsLike, labels: LabelsLike) -> "FunctionState":
        """The loss state at `labels`."""
        return FunctionState(self, y_true, labels)


class FunctionState(LossState):
    """The state of a user's loss: each candidate is one call."""

    def __init__(self, loss: FunctionLoss, y_true: LabelsLike, labels: LabelsLike) -> None:
        super().__init__(y_true, labels)
        self.loss = loss
        self._value: float | None = None

    @property
    def value(self) -> float:
        """Delta(y, labels)."""
        if self._value is None:
            self._value = self._try(self.labels)
        return self._value

    def merge_values(self) -> Floats:
        """Delta after each merge (k x k), one call each."""
        values = np.full((self.n_clusters, self.n_clusters), self.value)
        for c, d in combinations(range(self.n_clusters), 2):
            values[c, d] = values[d, c] = self._try(np.where(self.labels == d, c, self.labels))
        return values

    def move_values(self, item: int) -> Floats:
        """Delta after moving the item to each cluster, the last a new one, one call each."""
        source, this = self.labels[item], np.arange(self.labels.size) == item
        others = (np.where(this, c, self.labels) if c != source else None for c in range(self.n_clusters + 1))
        return np.array([self.value if labels is None else self._try(labels) for labels in others])

    def _try(self, labels: Ints) -> float:
        return self.loss.of_canonical(self.truth, canonical_labels(labels))

    def _changed(self) -> None:
        self._value = None


def as_loss(loss: str | Loss | Callable[[Any, Any], float]) -> Loss:
    """A Loss from a name, a function of two labelings, or a Loss.

    >>> as_loss("mitre")
    MitreLoss()
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            known = ", ".join(names())
            raise ValueError(f"unknown loss {loss!r}; expected one of {known}, a function or a Loss")
        return LOSSES[loss]()
    if isinstance(loss, type):
        raise ValueError(f"pass an instance of {loss.__name__}, not the class")
    if isinstance(loss, Loss):
        return loss
    if callable(loss):
        return FunctionLoss(loss)
    raise ValueError(f"not a loss: {loss!r}")
