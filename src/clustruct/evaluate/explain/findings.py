"""One set examined: its clusters, how confident they are, and where they differ from the truth."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Floats, Ints, Labels, LabelsLike
from clustruct.data import ItemSet, Table, is_missing
from clustruct.estimators.base import PairSimilarity
from clustruct.evaluate.metrics import Evaluation, evaluate
from clustruct.features import check_tables
from clustruct.learning import ItemConfidence, item_confidence
from clustruct.learning.problems import mean_squares
from clustruct.learning.score_confidence import Similarities, symmetric_scores
from clustruct.losses import as_loss
from clustruct.pipeline import group, objective_of, score_set, tells_by_feature, with_equal_rows

from .cluster_alternatives import ClusterMove, Split, cluster_confidence, suggested_splits
from .pair_explanation import field_sizes


@dataclass(frozen=True)
class ClusterPiece:
    """Items of a cluster that lie in one cluster of the other clustering, by ids (where there are any) and
    by number.
    """

    cluster: Hashable
    items: tuple[Hashable, ...]
    numbers: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True)
class MixedCluster:
    """One cluster that the other clustering cuts into pieces, the largest first; ``pairs`` of its items lie
    in different pieces: pairs lost by a split, wrongly made by a merge.
    """

    cluster: Hashable
    size: int
    pairs: int
    pieces: tuple[ClusterPiece, ...]


@dataclass(frozen=True)
class SplitMerge:
    """True clusters that lie in more than one predicted cluster, most pairs lost first, and predicted
    clusters of more than one true cluster, most wrong pairs first.
    """

    splits: tuple[MixedCluster, ...]
    merges: tuple[MixedCluster, ...]

    @property
    def pairs_lost(self) -> int:
        """Pairs together in the truth and apart in the prediction."""
        return sum(s.pairs for s in self.splits)

    @property
    def pairs_wrong(self) -> int:
        """Pairs together in the prediction and apart in the truth."""
        return sum(m.pairs for m in self.merges)


def split_merge(
    truth: LabelsLike, predicted: LabelsLike, ids: Sequence[Hashable] | None = None
) -> SplitMerge:
    """Which true clusters were split and which were merged, worst first.

    A true cluster of n items whose items lie in predicted clusters by n_1, n_2, ... loses
    (n^2 - n_1^2 - n_2^2 - ...) / 2 pairs; a predicted cluster makes as many wrong pairs from its true
    parts. The labels may be any hashables and are given back as they came. O(m log m).

    Examples
    --------
    >>> found = split_merge(["a", "a", "a", "b"], [0, 0, 1, 1], ids=["w", "x", "y", "z"])
    >>> found.splits[0].cluster, found.splits[0].pairs, [p.items for p in found.splits[0].pieces]
    ('a', 2, [('w', 'x'), ('y',)])
    >>> found.merges[0].cluster, found.pairs_wrong
    (1, 1)
    """
    t = canonical_labels(truth, name="truth")
    p = canonical_labels(predicted, n_items=t.size, name="predicted")
    names: Sequence[Hashable] = range(t.size) if ids is None else list(ids)
    if len(names) != t.size:
        raise ValueError(f"ids has {len(names)} entries for {t.size} items")
    return SplitMerge(
        _mixtures(t, p, _labels(truth), _labels(predicted), names),
        _mixtures(p, t, _labels(predicted), _labels(truth), names),
    )


def _labels(labels: LabelsLike) -> list[Hashable]:
    """The labels in canonical order, as plain Python values."""
    return list(dict.fromkeys(labels.tolist() if isinstance(labels, np.ndarray) else labels))


def _mixtures(
    y: Ints, other: Ints, own: list[Hashable], others: list[Hashable], names: Sequence[Hashable]
) -> tuple[MixedCluster, ...]:
    """The clusters of y that `other` cuts, most pairs cut first (ties by first appearance)."""
    cells: dict[int, dict[int, list[int]]] = {}
    for a, (c, d) in enumerate(zip(y.tolist(), other.tolist(), strict=True)):
        cells.setdefault(c, {}).setdefault(d, []).append(a)
    found = []
    for c, row in cells.items():
        if len(row) > 1:
            found_in = [
                ClusterPiece(others[d], tuple(names[a] for a in at), tuple(at)) for d, at in row.items()
            ]
            pieces = sorted(found_in, key=lambda piece: -len(piece.items))
            size = sum(len(p.items) for p in pieces)
            pairs = (size**2 - sum(len(p.items) ** 2 for p in pieces)) // 2
            found.append(MixedCluster(own[c], size, pairs, tuple(pieces)))
    return tuple(sorted(found, key=lambda m: -m.pairs))


@dataclass(frozen=True)
class WrongPair:
    """Two items that are wrongly together or apart, with their similarity under the model."""

    a: int
    b: int
    similarity: float
    together: bool


def wrong_pairs(K: Similarities, truth: LabelsLike, predicted: LabelsLike, n: int = 5) -> list[WrongPair]:
    """The n wrong pairs whose similarity speaks most for the error: highest K among pairs wrongly put
    together, lowest among pairs wrongly kept apart, the two kinds in one order by that size.

    Of a sparse K only the listed pairs are looked at.

    Examples
    --------
    >>> K = [[0, 3, -1], [3, 0, 1], [-1, 1, 0]]
    >>> wrong_pairs(K, truth=[0, 1, 1], predicted=[0, 0, 1])
    [WrongPair(a=0, b=1, similarity=3.0, together=True), WrongPair(a=1, b=2, similarity=1.0, together=False)]
    """
    W = symmetric_scores(K)
    t = canonical_labels(truth, n_items=W.shape[0], name="truth")
    p = canonical_labels(predicted, n_items=W.shape[0], name="predicted")
    if sparse.issparse(W):
        entries = sparse.triu(W, 1).tocoo()
        (a, b), values = entries.coords, entries.data
    else:
        a, b = np.triu_indices(len(t), 1)
        values = W[a, b]
    together = p[a] == p[b]
    wrong = np.flatnonzero(together != (t[a] == t[b]))
    confidence = np.where(together, values, -values)[wrong]
    worst = wrong[np.argsort(-confidence, kind="stable")[:n]]
    return [WrongPair(int(a[i]), int(b[i]), float(values[i]), bool(together[i])) for i in worst]


# How many wrong pairs of a set are remembered.
WRONG_PAIRS = 4


@dataclass(frozen=True)
class SetFindings:
    """What a model makes of one set. Nothing in it is as large as the square of the set.

    ``truth``, ``loss`` and ``errors`` are None where right clusters are not known, ``items`` (confidence)
    for a model without similarities, ``clusters`` without correlation clustering, ``splits`` empty without
    probabilities. ``loss`` is that of training (0..100); ``squares`` the mean square of each feature over
    the pairs. So many items were compared with nothing.
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
    n_uncompared: int = 0

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


