"""Greedy and local search for the most violated partition, with any loss, on a dense matrix of scores.

    maximise over partitions y:   H(y) = rule.violation(Delta(y_i, y), gain),   gain = S(y) - S(y_i)
    S(y) = sum_{a<b, y_a = y_b} K_ab

Both undergenerate: they return a partition, whose H is at most the maximum. Losses that depend on counts
alone, or on the table of clusters by true ones, are searched by compiled code, the others by one array
operation for all neighbours of a partition; both make the same steps in the same order. Finley 2009,
Algorithm 4 and eq. (2.21), (2.22).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Floats, Ints
from clustruct.losses import LossState
from clustruct.losses.cluster_tables import TABLE_KINDS
from clustruct.losses.slack_rule import SlackRule

from .example_loss import ExampleLoss

# Steps must raise H by more than rounding, or a search could walk in circles.
RELATIVE_TOLERANCE = 1e-12


def tolerance_of(rule: SlackRule, bulk: float) -> float:
    """What H may differ by from rounding, for gains up to ``bulk`` and losses up to 100."""
    return RELATIVE_TOLERANCE * (100.0 * (1.0 + bulk) if rule.scaling == "slack" else 100.0 + bulk)


class Search(ABC):
    """One separation problem: its searches, and H of a partition. ``bulk``: what gains may come to."""

    def __init__(self, loss: ExampleLoss, rule: SlackRule, bulk: float) -> None:
        self.loss, self.rule = loss, rule
        self.truth_score = self.score(loss.truth)
        self.tolerance = tolerance_of(rule, bulk)

    @abstractmethod
    def score(self, labels: Ints) -> float:
        """S(labels)."""

    @abstractmethod
    def greedy(self) -> Ints:
        """Algorithm 4: from singletons, merge the two clusters that raise H most, until none does."""

    @abstractmethod
    def hill_climb(self, labels: Ints) -> Ints:
        """Move items and join clusters while H rises."""

    def all_together(self) -> Ints:
        """The largest clusters that a search can make."""
        return np.zeros(self.loss.truth.size, dtype=np.int64)

    def value(self, labels: Ints) -> float:
        """H(labels), computed from scratch."""
        return float(self.rule.violation(self.loss(labels), self.score(labels) - self.truth_score))

    def local_search(self) -> Ints:
        """The best end of climbs from the greedy answer, the truth and singletons: never below these.

        CEAF is climbed from all together as well: with each merge fewer clusters are counted, so that single
        merges often lower it, and the way from small clusters to large ones leads through a valley.
        """
        starts = [self.greedy(), self.loss.truth, np.arange(self.loss.truth.size, dtype=np.int64)]
        if self.loss.table is not None and not self.loss.table.is_additive:
            starts.append(self.all_together())
        return max((self.hill_climb(labels) for labels in starts), key=self.value)


class ViolationSearch(Search):
    """One separation problem on a matrix.

    links : 1 for the pairs that are listed, 0 for the others (losses of the table only): clusters without a
        listed pair between them are not merged, and items move to none such; by default all pairs are
    """

    def __init__(self, K: Floats, loss: ExampleLoss, rule: SlackRule, links: Floats | None = None) -> None:
        self.K, self.links = K.copy(), np.zeros((0, 0)) if links is None else links
        np.fill_diagonal(self.K, 0.0)
        super().__init__(loss, rule, float(np.abs(self.K).sum()) / 2)

    def score(self, labels: Ints) -> float:
        return together_score(self.K, labels)

    def greedy(self) -> Ints:
        """Algorithm 4: O(m^3) cheap steps for pairwise and MITRE losses; for a user's function one call for
        each pair of clusters in each round.
        """
        alone = np.arange(len(self.K), dtype=np.int64)
        if self._is_compiled:
            return self._run_kernel("greedy", alone)
        return last(greedy_steps(self, self.loss.start(alone)))

    def hill_climb(self, labels: Ints) -> Ints:
        """Move items and join clusters while H rises.

        Items are visited in order; each goes where H is highest (a new cluster included) when that raises H.
        When a whole pass moves nothing, the best join of two clusters is made, and the passes start again.
        """
        if self._is_compiled:
            return self._run_kernel("hill_climb", labels)
        return last(climb_steps(self, self.loss.start(labels)))

    @property
    def _is_compiled(self) -> bool:
        return self.loss.form is not None or self.loss.table is not None

    def _run_kernel(self, procedure: str, labels: Ints) -> Ints:
        kernels, form = self._kernels()
        found = getattr(kernels, procedure)(
            self.K,
            self.loss.truth,
            labels,
            form,
            (self.rule.scaling == "slack", self.rule.norm == 2),
            self.truth_score,
            self.tolerance,
        )
        return canonical_labels(found)

    def _kernels(self) -> tuple[ModuleType, Any]:
        """The compiled searches for the loss, and what they must know of it."""
        # Imported here: numba takes a second to load, and a user's own loss never needs it.
        if (table := self.loss.table) is not None:
            from clustruct.search._kernels import table_search

            number, sizes = TABLE_KINDS.index(table.kind), table.true_sizes
            return table_search, (number, table.cell, table.divisor, sizes, table.constant, self.links)
        from clustruct.search._kernels import count_losses

        form = self.loss.form
        assert form is not None
        b_0, b_k, b_P = form.denominator
        weights = (form.pair_weight, form.shared_pair_weight, form.cell_weight)
        return count_losses, np.array([*form.numerator, b_0, b_k, *weights, b_P])


def last(steps: Iterable[Ints]) -> Ints:
    """The canonical labels a search ends with."""
    *_, labels = steps
    return canonical_labels(labels)


def greedy_steps(search: ViolationSearch, state: LossState) -> Iterator[Ints]:
    """The labels after every step of Algorithm 4 from the state's partition, which must be all singletons.

    Ties go to the first pair of clusters in the order of their smallest items.
    """
    sums, gain = search.K.copy(), -search.truth_score  # sums_cd: what a merge of c and d adds to S
    yield state.labels.copy()
    while state.n_clusters > 1:
        best = _best_join(search, state, sums, gain)
        if best is None:
            return
        c, d = best
        gain += float(sums[c, d])
        sums[c] += sums[d]
        sums[:, c] += sums[:, d]
        sums = np.delete(np.delete(sums, d, axis=0), d, axis=1)
        state.merge(c, d)
        yield state.labels.copy()


def climb_steps(search: ViolationSearch, state: LossState) -> Iterator[Ints]:
    """The labels after every move of an item and join of clusters, from the state's partition on."""
    m = state.labels.size
    pull = _pull(search.K, state)  # pull_ac = sum of K_ab over b in cluster c
    gain = float(pull[np.arange(m), state.labels].sum()) / 2 - search.truth_score
    yield state.labels.copy()
    while True:
        moved = False
        for item in range(m):
            target = _best_move(search, state, item, pull, gain)
            if target is None:
                continue
            source = int(state.labels[item])
            gained = pull[item, target] if target < state.n_clusters else 0.0
            gain += float(gained - pull[item, source])
            pull = _pull_after_move(pull, search.K[:, item], source, target, state.sizes)
            state.move(item, target)
            moved = True
            yield state.labels.copy()
        if moved:
            continue
        sums = np.zeros((state.n_clusters, state.n_clusters))
        np.add.at(sums, state.labels, pull)
        best = _best_join(search, state, sums, gain)
        if best is None:
            return
        gain += float(sums[best])
        state.merge(*best)
        pull = _pull(search.K, state)
        yield state.labels.copy()


