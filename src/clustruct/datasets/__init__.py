"""Data sets: generators and readers."""

from .marbles import Marbles, make_marbles
from .multilabel import MultiLabelData, make_multilabel_chain, make_multilabel_count, read_multilabel

__all__ = [
    "Marbles",
    "MultiLabelData",
    "make_marbles",
    "make_multilabel_chain",
    "make_multilabel_count",
    "read_multilabel",
]
