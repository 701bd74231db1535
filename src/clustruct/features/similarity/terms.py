"""What adds up to a similarity, by feature: what explanations are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clustruct.core.typing import Floats

# What trees say of a pair before they look at it.
ANY_PAIR = "any pair"
# Why trees of older model files cannot say what each feature adds.
UNTOLD = (
    "The model is of an older form, which does not keep what each feature adds to what its trees say: "
    "learn it again to see that."
)


def by_trees(name: str) -> str:
    """The name of what trees make of a feature that has a weight of its own beside them.

    >>> by_trees("title: same")
    'title: same (trees)'
    """
    return f"{name} (trees)"


@dataclass(frozen=True)
class SimilarityTerms:
    """Numbers that add up to the similarity of each of some pairs: K_p = sum_t contributions[p, t].

    Attributes
    ----------
    names : tuple of str
        Of the terms: features, and what is common to all pairs.
    values : array of float
        The features, one row for each pair.
    weights : array of float
        One for each term, contributions being weights times values; nan for what trees make of features.
    contributions : array of float
        One row for each pair.
    note : str, default=""
        What there is to say about them.

    Examples
    --------
    >>> names = ["words", "constant"]
    >>> SimilarityTerms.linear(np.array([[2.0, 1.0]]), names, np.array([3.0, -1.0])).contributions
    array([[ 6., -1.]])
    """

    names: tuple[str, ...]
    values: Floats
    weights: Floats
    contributions: Floats
    note: str = ""

    @classmethod
    def linear(cls, values: Floats, names: Sequence[str], w: Floats) -> SimilarityTerms:
        """Of a linear similarity: weights times values."""
        return cls(tuple(names), values, w, values * w)

    @classmethod
    def of_credits(
        cls, values: Floats, names: Sequence[str], weight: float, base: float, credits: Floats
    ) -> SimilarityTerms:
        """Of a column that has this weight, and is the sum of a base and of credits of the features."""
        common = np.full((len(values), 1), weight * base)
        return cls(
            (*names, ANY_PAIR),
            np.hstack([values, np.ones_like(common)]),
            np.full(len(names) + 1, np.nan),
            np.hstack([weight * credits, common]),
        )

    def beside(self, other: SimilarityTerms) -> SimilarityTerms:
        """These terms and others of the same pairs."""
        return SimilarityTerms(
            (*self.names, *other.names),
            np.hstack([self.values, other.values]),
            np.append(self.weights, other.weights),
            np.hstack([self.contributions, other.contributions]),
            self.note or other.note,
        )
