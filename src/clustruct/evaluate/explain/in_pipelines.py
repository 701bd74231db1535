"""Pairs explained by the features that a pipeline begins with, whatever its clusterer meets of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct.core.typing import Floats, LabelsLike
from clustruct.data import ItemSet, Table
from clustruct.features import PairFeatures
from clustruct.features.similarity import PairMap, SimilarityTerms
from clustruct.pipeline import model_weights

from .fields import NO_FIELD, feature_fields, field_sums
from .pairs import PairExplanation, pair_contributions


def explain_pair(
    pipeline: Pipeline,
    given: Table | ItemSet,
    a: int,
    b: int,
    labels: LabelsLike | None = None,
    *,
    x: ItemSet | None = None,
) -> PairExplanation:
    """Explain the similarity of two items of a set by the features that a pipeline begins with.

    Of a linear similarity that is `pair_contributions`. Where trees stand in the place of the features, or
    beside them, each feature has what it adds to what the trees say: the splits on the path of the pair have
    the steps of value that follow them. Contributions add up to the similarity, as ever.

    Parameters
    ----------
    pipeline : Pipeline
        `PairFeatures`, or a `PairMap` of item sets, and a fitted clusterer with weights.
    given : Table or ItemSet
        The set, as the pipeline takes it.
    a, b : int
        Numbers of two items.
    labels : array-like, optional
        The predicted clustering of the set, made here if not given.
    x : ItemSet, optional
        The set as the clusterer meets it, made here if not given.

    Returns
    -------
    PairExplanation
        The contributions, the largest first; also of a pair that is not compared, as if it were.

    Examples
    --------
    >>> from clustruct import Recipe
    >>> from clustruct.data.datasets import make_records
    >>> from clustruct.evaluate.explain import by_field, feature_fields
    >>> sets = make_records(n_sets=4, n_people=5)
    >>> model = Recipe(C=1.0, similarity="trees").fit(sets[:3])
    >>> why = explain_pair(model.pipeline_, sets[3], 0, 1)
    >>> bool(abs(why.contributions.sum() - why.similarity) < 1e-9)
    True
    >>> {"name", "street"} <= {one.field for one in by_field(why, feature_fields(model.pipeline_[0]))}
    True
    """
    x = pipeline[:-1].transform([given])[0] if x is None else x
    w, _, _ = model_weights(pipeline[-1], x)
    return pair_contributions(pipeline[-1], x, a, b, labels, terms=_terms(pipeline, given, x, a, b, w))


def _terms(
    pipeline: Pipeline, given: Table | ItemSet, x: ItemSet, a: int, b: int, w: Floats
) -> SimilarityTerms | None:
    """What adds up to the similarity of the pair; None where that are the features of x."""
    *before, last = [step for _, step in pipeline.steps[:-1]] or [None]
    listed = x.compares(a, b)
    if isinstance(last, PairMap) and listed:
        plain: Any = pipeline[:-2].transform([given])[0] if before else given
        names = plain.feature_names or [f"feature {j}" for j in range(plain.n_features)]
        return last.terms(plain.pair_features(a, b)[None], names, w)
    if isinstance(last, PairFeatures) and isinstance(given, Table) and (last.map_ is not None or not listed):
        return last.check_tables().terms(given, np.array([[min(a, b), max(a, b)]]), w)
    return None


def tells_by_feature(pipeline: Pipeline) -> bool:
    """Whether trees stand before the clusterer, of which `field_sizes` says more than the weights do."""
    made = getattr(pipeline[0], "map_", None)
    return made is not None and made.by_feature and hasattr(pipeline[-1], "linear_similarity")


def field_sizes(
    pipeline: Pipeline, sets: Sequence[Table], *, most: int = 2000, random_state: int = 0
) -> dict[str, float]:
    """How much each field counts: the mean size of what it adds to the similarity of a pair.

    Parameters
    ----------
    pipeline : Pipeline
        Fitted `PairFeatures` and a clusterer with weights.
    sets : sequence of Table
        The sets whose compared pairs are looked at, all sets alike.
    most : int, default=2000
        Of so many pairs in all, drawn at random where there are more.
    random_state : int, default=0
        Seed of the draw.

    Returns
    -------
    dict of str to float
        The sizes by field, the largest first; what all pairs have in common is no field.

    Examples
    --------
    >>> from clustruct import Recipe
    >>> from clustruct.data.datasets import make_records
    >>> sets = make_records(n_sets=4, n_people=5)
    >>> model = Recipe(C=1.0, similarity="trees").fit(sets[:3])
    >>> "phone" in field_sizes(model.pipeline_, sets[3:])
    True
    """
    features, (w, _, _) = pipeline[0].check_tables(sets), model_weights(pipeline[-1])
    fields, draw = feature_fields(features), np.random.default_rng(random_state)
    held: dict[str, list[Floats]] = {}
    for table in sets:
        pairs = features.compared_pairs(table)
        each = max(most // len(sets), 1)
        some = pairs if len(pairs) <= each else pairs[np.sort(draw.choice(len(pairs), each, replace=False))]
        for field, sums in field_sums(features.terms(table, some, w), fields).items():
            held.setdefault(field, []).append(np.abs(sums))
    sizes = {field: float(np.concatenate(parts).mean()) for field, parts in held.items() if field != NO_FIELD}
    return dict(sorted(sizes.items(), key=lambda entry: -entry[1]))
