"""Predicting with a hook module's model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TextIO

from .loading import Hooks
from .models import Sparm, StructModel


@dataclass(frozen=True)
class Outcome:
    """How the predictions compare with the labels that are known (y other than None)."""

    examples: int
    known: int
    total_loss: float
    correct: int

    @property
    def mean_loss(self) -> float:
        return self.total_loss / self.known


def predict(hooks: Hooks, sample: list[Any], sm: StructModel, sparm: Sparm, predictions: TextIO) -> Outcome:
    """Classify every example, write its label, and gather the module's statistics.

    For each example in turn: ``classify_example``, ``write_label``, ``loss`` where the label is known,
    ``eval_prediction``; at the end ``print_testing_stats``.
    """
    known, total, correct, teststats = 0, 0.0, 0, None
    for i, (x, y) in enumerate(sample):
        ypred = hooks.classify_example(x, sm, sparm)
        hooks.write_label(predictions, ypred)
        if y is not None:
            value = hooks.loss_of(i, y, ypred, sparm)
            known, total, correct = known + 1, total + value, correct + (value == 0.0)
        teststats = hooks.eval_prediction(i, (x, y), ypred, sm, sparm, teststats)
    hooks.print_testing_stats(sample, sm, sparm, teststats)
    return Outcome(len(sample), known, total, correct)
