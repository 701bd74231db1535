"""A recipe without labels: features as for labelled sets, and a similarity that is guessed from them, and
from people's judgements of a few items where there are some.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from clustruct.core.callbacks import working
from clustruct.core.exceptions import ChoiceWarning, DataError, ReliabilityWarning
from clustruct.core.typing import Bools
from clustruct.data import Evidence, Table
from clustruct.estimators.baselines import LatentPairClustering
from clustruct.features import PairFeatures
from clustruct.features.row_equality import MOST_COPIES

from .learners import training_summary
from .training_pairs import choose_source, fit_features

if TYPE_CHECKING:
    from .recipe import Recipe

# Of a larger table the pairs of so many items, drawn at random, are looked at; and of all that people named.
MOST_ITEMS = 5000
# Parameters of a recipe that say how labels are learned from.
OF_LABELS = (
    *("loss", "surrogates", "merge_cost", "scaling", "nonnegative", "calibrate", "oracle", "predictor"),
    *("formulation", "loss_in_oracle", "for_size", "linkage"),
)


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
    >>> from clustruct import Recipe
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
    if (doubt := recipe.pipeline_[-1].doubt()) is not None:
        text = (
            f"what was learned without labels is of little use: {doubt}. Name the columns that tell what a "
            "row is about (--fields, Recipe(fields=...)), or label some groups"
        )
        warnings.warn(text, ReliabilityWarning, stacklevel=2)
    recipe.was_cut_ = False
    recipe.training_ = {**training_summary(recipe.pipeline_[-1], bare, features), "source": None}
    return recipe


def features_of(recipe: BaseEstimator, sets: list[Table]) -> PairFeatures:
    """Features that suit sets without labels."""
    source = None if recipe.source == "auto" else recipe.source
    chosen = choose_source(sets, source, recipe.within_source, recipe.fields)
    return fit_features(recipe, sets, whole=len(sets) == 1, chosen=chosen)


def guess_pipeline(
    recipe: BaseEstimator,
    features: PairFeatures,
    sets: Sequence[Table],
    evidence: Sequence[Evidence | None],
    **options: Any,
) -> Pipeline:
    """A pipeline of these features and a similarity that is guessed, and learned from the evidence.
    ``options`` are further ones of `LatentPairClustering`.
    """
    trusting = features.check_tables()
    rng = np.random.default_rng(recipe.random_state)
    some = [_sample_items(table, one, rng) for table, one in zip(sets, evidence, strict=True)]
    item_sets = [
        trusting.transform([table], [own], most_copies=MOST_COPIES)[0]
        for table, own in zip(sets, some, strict=True)
    ]
    model = LatentPairClustering(
        random_state=recipe.random_state, memory_limit=recipe.memory_limit, **options
    )
    known = None if all(one is None for one in evidence) else evidence
    with working("learning"):
        model.fit(item_sets, evidence=known)
    return Pipeline([("features", features), ("model", model)])


def learn_judgements(
    recipe: BaseEstimator,
    sets: Sequence[Table],
    evidence: Sequence[Evidence | None],
    features: PairFeatures | None = None,
) -> tuple[Pipeline, dict[str, Any]]:
    """A pipeline that has learned from people's judgements alone, of sets without labels, and a summary.

    Judged pairs tell the weights of features, and the guess tells what pairs are like that nobody has
    judged. How much either counts is chosen on judgements that are held out. ``features``: those of an
    earlier model, which goes on.
    """
    bare = [replace(table, labels=None) for table in sets]
    _check_options(recipe)
    if features is None:
        features = features_of(recipe, bare)
    else:
        features.check_tables(bare)
    options = {} if recipe.C == "cv" else {"C": float(recipe.C)}
    pipeline = guess_pipeline(recipe, features, bare, evidence, prior="cv", **options)
    choice = pipeline[-1].answer_choice_
    if choice.n_judged == 0:
        raise DataError(
            "nothing to learn from: of the pairs that people marked none is compared, being no likely "
            "one (--block 0, or block=0, compares all pairs)"
        )
    held = choice.held_out
    return pipeline, {
        "source": None,
        "held_out": None if held is None else "pairs",
        "held_out_pairwise_f": None if held is None else held.pairwise_f,
        "judged_pairs": choice.summary(),
    }


def _check_options(recipe: BaseEstimator) -> None:
    """Refuse what judgements alone cannot teach; warn of what does not count."""
    if recipe.learner != "correlation":
        raise ValueError(f"{recipe.learner!r} does not learn from corrections: use learner='correlation'")
    if recipe.similarity != "linear":
        raise ValueError("similarity goes with labels: corrections alone teach the linear one")
    usual = type(recipe)()
    unused = [name for name in OF_LABELS if getattr(recipe, name) != getattr(usual, name)]
    if unused:
        text = (
            f"{', '.join(unused)} not used: they are about labelled groups, and there are judged pairs alone"
        )
        warnings.warn(text, ChoiceWarning, stacklevel=4)


def _sample_items(table: Table, evidence: Evidence | None, rng: np.random.Generator) -> Bools | None:
    """The items whose pairs are looked at; None: all."""
    if len(table) <= MOST_ITEMS:
        return None
    some = np.zeros(len(table), np.bool_)
    some[rng.choice(len(table), MOST_ITEMS, replace=False)] = True
    return some if evidence is None else some | evidence.named
