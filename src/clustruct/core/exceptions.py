"""What is wrong with data or files, in one line that says where; and what users are warned of."""

from __future__ import annotations


class DataError(ValueError):
    """A data file that cannot be used. The message begins with file and line."""


class NoLabels(DataError):
    """Data in which the right clusters, or some of them, are missing."""


class ModelFileError(ValueError):
    """A model file that is damaged, cut short, foreign, or of a later format."""


class OtherRun(ValueError):
    """A checkpoint of a training on other data, or with other settings. The message says what differs."""


class UnknownLoss(ValueError):
    """The name of a loss that nothing registers; ``known`` are those that are registered, for the message."""

    def __init__(self, name: str, known: str) -> None:
        super().__init__(f"unknown loss {name!r}; expected one of {known}, a function or a Loss")
        self.name = name


class TooFewClusters(ValueError):
    """Labelled clusters that are too few to learn a similarity from, with some of them held out."""


class NotEnoughMemory(MemoryError):
    """A step that would take more memory than there is, or than is allowed. The message says how much."""


class ClusterError(RuntimeError):
    """A cluster of machines that is not there, is gone, or cannot do the work. The message says when."""


class CostWarning(UserWarning):
    """A step that will take long, or much memory."""


class ReliabilityWarning(UserWarning):
    """A model or a result that is of little use, or cannot be relied on. The message says what to do."""


class UnfamiliarDataWarning(ReliabilityWarning):
    """Data that is unlike what a model was trained on."""


class LeakWarning(UserWarning):
    """A field that seems to give the answer away."""


class ChoiceWarning(UserWarning):
    """C was not chosen as it should be: the choice was ended early, or ended at the edge of its grid."""


class ProductsWarning(UserWarning):
    """Node products alone did not tell the clusters of the training sets apart."""


class OrderWarning(UserWarning):
    """Items are taken in their order, which may mean nothing."""


class DataWarning(UserWarning):
    """Data that can be used but is not what it was in training, or not what was meant."""
