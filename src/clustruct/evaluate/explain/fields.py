"""Contributions by field: what each column of the data adds to a similarity, then what each feature does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clustruct.core.typing import Floats
from clustruct.features import PairFeatures
from clustruct.features.feature_matrix import product_names
from clustruct.features.similarity import SimilarityTerms
from clustruct.features.similarity.base import by_trees

from .pairs import PairExplanation

# What features are of that look at no field, or at several.
NO_FIELD, SEVERAL = "in general", "all fields together"


@dataclass(frozen=True)
class FieldContribution:
    """What one field adds to the similarity of two items.

    Attributes
    ----------
    field : str
        The name of the field.
    contribution : float
        The sum over its features.
    features : tuple of tuple of str, float, float, float
        Its features by size of contribution, each with its value, weight and contribution.
    """

    field: str
    contribution: float
    features: tuple[tuple[str, float, float, float], ...]


def feature_fields(features: PairFeatures) -> dict[str, str]:
    """The field that each feature looks at, by its name.

    Parameters
    ----------
    features : PairFeatures
        Fitted pair features.

    Returns
    -------
    dict
        The name of the field by the name of the feature.

    Examples
    --------
    >>> from clustruct.features import Numbers
    >>> from clustruct.data import Table
    >>> found = feature_fields(PairFeatures([Numbers("n")]).fit([Table([{"n": 1}, {"n": 2}])]))
    >>> sorted(set(found.values()))
    ['in general', 'n']
    """
    found: dict[str, str] = {}
    for block in features.blocks_:
        fields = list(dict.fromkeys(block.used_fields()))
        owner = NO_FIELD if not fields else fields[0] if len(fields) == 1 else SEVERAL
        found |= {str(name): owner for name in block.get_feature_names_out()}
    names = list(found)
    for (i, j), name in zip(
        features.product_columns_, product_names(features.product_columns_, names), strict=True
    ):
        both = dict.fromkeys([found[names[i]], found[names[j]]])
        found[name] = " and ".join(both)
    if features.map_ is None:
        return found
    # A column of a map that is called as a feature is that one once more: the constant.
    columns = dict.fromkeys(features.map_.names(), SEVERAL)
    return columns | {by_trees(name): owner for name, owner in found.items()} | found


def by_field(why: PairExplanation, fields: dict[str, str]) -> list[FieldContribution]:
    """The contributions of a pair summed by field, the largest sum first; they add up to the similarity.

    Parameters
    ----------
    why : PairExplanation
        The contributions of the features of a pair.
    fields : dict
        The field that each feature looks at (`feature_fields`).

    Returns
    -------
    list of FieldContribution
        One entry for each field.
    """
    held: dict[str, list[tuple[str, float, float, float]]] = {}
    rows = zip(why.names, why.values, why.weights, why.contributions, strict=True)
    for name, value, weight, contribution in rows:
        entry = (name, float(value), float(weight), float(contribution))
        held.setdefault(fields.get(name, NO_FIELD), []).append(entry)
    found = [FieldContribution(field, _sum(entries), tuple(entries)) for field, entries in held.items()]
    return sorted(found, key=lambda one: -abs(one.contribution))


def _sum(entries: Sequence[tuple[str, float, float, float]]) -> float:
    return float(sum(contribution for *_, contribution in entries))


def field_sums(terms: SimilarityTerms, fields: dict[str, str]) -> dict[str, Floats]:
    """What each field adds to the similarities of some pairs, the largest mean size first.

    Parameters
    ----------
    terms : SimilarityTerms
        What adds up to the similarities (`PairFeatures.terms`).
    fields : dict
        The field that each feature looks at (`feature_fields`).

    Returns
    -------
    dict of str to array of float
        By field one sum for each pair; over all fields they add up to the similarities.
    """
    found: dict[str, Floats] = {}
    for name, column in zip(terms.names, terms.contributions.T, strict=True):
        field = fields.get(name, NO_FIELD)
        found[field] = found.get(field, 0.0) + column
    return dict(sorted(found.items(), key=lambda entry: -float(np.abs(entry[1]).sum())))
