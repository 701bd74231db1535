"""Losses Delta(y, ybar) between a true and a predicted partition, and what searches need of them.

    PairwiseLoss      wrong pairs, with costs for false merges and false splits; linear in pairs
    PairwiseFLoss     1 - F of pairs put together
    MitreLoss         1 - F of the MUC link score
    MutualPurityLoss  1 - harmonic mean of the two purities
    BCubedLoss, LEALoss, CEAFMentionLoss, CEAFEntityLoss   1 - F of the scores of coreference
    VariationOfInformationLoss   by information theory
    NormalisedLoss    distance of normalised cluster matrices (k-means), same k only
    FunctionLoss      any function of two label vectors

Every loss is on a 0..100 scale, is called as `loss(y_true, y_pred)`, and gives a *loss state* with
`loss.start(y_true, labels)`: the loss after any merge or move, without starting from scratch. A loss of one's
own is a class with these two, registered by `register("name")`.

In: label vectors. Out: numbers, and their change by a step. Nothing here searches or knows of features.

``__all__`` is for users; what is imported with ``as`` is for the other packages.
"""

# isort: skip_file

from typing import TYPE_CHECKING

from clustruct.core.lazy import lazy_names

if TYPE_CHECKING:
    from .base import LinearLoss, Loss, LossState, PairWeights as PairWeights, register
    from .ceaf import CEAFEntityLoss, CEAFMentionLoss, best_matching as best_matching
    from .counts import (
        CountForm,
        CountLoss,
        CountState as CountState,
        MitreLoss,
        PairwiseLoss,
        PartialLoss as PartialLoss,
    )
    from .function import FunctionLoss, as_loss, names
    from .normalised import NormalisedLoss
    from .pairwise_f import PairCountLoss, PairCounts as PairCounts, PairwiseFLoss
    from .purity import MutualPurityLoss
    from .cluster_tables import (
        BCubedLoss,
        LEALoss,
        TableForm as TableForm,
        TableLoss as TableLoss,
        VariationOfInformationLoss,
    )

__all__ = [
    "BCubedLoss",
    "CEAFEntityLoss",
    "CEAFMentionLoss",
    "CountForm",
    "CountLoss",
    "FunctionLoss",
    "LEALoss",
    "LinearLoss",
    "Loss",
    "LossState",
    "MitreLoss",
    "MutualPurityLoss",
    "NormalisedLoss",
    "PairCountLoss",
    "PairwiseFLoss",
    "PairwiseLoss",
    "VariationOfInformationLoss",
    "as_loss",
    "names",
    "register",
]

__getattr__, __dir__ = lazy_names(__name__)
