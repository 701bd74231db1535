"""Label sets as a pairwise Markov random field (chapter 5): model, data and scores."""

from .estimator import MultiLabelMRF
from .label_sets import (
    MultiLabelData,
    label_set_scores,
    make_multilabel_chain,
    make_multilabel_count,
    read_multilabel,
)
from .multilabel_problem import MultiLabelProblem

__all__ = [
    "MultiLabelData",
    "MultiLabelMRF",
    "MultiLabelProblem",
    "label_set_scores",
    "make_multilabel_chain",
    "make_multilabel_count",
    "read_multilabel",
]
