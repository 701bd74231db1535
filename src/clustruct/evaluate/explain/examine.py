"""One set examined: its clusters, how confident they are, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct.core.typing import Floats, Labels
from clustruct.data import ItemSet, Table, is_missing
from clustruct.estimators.base import PairSimilarity
from clustruct.learning import ItemConfidence, item_confidence
from clustruct.learning.problems import mean_squares
from clustruct.losses import as_loss
from clustruct.pipeline import group, objective_of

from .confidence import ClusterMove, cluster_confidence
from .errors import SplitMerge, WrongPair, split_merge, wrong_pairs
from .splits import Split, suggested_splits

# How many wrong pairs of a set are remembered.
WRONG_PAIRS = 4


@dataclass(frozen=True)
class SetFindings:
    """What a model makes of one set. Nothing in it is as large as the square of the set.

    Attributes
    ----------
    table : Table
        The set.
    labels : array of int
        Its predicted clusters.
    truth : list of hashable or None
        The right clusters, None where some are not known.
    loss : float or None
        The loss that the model was trained for (0..100), None without truth.
    items : ItemConfidence or None
        Confidence of each item, None for a model without similarities.
    clusters : list of ClusterMove or None
        Confidence of each cluster, None without similarities or under the k-means objective.
    errors : SplitMerge or None
        Clusters split and merged, None without truth.
    wrong : list of WrongPair
        Wrong pairs for which the similarities speak most.
    squares : array of float
        Mean square of each feature over the pairs.
    number : int, default=0
        The place of the set in its list.
    splits : list of Split
        For each cluster the split that would help most, the best first; empty for a model without
        probabilities.
    """

    table: Table
    labels: Labels
    truth: list[Hashable] | None
    loss: float | None
    items: ItemConfidence | None
    clusters: list[ClusterMove] | None
    errors: SplitMerge | None
    wrong: list[WrongPair]
    squares: Floats = field(repr=False)
    number: int = 0
    splits: list[Split] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The set's name, or its place in the list."""
        return self.table.name or f"no. {self.number + 1}"

    @property
    def confidence(self) -> float:
        """That of the set as a whole: the median of its items', infinite where none is finite."""
        values = np.empty(0) if self.items is None else self.items.confidence
        finite = values[np.isfinite(values)]
        return float(np.median(finite)) if finite.size else np.inf


def transformed(pipeline: Pipeline, table: Table) -> ItemSet:
    """One table through all steps of the pipeline but the last.

    Parameters
    ----------
    pipeline : Pipeline
        The fitted pipeline.
    table : Table
        The set.

    Returns
    -------
    ItemSet
        The set with its pair features.
    """
    made: list[ItemSet] = pipeline[:-1].transform([table])
    return made[0]


def examine(pipeline: Pipeline, table: Table, number: int = 0) -> SetFindings:
    """Cluster one table with a fitted pipeline, and say all that can be said of the answer.

    Parameters
    ----------
    pipeline : Pipeline
        The fitted pipeline.
    table : Table
        The set.
    number : int, default=0
        Its number, for a set that has no name.

    Returns
    -------
    SetFindings
        Clusters, errors where labels are known, contributions and confidence.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from clustruct import PairFeatures, Table, SupervisedCorrelationClustering
    >>> from clustruct.features import Numbers
    >>> table = Table([{"n": 1}, {"n": 2}, {"n": 9}], labels=["a", "a", "b"])
    >>> model = make_pipeline(PairFeatures([Numbers("n")]), SupervisedCorrelationClustering(C=100.0))
    >>> found = examine(model.fit([table], [table.labels]), table)
    >>> found.labels, found.loss, found.errors.splits
    (array([0, 0, 1]), 0.0, ())
    """
    model, x = pipeline[-1], transformed(pipeline, table)
    scored = isinstance(model, PairSimilarity)
    found = group(model, x, confidence=scored, pairs=scored)
    labels, scores = found.labels, found.scores
    truth = None if table.labels is None or any(map(is_missing, table.labels)) else list(table.labels)
    loss = None if truth is None else _loss(model, truth, labels)
    errors = None if truth is None else split_merge(truth, labels)
    items = clusters = None
    wrong: list[WrongPair] = []
    if scores is not None:
        K, objective = scores.matrix_or_graph(), objective_of(model)
        items = item_confidence(K, labels, objective, x.sources)
        clusters = cluster_confidence(K, labels, x.sources) if objective == "correlation" else None
        wrong = [] if truth is None else wrong_pairs(K, truth, labels, WRONG_PAIRS)
    squares = mean_squares(x)
    splits: list[Split] = []
    if items is not None and scores is not None and found.is_probability:
        items = replace(items, probability=found.confidence)
        splits = suggested_splits(scores, labels, model.pair_probabilities)
    return SetFindings(table, labels, truth, loss, items, clusters, errors, wrong, squares, number, splits)


def _loss(model: object, truth: Sequence[Hashable], labels: Labels) -> float:
    """The loss the model was trained for; the share of wrong pairs where that one cannot be had."""
    try:
        return float(as_loss(getattr(model, "loss", "pairwise"))(truth, labels))
    except ValueError:  # the normalised loss compares equal numbers of clusters only
        return float(as_loss("pairwise")(truth, labels))
