"""Pictures of learned similarities, in the manner of scikit-learn's Display objects.

    SimilarityMatrixDisplay   similarities ordered by cluster, with cluster borders and the true clusters
    WeightsDisplay            the largest weights, in comparable units
    PairContributionDisplay   why two items are together: each feature's contribution
    ConvergenceDisplay        bounds on the objective, or their gap, as training went on
    SplitMergeDisplay         how true clusters flow into predicted ones, worst errors first
    PrecisionDisplay          what precision costs in recall, on held-out clusters

matplotlib is needed to draw: ``pip install clustruct[plot]``. Nothing of it is imported before a picture is.
"""

from .bar_charts import PairContributionDisplay, WeightsDisplay
from .curves import ConvergenceDisplay, PrecisionDisplay
from .similarity import SimilarityMatrixDisplay
from .split_merge import SplitMergeDisplay

__all__ = [
    "ConvergenceDisplay",
    "PairContributionDisplay",
    "PrecisionDisplay",
    "SimilarityMatrixDisplay",
    "SplitMergeDisplay",
    "WeightsDisplay",
]
