"""Cutting planes with one slack for all examples (Algorithm 2), steadied and with kept answers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, ClassVar, Generic

import numpy as np

from clustruct.core.typing import Indices
from clustruct.ssvm.planes import GramPlanes, PlaneSet
from clustruct.ssvm.problem import W
from clustruct.ssvm.separation import KeptAnswers, PieceCut

from .base import Incumbent, Progress, Solver, SolverRun, Task
from .cutting_plane import IDLE_SOLVES, Cut, Risk, add_cut, confirm, minimise

ONLY: Indices = np.zeros(1, np.intp)
# Joint cuts made of kept answers between two calls of the oracle. On digits, passes at C = 10 and 1000:
# 28 and 111 without, 16 and 33 with 5, 8 and 21 with 20 (and 8 times the time: its oracle is cheap).
CACHED_CUTS = 20
# Answers kept per example, where the oracle is not vectorised.
KEPT_ANSWERS = 10


@dataclass(eq=False)
class OneSlack(Solver):
    """``min 1/2 |w - prior|^2 + C xi``, one constraint per joint choice of outputs (OP 8, 9).

    The cutting planes of `clustruct.ssvm.cutting_plane` on the mean slack. Between two calls of the oracle,
    cuts made of answers kept per example are added while they are violated by a good part of the gap.

    Parameters
    ----------
    prune_after : int
        Solves without weight before a cut is forgotten.
    """

    name: ClassVar[str] = "one_slack"
    prune_after: int = IDLE_SOLVES

    def missing(self, task: Task) -> str | None:
        if task.rule.norm == 1:
            return None
        return (
            "it has no form with slack_norm=2, as the square of the mean slack is not the mean of the "
            "squares. Use formulation='n_slack'"
        )

    def planes(self, task: Task) -> PlaneSet[Any]:
        return task.gram_planes(np.array([task.C]))

    def solve(self, run: SolverRun[W], start: W) -> Incumbent[W]:
        assert isinstance(run.planes, GramPlanes)
        risk = MeanSlack(run)
        best = minimise(risk, run.planes, Incumbent(start), run.progress, self.prune_after)
        if not best.sure and np.isfinite(best.primal):
            best = confirm(risk, best, run.planes, run.progress)
        return best


class MeanSlack(Risk[W]):
    """``R(w) = sum_i weights_i xi_i(w)``, as the oracle sees it, with the last answers for every example.

    Answers are kept here (`KeptAnswers`), or by a session that keeps them where its oracle runs.
    """

    def __init__(self, run: SolverRun[W]) -> None:
        self._run, self._task, size = run, run.task, run.task.cache_size
        self._size = (0 if run.task.vectorised else KEPT_ANSWERS) if size is None else size
        self._answers = _answers(run, self._size)

    def cut(self, point: W, planes: GramPlanes[Any]) -> Cut[W]:
        sure = not self._task.quick or self._run.thorough_due
        cut = self._ask(point, sure)
        if sure or cut.found is None:
            return cut
        held, little = float(planes.slacks_at(point)[0]), self._task.threshold(planes.dual)
        return self._ask(point, sure=True) if cut.found.mean_slack <= held + little else cut

    def confirm(self, best: Incumbent[W], planes: GramPlanes[Any]) -> Cut[W]:
        return self._ask(best.w, sure=True)

    def _ask(self, point: W, sure: bool) -> Cut[W]:
        """The joint constraint after asking the oracle once more; with all care where it is to be sure."""
        self._answers.ask(point, quick=not sure)
        return self._joint(point, sure)

    def raise_to_planes(self, best: Incumbent[W], planes: GramPlanes[Any]) -> Incumbent[W]:
        return self._run.raise_to_planes(best)

    def refine(self, best: Incumbent[W], planes: GramPlanes[Any], progress: Progress) -> None:
        """Cuts made of kept answers cost no oracle call."""
        for _ in range(CACHED_CUTS if self._size else 0):
            cut = self._joint(planes.w)
            need = max(self._task.epsilon, 0.1 * (best.primal - planes.dual) / self._task.C)
            if cut.found is None or cut.found.mean_slack - float(planes.slacks(ONLY)[0]) <= need:
                return
            add_cut(cut, planes, progress)

    def _joint(self, w: W, sure: bool = False) -> Cut[W]:
        """The joint constraint of the best answers held; none where the truth is best everywhere."""
        cuts = self._answers.joint(w)
        risk = float(sum(cut.risk for cut in cuts))
        found = Incumbent(w, self._run.planes.half_norm(w) + self._task.C * risk, risk, sure)
        parts = [cut.vector for cut in cuts if cut.vector is not None]
        vector = reduce(add, parts) if parts else None
        b = float(sum(cut.b for cut in cuts))
        return Cut([], [], found) if vector is None else Cut([vector], [b], found)


def _answers(run: SolverRun[W], size: int) -> _Here[W] | _There[W]:
    """What asks the oracle for all examples, keeps its answers, and makes joint constraints of them."""
    far = run.session.keeps_answers and run.task.kernel is None and not run.task.vectorised
    return _There(run, size) if far else _Here(run, size)


class _Here(Generic[W]):
    """Answers come here and stay."""

    def __init__(self, run: SolverRun[W], size: int) -> None:
        self._run = run
        self._kept = KeptAnswers[W](run.task.weights, run.task.rule, size)

    def ask(self, w: W, *, quick: bool) -> None:
        self._kept.rounds.append(self._run.separate(self._run.task.examples, w, quick))

    def joint(self, w: W) -> list[PieceCut]:
        return self._kept.joint(w)


class _There(Generic[W]):
    """Answers stay where the oracle runs; sums of them come here."""

    def __init__(self, run: SolverRun[W], size: int) -> None:
        self._run, self._session = run, run.session
        self._pieces = run.pieces(run.task.examples)
        self._session.keep_answers(self._pieces, run.task.weights, run.task.rule, size, run.task.C)
        self._fresh: tuple[W, list[PieceCut]] | None = None

    def ask(self, w: W, *, quick: bool) -> None:
        started, thorough = time.perf_counter(), self._run.task.quick and not quick
        self._fresh = w, self._session.ask_and_join(w, thorough=thorough)
        self._run.count(len(self._run.task.examples), started)

    def joint(self, w: W) -> list[PieceCut]:
        if self._fresh is not None and self._fresh[0] is w:
            return self._fresh[1]
        return self._session.join(w)
