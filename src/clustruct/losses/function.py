"""Any user function as a loss, and losses as users name them."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

import numpy as np

from clustruct.core.exceptions import CostWarning, UnknownLoss
from clustruct.core.formatting import duration
from clustruct.core.partitions import canonical_labels
from clustruct.core.storage.encoding import entry_by_name
from clustruct.core.storage.names import STORED
from clustruct.core.typing import Floats, Ints, Labels, LabelsLike

from .base import LOSSES, Loss, LossState, count_table

BUILT_IN = {name for name, home in STORED.items() if home.startswith("clustruct.losses.")}
LabelFunction = Callable[[Ints, Ints], float]
# What a function of two partitions looks at: the items, how many of them predicted and true clusters share
# (n_ct), or how many pairs are together in the prediction and in both (most scores of pairs, adjusted Rand).
Sight = Literal["items", "counts", "pairs"]
# Values remembered at one time, trials of what a function looks at, partitions made to find trials of pairs,
# the smallest sets for which they are made, and how many items differ in them from the truth at most.
MOST_KNOWN, TRIALS, MADE, SMALLEST, FARTHEST = 100_000, 8, 2000, 10, 25

# What takes longer, in seconds, is mentioned.
WORTH_SAYING = 60.0
# Where every partition is called for: rounds of one training, and of one in the choice of C, which starts
# from the one before. Else values come up again: m^2 of them in one training where counts of pairs alone
# matter, 0.6 m^2 k where the counts of k true clusters do, and 2.5 times as many in the choice of C (measured
# for 1 - adjusted Rand and 1 - normalised information, sets of 12 to 50 items, 4 and 8 clusters).
ROUNDS, ROUNDS_OF_CHOICE = 10, 5
PAIRS, COUNTS, CHOICE = 1.0, 0.6, 2.5
TIMED_CALLS = 3


@dataclass(frozen=True)
class FunctionLoss(Loss):
    """Delta(y, ybar) = f(y, ybar) for any f that gives a finite number of at least 0.

    f receives two canonical label vectors, and should be 0 for equal partitions and up to 100. Searches call
    it for each candidate step, of the order of m^3 / 6 times for m items. Where f depends on n_ct alone, or
    on how many pairs are together in the prediction and in both, steps that lead to the same counts are tried
    once; some trials tell (`sight`). Values are remembered.

    Parameters
    ----------
    function : LabelFunction
        f(y, ybar), at least 0.
    known : dict
        Values that are known already; filled as the function is called.

    Examples
    --------
    >>> loss = FunctionLoss(lambda y, ybar: 100.0 * abs(y.max() - ybar.max()) / y.size)
    >>> loss(["a", "a", "b", "b"], [0, 0, 0, 0])
    25.0
    """

    function: LabelFunction
    known: dict[object, float] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        return f"the loss {getattr(self.function, '__name__', self.function)}"

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

    def cached_value(self, key: object, value: Callable[[], float]) -> float:
        """The value under this key, computed where it is not known."""
        found = self.known.get(key)
        if found is None:
            if len(self.known) >= MOST_KNOWN:
                self.known.clear()
            found = self.known[key] = value()
        return found

    def sight(self, truth: Ints) -> Sight:
        """What f seems to look at: in some trials nothing else changed it."""
        kinds: tuple[Sight, ...] = ("items", "counts", "pairs")
        return kinds[int(self.cached_value(("sight", truth.tobytes()), lambda: float(self._look(truth))))]

    def _look(self, truth: Ints) -> int:
        if not all(self._alike(truth, *pair) for pair in _exchanges(truth)):
            return 0
        trials = _same_pairs(truth)
        return 2 if trials and all(self._alike(truth, *pair) for pair in trials) else 1

    def _alike(self, truth: Ints, one: Ints, other: Ints) -> bool:
        first, second = (self.of_canonical(truth, canonical_labels(y)) for y in (one, other))
        return abs(first - second) <= 1e-9 * (1.0 + abs(first))


def _exchanges(truth: Ints) -> list[tuple[Ints, Ints]]:
    """Pairs of partitions with the same n_ct: items of one true cluster exchanged."""
    rng, found = np.random.default_rng(0), []
    for k in np.linspace(2, max(2, truth.size // 2), TRIALS).astype(int):
        pred = rng.integers(0, k, truth.size)
        other = pred.copy()
        for t in range(int(truth.max()) + 1):
            other[truth == t] = rng.permutation(pred[truth == t])
        found.append((pred, other))
    return found


def _same_pairs(truth: Ints) -> list[tuple[Ints, Ints]]:
    """Pairs of partitions with as many pairs together and as many rightly, but other n_ct or other sizes;
    none for a small set. They lie at all distances from the truth: far from it many scores are 0 whatever
    they see.
    """
    rng, m = np.random.default_rng(0), truth.size
    met: dict[tuple[int, int], tuple[Ints, list[int], list[int]]] = {}
    found: dict[tuple[int, int], tuple[Ints, Ints]] = {}
    for _ in range(MADE if m >= SMALLEST else 0):
        pred = truth.copy()
        moved = rng.integers(0, m, rng.integers(1, min(m // 2, FARTHEST) + 1))
        pred[moved] = rng.integers(0, int(truth.max()) + 3, moved.size)
        counts = count_table(truth, canonical_labels(pred))
        key, cells, sizes = pair_counts(counts), sorted(counts[counts > 0]), sorted(counts.sum(axis=1))
        first, *other = met.setdefault(key, (pred, cells, sizes))
        if other != [cells, sizes]:
            found.setdefault(key, (first, pred))
        if len(found) == TRIALS:
            return list(found.values())
    return []


def pair_counts(counts: Ints) -> tuple[int, int]:
    """How many pairs are together in the truth and the prediction, and in the prediction, from n_ct."""
    sizes = counts.sum(axis=1)
    return int((counts * (counts - 1)).sum()) // 2, int((sizes * (sizes - 1)).sum()) // 2


class FunctionState(LossState):
    """The state of a user's loss: one call for candidates that it cannot tell apart."""

    def __init__(self, loss: FunctionLoss, y_true: LabelsLike, labels: LabelsLike) -> None:
        super().__init__(y_true, labels)
        self.loss = loss
        self._truth = self.truth.tobytes()
        self._sight = loss.sight(self.truth)
        self._value: float | None = None

    @property
    def value(self) -> float:
        if self._value is None:
            self._value = self._try(self.labels)
        return self._value

    def merge_values(self) -> Floats:
        k = self.n_clusters
        kinds, values = self._merge_kinds(), np.full((k, k), self.value)
        tried: dict[object, float] = {}
        for c, d in combinations(range(k), 2):
            kind = kinds(c, d)
            if kind not in tried:
                tried[kind] = self._try(np.where(self.labels == d, c, self.labels))
            values[c, d] = values[d, c] = tried[kind]
        return values

    def _merge_kinds(self) -> Callable[[int, int], object]:
        """What is the same for two merges after which the loss is the same."""
        if self._sight == "pairs":
            right, together = (
                (self.counts @ self.counts.T).tolist(),
                np.outer(self.sizes, self.sizes).tolist(),
            )
            return lambda c, d: (right[c][d], together[c][d])
        kind = self._kinds()
        return lambda c, d: (min(kind[c], kind[d]), max(kind[c], kind[d]))

    def move_values(self, item: int) -> Floats:
        source, this = self.labels[item], np.arange(self.labels.size) == item
        kind: list[object] = [*self._kinds(), -1]
        if self._sight == "pairs":
            kind = [*zip(self.counts[:, self.truth[item]].tolist(), self.sizes.tolist(), strict=True), (0, 0)]
        tried: dict[object, float] = {}
        for c in range(self.n_clusters + 1):
            if c != source and kind[c] not in tried:
                tried[kind[c]] = self._try(np.where(this, c, self.labels))
        targets = range(self.n_clusters + 1)
        return np.array([self.value if c == source else tried[kind[c]] for c in targets])

    def _kinds(self) -> list[int]:
        """A number for each cluster, the same for those of equal counts where only counts matter."""
        if self._sight == "items":
            return list(range(self.n_clusters))
        kinds: dict[bytes, int] = {}
        return [kinds.setdefault(row.tobytes(), len(kinds)) for row in self.counts]

    def _try(self, labels: Ints) -> float:
        pred = canonical_labels(labels)
        seen: tuple[object, ...] = (pred.tobytes(),)
        if self._sight == "counts":
            seen = tuple(sorted(map(bytes, count_table(self.truth, pred))))
        elif self._sight == "pairs":
            seen = pair_counts(count_table(self.truth, pred))
        return self.loss.cached_value((self._truth, *seen), lambda: self.loss.of_canonical(self.truth, pred))

    def _update(self) -> None:
        self._value = None


