"""Fields that give the answer away: one of them decides nearly alone on held-out sets."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clustruct._typing import Bools, Floats, Indices, Labels
from clustruct.exceptions import LeakWarning
from clustruct.itemsets import ItemSet, pair_table
from clustruct.itemsets.pairs import dense

from .pair_signal import area_under_curve, held_out_outputs, sample_pairs

# A field decides where its features alone order so many pairs rightly, and nearly alone where the features of
# all other fields leave so many times as many wrong, and no fewer than this.
DECIDES, TIMES_WORSE, LEFT_WRONG = 0.99, 10.0, 0.002
# With fewer pairs of one kind chance decides.
FEWEST_PAIRS = 50


@dataclass(frozen=True)
class Leak:
    """A field that decides nearly alone: shares of pairs ordered rightly by it, and by all other fields.

    feature : the one of its features that does best by itself
    """

    field: str
    feature: str
    alone: float
    others: float

    def warn(self) -> None:
        """Say so, and what can be done."""
        warnings.warn(
            f"the field {self.field!r} decides nearly alone: on held-out sets it orders {self.alone:.1%} of "
            f"pairs rightly (above all by {self.feature!r}), all other fields together {self.others:.1%}. "
            "If it is not known, or not the same, for new data, leave it out (--fields, Recipe(fields=...))",
            LeakWarning,
            stacklevel=3,
        )


def find_leak(
    sets: Sequence[ItemSet],
    labels: Sequence[Labels],
    columns: Mapping[str, Indices],
    names: Sequence[str],
) -> Leak | None:
    """The field that decides nearly alone, if one does.

    ``columns`` are the features of each field by number, ``names`` the names of all features.
    """
    samples = sample_pairs(sets, labels)
    together = [s.together for s in samples]
    all_together = np.concatenate(together)
    if len(columns) < 2 or min(all_together.sum(), (~all_together).sum()) < FEWEST_PAIRS:
        return None
    tables = [dense(pair_table(s.x, s.pairs)) for s in samples]
    for field, own in columns.items():
        alone = _order(tables, together, own)
        if alone < DECIDES:
            continue
        rest = np.concatenate([other for name, other in columns.items() if name != field])
        others = _order(tables, together, rest)
        if 1.0 - others > max(LEFT_WRONG, TIMES_WORSE * (1.0 - alone)):
            return Leak(field, names[_best(tables, all_together, own)], alone, others)
    return None


def _order(tables: Sequence[Floats], together: Sequence[Bools], columns: Indices) -> float:
    """The share of pairs that these features (and a constant) order rightly on held-out sets."""
    chosen = [np.column_stack([table[:, columns], np.ones(len(table))]) for table in tables]
    return area_under_curve(held_out_outputs(chosen, together), np.concatenate(together))


def _best(tables: Sequence[Floats], together: Bools, columns: Indices) -> int:
    values = np.concatenate([table[:, columns] for table in tables])
    areas = [area_under_curve(column, together) for column in values.T]
    return int(columns[np.argmax([max(a, 1.0 - a) for a in areas])])
