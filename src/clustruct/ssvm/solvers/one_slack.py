"""Cutting planes with one slack for all examples (Algorithm 2), steadied and with kept answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clustruct._typing import Floats, Indices
from clustruct.ssvm.planes import GramPlanes, PlaneSet
from clustruct.ssvm.problem import W

from .base import Incumbent, Progress, Run, Separation, Solver, Task
from .cutting_plane import IDLE_SOLVES, Cut, Risk, add_cut, confirmed, minimise

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

    def solve(self, run: Run[W], start: W) -> Incumbent[W]:
        assert isinstance(run.planes, GramPlanes)
        risk = MeanSlack(run)
        best = minimise(risk, run.planes, Incumbent(start), run.progress, self.prune_after)
        if not best.sure and np.isfinite(best.primal):
            best = confirmed(risk, best, run.planes, run.progress)
        return best


class MeanSlack(Risk[W]):
    """``R(w) = sum_i weights_i xi_i(w)``, as the oracle sees it, with the last answers for every example.

    The best of fresh, kept and true answers makes the cut: an approximate oracle may find less than it
    found before, and so its cuts never get looser. The truth needs no place: its psi difference and loss
    are 0.
    """

    def __init__(self, run: Run[W]) -> None:
        self._run, self._task, size = run, run.task, run.task.cache_size
        self._size = (0 if run.task.vectorised else KEPT_ANSWERS) if size is None else size
        self._rounds: deque[Sequence[Separation[W]]] = deque(maxlen=max(1, self._size))

    def cut(self, point: W, planes: GramPlanes[Any]) -> Cut[W]:
        sure = not self._task.quick or self._run.thorough_due
        cut = self._asked(point, sure)
        if sure or cut.found is None:
            return cut
        held, little = float(planes.slacks_at(point)[0]), self._task.threshold(planes.dual)
        return self._asked(point, sure=True) if cut.found.mean_slack <= held + little else cut

    def confirm(self, best: Incumbent[W], planes: GramPlanes[Any]) -> Cut[W]:
        return self._asked(best.w, sure=True)

    def _asked(self, point: W, sure: bool) -> Cut[W]:
        """The joint constraint after asking the oracle once more; with all care where it is to be sure."""
        self._rounds.append(self._run.separate(self._task.examples, point, quick=not sure))
        return self._joint(point, sure)

    def valued(self, best: Incumbent[W], planes: GramPlanes[Any]) -> Incumbent[W]:
        return self._run.valued(best)

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
        vector, b, rule, weights = None, 0.0, self._task.rule, self._task.weights
        values = [self._violations(answers, w) for answers in self._rounds]
        best = np.maximum(np.max(values, axis=0), 0.0)
        owner = np.where(best > 0.0, np.argmax(values, axis=0), -1)
        for k, answers in enumerate(self._rounds):
            at = 0
            for answer in answers:
                mine = owner[at : at + len(answer.indices)] == k
                at += len(answer.indices)
                if mine.any():
                    losses = answer.batch.losses
                    share = weights[answer.indices] * mine
                    part = answer.batch.combine(share * rule.multiplier(losses))
                    vector = part if vector is None else vector + part
                    b += float(share @ rule.sized(losses))
        order = np.concatenate([answer.indices for answer in self._rounds[-1]])
        risk = float(weights[order] @ best)
        found = Incumbent(w, self._run.planes.half_norm(w) + self._task.C * risk, risk, sure)
        return Cut([], [], found) if vector is None else Cut([vector], [b], found)

    def _violations(self, answers: Sequence[Separation[W]], w: W) -> Floats:
        violation = self._task.rule.violation
        return np.concatenate([violation(a.batch.losses, -a.batch.margins(w)) for a in answers])
