"""A training that goes on: what an earlier one has learned, and marks of people on further sets.

    min over w   1/2 |w|^2 + C [ sum_i v_i xi_i + sum_j v_j xi_j ] / sum_i v_i

i are the examples of the earlier training, known by their planes alone (`ssvm.remembered`), j the sets with
marks (`marks`), whose truth is the best clustering that keeps what is known (CCCP, see `latent`). Marks come
on top: what was learned weighs as it did. A set with marks weighs as many examples as it has named items,
counted in the items that an example of the earlier training had labels of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clustruct import memory
from clustruct._typing import Floats, Ints
from clustruct.callbacks import observed
from clustruct.itemsets import ItemSet
from clustruct.losses import Loss, PairwiseFLoss
from clustruct.oracles import Oracle
from clustruct.ssvm import Planes, StructuredProblem, fit
from clustruct.ssvm.remembered import RememberedProblem
from clustruct.storage import DataclassState, register

from .clustering import ClusteringProblem
from .latent import descend
from .marks import MarkedRegion, Marks
from .training import Trained
from .units import Units, feature_scale

# What is kept of each example's planes, and of all together: the last ones found are the tightest.
MOST_PLANES, MOST_NUMBERS = 20, 4_000_000


@register("PastTraining")
@dataclass(frozen=True)
class PastTraining(DataclassState):
    """What a training leaves for a later one.

    planes : in the engine's units, dense; group i is example i
    weights : of the examples
    C : the engine's
    items : how many items of an example have a label, in the mean
    named : digests of the items that the marks of an example named, flat; ``owner`` has its example. Where
        all of them are named again, the example is told anew, and what is remembered of it goes.
    """

    planes: Planes
    weights: Floats
    C: float
    items: float
    named: Ints
    owner: Ints

    def __post_init__(self) -> None:
        n = len(self.weights)
        if self.planes.vectors.ndim != 2 or (self.planes.group >= n).any() or (self.planes.b < 0.0).any():
            raise ValueError("the planes of a training do not fit its examples")
        sizes = (self.C, self.items, *self.weights.tolist())
        if not n or not all(np.isfinite(v) and v > 0.0 for v in sizes):
            raise ValueError("the weights of a training must be positive numbers")
        if len(self.named) != len(self.owner) or ((self.owner < 0) | (self.owner >= n)).any():
            raise ValueError("the items of a training do not fit its examples")

    def without(self, named: Ints) -> PastTraining | None:
        """Without the examples whose items are all named again; None where none is left."""
        again = np.isin(self.named, named)
        n = len(self.weights)
        total, repeated = np.bincount(self.owner, minlength=n), np.bincount(self.owner[again], minlength=n)
        stays = (total == 0) | (repeated < total)
        if not stays.any():
            return None
        number, kept = np.cumsum(stays) - 1, stays[self.planes.group]
        planes = Planes(
            self.planes.vectors[kept],
            self.planes.b[kept],
            number[self.planes.group[kept]],
            self.planes.a[kept],
        )
        mine = stays[self.owner]
        return replace(
            self,
            planes=planes,
            weights=self.weights[stays],
            named=self.named[mine],
            owner=number[self.owner[mine]],
        )


def past_of(
    trained: Trained, weights: Floats, items: float, named: Sequence[Ints] = ()
) -> PastTraining | None:
    """What is kept of a training and the weights of its examples; None where its planes are not those of
    examples (or of their mean), or too many.

    ``named``: of each example the digests of the items that marks named, where there are marks.
    """
    result = trained.scaled
    planes, groups = result.planes, getattr(result.working_set, "n_groups", 0)
    if planes is None or not isinstance(planes.vectors, np.ndarray) or not len(planes):
        return None
    if groups == 1 < len(weights):
        weights, named = np.array([weights.sum()]), [np.concatenate([np.zeros(0, np.int64), *named])]
    if groups != len(weights) or planes.vectors.shape[1] * MOST_PLANES * groups > MOST_NUMBERS:
        return None
    kept = _tightest(planes, np.asarray(result.w, float))
    held = Planes(planes.vectors[kept], np.maximum(planes.b[kept], 0.0), planes.group[kept], planes.a[kept])
    flat = np.concatenate([np.zeros(0, np.int64), *named])
    owner = np.repeat(np.arange(len(named)), [len(one) for one in named]).astype(np.int64)
    return PastTraining(
        held, np.asarray(weights, float), float(trained.C), float(max(items, 1.0)), flat, owner
    )


def _tightest(planes: Planes, w: Floats) -> Ints:
    """The planes that are tight at w, so many of each example."""
    slack = planes.b - planes.vectors @ w
    order = np.lexsort((-slack, planes.a <= 0.0, planes.group))
    group = planes.group[order]
    rank = np.arange(len(order)) - np.searchsorted(group, group)
    return np.sort(order[rank < MOST_PLANES])


@dataclass
class ContinuedTask:
    """Sets with marks, and what an earlier training has left (None: nothing).

    w0 : where to begin, in the units of the features; None: nowhere
    scale : the feature scale of the earlier training, which its planes are in
    C : of the earlier training, or where there is none in the natural unit of the data
    digests : of each set, digests of all its items
    """

    sets: Sequence[ItemSet]
    marks: Sequence[Marks]
    digests: Sequence[Ints]
    loss: Loss
    oracle: Oracle
    options: Mapping[str, Any]
    past: PastTraining | None
    w0: Floats | None
    scale: Floats | None
    C: float = 1.0
    verbose: int = 0
    memory_limit: memory.Size = None

    def train(self) -> tuple[Trained, PastTraining | None]:
        """Train, and what to remember of it."""
        regions = [
            MarkedRegion.of(x, m, self.memory_limit) for x, m in zip(self.sets, self.marks, strict=True)
        ]
        told = [(r, d[m.named]) for r, m, d in zip(regions, self.marks, self.digests, strict=True)]
        self._told = [(r, named) for r, named in told if r.judged.any()]
        self._regions = [r for r, _ in self._told]
        if not self._regions and self.past is None:
            raise ValueError("nothing is known of any pair that is looked at")
        past = self.past
        if past is not None and self._told:
            past = past.without(np.concatenate([named for _, named in self._told]))
        self._past = past
        if self.scale is None:
            self.scale = feature_scale([r.x for r in self._regions])
        first = self.scale * 0.0 if self.w0 is None else self.w0
        trained = descend(self._regions, first, self._train, MarkedRegion.completed)
        return trained, self._remembered(trained)

    def _train(self, completed: Sequence[Ints]) -> Trained:
        assert self.scale is not None
        further = self._problem(completed) if self._regions else None
        weights = self._weights()
        problem: StructuredProblem | None = further
        if self._past is not None:
            problem = RememberedProblem(self._past.planes, len(self._past.weights), further)
        assert problem is not None
        C = self._engine_C(further)
        found = fit(
            problem,
            C,
            **self.options,
            sample_weight=weights,
            # Their multipliers are near the optimum.
            w0=None if self._past is None else self._past.planes,
            callback=observed(self.C, self.options["rtol"], self.verbose),
        )
        return Trained(replace(found, w=np.asarray(found.w / self.scale)), found, self.scale, C)

    def _weights(self) -> Floats:
        """Of the remembered examples, then of the sets with marks."""
        named = np.array([float(np.count_nonzero(r.marks.named)) for r in self._regions])
        if self._past is None:
            return named / named.mean()
        return np.concatenate([self._past.weights, named / self._past.items])

    def _engine_C(self, further: ClusteringProblem | None) -> float:
        """Marks come on top of what is remembered, which keeps its C."""
        if self._past is None:
            assert further is not None
            return self.C * further.natural_C()
        old = float(self._past.weights.sum())
        return self._past.C * float(self._weights().sum()) / old

    def _problem(self, completed: Sequence[Ints]) -> ClusteringProblem:
        assert self.scale is not None
        sets = [r.x for r in self._regions]
        units = Units.of_means(sets, self.oracle.objective, self.scale)
        shares = np.array([np.count_nonzero(r.judged) / len(r.judged) for r in self._regions])
        units = replace(units, example_scale=units.example_scale / shares)
        loss = self.loss
        if isinstance(loss, PairwiseFLoss):
            loss = replace(loss, background_weight=1.0)
        return ClusteringProblem(
            sets,
            [r.labels for r in self._regions],
            loss,
            self.oracle,
            units=units,
            judged=[r.judged for r in self._regions],
            completed=completed,
        )

    def _remembered(self, trained: Trained) -> PastTraining | None:
        n_old = 0 if self._past is None else len(self._past.weights)
        named = [np.zeros(0, np.int64)] * n_old
        if self._past is not None:
            named = [self._past.named[self._past.owner == i] for i in range(n_old)]
        named += [ids for _, ids in self._told]
        weights = self._weights()
        items = self._past.items if self._past is not None else float(np.mean([len(n) for n in named]))
        return past_of(trained, weights, items, named)
