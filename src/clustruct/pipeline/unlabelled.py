"""A recipe without labels: features as for labelled sets, and a similarity that is guessed from them, and
from people's judgements of a few items where there are some.
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

from .learners import training_summary
from .recipe import Recipe
from .training_pairs import choose_source, fit_features

# Of a larger table the pairs of so many items, drawn at random, are looked at; and of all that people named.
MOST_ITEMS = 5000


def fit_without_labels(
    recipe: Recipe, sets: Iterable[Table], *, evidence: Sequence[Evidence | None] | None = None
) -> Recipe:
    """The recipe, fitted to sets whose groups are not known (`LatentPairClustering`), whatever labels
    they have.

    Parameters
    ----------
    recipe : Recipe
        Kind, fields, block, n_neighbors, source, random_state and memory_limit count.
    sets : iterable of Table
        Raw sets.
    evidence : sequence of Evidence, optional
        For each set what is known of its items, or None.

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
    known: list[Evidence | None] = [None] * len(bare) if evidence is None else list(evidence)
    recipe.pipeline_ = guess_pipeline(recipe, features, bare, known)
    recipe.was_cut_ = False
    recipe.training_ = {**training_summary(recipe.pipeline_[-1], bare), "source": None}
    return recipe


def features_of(recipe: Recipe, sets: list[Table]) -> PairFeatures:
    """Features that suit sets without labels."""
    named = recipe if recipe.source != "auto" else Recipe(**{**recipe.get_params(deep=False), "source": None})
    chosen = choose_source(sets, named.source, named.within_source, named.fields)
    return fit_features(named, sets, whole=len(sets) == 1, chosen=chosen)


def guess_pipeline(
    recipe: Recipe, features: PairFeatures, sets: Sequence[Table], evidence: Sequence[Evidence | None]
) -> Pipeline:
    """A pipeline of these features and a similarity that is guessed, and learned from the evidence."""
    trusting = features.check_tables()
    rng = np.random.default_rng(recipe.random_state)
    some = [_sample_items(table, one, rng) for table, one in zip(sets, evidence, strict=True)]
    item_sets = [trusting.transform([table], [own])[0] for table, own in zip(sets, some, strict=True)]
    model = LatentPairClustering(random_state=recipe.random_state, memory_limit=recipe.memory_limit)
    with working("learning"):
        model.fit(item_sets, evidence=evidence)
    return Pipeline([("features", features), ("model", model)])


def _sample_items(table: Table, evidence: Evidence | None, rng: np.random.Generator) -> Bools | None:
    """The items whose pairs are looked at; None: all."""
    if len(table) <= MOST_ITEMS:
        return None
    some = np.zeros(len(table), np.bool_)
    some[rng.choice(len(table), MOST_ITEMS, replace=False)] = True
    return some if evidence is None else some | evidence.named
