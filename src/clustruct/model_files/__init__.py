"""Fitted models in single files."""

from .files import SavedModel, load, read_model, save

__all__ = ["SavedModel", "load", "read_model", "save"]
