"""The LEA loss: 1 - F of links, each cluster weighed by its size."""

from dataclasses import dataclass

from clustruct.core.storage import DataclassState
from clustruct.core.typing import LabelsLike

from .base import register
from .tables import AdditiveLoss, TableForm


@register("lea")
@dataclass(frozen=True)
class LEALoss(DataclassState, AdditiveLoss):
    """Delta(y, ybar) = 100 (1 - 2PR/(P+R)),   R = 1/m sum_t |t| sum_c link(n_ct) / link(|t|), P the reverse.

    link(n) = n (n - 1) / 2; a cluster of one item has one link, found where the item is alone on the other
    side, too (Moosavi and Strube 2016). Cost O(m log m).

    Examples
    --------
    >>> round(LEALoss()([0, 0, 0, 1], [0, 0, 1, 2]), 6)
    40.0
    """

    def table_form(self, y_true: LabelsLike) -> TableForm:
        """Both sums add up over predicted clusters."""
        return TableForm.of("lea", y_true)
