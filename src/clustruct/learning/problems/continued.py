"""A training that goes on: the sets of an earlier one, and further sets of which people said something.

    min over w   1/2 |w|^2 + C [ sum_i xi_i + sum_j v_j xi_j ] / n

i are the n labelled sets, j those with marks (`marks`). C, the units of the features and the planes of the
earlier training are kept, so that it ends after a few rounds; marks come on top of what was learned. A set
with marks weighs v_j examples: as many as it has named items, counted in labelled items of a labelled set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from clustruct.core.callbacks import training_listener
from clustruct.core.exceptions import DataError
from clustruct.core.partitions import UNKNOWN
from clustruct.core.storage import digest
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import Evidence, ItemSet
from clustruct.losses import Loss
from clustruct.search.oracles import Oracle
from clustruct.ssvm import PastTraining, Planes, fit

from .clustering import ClusteringProblem
from .latent import descend
from .marks import MarkedRegion
from .region import Region
from .training import Trained
from .units import Units, feature_scale

# Planes of more numbers than these are not kept: the training that goes on starts without.
MOST_NUMBERS = 2_000_000


def past_of(trained: Trained, sets: Sequence[ItemSet], labels: Sequence[Ints]) -> PastTraining:
    """What is kept of a training on labelled sets.

    Parameters
    ----------
    trained : Trained
        The training.
    sets : sequence of ItemSet
        The sets that it was on.
    labels : sequence of array of int
        Their labels.

    Returns
    -------
    PastTraining
        What another training can go on from.
    """
    planes, groups = trained.scaled.planes, getattr(trained.scaled.working_set, "n_groups", 0)
    kept = planes is not None and isinstance(planes.vectors, np.ndarray) and groups == len(sets)
    if kept and planes is not None and planes.vectors.size > MOST_NUMBERS:
        kept = False
    names = [_name(x, y) for x, y in zip(sets, labels, strict=True)] if kept else []
    return PastTraining(float(trained.C), len(sets), planes if kept else None, names)


def _name(x: ItemSet, labels: Ints) -> str:
    return digest(x.digest, np.asarray(labels, np.int64))


@dataclass(frozen=True)
class _Example:
    """What the problem takes of one example: the pairs that are scored, and which of them are judged."""

    x: ItemSet
    labels: Ints
    judged: Bools | None
    known: Bools | None
    weight: float


@dataclass
class ContinuedTask:
    """Labelled sets, sets with marks, and what an earlier training has left (None: nothing).

    Attributes
    ----------
    sets : sequence of ItemSet
        Labelled sets.
    labels : sequence of array of int
        Their labels.
    marked : sequence of ItemSet
        Sets of which people said something.
    marks : sequence of Evidence
        What they said.
    loss : Loss
        The loss.
    oracle : Oracle
        The search for violated clusterings.
    options : mapping
        Further options of `clustruct.ssvm.fit`.
    past : PastTraining, optional
        What an earlier training has left.
    w0 : array of float, optional
        The weights of the earlier training, in the units of the features.
    scale : array of float, optional
        Its feature scale, which its planes are in.
    C : float, default=1.0
        Where there was none, in the natural unit of the data.
    verbose : int, default=0
        1 prints some rounds, 2 all of them.
    """

    sets: Sequence[ItemSet]
    labels: Sequence[Ints]
    marked: Sequence[ItemSet]
    marks: Sequence[Evidence]
    loss: Loss
    oracle: Oracle
    options: Mapping[str, Any]
    past: PastTraining | None = None
    w0: Floats | None = None
    scale: Floats | None = None
    C: float = 1.0
    verbose: int = 0

    def __post_init__(self) -> None:
        self._told = [MarkedRegion.of(x, m) for x, m in zip(self.marked, self.marks, strict=True)]
        self._told = [region for region in self._told if region.judged.any()]
        if not self.sets and not self._told:
            raise DataError(
                "nothing to learn from: of the pairs that people marked none is compared, being no likely "
                "one (--block 0, or block=0, compares all pairs)"
            )
        if self.scale is None:
            self.scale = feature_scale([r.x for r in self._regions] + [r.x for r in self._told])

    @cached_property
    def _regions(self) -> list[Region]:
        partial = any((y == UNKNOWN).any() for y in self.labels)
        return [Region.of(x, y, listed=partial) for x, y in zip(self.sets, self.labels, strict=True)]

    def train(self) -> Trained:
        """Train on all of them."""
        start = np.zeros_like(self.scale) if self.w0 is None else self.w0
        return descend(self._told, start, self._train, MarkedRegion.completed)

    def _train(self, completed: Sequence[Ints]) -> Trained:
        assert self.scale is not None
        problem = self._problem(completed)
        C = self._engine_C(problem)
        found = fit(
            problem,
            C,
            **self.options,
            sample_weight=np.array([e.weight for e in self._examples]),
            w0=self._known_planes,
            callback=training_listener(self.C, self.options["rtol"], self.verbose),
        )
        return Trained(replace(found, w=np.asarray(found.w / self.scale)), found, self.scale, C)

    @cached_property
    def _known_planes(self) -> Planes | None:
        if self.past is None:
            return None
        names = [_name(x, y) for x, y in zip(self.sets, self.labels, strict=True)]
        assert self.scale is not None
        return self.past.planes_of(names, len(self.scale))

    def _engine_C(self, problem: ClusteringProblem) -> float:
        """Evidence come on top of the labelled sets, for each of which C is what it was."""
        if self.past is None:
            return self.C * problem.natural_C()
        return self.past.C * sum(e.weight for e in self._examples) / max(len(self.sets), 1)

    @cached_property
    def _examples(self) -> list[_Example]:
        found = [
            _Example(r.x, r.labels, None, None if r.is_complete else r.known, 1.0) for r in self._regions
        ]
        named = [float(np.count_nonzero(r.marks.named)) for r in self._told]
        usual = np.mean([np.count_nonzero(r.known) for r in self._regions] or named or [1.0])
        for region, n in zip(self._told, named, strict=True):
            found.append(_Example(region.x, region.labels, region.judged, None, n / float(usual)))
        return found

    def _problem(self, completed: Sequence[Ints]) -> ClusteringProblem:
        assert self.scale is not None
        examples = self._examples
        sets = [e.x for e in examples]
        units = Units.of_means(sets, self.oracle.objective, self.scale)
        shares = np.array([1.0 if e.judged is None else float(np.mean(e.judged)) for e in examples])
        return ClusteringProblem(
            sets,
            [e.labels for e in examples],
            self.loss,
            self.oracle,
            units=replace(units, example_scale=units.example_scale / shares),
            judged=[e.judged for e in examples],
            known=[e.known for e in examples],
            completed=[*(r.labels for r in self._regions), *completed],
        )