def names() -> tuple[str, ...]:
    """The names of all losses.

    Returns
    -------
    tuple of str
        The names, sorted.

    Examples
    --------
    >>> {"mitre", "normalised", "pairwise", "purity"} <= set(names())
    True
    """
    return tuple(sorted({*LOSSES, *BUILT_IN}))


def as_loss(loss: str | Loss | Callable[[Any, Any], float]) -> Loss:
    """A Loss from a name, a function of two labelings, or a Loss.

    Parameters
    ----------
    loss : str, Loss or callable
        A registered name, a function of two labelings, or a loss.

    Returns
    -------
    Loss
        The loss.

    Examples
    --------
    >>> as_loss("mitre")
    MitreLoss()
    """
    if isinstance(loss, str):
        if loss not in names():
            raise UnknownLoss(loss, ", ".join(names()))
        make: Callable[[], Loss] = LOSSES[loss] if loss in LOSSES else entry_by_name(loss).cls
        return make()
    if isinstance(loss, type):
        raise ValueError(f"pass an instance of {loss.__name__}, not the class")
    if isinstance(loss, Loss):
        return loss
    if callable(loss):
        return FunctionLoss(loss)
    raise ValueError(f"not a loss: {loss!r}")


def warn_of_cost(loss: Loss, labels: Sequence[Labels], n_choosing: int) -> None:
    """Warn of a function that will take long: it is timed, and the calls of the searches are estimated.

    ``n_choosing`` is the number of trainings in the choice of C.
    """
    if not isinstance(loss, FunctionLoss):
        return
    largest = max(labels, key=len)
    seconds = _seconds_of_call(loss, largest)
    sight = loss.sight(canonical_labels(largest))
    expected = [_calls(sight, y, n_choosing) for y in labels]
    last, choice = (seconds * sum(calls) for calls in zip(*expected, strict=True))
    if last + choice <= WORTH_SAYING:
        return
    fixed = f" (with a C of your own about {duration(last)})" if n_choosing else ""
    warnings.warn(
        f"the loss function takes {1000 * seconds:.2g} ms a call, and will be called about "
        f"{(last + choice) / seconds:,.0f} times: training will take about {duration(last + choice)}{fixed}. "
        "verbose=1 shows how it goes, Ctrl-C keeps what was learned; losses known by name ('pairwise', "
        "'mitre') are far faster",
        CostWarning,
        stacklevel=3,
    )


def _calls(sight: str, y: Labels, n_choosing: int) -> tuple[float, float]:
    """Calls in the last training, and in the choice of C."""
    m, k = len(y), int(y.max()) + 1
    all_merges = m**3 / 6
    last, choice = ROUNDS * all_merges, n_choosing * ROUNDS_OF_CHOICE * all_merges
    if sight == "items":
        return last, choice
    last = min(last, m**2 * (PAIRS if sight == "pairs" else COUNTS * k))
    return last, min(choice, CHOICE * last if n_choosing else 0.0)


def _seconds_of_call(loss: FunctionLoss, y: Labels) -> float:
    alone = np.arange(len(y), dtype=np.int64)
    took = []
    for _ in range(TIMED_CALLS):
        started = time.perf_counter()
        loss(y, alone)
        took.append(time.perf_counter() - started)
    return min(took)
