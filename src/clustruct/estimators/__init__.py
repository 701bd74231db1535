"""Thin scikit-learn classes over the other rooms."""

from .multilabel import MultiLabelMRF

__all__ = ["MultiLabelMRF"]
