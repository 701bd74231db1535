"""The B-cubed loss: 1 - F of what items see of their clusters."""

from dataclasses import dataclass

from clustruct.core.storage import DataclassState
from clustruct.core.typing import LabelsLike

from .base import register
from .tables import AdditiveLoss, TableForm


@register("b_cubed")
@dataclass(frozen=True)
class BCubedLoss(DataclassState, AdditiveLoss):
    """Delta(y, ybar) = 100 (1 - 2PR/(P+R)),   R = 1/m sum_ct n_ct^2 / |t|,  P = 1/m sum_ct n_ct^2 / |c|.

    Of each item, the share of its true cluster that is found with it, and the share of its predicted cluster
    that is right (Bagga and Baldwin 1998). Cost O(m log m).

    Examples
    --------
    >>> round(BCubedLoss()([0, 0, 1, 1], [0, 0, 0, 0]), 2)
    33.33
    """

    def table_form(self, y_true: LabelsLike) -> TableForm:
        """Both sums add up over predicted clusters."""
        return TableForm.of("b_cubed", y_true)
