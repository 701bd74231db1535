"""Which learner, loss, linkage or similarity? Each is tried on the same held-out sets, and tested beside the
recipe as it is.

All are looked at first, each by one training on half of the sets for each of two values of C; only the best
few are then cross-validated, C chosen anew in each fold: the first rung of successive halving (Jamieson and
Talwalkar 2016). With ``thorough`` all are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from clustruct import losses
from clustruct.core.callbacks import steps
from clustruct.core.typing import Floats
from clustruct.data import Table
from clustruct.features.similarity import SIMILARITIES
from clustruct.learning.model_selection.training_tables import groups_of
from clustruct.pipeline import LEARNERS, Recipe
from clustruct.search.agglomerative import LINKAGES

from .metrics import PairedComparison, compare_paired, evaluate, lower_is_better

# Differences of a larger level could be chance.
LEVEL = 0.05
# With fewer, no outcome of Wilcoxon's test is below 0.05 (two tails).
FEWEST_GROUPS = 6
# What is tried of each parameter. An exact kernel is for small data only: it is tried where it is asked for.
TRIED = ("learner", "loss", "linkage", "similarity")
LEFT_OUT = {"similarity": ("kernel",), "loss": ("normalised",)}
# What C is at the first look, where it is to be chosen.
LOOKED_C = (1.0, 10.0)
# How many settings are cross-validated beside the recipe as it is.
FINALISTS = 3
# Losses that are no sums over pairs do better with slack scaling, as a rule.
SLACK = ("mitre", "purity", "b_cubed", "lea", "ceaf_mention", "ceaf_entity", "variation_of_information")


@dataclass(frozen=True)
class SettingResult:
    """One setting on held-out sets.

    values : the score of each set
    beside : the setting beside the recipe as it is, over groups of sets; None for that one
    level : of the difference (two tails), by Holm's rule for all settings together
    look : the mean at the first look; a setting that was only looked at has no values
    """

    name: str
    settings: dict[str, Any]
    values: Floats
    beside: PairedComparison | None = None
    level: float | None = None
    refused: str | None = None
    look: float | None = None

    @property
    def mean(self) -> float:
        """The mean over sets."""
        return float(np.mean(self.values)) if len(self.values) else float("nan")

    @property
    def is_only_looked_at(self) -> bool:
        """Whether the setting was not among the best at the first look."""
        return self.refused is None and not len(self.values)


@dataclass(frozen=True)
class Compared:
    """All settings, the recipe as it is first, and what follows from them."""

    tried: list[SettingResult]
    score: str
    n_groups: int

    @property
    def best(self) -> SettingResult:
        """The setting of the best mean."""
        sign = 1.0 if lower_is_better(self.score) else -1.0
        return min((t for t in self.tried if len(t.values)), key=lambda t: sign * t.mean)

    @property
    def is_sure(self) -> bool:
        """Whether the best is better than the recipe as it is by more than chance."""
        return self.best.level is not None and self.best.level <= LEVEL

    def recommendation(self) -> str:
        """One sentence or two."""
        usual, best = self.tried[0], self.best
        if best is usual:
            tried = "cross-validated" if any(t.is_only_looked_at for t in self.tried) else "tried"
            return f"keep {usual.name}: nothing that was {tried} has a better mean"
        if self.is_sure:
            return f"take {best.name}: better than {usual.name} on held-out sets (p = {best.level:.2g})"
        why = f"p = {best.level:.2g}" if best.level is not None else "too few sets"
        few = f"; with {self.n_groups} independent groups of sets no difference can be sure"
        few = few if self.n_groups < FEWEST_GROUPS else ""
        return f"keep {usual.name}: {best.name} has the best mean, but that could be chance ({why}{few})"


def settings(recipe: Recipe, varied: Sequence[str]) -> Iterator[dict[str, Any]]:
    """What is changed in the recipe, one thing at a time; nothing is there twice under two names."""
    for name in varied:
        now = getattr(recipe, name, None) or {"loss": "pairwise"}.get(name)
        for value in _values(name):
            if value == now or (value == "agglomerative" and "linkage" in varied):
                continue
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
    sets: Sequence[Table],
    varied: Sequence[str] = TRIED,
    *,
    folds: int = 5,
    score: str = "pairwise_f1",
    groups: Sequence[Hashable] | None = None,
    thorough: bool = False,
) -> Compared:
    """Try the recipe as it is, and with one thing changed at a time, on the same held-out sets.

    Differences are tested by Wilcoxon's signed ranks over groups of sets (sets where there are none), levels
    corrected by Holm's rule for as many settings as were tried, those that were only looked at among them.
    Settings that the data or the learner does not allow are kept with the reason. ``thorough``: all settings
    are cross-validated, not only the best three at the first look.
    """
    trial = _SettingTrials(recipe, sets, folds, score, groups)
    changes = [*settings(recipe, varied)]
    looked = [] if thorough else [trial.look(change) for change in steps([{}, *changes], "first look")]
    chosen = changes if thorough else [t.settings for t in _best(looked, score)]
    usual, *found = [trial.in_full(change, looked) for change in steps([{}, *chosen], "cross-validation")]
    if usual.refused is not None:
        raise ValueError(usual.refused)
    owners = trial.owners(usual)
    tested = [t if t.refused is not None else _beside(t, usual, score, owners) for t in found]
    rest = [t for t in looked[1:] if t.settings not in chosen]
    n = len(usual.values) if owners is None else len(set(owners))
    return Compared([usual, *holm(tested, len(changes)), *_best_first(rest, score)], score, n)


@dataclass(frozen=True)
class _SettingTrials:
    """How settings are tried."""

    recipe: Recipe
    sets: Sequence[Table]
    folds: int
    score: str
    groups: Sequence[Hashable] | None

    def owners(self, usual: SettingResult) -> Sequence[Hashable] | None:
        """The group of each set, where sets are in groups and were not cut."""
        owners = groups_of(self.sets) if self.groups is None and len(self.sets) > 1 else self.groups
        return owners if owners is not None and len(owners) == len(usual.values) else None

    def in_full(self, change: dict[str, Any], looked: Sequence[SettingResult]) -> SettingResult:
        """The setting on every held-out set, and what it was at the first look."""
        look = next((t.look for t in looked if t.settings == change), None)
        return replace(self._try(change, {}, folds=self.folds), look=look)

    def look(self, change: dict[str, Any]) -> SettingResult:
        """One training on half of the sets at each of two C, the other half predicted."""
        Cs = LOOKED_C if self.recipe.C == "cv" else (self.recipe.C,)
        found = [self._try(change, {"C": C}, folds=2, at_most=1) for C in Cs]
        best = _best_first(found, self.score, by=lambda t: t.mean)[0]
        return replace(best, values=np.zeros(0), look=None if best.refused else best.mean)

    def _try(self, change: dict[str, Any], more: dict[str, Any], **cut: int) -> SettingResult:
        name = ", ".join(str(value) for value in change.values()) or "the recipe as it is"
        # Probabilities take trainings of their own, and nobody asks for them here.
        changed = clone(self.recipe).set_params(**{"calibrate": False, **change, **more})
        try:
            found = changed.cross_predict(self.sets, groups=self.groups, **cut)
        except ValueError as error:
            return SettingResult(name, change, np.zeros(0), refused=str(error))
        truth = [list(table.labels or ()) for table in found.sets]
        return SettingResult(name, change, np.asarray(evaluate(truth, found.labels).per_set[self.score]))


def _best(looked: Sequence[SettingResult], score: str) -> list[SettingResult]:
    """The settings that are cross-validated; the first is the recipe as it is, which always is."""
    return [t for t in _best_first(looked[1:], score) if t.refused is None][:FINALISTS]


def _best_first(
    tried: Sequence[SettingResult], score: str, by: Callable[[SettingResult], float | None] = lambda t: t.look
) -> list[SettingResult]:
    """The best first, those that were refused last."""
    sign = 1.0 if lower_is_better(score) else -1.0
    return sorted(tried, key=lambda t: np.inf if t.refused is not None else sign * (by(t) or 0.0))


def _beside(
    one: SettingResult, usual: SettingResult, score: str, groups: Sequence[Hashable] | None
) -> SettingResult:
    test = compare_paired(one.values, usual.values, lower_wins=lower_is_better(score), groups=groups)
    return replace(one, beside=test, level=test.p_two_tailed)


def holm(tried: Sequence[SettingResult], n: int = 0) -> list[SettingResult]:
    """Levels for all together (Holm 1979): the i-th smallest of n counts n - i + 1 times.

    n : how many there are, where that is more than have a level

    >>> one, two = (SettingResult(n, {}, np.zeros(1), level=p) for n, p in (("a", 0.02), ("b", 0.04)))
    >>> [t.level for t in holm([two, one])]
    [0.04, 0.04]
    """
    order = sorted((t for t in tried if t.level is not None), key=lambda t: t.level or 0.0)
    levels, last = {}, 0.0
    for i, t in enumerate(order):
        last = min(1.0, max(last, (max(n, len(order)) - i) * (t.level or 0.0)))
        levels[id(t)] = last
    return [replace(t, level=levels.get(id(t))) for t in tried]
