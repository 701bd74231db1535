"""Any user function as a loss, and losses as users name them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from clustruct._typing import Floats, Ints, LabelsLike
from clustruct.partitions import canonical_labels

from .base import LOSSES, Loss, LossState, count_table, names

LabelFunction = Callable[[Ints, Ints], float]
# Values remembered at one time, and trials of whether only counts matter.
MOST_KNOWN, TRIALS = 100_000, 8


@dataclass(frozen=True)
class FunctionLoss:
    """Delta(y, ybar) = f(y, ybar) for any f that gives a finite number of at least 0.

    f receives two canonical label vectors. It should be on the 0..100 scale of the other losses, and 0
    for equal partitions. Searches call it for each candidate step: of the order of m^3 / 6 times for a set of
    m items. Where f is a function of how many items predicted and true clusters share, as most scores are,
    steps that lead to the same counts are tried once; some trials tell (`of_counts`), and only searches rely
    on it. Values are remembered.

    >>> loss = FunctionLoss(lambda y, ybar: 100.0 * abs(y.max() - ybar.max()) / y.size)
    >>> loss(["a", "a", "b", "b"], [0, 0, 0, 0])
    25.0
    """

    function: LabelFunction
    known: dict[object, float] = field(default_factory=dict, compare=False, repr=False)

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

    def remembered(self, key: object, value: Callable[[], float]) -> float:
        """The value under this key, computed where it is not known."""
        found = self.known.get(key)
        if found is None:
            if len(self.known) >= MOST_KNOWN:
                self.known.clear()
            found = self.known[key] = value()
        return found

    def of_counts(self, truth: Ints) -> bool:
        """Whether f seems to depend on the counts n_ct alone: exchanging items of one true cluster changes
        nothing, in some trials.
        """
        return bool(self.remembered(("of counts", truth.tobytes()), lambda: float(self._try_counts(truth))))

    def _try_counts(self, truth: Ints) -> bool:
        rng = np.random.default_rng(0)
        for k in np.linspace(2, max(2, truth.size // 2), TRIALS).astype(int):
            pred = rng.integers(0, k, truth.size)
            other = pred.copy()
            for t in range(int(truth.max()) + 1):
                other[truth == t] = rng.permutation(pred[truth == t])
            first, second = (self.of_canonical(truth, canonical_labels(y)) for y in (pred, other))
            if abs(first - second) > 1e-9 * (1.0 + abs(first)):
                return False
        return True


class FunctionState(LossState):
    """The state of a user's loss: each candidate is one call, or those of equal counts are."""

    def __init__(self, loss: FunctionLoss, y_true: LabelsLike, labels: LabelsLike) -> None:
        super().__init__(y_true, labels)
        self.loss = loss
        self._truth = self.truth.tobytes()
        self._of_counts = loss.of_counts(self.truth)
        self._value: float | None = None

    @property
    def value(self) -> float:
        """Delta(y, labels)."""
        if self._value is None:
            self._value = self._try(self.labels)
        return self._value

    def merge_values(self) -> Floats:
        """Delta after each merge (k x k), one call for each pair of kinds of clusters."""
        k, kind = self.n_clusters, self._kinds()
        values, tried = np.full((k, k), self.value), {}
        for c, d in combinations(range(k), 2):
            kinds = (kind[c], kind[d]) if kind[c] < kind[d] else (kind[d], kind[c])
            if kinds not in tried:
                tried[kinds] = self._try(np.where(self.labels == d, c, self.labels))
            values[c, d] = values[d, c] = tried[kinds]
        return values

    def move_values(self, item: int) -> Floats:
        """Delta after moving the item to each cluster, the last a new one, one call for each kind."""
        source, this = self.labels[item], np.arange(self.labels.size) == item
        kind, tried = [*self._kinds(), -1], {}
        for c in range(self.n_clusters + 1):
            if c != source and kind[c] not in tried:
                tried[kind[c]] = self._try(np.where(this, c, self.labels))
        targets = range(self.n_clusters + 1)
        return np.array([self.value if c == source else tried[kind[c]] for c in targets])

    def _kinds(self) -> list[int]:
        """A number for each cluster, the same for those of equal counts where only counts matter."""
        if not self._of_counts:
            return list(range(self.n_clusters))
        kinds: dict[bytes, int] = {}
        return [kinds.setdefault(row.tobytes(), len(kinds)) for row in self.counts]

    def _try(self, labels: Ints) -> float:
        pred = canonical_labels(labels)
        rows = sorted(map(bytes, count_table(self.truth, pred))) if self._of_counts else [pred.tobytes()]
        return self.loss.remembered((self._truth, *rows), lambda: self.loss.of_canonical(self.truth, pred))

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
