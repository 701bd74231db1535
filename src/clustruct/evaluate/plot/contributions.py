"""Why two items are together or apart, as a waterfall."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from clustruct.core.formatting import short
from clustruct.core.typing import LabelsLike
from clustruct.data import ItemSet
from clustruct.evaluate.explain import PairExplanation, pair_contributions

from .drawing import AGAINST, BESIDE, FOR, QUIET, Ax, Display, Names, axes_for, distinct, name_rows, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustruct.estimators.base import PairSimilarity


@dataclass(eq=False, repr=False)
class PairContributionDisplay(Display):
    """The similarity of two items as a waterfall of the features' contributions, largest first.

    Each bar starts where the one above ends; the last one is their sum, the similarity. Above zero
    speaks for together.

    Parameters
    ----------
    explanation : PairExplanation
        PairExplanation, from `clustruct.evaluate.explain.pair_contributions`.
    ids : Names, optional
        Names of the items of the set, optional.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from clustruct import ItemSet, SupervisedCorrelationClustering
    >>> from clustruct.evaluate.plot import PairContributionDisplay
    >>> x = ItemSet(pairs=[[1.0, 1.0], [0.1, 1.0], [0.0, 1.0]], feature_names=["words", "constant"])
    >>> model = SupervisedCorrelationClustering(C=1.0).fit([x], [[0, 0, 1]])
    >>> display = PairContributionDisplay.from_estimator(model, x, 0, 1)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['words = 1', 'constant = 1', 'similarity']
    >>> import matplotlib.pyplot; matplotlib.pyplot.close(display.figure_)
    """

    explanation: PairExplanation
    ids: Names = None

    @classmethod
    def from_estimator(
        cls,
        estimator: PairSimilarity,
        x: ItemSet,
        a: int,
        b: int,
        *,
        labels: LabelsLike | None = None,
        n: int = 12,
        ax: Ax = None,
    ) -> Self:
        """Items a and b of the set x under a fitted model; `labels` is its prediction, if at hand."""
        return cls(pair_contributions(estimator, x, a, b, labels), x.ids).plot(n=n, ax=ax)

    @classmethod
    def from_predictions(
        cls, explanation: PairExplanation, *, ids: Names = None, n: int = 12, ax: Ax = None
    ) -> Self:
        """An explanation made before."""
        return cls(explanation, ids).plot(n=n, ax=ax)

    def plot(self, *, n: int = 12, ax: Ax = None) -> Self:
        """Draw the n largest contributions, the rest summed up as one."""
        found = self.explanation
        steps = found.largest(n)
        ends = np.cumsum([0.0, *(c for _, c in steps)])
        ax = axes_for(ax, 6.8, 1.4 + 0.3 * (len(steps) + 1))
        for row, (_, size) in enumerate(steps):
            ax.barh(row, size, left=ends[row], color=FOR if size >= 0 else AGAINST, height=0.66)
            ax.plot([ends[row + 1]] * 2, [row + 0.33, row + 0.67], color="0.4", lw=0.8)
        total = found.similarity
        ax.barh(len(steps), total, color=QUIET, height=0.66, ec="0.2", lw=1.0)
        self._write_sizes(ax, [c for _, c in steps] + [total], [*ends[:-1], 0.0])
        ax.axvline(0.0, color="0.3", lw=0.8)
        low, high = min(*ends, total), max(*ends, total)
        margin = 0.2 * (high - low) or 1.0
        ax.set_xlim(low - margin, high + margin)
        ax.set_ylim(len(steps) + 0.6, -0.6)
        name_rows(ax, np.arange(len(steps) + 1), [*self._row_names(len(steps)), "similarity"])
        ax.set_xlabel("contribution (above zero: together)")
        return self.drawn_on(ax, self._title())

    def _row_names(self, count: int) -> list[str]:
        found = self.explanation
        values = found.values[found.contributions != 0.0]
        texts = distinct([name for name, _ in found.largest(count)], 34)
        shown = count - (len(values) > count)  # the last row may be a sum
        named = [f"{text} = {number(v)}" for text, v in zip(texts, values[:shown], strict=False)]
        return named + texts[len(named) :]

    def _write_sizes(self, ax: Axes, sizes: list[float], starts: list[float]) -> None:
        for row, (size, start) in enumerate(zip(sizes, starts, strict=True)):
            away, side = (4, "left") if size >= 0 else (-4, "right")
            text = ("+" if size >= 0 and row < len(sizes) - 1 else "") + number(size)
            ax.annotate(text, (start + size, row), (away, 0), ha=side, va="center", **BESIDE)

    def _title(self) -> str:
        found = self.explanation
        first, second = (short(self._name(item), 24) for item in (found.a, found.b))
        title = f"{first} and {second}: {'together' if found.together else 'apart'}"
        links = " > ".join(short(self._name(i), 12) for i in found.path)
        return title + (f"\nthrough {short(links, 70)}" if links else "")

    def _name(self, item: int) -> Hashable:
        return f"item {item}" if self.ids is None else self.ids[item]
