"""Cutting planes with one slack for all examples (Algorithm 2), steadied and with cached answers."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .cache import AnswerCache
from .run import Best, Run
from .working_set import WorkingSet

ONLY = np.zeros(1, np.intp)
# How far from the best point towards the QP's solution the oracle is asked. On digits at C = 1000 the
# passes to a gap of 1%: 240 at 1.0 (plain cutting planes), 137 at 0.5, 111 at 0.25 and at 0.1.
SHARE = 0.25
# Joint cuts made of kept answers between two calls of the oracle. On digits, passes at C = 10 and 1000:
# 28 and 111 without, 16 and 33 with 5, 8 and 21 with 20 (and 8 times the time: its oracle is cheap).
CACHED_CUTS = 20
# Solves without weight before a cut is forgotten.
IDLE_SOLVES = 50


def train_one_slack(run: Run, planes: WorkingSet, start: Any) -> Best:
    """``min 1/2 |w - prior|^2 + C xi``, one constraint per joint choice of outputs (OP 8, 9).

    Plain cutting planes swing from one QP solution to the next. Here the oracle is asked between the
    best point so far and the QP's solution, as in OCAS (Franc and Sonnenburg 2008) without its line
    search; when such a cut does not cut off the QP's solution, the next question is asked there
    itself, so the bound of Theorem 7 holds up to a factor of two. Between two calls, cuts made of
    answers kept per example are added while they are violated by a good part of the gap.
    """
    cache = AnswerCache(run.cache_size, run.weights, run.rule)
    best, w = Best(start, np.inf, np.inf), start
    try:
        while not run.stop_reason:
            cache.add(run.separator(run.examples, w))
            vector, b, risk = cache.cut(w)
            primal = planes.half_norm(w) + run.C * risk
            best = best.against(Best(w, primal, risk), planes.dual)
            useful = _add(run, planes, vector, b)
            _add_cached(run, planes, cache, best)
            planes.drop_idle(IDLE_SOLVES)
            if best.stale(planes.dual):
                best, useful = Best(planes.w, np.inf, np.inf), False
            run.judge_joint(best.primal, planes.dual)
            run.record(best, planes.dual, len(planes))
            w = planes.space.between(best.w, planes.w, SHARE if useful else 1.0)
    except KeyboardInterrupt:
        run.stop_reason = "interrupted"
    return best


def _add(run: Run, planes: WorkingSet, vector: Any, b: float) -> bool:
    """Add a joint cut and solve. False where the cut says nothing new at the QP's solution."""
    if vector is None:
        return False
    started = time.perf_counter()
    before = planes.slacks(ONLY)[0]
    planes.add_plane(vector, b, 0)
    violated = planes.excess(-1) - before
    planes.solve()
    run.qp_seconds += time.perf_counter() - started
    run.qp_solves += 1
    return bool(violated > run.epsilon)


def _add_cached(run: Run, planes: WorkingSet, cache: AnswerCache, best: Best) -> None:
    """Cuts made of kept answers cost no oracle call."""
    for _ in range(CACHED_CUTS if len(cache) else 0):
        vector, b, risk = cache.cut(planes.w)
        need = max(run.epsilon, 0.1 * (best.primal - planes.dual) / run.C)
        if risk - float(planes.slacks(ONLY)[0]) <= need:
            return
        _add(run, planes, vector, b)
