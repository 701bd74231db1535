"""Label sets as a pairwise Markov random field (chapter 5): model, data and scores."""

from .datasets import MultiLabelData, make_multilabel_chain, make_multilabel_count, read_multilabel
from .estimator import MultiLabelMRF
from .label_sets import label_rows, label_set_scores
from .problem import MultiLabelProblem

__all__ = [
    "MultiLabelData",
    "MultiLabelMRF",
    "MultiLabelProblem",
    "label_rows",
    "label_set_scores",
    "make_multilabel_chain",
    "make_multilabel_count",
    "read_multilabel",
]
