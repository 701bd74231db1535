"""Examples that are known by their planes alone: what an earlier training leaves for a later one.

    min over w   1/2 |w|^2 + C mean_i xi_i,     xi_i >= b_j - <w, c_j>   for the planes j of a remembered i

The planes c_j = Psi(x_i, y_i) - Psi(x_i, y_j), b_j = Delta(y_i, y_j) of a training bound its risk from below,
tightly near its optimum. A later training with a few further examples moves w by little, so that these stand
for examples which need not be read, turned into features and searched again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct._typing import Floats
from clustruct.slack_rule import SlackRule

from .planes import Planes
from .problem import OracleKind, SearchesQuickly, StructuredProblem

TRUTH = -1


class RememberedProblem:
    """The examples of a problem after those that are remembered.

    Remembered examples come first, one for each group of the planes. Their outputs are the numbers of their
    planes (-1: the truth, with Psi = 0), so that their oracle is a maximum over a table, and exact.

    Parameters
    ----------
    planes : those of an earlier training, by margin scaling with slack_norm=1
    n_remembered : how many examples they belong to
    problem : the further examples; None where there are none
    """

    def __init__(self, planes: Planes, n_remembered: int, problem: StructuredProblem | None = None) -> None:
        n_features = planes.vectors.shape[1]
        if not planes.fits(n_features, n_remembered) or (planes.b < 0.0).any():
            raise ValueError("the planes do not belong to so many examples")
        if problem is not None and problem.n_features != n_features:
            raise ValueError(f"the planes have {n_features} features, the problem {problem.n_features}")
        self.planes, self.n_remembered, self.problem = planes, n_remembered, problem
        self.n_features = n_features
        self.n_examples = n_remembered + (0 if problem is None else problem.n_examples)
        self.oracle_kind: OracleKind = "exact" if problem is None else problem.oracle_kind
        order = np.argsort(planes.group, kind="stable")
        self._own = np.split(order, np.searchsorted(planes.group[order], np.arange(1, n_remembered)))

    def supports(self, rule: SlackRule) -> bool:
        """Planes are those of one rule."""
        asked = getattr(self.problem, "supports", None)
        return rule == SlackRule() and (asked is None or bool(asked(rule)))

    def is_quick(self, rule: SlackRule) -> bool:
        """Whether the further examples have a thorough search beside the quick one."""
        return isinstance(self.problem, SearchesQuickly) and self.problem.is_quick(rule)

    def truth(self, i: int) -> Any:
        return TRUTH if i < self.n_remembered else self._further.truth(i - self.n_remembered)

    def joint_feature(self, i: int, y: Any) -> Any:
        if i >= self.n_remembered:
            return self._further.joint_feature(i - self.n_remembered, y)
        return np.zeros(self.n_features) if y == TRUTH else -np.asarray(self.planes.vectors[y], float)

    def loss(self, i: int, y: Any) -> float:
        if i >= self.n_remembered:
            return self._further.loss(i - self.n_remembered, y)
        return 0.0 if y == TRUTH else float(self.planes.b[y])

    def separate(self, i: int, w: Floats, rule: SlackRule) -> Any:
        """The plane that is violated most."""
        if i >= self.n_remembered:
            return self._further.separate(i - self.n_remembered, w, rule)
        own = self._own[i]
        violations = self.planes.b[own] - self.planes.vectors[own] @ w
        return int(own[np.argmax(violations)]) if len(own) and violations.max() > 0.0 else TRUTH

    def separate_thoroughly(self, i: int, w: Floats, rule: SlackRule) -> Any:
        """As `separate`, with all the care that the further examples allow."""
        if i >= self.n_remembered and isinstance(self.problem, SearchesQuickly):
            return self.problem.separate_thoroughly(i - self.n_remembered, w, rule)
        return self.separate(i, w, rule)

    @property
    def _further(self) -> StructuredProblem:
        assert self.problem is not None
        return self.problem
