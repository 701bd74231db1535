"""The one way from a table to its groups: scores of pairs by a fitted pipeline, then `learning.grouping`.

A pipeline has steps from tables to item sets, and a clusterer at its end; a clusterer alone will do where
item sets or scores are given.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from clustruct.core.callbacks import working
from clustruct.core.exceptions import ReliabilityWarning
from clustruct.core.formatting import count
from clustruct.core.partitions import UNKNOWN, partial_labels
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import Evidence, Grouping, GroupingOptions, ItemSet, PairScores, Table, pair_table
from clustruct.estimators import SupervisedCorrelationClustering
from clustruct.estimators.base import PairSimilarity
from clustruct.estimators.baselines import LatentPairClustering
from clustruct.estimators.table_sketch import SurestPairs
from clustruct.features import PairFeatures, UncomparedPairs, check_tables, pair_recall
from clustruct.features.columns import Columns
from clustruct.learning.calibration import Dial, HeldOutPart, PrecisionCurve
from clustruct.search.oracles import make_predictor

# A table, its features, or the scores of its pairs, where these were made before.
Given: TypeAlias = Table | ItemSet | PairScores


def group(
    pipeline: Pipeline | BaseEstimator,
    given: Given,
    evidence: Evidence | None = None,
    options: GroupingOptions | None = None,
    *,
    confidence: bool = False,
    pairs: bool = False,
) -> Grouping:
    """Group one set, with what is known of its items and what is asked of its groups.

    Parameters
    ----------
    pipeline : Pipeline or estimator
        The fitted pipeline, or a clusterer for sets whose features or scores are given.
    given : Table, ItemSet or PairScores
        The set. Of scores, whoever made them warns where they are unlike those of the training.
    evidence : Evidence, optional
        What is known of the items; it holds exactly.
    options : GroupingOptions, optional
        Threshold, precision, bounds, what becomes of doubtful items.
    confidence : bool, default=False
        Whether the confidence in each item's place is asked for.
    pairs : bool, default=False
        Whether the scores of the compared pairs are kept, and with them what they are as probabilities.

    Returns
    -------
    Grouping
        The groups, with what else was asked for.

    Examples
    --------
    >>> from clustruct import Recipe
    >>> from clustruct.data.datasets import make_records
    >>> sets = make_records(n_sets=4, n_people=5)
    >>> pipeline = Recipe(C=1.0).fit(sets[:3]).pipeline_
    >>> same = Evidence.of_pairs(len(sets[3]), same=[(0, 5)])
    >>> found = group(pipeline, sets[3], same, GroupingOptions(max_size=4))
    >>> bool(found.labels[0] == found.labels[5]), int(np.bincount(found.labels).max()) <= 4
    (True, True)
    """
    return group_sets(pipeline, [given], [evidence], options, confidence=confidence, pairs=pairs)[0]


def group_sets(
    pipeline: Pipeline | BaseEstimator,
    sets: Iterable[Given],
    evidence: Sequence[Evidence | None] | None = None,
    options: GroupingOptions | None = None,
    *,
    confidence: bool = False,
    pairs: bool = False,
) -> list[Grouping]:
    """Group several sets, which are looked at together: whether they are like those of the training.

    ``evidence`` has one entry, or None, for each set; the other parameters are those of `group`.
    """
    held, asked = list(sets), options or GroupingOptions()
    known = [None] * len(held) if evidence is None else list(evidence)
    if len(known) != len(held):
        raise ValueError(f"{len(held)} sets but evidence of {len(known)}")
    moved = pipeline_with_cut(_check_tables(pipeline, held), asked)
    model = _clusterer(moved)
    if any(one is not None for one in known):
        check_correlation(model)
    if not isinstance(model, PairSimilarity):
        return [_plain_grouping(moved, one, asked, confidence or pairs) for one in held]
    scored = [score_set(moved, one) for one in held]
    if strange := [
        s.between_rows for s, one in zip(scored, held, strict=True) if not isinstance(one, PairScores)
    ]:
        model.warn_unfamiliar(strange)
    _withdraw_promise(moved, held, scored)
    found = []
    for scores, evidence_of_set in zip(scored, known, strict=True):
        with working("grouping") as work:
            one = model.group_scores(scores, evidence_of_set, asked, confidence=confidence)
            work.keep(items=scores.n_items, clusters=one.n_groups)
        if pairs:
            score_map = model.pair_probabilities if is_calibrated(model) else None
            one = replace(one, scores=scores, score_map=score_map)
        found.append(one)
    # Scores that are given may be of a part of a table, and groups with evidence are people's.
    own = [i for i, one in enumerate(held) if not isinstance(one, PairScores) and known[i] is None]
    model.warn_of_groups([found[i] for i in own], [scored[i] for i in own])
    return found


def _withdraw_promise(
    pipeline: Pipeline | BaseEstimator, sets: Sequence[Given], scored: Sequence[PairScores]
) -> None:
    """Warn where a precision was promised and the sets are unlike those learned from."""
    model = _clusterer(pipeline)
    if getattr(model, "promised_", None) is None or getattr(model, "sketch_", None) is None:
        return
    features, surest = [], []
    for given, scores in zip(sets, scored, strict=True):
        if isinstance(given, PairScores):
            return  # what its pairs are like is not known
        found = SurestPairs.of(scores.between_rows)
        pairs = found.pairs if scores.equal is None else scores.equal.first[found.pairs]
        if isinstance(given, Table):
            pairs = np.sort(pairs, axis=1)
            features.append(
                UncomparedPairs(len(given), pairs, features=pipeline[0], table=given).values(pairs)
            )
        else:
            features.append(pair_table(given, pairs))
        surest.append(found)
    model.warn_unlike(features, surest)


def score_set(pipeline: Pipeline | BaseEstimator, given: Given) -> PairScores:
    """The scores of the compared pairs of one set; above 0 they speak for each other.

    Of a table by a linear similarity the features of all pairs are not there at once.
    """
    if isinstance(given, PairScores):
        return given
    if isinstance(given, Table):
        return _table_scores(pipeline, given)
    return _item_set_scores(pipeline, given)


def _table_scores(pipeline: Pipeline, table: Table) -> PairScores:
    """The scores of a table, whose labels have no say in them; equal rows know of each other."""
    features, columns = pipeline[0], Columns(table if table.labels is None else replace(table, labels=None))
    linear = _linear_similarity(pipeline)
    if linear is not None:
        scores: PairScores = features.scores(columns, *linear)
    else:
        scores = _item_set_scores(pipeline, columns.table)
    return with_equal_rows(pipeline, columns, scores)


def with_equal_rows(pipeline: Pipeline, table: Table | Columns, scores: PairScores) -> PairScores:
    """The scores of a table, which know which of its rows are equal."""
    features = pipeline[0]
    if not isinstance(features, PairFeatures) or not scores.is_sparse:
        return scores
    equal = features.equal_rows(table)
    return scores if equal is None else scores.with_equal_rows(equal)


def _item_set_scores(pipeline: Pipeline | BaseEstimator, given: Table | ItemSet) -> PairScores:
    model, x = _clusterer(pipeline), _item_set(pipeline, given)
    if isinstance(model, PairSimilarity):
        return model.set_scores(x)
    return replace(PairScores.from_matrix(model.decision_function(x)), sources=x.sources)


def score_pairs(pipeline: Pipeline, columns: Columns, pairs: Ints, *, show_progress: bool = True) -> Floats:
    """The scores of some pairs of a table."""
    if not len(pairs):
        return np.zeros(0)
    features, linear = pipeline[0], pipeline[-1].linear_similarity()
    if linear is not None:
        return np.asarray(
            features.scores_of(columns, pairs, *linear, show_progress=show_progress), np.float64
        )
    return np.asarray(pipeline[-1].set_scores(features.item_set(columns, pairs)).at(pairs), np.float64)


def pipeline_with_cut(
    pipeline: Pipeline | BaseEstimator, options: GroupingOptions, *, rivals: bool = True
) -> Any:
    """The pipeline with its threshold moved; `ValueError` where it cannot do what is asked.

    Without ``rivals`` pairs are judged by their scores alone, whether or not others compete with them.
    """
    model = _clusterer(pipeline)
    if options and not isinstance(model, SupervisedCorrelationClustering | LatentPairClustering):
        raise ValueError(f"{type(model).__name__} takes no threshold, precision or bounds on groups")
    if options.reject_below is not None or options.precision is not None:
        _check_probabilities(model)
    if not options.cuts:
        return pipeline
    dial = precision_dial(model, options, rivals=rivals)
    if dial is None:
        asked = {"threshold": options.threshold, "precision": options.precision}
        moved = model.at_threshold(**asked, matched=rivals)
    else:
        moved = model.at_threshold(score=dial.threshold, beats_rivals=dial.beats_rivals)
        moved.promised_ = options.precision if dial.reached else None
    if not isinstance(pipeline, Pipeline):
        return moved
    return Pipeline([*pipeline.steps[:-1], (pipeline.steps[-1][0], moved)])


def _check_probabilities(model: SupervisedCorrelationClustering | LatentPairClustering) -> None:
    """`ValueError` where nothing was held out to learn probabilities from; of a model that was made without
    labels they are its own, which it warns of.
    """
    if isinstance(model, SupervisedCorrelationClustering):
        model.probabilities()
        return
    text = (
        "the model was made without labels: its probabilities are its own guess, and promise nothing; to "
        "have them shown by held-out groups, label some and fit again"
    )
    warnings.warn(text, ReliabilityWarning, stacklevel=1)  # of one place: said once


def precision_dial(
    pipeline: Pipeline | BaseEstimator, options: GroupingOptions, *, rivals: bool = True
) -> Dial | None:
    """What a precision costs, by held-out clusters; None for a model that was made without labels. Warns
    where they are too few to be sure of it, or show that it is not to be had.
    """
    model = _clusterer(pipeline)
    if options.precision is None or isinstance(model, LatentPairClustering):
        return None
    if not isinstance(model, SupervisedCorrelationClustering):
        raise ValueError(f"{type(model).__name__} has no probabilities")
    found = model.dial(options.precision, rivals=rivals)
    if not found.reached:
        warnings.warn(_shortfall(options.precision, found), ReliabilityWarning, stacklevel=3)
    return found


def _shortfall(precision: float, found: Dial) -> str:
    """Why a precision is not promised."""
    if not found.possible:
        return (
            f"held-out clusters show that precision {precision:g} is not to be had: at the surest threshold "
            f"it is {found.precision:.3f} (at least {found.lower:.3f} with 95 % confidence, recall "
            f"{found.recall:.3f}). Nothing is put together; ask for less, or give a threshold"
        )
    shown = f"held-out clusters show only {found.lower:.3f} (95 % confidence)"
    if found.missing:
        groups = count(found.missing, "more labelled group")
        shown += f", and even without an error it takes about {groups} to show {precision:g}"
    return f"precision {precision:g} is not promised: {shown}. The surest threshold is taken; label more"


def check_correlation(pipeline: object) -> None:
    """Refuse a clusterer with a fixed number of groups, or one that groups by links."""
    model = _clusterer(pipeline)
    objective = getattr(model, "clustering_objective", "correlation")
    if objective != "correlation":
        why = "has a fixed number of groups" if objective == "kmeans" else "groups by links, not by sums"
        name = type(model).__name__
        raise ValueError(f"{name} {why}: it takes neither known groups nor constraints")


def is_calibrated(pipeline: Pipeline | BaseEstimator) -> bool:
    """Whether probabilities were learned from held-out groups."""
    return getattr(_clusterer(pipeline), "calibration_", None) is not None


def judge_pairs(
    pipeline: Pipeline, sets: Iterable[Table], thresholds: Floats
) -> tuple[PrecisionCurve, Bools, Floats]:
    """The curve of precision and recall on labelled sets, and for each compared pair whether it is together
    and the probability that it is.

    Thresholds are scores of the model as it was trained.
    """
    model = pipeline[-1]
    assert isinstance(model, SupervisedCorrelationClustering)
    parts, same, p, first = [], [np.zeros(0, np.bool_)], [np.zeros(0)], 0
    for table in sets:
        scores = score_set(pipeline, table).above(-(getattr(model, "threshold_", None) or 0.0))
        y = partial_labels(list(table.labels or ()), n_items=len(table))
        known = y != UNKNOWN
        parts.append(HeldOutPart(scores, np.where(known, y + first, UNKNOWN), known, unknown_apart=False))
        first += int(y.max(initial=-1)) + 1
        listed = scores.list_pairs()
        assert listed.index is not None
        assert listed.values is not None
        judged = known[listed.index].all(axis=1)
        a, b = listed.index[judged].T
        same.append(y[a] == y[b])
        p.append(model.probabilities().of_pairs(listed)[judged])
    searched = make_predictor("local_search", "correlation", random_state=model.random_state)
    curve = PrecisionCurve.of(parts, searched, np.asarray(thresholds, np.float64))
    return curve, np.concatenate(same), np.concatenate(p)


def blocking_recall(pipeline: Pipeline, sets: Iterable[Table]) -> dict[str, float] | None:
    """How many pairs are compared in sets large enough for blocking, and the share of the right ones."""
    blocking = getattr(pipeline[0], "blocking_", None)
    large = [table for table in sets if blocking is not None and blocking.lists(table)]
    if blocking is None or not large:
        return None
    features: PairFeatures = pipeline[0]
    columns = [features.columns(replace(table, labels=None)) for table in large]
    pairs = [features.compared_pairs(one) for one in columns]
    equal = [features.equal_rows(one) for one in columns]
    shares = [pair_recall(*one) for one in zip(large, pairs, equal, strict=True)]
    return {"sets": len(large), "pairs": sum(map(len, pairs)), "recall": sum(shares) / len(shares)}


def _clusterer(pipeline: Any) -> Any:
    return pipeline[-1] if isinstance(pipeline, Pipeline) else pipeline


def _check_tables(pipeline: Any, sets: Sequence[Given]) -> Any:
    tables = [one for one in sets if isinstance(one, Table)]
    return check_tables(pipeline, tables) if tables and isinstance(pipeline, Pipeline) else pipeline


def _item_set(pipeline: Any, given: Table | ItemSet) -> ItemSet:
    """The features of a set."""
    if isinstance(given, ItemSet):
        return given
    with working("features") as work:
        x: ItemSet = pipeline[:-1].transform([given])[0]
        work.keep(items=x.n_items, pairs=0 if x.pairs is None else x.pairs.shape[0])
    return x


def _linear_similarity(pipeline: Any) -> tuple[Floats, float] | None:
    """w and b, where scores of pairs are all that the clusterer needs of the features."""
    features, model = pipeline[0], pipeline[-1]
    if len(pipeline) != 2 or not isinstance(features, PairFeatures) or not isinstance(model, PairSimilarity):
        return None
    return None if model.clustering_objective == "kmeans" else model.linear_similarity()


def _plain_grouping(pipeline: Any, given: Given, options: GroupingOptions, more: bool) -> Grouping:
    """The groups of a clusterer that does not go by scores of pairs."""
    model = _clusterer(pipeline)
    if options or more or isinstance(given, PairScores):
        raise ValueError(f"{type(model).__name__} does not group by scores of pairs")
    labels = np.asarray(model.predict([_item_set(pipeline, given)])[0])
    return Grouping(labels, np.zeros(len(labels), np.bool_))
