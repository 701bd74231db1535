"""Groups of a set by the scores of its pairs, by what is known of its items, and as they were asked for.

Whoever groups items by scores comes through here: estimators, baselines, calibration, held-out figures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from clustruct.core.partitions import canonical_labels, chained_pairs
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import EqualRows, Evidence, Grouping, GroupingOptions, PairScores
from clustruct.search.correlation import alone, bounded_search
from clustruct.search.correlation.constrained import constrained_search
from clustruct.search.oracles import Predictor

from .multiplicity import Nodes, count_equal_apart
from .score_confidence import item_confidence

NO_PAIRS = np.zeros((0, 2), np.int64)


def constrained_groups(scores: PairScores, evidence: Evidence, *, random_state: int = 0) -> Ints:
    """The best groups under what is known: pieces whole, those apart that differ, no source twice in one.

    Two pieces differ where the evidence judges a pair of their items; a pair that people were unsure of says
    nothing, but what follows from other pairs of the two pieces holds.

    >>> K = PairScores(3, matrix=np.array([[0.0, 3, 2], [3, 0, -1], [2, -1, 0]]))
    >>> constrained_groups(K, Evidence.of_pairs(3, different=[(0, 1)]))
    array([0, 1, 0])
    """
    known = _NodeEvidence.of(evidence)
    part = np.flatnonzero(~known.closed[known.nodes])
    if len(part) == len(known.nodes):
        return _search(scores, known, random_state)
    found = len(part) + known.nodes
    found[part] = _search(scores.take(part), known.take(part), random_state)
    return canonical_labels(found)


def _search(scores: PairScores, known: _NodeEvidence, random_state: int) -> Ints:
    apart = known.first[known.apart]
    return constrained_search(
        scores, known.nodes, anchored=known.anchored, cannot_link=apart, random_state=random_state
    )


def differing_pairs(evidence: Evidence) -> Ints:
    """A pair of items for each two pieces, or items of none, that are known to differ."""
    known = _NodeEvidence.of(evidence)
    some = np.flatnonzero(known.anchored | known.closed)
    if not len(some):
        return known.first[known.apart]
    a, b = np.triu_indices(len(known.first), 1)
    differ = (known.anchored[a] & known.anchored[b]) | known.closed[a] | known.closed[b]
    return known.first[np.concatenate([known.apart, np.column_stack([a, b])[differ]])]


@dataclass(frozen=True)
class _NodeEvidence:
    """What is known, between pieces.

    nodes : the piece of each item, one of its own where nothing is known of it
    first : an item of each piece
    anchored : the pieces any two of which differ
    closed : those that differ from all others
    apart : pairs of further pieces that differ
    """

    nodes: Ints
    first: Ints
    anchored: Bools
    closed: Bools
    apart: Ints

    @classmethod
    def of(cls, evidence: Evidence) -> _NodeEvidence:
        nodes = evidence.nodes
        first = np.unique(nodes, return_index=True)[1]
        labelled, complete = (_of_nodes(evidence, nodes, k) for k in (evidence.labelled, evidence.complete))
        pieces, of_piece = np.unique(evidence.piece, return_index=True)
        apart = nodes[of_piece[pieces >= 0]][evidence.apart]
        found = cls(nodes, first, labelled & ~complete, complete, apart)
        return found._but_for(_unsure_nodes(evidence, nodes))

    def _but_for(self, unsure: Ints) -> _NodeEvidence:
        """Without what would follow for some pairs of pieces: their other partners are listed one by one."""
        if not len(unsure):
            return self
        n, doubtful = len(self.first), np.zeros(len(self.first), np.bool_)
        doubtful[unsure] = True
        excepted = set(map(tuple, unsure.tolist()))
        listed = [tuple(sorted(pair)) for pair in self.apart.tolist()]
        for a in np.flatnonzero(doubtful & (self.anchored | self.closed)).tolist():
            others = range(n) if self.closed[a] else np.flatnonzero(self.anchored).tolist()
            listed += [(min(a, b), max(a, b)) for b in others if b != a]
        apart = sorted({pair for pair in listed if pair not in excepted})
        held = np.array(apart, np.int64).reshape(-1, 2)
        return replace(self, anchored=self.anchored & ~doubtful, closed=self.closed & ~doubtful, apart=held)

    def take(self, items: Ints) -> _NodeEvidence:
        """That of whole pieces, given by their items in order."""
        nodes = self.nodes[items]
        here, place = np.unique(nodes), np.full(len(self.first), -1)
        place[here] = np.arange(len(here))
        apart = place[self.apart]
        return _NodeEvidence(
            place[nodes],
            np.searchsorted(items, self.first[here]),
            self.anchored[here],
            self.closed[here],
            apart[(apart >= 0).all(axis=1)],
        )


def _of_nodes(evidence: Evidence, nodes: Ints, which: Bools) -> Bools:
    """A fact of pieces as one of nodes."""
    found = np.zeros(int(nodes.max(initial=-1)) + 1, np.bool_)
    known = evidence.piece >= 0
    found[nodes[known]] = which[evidence.piece[known]]
    return found


def _unsure_nodes(evidence: Evidence, nodes: Ints) -> Ints:
    """The pairs of pieces (the smaller first) of which all pairs of items are unsure."""
    ends = np.unique(np.sort(evidence.unsure, axis=1), axis=0) if len(evidence.unsure) else NO_PAIRS
    pairs, counts = np.unique(np.sort(nodes[ends], axis=1), axis=0, return_counts=True)
    sizes = np.bincount(nodes, minlength=1)
    return pairs[(pairs[:, 0] != pairs[:, 1]) & (counts == sizes[pairs].prod(axis=1))]


def group_scores(
    scores: PairScores,
    search: Predictor,
    evidence: Evidence | None = None,
    options: GroupingOptions | None = None,
    *,
    n_clusters: int | None = None,
    contested: PairScores | None = None,
    item_probabilities: Callable[[PairScores, Ints], Floats] | None = None,
    confidence: bool = False,
) -> Grouping:
    """The groups of one set by the scores of its pairs, above 0 where they speak for each other.

    A threshold or a precision is in the scores already; ``evidence`` holds exactly. ``n_clusters`` is for
    searches that do not find it themselves. ``contested`` is what is searched by, where pairs have to beat
    their rivals. ``item_probabilities`` gives the probability that each item is in the right group by scores
    and labels, None for a model that has no probabilities.

    Examples
    --------
    >>> from clustruct.search.oracles import make_predictor
    >>> K = PairScores(3, matrix=np.array([[0.0, 3, 0], [3, 0, -1], [0, -1, 0]]))
    >>> search = make_predictor("greedy", "correlation")
    >>> group_scores(K, search).labels, group_scores(K, search, Evidence.of_pairs(3, [(1, 2)])).labels
    (array([0, 0, 1]), array([0, 0, 0]))
    >>> group_scores(K, search, options=GroupingOptions(max_size=1)).labels
    array([0, 1, 2])
    """
    asked, by = options or GroupingOptions(), scores if contested is None else contested
    known = evidence if evidence is not None and evidence.is_binding else None
    search.check_set(scores)
    nodes = None if by.equal is None else Nodes.of(by, evidence, asked.max_size)
    if nodes is None:
        y = _best_groups(search, by, known, n_clusters)
    else:
        weighted = nodes.node_scores() if search.objective == "correlation" else nodes.of_rows(by)
        of_nodes = None if known is None else known.take(nodes.first)
        y = nodes.labels(_best_groups(search, weighted, of_nodes, n_clusters))
    if asked.bounds:
        y = _bounded_groups(scores, y, known, asked, search, nodes)
    if asked.reject_below is not None and item_probabilities is None:
        raise ValueError("reject_below goes with a model that has probabilities")
    sure = None
    if confidence or asked.reject_below is not None:
        sure = _confidence(scores, by, y, search, item_probabilities, nodes)
    rejected = _doubtful(y, sure, known, asked.reject_below)
    y = _alone(y, rejected, scores.equal) if rejected.any() else y
    return Grouping(
        y,
        rejected,
        sure,
        item_probabilities is not None,
        options=asked,
        search=search.name,
        n_uncompared=scores.n_without_pairs,
        equal_apart=count_equal_apart(by, y, evidence),
    )


def _best_groups(
    search: Predictor, scores: PairScores, known: Evidence | None, n_clusters: int | None
) -> Ints:
    """The groups of highest score under what is known."""
    if known is None:
        return search_groups(search, scores, n_clusters)
    if search.objective != "correlation":
        raise ValueError(f"{search.name!r} takes no evidence: it does not look for groups by sums of scores")
    return constrained_groups(scores, known, random_state=search.random_state)


def _confidence(
    scores: PairScores,
    by: PairScores,
    labels: Ints,
    search: Predictor,
    item_probabilities: Callable[[PairScores, Ints], Floats] | None,
    nodes: Nodes | None,
) -> Floats:
    """The confidence in the place of each item; equal items in one place have the same."""
    if nodes is not None:
        few, node = nodes.plain(by if item_probabilities is None else scores)
        of_few = _confidence(few, few, labels[nodes.first[node]], search, item_probabilities, None)
        return nodes.of_all(of_few[np.searchsorted(node, np.arange(len(nodes.row)))], labels)
    if item_probabilities is not None:
        return item_probabilities(scores, labels)
    return item_confidence(by.matrix_or_graph(), labels, search.objective, by.sources).confidence


def _alone(labels: Ints, doubtful: Bools, equal: EqualRows | None) -> Ints:
    """Groups without doubtful items, of which those that are equal, and were together, stay so."""
    if equal is None:
        return alone(labels, np.flatnonzero(doubtful))
    kept = np.where(doubtful, 1 + equal.row, 0)
    return canonical_labels(labels * (len(equal.counts) + 1) + kept)


def search_groups(search: Predictor, scores: PairScores, n_clusters: int | None = None) -> Ints:
    """The groups of highest score that a search finds, no source twice in one."""
    found = search.clusters(scores, n_clusters)
    assert isinstance(found, np.ndarray)
    return found


def _bounded_groups(
    scores: PairScores,
    labels: Ints,
    known: Evidence | None,
    asked: GroupingOptions,
    search: Predictor,
    nodes: Nodes | None,
) -> Ints:
    """Groups within bounds near given ones."""
    if search.objective != "correlation":
        raise ValueError(f"{search.name!r} takes no bounds on groups")
    if scores.sources is not None and asked.max_groups is not None:
        raise ValueError("max_groups does not go with sources whose items are kept apart")
    must = [] if known is None else [chained_pairs(known.piece)]
    must += [] if nodes is None else [nodes.ties]
    return bounded_search(
        scores if nodes is None else nodes.of_items(),
        labels,
        max_size=asked.max_size,
        min_groups=asked.min_groups,
        max_groups=asked.max_groups,
        must_link=np.concatenate(must) if must else None,
        cannot_link=None if known is None else differing_pairs(known),
        random_state=search.random_state,
    )


def _doubtful(labels: Ints, sure: Floats | None, known: Evidence | None, level: float | None) -> Bools:
    """Items that are to stay alone; not those that are known to be with others."""
    if level is None or sure is None:
        return np.zeros(len(labels), np.bool_)
    found = (sure < level) & (np.bincount(labels)[labels] > 1)
    if known is not None:
        found[chained_pairs(known.piece).ravel()] = False
    return np.asarray(found)
