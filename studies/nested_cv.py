"""The evaluation of Finley 2009, section 4.5.2: nested leave-one-out over sets."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from clustruct.core.partitions import canonical_labels
from clustruct.data import ItemSet, PairScores
from clustruct.losses import NormalisedLoss, as_loss
from clustruct.search.oracles import ExampleLoss, make_search

__all__ = ["ProtocolRow", "nested_leave_one_out"]

Losses = Mapping[Any, float]
Evaluate = Callable[[Any, ItemSet, Any], Losses]
Keep = Callable[[str, Callable[[], Any]], Any]


@dataclass(frozen=True)
class ProtocolRow:
    """One test set: the loss there, the C and predictor chosen without it, and what each would have given.

    ``inner`` maps (C, predictor) to the mean leave-one-out loss on the training sets, ``outer`` maps
    each predictor to its test loss at the C chosen. ``seconds`` is the CPU time of the last training, ``gap``
    what was left of its duality gap, as a part of the objective.
    """

    test: int
    loss: float
    C: float | None
    predictor: Any
    inner: Mapping[tuple[float | None, Any], float] = field(repr=False)
    outer: Losses = field(repr=False)
    seconds: float = 0.0
    gap: float | None = None


def nested_leave_one_out(
    estimator: Any,
    sets: Sequence[ItemSet],
    labels: Sequence[Any],
    *,
    C_grid: Sequence[float] | None = None,
    evaluate: Evaluate | None = None,
    keep: Keep | None = None,
) -> list[ProtocolRow]:
    """Each set in turn is the test set; leave-one-out over the others chooses C and the predictor.

    ``evaluate(model, x, y)`` gives the loss of each predictor; by default those of the
    k-means estimators (`losses_of_predictors`). Without ``C_grid`` only the predictor is chosen.
    A training without sets {s, t} serves the tests of both, so that n sets take n (n - 1) / 2 + n times
    the grid trainings at most. Of equals the smaller C is taken, then the predictor listed first.
    ``keep(key, make)`` gives what a training found, from an earlier run or by calling ``make``
    (`studies.results.Results.get`).

    >>> from clustruct.data.datasets import make_synth
    >>> from clustruct.estimators.baselines import UntrainedKMeans
    >>> X, y = make_synth(n_sets=3, n_clusters=2, cluster_size=5)
    >>> [row.test for row in nested_leave_one_out(UntrainedKMeans(), X, y)]
    [0, 1, 2]
    """
    n = len(sets)
    if n < 3:
        raise ValueError(f"the protocol needs 3 sets at least, not {n}: one to test, two to choose with")
    grid: list[float | None] = [None] if C_grid is None else [float(C) for C in sorted(C_grid)]
    task = _Task(
        estimator,
        list(sets),
        [canonical_labels(y) for y in labels],
        evaluate or losses_of_predictors,
        keep or (lambda key, make: make()),
    )
    inner: dict[tuple[int, int], dict[tuple[float | None, Any], float]] = {}
    for s in range(n):
        for t in range(s + 1, n):
            inner[s, t], inner[t, s] = {}, {}
            for C in grid:
                found = task.losses_without((s, t), C)["losses"]
                for test, held in ((s, t), (t, s)):
                    for name, loss in found[str(held)].items():
                        inner[test, held][C, name] = loss
    return [_row(task, t, [inner[t, s] for s in range(n) if s != t]) for t in range(n)]


@dataclass(frozen=True)
class _Task:
    estimator: Any
    sets: list[ItemSet]
    labels: list[NDArray[np.int64]]
    evaluate: Evaluate
    keep: Keep

    def losses_without(self, held: tuple[int, ...], C: float | None) -> dict[str, Any]:
        """Losses on some sets of the model of all others, and the CPU seconds of its training."""
        names = "without " + " and ".join(map(str, held)) + ("" if C is None else f", C = {C:g}")
        return self.keep(names, lambda: self._losses_without(held, C))

    def _losses_without(self, held: tuple[int, ...], C: float | None) -> dict[str, Any]:
        model, seconds = self._train(set(held), C)
        losses = {str(i): dict(self.evaluate(model, self.sets[i], self.labels[i])) for i in held}
        result = getattr(model, "result_", None)
        gap = None if result is None else result.gap / max(abs(result.objective), 1e-300)
        return {"losses": losses, "seconds": seconds, "gap": gap}

    def _train(self, without: set[int], C: float | None) -> tuple[Any, float]:
        """A model of all other sets, and the CPU seconds it took."""
        model = clone(self.estimator)
        if C is not None:
            model.set_params(C=C)
        kept = [i for i in range(len(self.sets)) if i not in without]
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit([self.sets[i] for i in kept], [self.labels[i] for i in kept])
        return model, time.process_time() - started


# The papers' three; the same two with the centred relaxation; and those of section 4.3.3 that need a kernel.
PREDICTORS = ("iterative", "spectral", "discrete", "centred", "discrete_centred", "batch", "normalised_cut")


def losses_of_predictors(model: Any, x: ItemSet, y: Any) -> Losses:
    """Delta of each predictor for one set, k that of the truth (section 4.5.2), but for those that its
    similarity does not allow.
    """
    scores, loss = PairScores.from_matrix(model.decision_function(x)), as_loss(model.loss)
    truth, found = ExampleLoss(loss, y), {}
    for name in PREDICTORS:
        search = make_search(name, n_init=model.n_init, random_state=model.random_state)
        if search.relaxed and not isinstance(loss, NormalisedLoss):
            continue
        with suppress(ValueError):  # no kernel
            found[name] = truth(search.predict(scores, int(y.max()) + 1))
    return found


def _row(task: _Task, test: int, held_out: list[dict[tuple[float | None, Any], float]]) -> ProtocolRow:
    """Choose by the mean over the held-out sets, train on all but the test set, and test.

    Of predictors that some similarity does not allow the next best is taken.
    """
    everywhere = [key for key in held_out[0] if all(key in losses for losses in held_out)]
    mean = {key: float(np.mean([losses[key] for losses in held_out])) for key in everywhere}
    for C, predictor in sorted(mean, key=lambda key: round(mean[key], 9)):
        found = task.losses_without((test,), C)
        outer = found["losses"][str(test)]
        if predictor in outer:
            break
    return ProtocolRow(test, outer[predictor], C, predictor, mean, outer, found["seconds"], found.get("gap"))
