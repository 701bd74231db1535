"""Data sets: generators and readers."""

from .multilabel import MultiLabelData, make_multilabel_chain, make_multilabel_count, read_multilabel

__all__ = ["MultiLabelData", "make_multilabel_chain", "make_multilabel_count", "read_multilabel"]
