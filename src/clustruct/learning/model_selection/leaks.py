"""Fields that give the answer away: one of them decides nearly alone on held-out sets."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clustruct.core.exceptions import LeakWarning
from clustruct.core.typing import Floats, Indices, Labels
from clustruct.data import ItemSet, pair_table
from clustruct.data.pair_algebra import dense

from .pair_signal import PairSample, best_f, held_out_outputs, sample_pairs

# A field decides where its features alone give pairs with this F, and nearly alone where what the features of
# all other fields leave to be desired is so many times as much, and no less than this.
DECIDES, TIMES_WORSE, LEFT_WRONG = 0.95, 3.0, 0.05
# With fewer pairs of one kind chance decides.
FEWEST_PAIRS = 50


@dataclass(frozen=True)
class Leak:
    """A field that decides nearly alone: F of pairs together by it, and by all other fields.

    feature : the one of its features that does best by itself
    """

    field: str
    feature: str
    alone: float
    others: float

    def warn(self) -> None:
        """Say so, and what can be done."""
        warnings.warn(
            f"the field {self.field!r} decides nearly alone: it tells pairs of held-out sets with an F of "
            f"{self.alone:.1%} (above all by {self.feature!r}), all other fields together {self.others:.1%}. "
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
    together = np.concatenate([s.together for s in samples])
    if len(columns) < 2 or min(together.sum(), (~together).sum()) < FEWEST_PAIRS:
        return None
    tables = [dense(pair_table(s.x, s.pairs)) for s in samples]
    for field, own in columns.items():
        alone = _signal(samples, tables, own)
        if alone < DECIDES:
            continue
        rest = np.concatenate([other for name, other in columns.items() if name != field])
        others = _signal(samples, tables, rest)
        if 1.0 - others > max(LEFT_WRONG, TIMES_WORSE * (1.0 - alone)):
            best = max(own.tolist(), key=lambda k: _signal(samples, tables, np.array([k])))
            return Leak(field, names[best], alone, others)
    return None


def _signal(samples: Sequence[PairSample], tables: Sequence[Floats], columns: Indices) -> float:
    """The F of pairs that these features (and a constant) reach on held-out sets."""
    chosen = [np.column_stack([table[:, columns], np.ones(len(table))]) for table in tables]
    together, stands_for = ([getattr(s, name) for s in samples] for name in ("together", "stands_for"))
    outputs = held_out_outputs(chosen, together)
    return best_f(outputs, np.concatenate(together), np.concatenate(stands_for))
