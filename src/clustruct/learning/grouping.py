"""Groups of a set by the scores of its pairs, by what is known of its items, and as they were asked for.

Whoever groups items by scores comes through here: estimators, baselines, calibration, held-out figures.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from clustruct.core.partitions import chained_pairs
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import Evidence, Grouping, GroupingOptions, PairScores
from clustruct.search.correlation import alone, bounded
from clustruct.search.oracles import Predictor

from .confidence import item_confidence
from .constrained_groups import constrained_groups, differing_pairs


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
    """The groups of one set by the scores of its pairs.

    Parameters
    ----------
    scores : PairScores
        Scores of all or of listed pairs, above 0 where they speak for each other. A threshold or a precision
        is in them already.
    search : Predictor
        How groups of highest score are found.
    evidence : Evidence, optional
        What is known of the items; it holds exactly.
    options : GroupingOptions, optional
        Bounds on the groups, and what becomes of doubtful items.
    n_clusters : int, optional
        How many groups there are to be, for searches that do not find it themselves.
    contested : PairScores, optional
        What is searched by, where pairs have to beat their rivals.
    item_probabilities : callable, optional
        The probability that each item is in the right group, by scores and labels; None for a model that
        has no probabilities.
    confidence : bool, default=False
        Whether the confidence in each item's place is asked for.

    Returns
    -------
    Grouping
        The groups, with what else was asked for.

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
    if known is None:
        y = search_groups(search, by, n_clusters)
    elif search.objective == "correlation":
        y = constrained_groups(by, known, random_state=search.random_state)
    else:
        raise ValueError(f"{search.name!r} takes no evidence: it does not look for groups by sums of scores")
    if asked.bounds:
        y = _bounded_groups(scores, y, known, asked, search)
    sure = None
    if asked.reject_below is not None and item_probabilities is None:
        raise ValueError("reject_below goes with a model that has probabilities")
    if item_probabilities is not None and (confidence or asked.reject_below is not None):
        sure = item_probabilities(scores, y)
    elif confidence:
        sure = item_confidence(by.matrix_or_graph(), y, search.objective, by.sources).confidence
    rejected = _doubtful(y, sure, known, asked.reject_below)
    y = alone(y, np.flatnonzero(rejected)) if rejected.any() else y
    return Grouping(y, rejected, sure, item_probabilities is not None, options=asked, search=search.name)


def search_groups(search: Predictor, scores: PairScores, n_clusters: int | None = None) -> Ints:
    """The groups of highest score that a search finds, no source twice in one.

    Parameters
    ----------
    search : Predictor
        The search.
    scores : PairScores
        Scores of all or of listed pairs.
    n_clusters : int, optional
        How many groups there are to be, for searches that do not find it themselves.

    Returns
    -------
    array of int
        The group of each item.
    """
    found = search.clusters(scores, n_clusters)
    assert isinstance(found, np.ndarray)
    return found


def _bounded_groups(
    scores: PairScores, labels: Ints, known: Evidence | None, asked: GroupingOptions, search: Predictor
) -> Ints:
    """Groups within bounds near given ones."""
    if search.objective != "correlation":
        raise ValueError(f"{search.name!r} takes no bounds on groups")
    if scores.sources is not None and asked.max_groups is not None:
        raise ValueError("max_groups does not go with sources whose items are kept apart")
    return bounded(
        scores,
        labels,
        max_size=asked.max_size,
        min_groups=asked.min_groups,
        max_groups=asked.max_groups,
        must_link=None if known is None else chained_pairs(known.piece),
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
