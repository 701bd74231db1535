"""Any user function as a loss."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clustruct._typing import Ints, LabelsLike
from clustruct.partitions import canonical_labels

from .base import LossState

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

    def merge_value(self, c: int, d: int) -> float:
        """Delta after merging clusters c and d."""
        if c == d:
            return self.value
        return self._try(np.where(self.labels == d, c, self.labels))

    def move_value(self, item: int, cluster: int) -> float:
        """Delta after moving the item."""
        if cluster == self.labels[item]:
            return self.value
        trial = self.labels.copy()
        trial[item] = cluster
        return self._try(trial)

    def _try(self, labels: Ints) -> float:
        return self.loss.of_canonical(self.truth, canonical_labels(labels))

    def merge(self, c: int, d: int) -> None:
        """Merge clusters c and d."""
        super().merge(c, d)
        self._value = None

    def move(self, item: int, cluster: int) -> None:
        """Move the item to the cluster (k: a new one)."""
        super().move(item, cluster)
        self._value = None
