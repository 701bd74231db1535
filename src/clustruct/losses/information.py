"""The variation of information as a loss."""

from dataclasses import dataclass

from clustruct.core.storage import DataclassState
from clustruct.core.typing import LabelsLike

from .base import register
from .tables import AdditiveLoss, TableForm


@register("variation_of_information")
@dataclass(frozen=True)
class VariationOfInformationLoss(DataclassState, AdditiveLoss):
    """Delta(y, ybar) = 100 (H(y | ybar) + H(ybar | y)) / log m,   0 for one item.

    A metric on partitions (Meila 2007); log m is its largest value. Cost O(m log m).

    Examples
    --------
    >>> VariationOfInformationLoss()([0, 0, 1, 1], [0, 0, 0, 0])
    50.0
    """

    def table_form(self, y_true: LabelsLike) -> TableForm:
        """m VI = sum_t |t| log |t| + sum_c |c| log |c| - 2 sum_ct n_ct log n_ct."""
        return TableForm.of("information", y_true)
