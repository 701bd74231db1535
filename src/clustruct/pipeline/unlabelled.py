"""A recipe without labels: features as for labelled sets, and a similarity that is guessed from them, and
from what people said of a few items where they did.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct.core.callbacks import working
from clustruct.core.exceptions import DataError
from clustruct.core.typing import Bools
from clustruct.data import Evidence, Table
from clustruct.estimators.baselines import LatentPairClustering
from clustruct.features import PairFeatures

from .learning import Recipe
from .sources import choose_source
from .trained import training

# Of a larger table the pairs of so many items, drawn at random, are looked at; and of all that people named.
MOST_ITEMS = 5000
GUESSED = (
    "a model without labels is a guess by which fields agree: nothing says how good it is. Label some "
    "groups, or answer questions in clustruct studio, before you rely on it"
)


def fit_without_labels(
    recipe: Recipe, sets: Iterable[Table], *, marks: Sequence[Evidence | None] | None = None
) -> Recipe:
    """The recipe, fitted to sets whose groups are not known (`LatentPairClustering`), whatever labels
    they have.

    Parameters
    ----------
    recipe : Recipe
        Kind, fields, block, n_neighbors, source, random_state and memory_limit count.
    sets : iterable of Table
        Raw sets.
    marks : sequence of Evidence, optional
        For each set what people said of its items, or None.

    Returns
    -------
    Recipe
        The recipe itself, fitted.

    Examples
    --------
    >>> from clustruct.data.datasets import make_records
    >>> sets = make_records(n_sets=2, n_people=10)
    >>> recipe = fit_without_labels(Recipe(), sets)
    >>> recipe.score(sets) > 0.9
    True
    """
    bare = [replace(table, labels=None) for table in sets]
    if sum(map(len, bare)) < 3:
        raise DataError("three items at least are needed to learn from")
    features = features_of(recipe, bare)
    told: list[Evidence | None] = [None] * len(bare) if marks is None else list(marks)
    recipe.pipeline_ = guessed(recipe, features, bare, told)
    recipe.was_cut_ = False
    recipe.training_ = {**training(recipe.pipeline_[-1], bare), "source": None}
    return recipe


def features_of(recipe: Recipe, sets: list[Table]) -> PairFeatures:
    """Features that suit sets without labels.

    Parameters
    ----------
    recipe : Recipe
        What is asked for: kind, fields, blocking, sources.
    sets : list of Table
        The sets; their labels are not looked at.

    Returns
    -------
    PairFeatures
        Features that are fitted to the sets.
    """
    named = recipe if recipe.source != "auto" else Recipe(**{**recipe.get_params(deep=False), "source": None})
    return named._features(
        sets,
        whole=len(sets) == 1,
        chosen=choose_source(sets, named.source, named.within_source, named.fields),
    )


def guessed(
    recipe: Recipe, features: PairFeatures, sets: Sequence[Table], marks: Sequence[Evidence | None]
) -> Pipeline:
    """A pipeline of these features and a similarity that is guessed, and learned from what people said.

    Parameters
    ----------
    recipe : Recipe
        Whose random state and memory limit count.
    features : PairFeatures
        Fitted pair features.
    sets : sequence of Table
        The sets to be grouped.
    marks : sequence of Evidence or None
        For each set what people said of its items, or None.

    Returns
    -------
    Pipeline
        The fitted pipeline.
    """
    trusting = features.checked()
    rng = np.random.default_rng(recipe.random_state)
    some = [_some_items(table, m, rng) for table, m in zip(sets, marks, strict=True)]
    item_sets = [trusting.transform([table], [own])[0] for table, own in zip(sets, some, strict=True)]
    model = LatentPairClustering(random_state=recipe.random_state, memory_limit=recipe.memory_limit)
    with working("learning"):
        model.fit(item_sets, evidence=marks)
    return Pipeline([("features", features), ("model", model)])


def _some_items(table: Table, marks: Evidence | None, rng: np.random.Generator) -> Bools | None:
    """The items whose pairs are looked at; None: all."""
    if len(table) <= MOST_ITEMS:
        return None
    some = np.zeros(len(table), np.bool_)
    some[rng.choice(len(table), MOST_ITEMS, replace=False)] = True
    return some if marks is None else some | marks.named
