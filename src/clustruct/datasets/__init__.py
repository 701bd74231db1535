"""Data sets: generators and readers."""

from .marbles import Marbles, make_marbles
from .multilabel import MultiLabelData, make_multilabel_chain, make_multilabel_count, read_multilabel
from .raw_sets import make_mentions, make_news, make_records
from .synth import make_synth

__all__ = [
    "Marbles",
    "MultiLabelData",
    "make_marbles",
    "make_mentions",
    "make_multilabel_chain",
    "make_multilabel_count",
    "make_news",
    "make_records",
    "make_synth",
    "read_multilabel",
]