def _pull(K: Floats, state: LossState) -> Floats:
    members = np.zeros((state.labels.size, state.n_clusters))
    members[np.arange(state.labels.size), state.labels] = 1.0
    return np.asarray(K @ members, dtype=np.float64)


def _pull_after_move(pull: Floats, column: Floats, source: int, target: int, sizes: Ints) -> Floats:
    """Pull after an item with similarities `column` went from source to target; numbering as in the state."""
    if target == pull.shape[1]:
        pull = np.column_stack([pull, np.zeros(pull.shape[0])])
    pull[:, target] += column
    if sizes[source] == 1:
        return np.delete(pull, source, axis=1)
    pull[:, source] -= column
    return pull


def _best_join(
    search: ViolationSearch, state: LossState, sums: Floats, gain: float
) -> tuple[int, int] | None:
    k = state.n_clusters
    if k < 2:
        return None
    values = search.rule.violation(state.merge_values(), gain + sums)
    values[np.tril_indices(k)] = -np.inf
    c, d = divmod(int(values.argmax()), k)
    now = search.rule.violation(state.value, gain)
    return (c, d) if values[c, d] > now + search.tolerance else None


def _best_move(search: ViolationSearch, state: LossState, item: int, pull: Floats, gain: float) -> int | None:
    source = int(state.labels[item])
    gains = gain + np.append(pull[item], 0.0) - pull[item, source]
    values = search.rule.violation(state.move_values(item), gains)
    values[source] = -np.inf
    target = int(values.argmax())
    now = search.rule.violation(state.value, gain)
    return target if values[target] > now + search.tolerance else None


def together_score(K: Floats, labels: Ints) -> float:
    """S(y) = sum_{a<b, y_a = y_b} K_ab for symmetric K with zero diagonal. O(m^2)."""
    order = np.argsort(labels, kind="stable")
    total = 0.0
    for block in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        total += float(K[np.ix_(block, block)].sum())
    return total / 2
