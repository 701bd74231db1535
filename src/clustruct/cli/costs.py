"""What the stages of a command cost and kept: ``--verbose``."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from clustruct.core.callbacks import Cost
from clustruct.core.formatting import format_table
from clustruct.core.memory import in_words


@dataclass
class Spent:
    """All that was spent in stages of one name, this deep within others."""

    depth: int
    times: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak: int | None = None
    kept: dict[str, int] = field(default_factory=dict)


class Costs:
    """Stages in the order in which they were first begun, and what all of one name cost together.

    >>> costs = Costs()
    >>> costs.begin("features", 1)
    >>> costs.add(Cost("features", 2.0, 1.5, 3 * 2**20, {"pairs": 5000}))
    >>> print(costs.text())
    step      seconds  CPU s    peak  kept
    features     2.00   1.50  3.0 MB  5,000 pairs
    """

    def __init__(self) -> None:
        self.spent: dict[str, Spent] = {}

    def begin(self, stage: str, depth: int) -> None:
        """A stage begins, the outermost at depth 1."""
        self.spent.setdefault(stage, Spent(depth))

    def add(self, cost: Cost) -> None:
        """A stage is over."""
        spent = self.spent.setdefault(cost.stage, Spent(1))
        spent.times += 1
        spent.seconds += cost.seconds
        spent.cpu_seconds += cost.cpu_seconds
        spent.peak = cost.peak
        for name, count in cost.kept.items():
            spent.kept[name] = spent.kept.get(name, 0) + count

    def text(self) -> str:
        """A table; a stage within another is further in, and part of what that cost."""
        rows = [
            [
                "  " * (one.depth - 1) + stage + (f" ({one.times:,} times)" if one.times > 1 else ""),
                one.seconds,
                one.cpu_seconds,
                "-" if one.peak is None else in_words(one.peak),
                ", ".join(f"{n:,} {name}" for name, n in one.kept.items()),
            ]
            for stage, one in self.spent.items()
        ]
        return format_table(["step", "seconds", "CPU s", "peak", "kept"], rows)

    def print(self) -> None:
        """To stderr: stdout may be what the command makes."""
        if self.spent:
            print(self.text(), file=sys.stderr)
