"""Which learner, loss, linkage or similarity? Each is tried on the same held-out sets, and tested beside the
recipe as it is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from clustruct import losses
from clustruct._typing import Floats
from clustruct.inference.agglomerative import LINKAGES
from clustruct.metrics import PairedComparison, compare_paired, evaluate, lower_is_better
from clustruct.model_selection.learnable import groups_of
from clustruct.records import RawSet
from clustruct.similarity import SIMILARITIES

from .learners import LEARNERS
from .learning import Recipe

# Differences of a larger level could be chance.
LEVEL = 0.05
# With fewer, no outcome of Wilcoxon's test is below 0.05 (two tails).
FEWEST_GROUPS = 6
# What is tried of each parameter. An exact kernel is for small data only, boosted trees for very much: both
# are tried where they are asked for.
TRIED = ("learner", "loss", "linkage", "similarity")
LEFT_OUT = {"similarity": ("kernel", "boosted"), "loss": ("normalised",)}
# Losses that are no sums over pairs do better with slack scaling, as a rule.
SLACK = ("mitre", "purity", "b_cubed", "lea", "ceaf_mention", "ceaf_entity", "variation_of_information")


@dataclass(frozen=True)
class Tried:
    """One setting on held-out sets.

    values : the score of each set
    beside : the setting beside the recipe as it is, over groups of sets; None for that one
    level : of the difference (two tails), by Holm's rule for all settings together
    """

    name: str
    settings: dict[str, Any]
    values: Floats
    beside: PairedComparison | None = None
    level: float | None = None
    refused: str | None = None

    @property
    def mean(self) -> float:
        """The mean over sets."""
        return float(np.mean(self.values)) if len(self.values) else float("nan")


@dataclass(frozen=True)
class Compared:
    """All settings, the recipe as it is first, and what follows from them."""

    tried: list[Tried]
    score: str
    n_groups: int

    @property
    def best(self) -> Tried:
        """The setting of the best mean."""
        sign = 1.0 if lower_is_better(self.score) else -1.0
        return min((t for t in self.tried if t.refused is None), key=lambda t: sign * t.mean)

    @property
    def is_sure(self) -> bool:
        """Whether the best is better than the recipe as it is by more than chance."""
        return self.best.level is not None and self.best.level <= LEVEL

    def recommendation(self) -> str:
        """One sentence or two."""
        usual, best = self.tried[0], self.best
        if best is usual:
            return f"keep {usual.name}: nothing that was tried has a better mean"
        if self.is_sure:
            return f"take {best.name}: better than {usual.name} on held-out sets (p = {best.level:.2g})"
        why = f"p = {best.level:.2g}" if best.level is not None else "too few sets"
        few = f"; with {self.n_groups} independent groups of sets no difference can be sure"
        few = few if self.n_groups < FEWEST_GROUPS else ""
        return f"keep {usual.name}: {best.name} has the best mean, but that could be chance ({why}{few})"


def settings(recipe: Recipe, varied: Sequence[str]) -> Iterator[dict[str, Any]]:
    """What is changed in the recipe, one thing at a time."""
    for name in varied:
        now = getattr(recipe, name, None)
        for value in _values(name):
            if value != now:
                more = {"scaling": "slack"} if name == "loss" and value in SLACK else {}
                yield {**({"learner": "agglomerative"} if name == "linkage" else {}), name: value, **more}


def _values(name: str) -> Sequence[str]:
    known: dict[str, Sequence[str]] = {
        "learner": tuple(LEARNERS),
        "loss": losses.names(),
        "similarity": tuple(SIMILARITIES),
        "linkage": tuple(LINKAGES),
    }
    if name not in known:
        raise ValueError(f"what is compared must be some of {', '.join(TRIED)}, not {name!r}")
    return [value for value in known[name] if value not in LEFT_OUT.get(name, ())]


def compare(
    recipe: Recipe,
    sets: Sequence[RawSet],
    varied: Sequence[str] = TRIED,
    *,
    folds: int = 5,
    score: str = "pairwise_f1",
    groups: Sequence[Hashable] | None = None,
) -> Compared:
    """Try the recipe as it is, and with one thing changed at a time, on the same held-out sets.

    Differences are tested by Wilcoxon's signed ranks over groups of sets (sets where there are none), levels
    corrected by Holm's rule for as many settings as were tried. Settings that the data or the learner does
    not allow are kept with the reason.
    """
    usual = _tried(recipe, {}, sets, folds, score, groups)
    if usual.refused is not None:
        raise ValueError(usual.refused)
    owners = groups_of(sets) if groups is None and len(sets) > 1 else groups
    owners = owners if owners is not None and len(owners) == len(usual.values) else None
    found = [_tried(recipe, change, sets, folds, score, groups) for change in settings(recipe, varied)]
    tested = [t if t.refused is not None else _beside(t, usual, score, owners) for t in found]
    n = len(usual.values) if owners is None else len(set(owners))
    return Compared([usual, *holm(tested)], score, n)


def _tried(
    recipe: Recipe,
    change: dict[str, Any],
    sets: Sequence[RawSet],
    folds: int,
    score: str,
    groups: Sequence[Hashable] | None,
) -> Tried:
    name = ", ".join(str(value) for value in change.values()) or "the recipe as it is"
    changed = clone(recipe).set_params(**change)
    try:
        found = changed.cross_predict(sets, groups=groups, folds=folds)
    except ValueError as error:
        return Tried(name, change, np.zeros(0), refused=str(error))
    truth = [list(raw.labels or ()) for raw in found.sets]
    return Tried(name, change, np.asarray(evaluate(truth, found.labels).per_set[score]))


def _beside(one: Tried, usual: Tried, score: str, groups: Sequence[Hashable] | None) -> Tried:
    test = compare_paired(one.values, usual.values, lower_wins=lower_is_better(score), groups=groups)
    return Tried(one.name, one.settings, one.values, test, test.p_two_tailed)


def holm(tried: Sequence[Tried]) -> list[Tried]:
    """Levels for all together (Holm 1979): the i-th smallest of n counts n - i + 1 times.

    >>> one, two = (Tried(n, {}, np.zeros(1), level=p) for n, p in (("a", 0.02), ("b", 0.04)))
    >>> [t.level for t in holm([two, one])]
    [0.04, 0.04]
    """
    order = sorted((t for t in tried if t.level is not None), key=lambda t: t.level or 0.0)
    levels, last = {}, 0.0
    for i, t in enumerate(order):
        last = min(1.0, max(last, (len(order) - i) * (t.level or 0.0)))
        levels[id(t)] = last
    return [Tried(t.name, t.settings, t.values, t.beside, levels.get(id(t)), t.refused) for t in tried]
