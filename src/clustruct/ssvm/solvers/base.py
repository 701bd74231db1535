"""What a solver is, and what it may ask of a task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from clustruct.slack_rule import SlackRule
from clustruct.ssvm.planes import PlaneSet
from clustruct.ssvm.problem import SupportsSmoothing
from clustruct.ssvm.result import Incumbent
from clustruct.ssvm.task import Run, Task


@dataclass(frozen=True)
class Need:
    """A demand on the task; ``reason`` says what is missing, with the problem's class as {problem}."""

    reason: str
    met: Callable[[Task], bool]


LINEAR_SLACKS = Need(
    "it has no form with slack_norm=2, as the square of the mean slack is not the mean of the squares. "
    "Use formulation='n_slack'",
    lambda task: task.rule.norm == 1,
)
SMOOTHING = Need(
    "{problem} has no smoothed oracle (separate_smoothed)",
    lambda task: isinstance(task.problem, SupportsSmoothing),
)
PLAIN_RULE = Need("it needs margin scaling and slack_norm=1", lambda task: task.rule == SlackRule())
NO_ROWS = Need("linear constraints do not go with it", lambda task: not len(task.conditions.lower))
NO_KERNEL = Need("it works without a kernel", lambda task: task.kernel is None)


class Solver(ABC):
    """Solves a `Task` by asking its oracle: one file, and a line in ``solvers/__init__``.

    ``needs`` are checked before any work. Options of a solver are parameters of its constructor, all with
    defaults; `fit` takes an instance for ``formulation`` as well as a name.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[Need, ...]] = ()
    # Whether a warm start begins at the earlier weights, rather than at the solution of the earlier planes.
    starts_at_w: ClassVar[bool] = False

    @abstractmethod
    def planes(self, task: Task) -> PlaneSet[Any]:
        """An empty set of planes, in the store that suits the task."""

    @abstractmethod
    def solve(self, run: Run[Any], start: Any) -> Incumbent[Any]:
        """The best point found, from ``start`` on and until ``run.progress.stop_reason`` is set.

        Every round ends with ``progress.record``. Ctrl-C sets the reason "interrupted" and keeps the best.
        """
