"""Which field of a recipe's sets is the source of their items, if any, and what is said of it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from sklearn.base import BaseEstimator

from clustruct.core.exceptions import DataWarning
from clustruct.core.text import count, short
from clustruct.data import Table
from clustruct.features import Sources
from clustruct.learning.model_selection.training_tables import SourceField, find_source, named_source

WithinSource: TypeAlias = Literal["auto", "apart", "uncompared"]
AUTO = "auto"


@dataclass(frozen=True)
class Chosen:
    """The sources that features go by, what the labels say of them, and whether they were found here."""

    sources: Sources
    labels: SourceField
    was_found: bool

    def told(self) -> dict[str, Any]:
        """As plain values."""
        return {**asdict(self.labels), "within": self.sources.within, "found": self.was_found}


def choose_source(
    sets: Sequence[Table],
    source: str | None,
    within: WithinSource = "auto",
    fields: Sequence[str] | None = None,
) -> Chosen | None:
    """The sources of the sets: the field named, or ("auto") the one that the labels bear out, or none.

    ``within`` "auto": no cluster gets two items of a source where many clusters are labelled and hardly one
    has them; otherwise such items are merely not compared.
    """
    if source is None:
        return None
    found = find_source(sets, fields) if source == AUTO else named_source(sets, source)
    if found is None:
        return None
    if within == "auto":
        within = "apart" if found.has_no_duplicates else "uncompared"
    chosen = Chosen(Sources(found.field, within), found, source == AUTO)
    lost = found.pairs - found.across
    if lost and not chosen.was_found:
        one = (
            f"of the {count(found.pairs, 'labelled pair')} that belong together {lost:,} lie within a source"
        )
        told = f"{one} (the field {short(found.field)!r}): they are not compared"
        warnings.warn(told, DataWarning, stacklevel=2)
    return chosen


def source_of(recipe: BaseEstimator, model: BaseEstimator, sets: Sequence[Table]) -> Chosen | None:
    """The field of the sources; a clusterer with a fixed number of clusters compares all items."""
    if getattr(model, "clustering_objective", None) != "correlation":
        if recipe.source not in (None, AUTO):
            raise ValueError(f"source goes with clusterers by correlation, not with {recipe.learner!r}")
        return None
    if recipe.kind == "mentions" and recipe.source == AUTO:
        return None
    return choose_source(sets, recipe.source, recipe.within_source, recipe.fields)
