"""A pair explained by the features that it begins with, whatever stands between them and the clusterer."""

from __future__ import annotations

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct._typing import Floats, LabelsLike
from clustruct.features import PairFeatures
from clustruct.itemsets import ItemSet
from clustruct.records import RawSet
from clustruct.similarity import PairMap, Terms

from .pairs import PairExplanation, is_listed, pair_contributions
from .similarities import model_weights


def explain_pair(
    pipeline: Pipeline,
    given: RawSet | ItemSet,
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
    given : RawSet or ItemSet
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
    >>> from clustruct.datasets import make_records
    >>> from clustruct.explain import by_field, feature_fields
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
    pipeline: Pipeline, given: RawSet | ItemSet, x: ItemSet, a: int, b: int, w: Floats
) -> Terms | None:
    """What adds up to the similarity of the pair; None where that are the features of x."""
    first, last = pipeline[0], pipeline[-2]
    if isinstance(last, PairMap):
        before = given if last is first else pipeline[:-2].transform([given])[0]
        names = before.feature_names or [f"feature {j}" for j in range(before.n_features)]
        return last.terms(before.pair_features(a, b)[None], names, w) if is_listed(before, a, b) else None
    if not isinstance(first, PairFeatures) or last is not first:
        return None
    if first.map_ is None and is_listed(x, a, b):
        return None
    assert isinstance(given, RawSet)
    return first.checked().terms(given, np.array([[min(a, b), max(a, b)]]), w)
