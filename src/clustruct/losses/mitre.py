"""The MITRE loss Delta_M: 1 - F of the MUC link score."""

from dataclasses import dataclass

from clustruct.core.partitions import canonical_labels
from clustruct.core.storage import DataclassState
from clustruct.core.typing import LabelsLike

from .base import register
from .counts import CountForm, CountLoss


@register("mitre")
@dataclass(frozen=True)
class MitreLoss(DataclassState, CountLoss):
    """Delta_M(y, ybar) = 100 (1 - 2PR/(P+R)), and 100 where P + R = 0.

    R = sum_c (|c| - number of ybar clusters that c meets) / sum_c (|c| - 1) over the clusters c of y,
    R = 1 where the denominator is 0; P is the same with y and ybar exchanged. Vilain et al. 1995; Finley
    2009, eq. (3.13), as the complement of F (the dissertation prints F itself as the loss).

    Both numerators are m - Z, Z the number of pairs (true cluster, predicted cluster) that share an
    item, so F = 2 (m - Z) / (2m - k_true - k), and 1 where both partitions are all singletons. Hence a
    merge changes the loss only through the number of true clusters the two merged clusters share.
    Cost O(m log m).

    Examples
    --------
    >>> round(MitreLoss()([0, 0, 0, 1, 1], [0, 0, 1, 1, 1]), 2)
    33.33
    >>> MitreLoss()([0, 1], [0, 1]), MitreLoss()([0, 1], [0, 0])
    (0.0, 100.0)
    """

    def count_form(self, y_true: LabelsLike) -> CountForm:
        """Delta = 100 (2Z - k_true - k) / (2m - k_true - k)."""
        y = canonical_labels(y_true, name="y_true")
        k_true = float(y.max()) + 1.0 if y.size else 0.0
        return CountForm(
            numerator=(-100.0 * k_true, 200.0, -100.0),
            denominator=(2.0 * y.size - k_true, -1.0, 0.0),
            pair_weight=0.0,
            shared_pair_weight=0.0,
            cell_weight=1.0,
        )
