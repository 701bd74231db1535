"""How a learner of rows chooses C: by rows held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clustruct.core.typing import Floats, Indices
from clustruct.learning.model_selection.choose_c import Choice, choose_C
from clustruct.learning.problems import FoldLoss, Trained
from clustruct.learning.problems.fold_losses import LOOSE

from .problem import MultiLabelProblem

# Losses are in percent: 1,000 to 30,000 were chosen on the sets of chapter 5 (docs/studies).
USUAL_C = 1000.0


@dataclass
class RowTask:
    """Rows with their labels, and how they are trained on; held-out rows are judged by the Hamming loss.

    problem : makes the problem of some rows; train : of a problem, C and a tolerance makes a result
    """

    X: Any
    Y: NDArray[Any]
    problem: Callable[[Any, NDArray[Any]], MultiLabelProblem]
    train: Callable[..., Any]
    predictor: str
    sample_weight: Floats | None = None
    rtol: float = 1e-3
    last: MultiLabelProblem | None = field(default=None, repr=False)

    def trained(self, C: float, chosen: Indices, start: Trained | None) -> Trained:
        """Train on some rows, from an earlier training on the same ones."""
        self.last = self.problem(self.X[chosen], self.Y[chosen])
        weights = None if self.sample_weight is None else self.sample_weight[chosen]
        before = None if start is None else start.result
        result = self.train(self.last, C, max(self.rtol, LOOSE), sample_weight=weights, w0=before)
        return Trained(result, result, np.ones(0), C)

    def judge(self, trained: Trained, numbers: Sequence[int]) -> list[FoldLoss]:
        """The loss of each of some rows, by the training just made."""
        assert self.last is not None
        found = self.last.predict(self.X[numbers], trained.result.w, self.predictor)
        return [FoldLoss(100.0 * float(loss)) for loss in (found != self.Y[numbers]).mean(axis=1)]


def chosen_C(
    task: RowTask, *, grid: ArrayLike | None = None, folds: int = 3, random_state: int | None = 0
) -> Choice:
    """The C of least mean loss on rows held out; the usual one where there is a single row."""
    n = len(task.Y)
    if n < 2:
        return Choice(USUAL_C, {"C": np.array([USUAL_C])})
    return choose_C(
        task.trained,
        task.judge,
        n,
        grid=grid,
        folds=folds,
        sample_weight=task.sample_weight,
        random_state=0 if random_state is None else random_state,
        usual=USUAL_C,
        begin=USUAL_C,
        unit="row",
    )
