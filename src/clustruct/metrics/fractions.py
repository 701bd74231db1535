"""Precision, recall and F as fractions that can be pooled over item sets."""

from typing import NamedTuple


class Scores(NamedTuple):
    """Precision P, recall R and f1 = 2PR/(P+R), 0 where P + R = 0."""

    precision: float
    recall: float
    f1: float


class Fractions(NamedTuple):
    """Numerators and denominators of precision and recall.

    Their sums over item sets give the pooled (micro) scores, as the CoNLL scorer pools documents.

    >>> one, other = Fractions(1, 2, 1, 2), Fractions(2, 2, 2, 2)
    >>> one.pooled_with(other).scores(zero_division=0.0)
    Scores(precision=0.75, recall=0.75, f1=0.75)
    """

    precision_top: float
    precision_bottom: float
    recall_top: float
    recall_bottom: float

    def pooled_with(self, other: "Fractions") -> "Fractions":
        """Numerators and denominators added."""
        return Fractions(*(a + b for a, b in zip(self, other, strict=True)))

    def scores(self, zero_division: float) -> Scores:
        """The scores; a fraction 0/0 counts as `zero_division`."""
        P = self.precision_top / self.precision_bottom if self.precision_bottom else zero_division
        R = self.recall_top / self.recall_bottom if self.recall_bottom else zero_division
        return Scores(P, R, 2 * P * R / (P + R) if P + R > 0 else 0.0)
