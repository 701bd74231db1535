"""Oracle answers kept per example, so that no constraint once seen is forgotten at once."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from clustruct._typing import Floats
from clustruct.slack_rule import SlackRule

from .separation import Answer


class AnswerCache:
    """The last answers for every example. The best of fresh, kept and true answers makes the cut.

    An approximate oracle may find less than it found before; with the cache its cuts never get
    looser. The truth needs no place: its psi difference and loss are 0.
    """

    def __init__(self, size: int, weights: Floats, rule: SlackRule) -> None:
        self._rounds: deque[list[Answer]] = deque(maxlen=max(1, size))
        self._weights, self._rule = weights, rule
        self.size = size

    def add(self, answers: list[Answer]) -> None:
        self._rounds.append(answers)

    def __len__(self) -> int:
        return len(self._rounds) if self.size else 0

    def cut(self, w: Any) -> tuple[Any, float, float]:
        """The joint constraint of the best answer held per example: vector, right side, mean slack at w.

        The vector is None where the truth is best everywhere.
        """
        vector, b = None, 0.0
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
                    share = self._weights[answer.indices] * mine
                    part = answer.batch.combine(share * self._rule.multiplier(losses))
                    vector = part if vector is None else vector + part
                    b += float(share @ self._rule.sized(losses))
        order = np.concatenate([answer.indices for answer in self._rounds[-1]])
        return vector, b, float(self._weights[order] @ best)

    def _violations(self, answers: list[Answer], w: Any) -> Floats:
        return np.concatenate([self._rule.violation(a.batch.losses, -a.batch.margins(w)) for a in answers])