def item_set_of(pipeline: Pipeline, table: Table) -> ItemSet:
    """One table through all steps of the pipeline but the last."""
    made: list[ItemSet] = pipeline[:-1].transform([table])
    return made[0]


def examine(pipeline: Pipeline, table: Table, number: int = 0) -> SetFindings:
    """Cluster one table with a fitted pipeline, and say all that can be said of the answer.

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
    model, x = pipeline[-1], item_set_of(pipeline, table)
    scored = isinstance(model, PairSimilarity)
    given = with_equal_rows(pipeline, table, score_set(model, x)) if scored else x
    if scored:
        model.warn_unfamiliar([x])
    found = group(model, given, confidence=scored, pairs=scored)
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
    return SetFindings(
        table,
        labels,
        truth,
        loss,
        items,
        clusters,
        errors,
        wrong,
        squares,
        number,
        splits,
        found.n_uncompared,
    )


def _loss(model: object, truth: Sequence[Hashable], labels: Labels) -> float:
    """The loss the model was trained for; the share of wrong pairs where that one cannot be had."""
    try:
        return float(as_loss(getattr(model, "loss", "pairwise"))(truth, labels))
    except ValueError:  # the normalised loss compares equal numbers of clusters only
        return float(as_loss("pairwise")(truth, labels))


# Weights are scaled by their features in at most so many sets.
SETS_FOR_SCALE = 10


@dataclass(frozen=True)
class Findings:
    """A pipeline, and what it makes of all sets."""

    pipeline: Pipeline
    sets: list[SetFindings]
    _last: dict[int, ItemSet] = field(default_factory=dict)

    @classmethod
    def of(cls, pipeline: Pipeline, sets: Sequence[Table]) -> Findings:
        """Examine the sets one by one."""
        pipeline = check_tables(pipeline, sets)
        return cls(pipeline, [examine(pipeline, table, number) for number, table in enumerate(sets)])

    @property
    def model(self) -> BaseEstimator:
        """The clusterer at the end of the pipeline."""
        return self.pipeline[-1]

    @property
    def with_truth(self) -> list[SetFindings]:
        """The sets whose truth is known."""
        return [one for one in self.sets if one.truth is not None]

    @property
    def worst_first(self) -> list[SetFindings]:
        """Largest loss first; where no set has a truth, least confidence first."""
        if self.with_truth:
            return sorted(self.with_truth, key=lambda one: -(one.loss or 0.0))
        return sorted(self.sets, key=lambda one: one.confidence)

    @cached_property
    def scores(self) -> Evaluation | None:
        """All scores of the labelled sets."""
        known = self.with_truth
        return evaluate([one.truth or () for one in known], [one.labels for one in known]) if known else None

    @property
    def scale(self) -> Floats:
        """The root mean square of each feature, over the first sets."""
        return np.sqrt(np.mean([one.squares for one in self.sets[:SETS_FOR_SCALE]], axis=0))

    @property
    def keeps_features(self) -> bool:
        """Whether weights are those of features, not of columns in their place."""
        made = getattr(self.pipeline[0], "map_", None)
        return made is None or made.keeps

    @cached_property
    def field_sizes(self) -> dict[str, float]:
        """How much each field counts in the first sets, where weights do not tell; else empty."""
        if not tells_by_feature(self.pipeline):
            return {}
        return field_sizes(self.pipeline, [one.table for one in self.sets[:SETS_FOR_SCALE]])

    def item_set(self, one: SetFindings) -> ItemSet:
        """The pair features of a set, made again; those of the last set asked for are kept."""
        if one.number not in self._last:
            self._last.clear()
            self._last[one.number] = item_set_of(self.pipeline, one.table)
        return self._last[one.number]
