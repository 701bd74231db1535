"""Scores by a trained model of the pairs that matter to new items: theirs, and those of the groups near
them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct.core.callbacks import working
from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import EqualRows, Evidence, PairScores, Table
from clustruct.features import Blocking, PairFeatures
from clustruct.features.blocking import across
from clustruct.features.columns import Columns
from clustruct.features.row_equality import MOST_COPIES
from clustruct.learning import item_confidence
from clustruct.pipeline import check_correlation, score_pairs
from clustruct.pipeline.predict import is_calibrated

from .item_assignment import NEW
from .named_assignment import Update, number_groups, update_groups

# A group of more items is looked at through so many pairs of each item.
LARGE_GROUP, PAIRS_OF_ITEM = 30, 10
# Of a group with items that differ, all are compared with all where it has up to so many.
MOST_TO_SPLIT = 300
# Where a model knows likely pairs, more than so many pairs are not all compared.
MOST_PAIRS = 20_000


def place_items(
    pipeline: Pipeline,
    given: Table | Columns,
    groups: Mapping[str, str] | None = None,
    *,
    evidence: Evidence | None = None,
    revise: bool = False,
    loose: Collection[str] | None = None,
    fresh: Callable[[str], str] | None = None,
    confidence: bool = False,
    random_state: int = 0,
) -> Update:
    """Group the new items of a set with a trained pipeline, beside items whose groups are known.

    Only pairs that touch a new item are looked for, and of known items those of groups that a new item scores
    well with, to see whether these should be merged or split.

    Parameters
    ----------
    pipeline : Pipeline
        Fitted `PairFeatures` and a clusterer by correlation.
    given : Table or Columns
        All items, known and new, with their ids; or their columns (`KnownIndex`), of which what is there
        is not made again.
    groups : mapping, optional
        Group id of each known item; the others are new.
    evidence, revise, loose, fresh, random_state
        As for `update_groups`.
    confidence : bool, default=False
        Whether to say how sure the place of each item is that is new or has moved: its probability, or the
        score that it would lose.

    Returns
    -------
    Update
        The group of each item, and proposals for known groups.
    """
    check_correlation(pipeline[-1])
    columns = pipeline[0].columns(given)
    items = [*map(str, columns.table.item_ids)]
    known = groups or {}
    theirs = number_groups([*map(known.get, items)])[1]
    touched = theirs == NEW
    if evidence is not None:
        touched |= misplaced_items(evidence, theirs)
    scores = scores_near(pipeline, columns, touched, theirs, evidence)
    alone = np.ones(len(items), np.bool_)
    alone[scores.pair_list] = False
    with working("grouping"):
        found = update_groups(
            known,
            items,
            scores,
            evidence=evidence,
            revise=revise,
            loose=loose,
            fresh=fresh,
            random_state=random_state,
        )
    found = replace(found, n_uncompared=int(np.count_nonzero(alone & touched)) if len(items) > 1 else 0)
    if not confidence:
        return found
    return replace(found, confidence=place_confidence(pipeline, items, scores, found))


def place_confidence(
    pipeline: Pipeline, items: Sequence[str], scores: PairScores, found: Update
) -> dict[str, float]:
    """How sure the place is of each item that a run has put somewhere, by the pairs that it has scored."""
    changes, model = found.changes, pipeline[-1]
    placed = frozenset([*changes.added, *(move.item for move in changes.moved)])
    if not placed:
        return {}
    labels = number_groups([found.groups[item] for item in items])[1]
    counts = np.fromiter((item in placed for item in items), np.bool_, len(items))
    near = np.isin(labels, labels[counts])
    near[scores.pair_list.ravel()] = True
    part = np.flatnonzero(near)
    few, y = scores.take(part), canonical_labels(labels[part])
    if is_calibrated(pipeline):
        sure = model.item_probability(few, y)
    else:
        sure = item_confidence(few.matrix_or_graph(), y, sources=few.sources).confidence
    return {items[a]: float(sure[at]) for at, a in enumerate(part.tolist()) if counts[a]}


def misplaced_items(evidence: Evidence, groups: Ints) -> Bools:
    """The items of pieces that are not where the evidence has them: in several known groups, or in one with a
    piece that differs; then all of that group, unless it is very large, as a part of it may leave.

    >>> evidence = Evidence.of_pairs(6, same=[(0, 1)], different=[(2, 3)])
    >>> misplaced_items(evidence, np.array([0, 1, 2, 2, 2, 3])).tolist()
    [True, True, True, True, True, False]
    """
    piece = evidence.piece
    of_piece: dict[int, set[int]] = {}
    for p, group in zip(piece[piece >= 0].tolist(), groups[piece >= 0].tolist(), strict=True):
        of_piece.setdefault(p, set()).add(group)
    places = {p: held - {NEW} for p, held in of_piece.items()}
    wrong = {p for p, held in places.items() if len(held) > 1}
    clashes = [
        (pair, held) for pair in evidence.apart.tolist() if (held := places[pair[0]] & places[pair[1]])
    ]
    wrong |= {p for pair, _ in clashes for p in pair}
    mixed = np.array(sorted({group for _, held in clashes for group in held}), np.int64)
    small = mixed[np.bincount(groups[groups >= 0], minlength=1)[mixed] <= MOST_TO_SPLIT]
    return np.isin(piece, list(wrong)) | np.isin(groups, small)


def scores_near(
    pipeline: Pipeline,
    given: Table | Columns,
    touched: Bools,
    groups: Ints,
    evidence: Evidence | None = None,
) -> PairScores:
    """Scores of the pairs that touch some items, and of pairs of other items in the groups near these
    (``groups``: the number of each item's, or `NEW`).

    A group is near where the sum of its scores with one of the items is positive. Of known items that may
    leave their group all pairs with that and with the groups near them are scored: pairs that are not
    compared count 0, and one that speaks for a group would outweigh all others.
    """
    with working("features") as work:
        columns = pipeline[0].columns(given)
        sources, known_sources = pipeline[0].sources_, _sources(pipeline[0], columns)
        pairs = candidates(pipeline[0], columns, touched, groups)
        values = score_pairs(pipeline, columns, pairs)
        values = values * _copies(pipeline[0], columns, touched, groups)[pairs].max(axis=1, initial=1)
        moved = touched & (groups != NEW)
        if moved.any():
            pieces = np.arange(len(groups)) if evidence is None else evidence.nodes
            more = _pairs_of_moves(pairs, values, moved, pieces, groups)
            more = more if known_sources is None else across(more, known_sources)
            pairs = np.concatenate([pairs, more])
            values = np.concatenate([values, score_pairs(pipeline, columns, more)])
        near = _near_groups(pairs, values, touched, np.arange(len(groups)), groups)[:, 1]
        # A group that an item may leave is near it, whatever the two score.
        inside = _inside(groups, np.union1d(near, groups[moved]), touched)
        inside = inside if known_sources is None else across(inside, known_sources)
        work.keep(items=int(touched.sum()), pairs=len(pairs) + len(inside))
        index = np.concatenate([pairs, inside])
        both = np.concatenate([values, score_pairs(pipeline, columns, inside)])
        apart = None if known_sources is None else sources.apart(known_sources)
        return PairScores(len(columns), index=index, values=both, sources=apart)


def candidates(
    features: PairFeatures, given: Table | Columns, touched: Bools, groups: Ints | None = None
) -> Ints:
    """The likely pairs (all pairs of a small set) that touch some items, of different sources.

    Of rows that are there very often few items are looked at, one in each of the known ``groups``.
    """
    columns = features.columns(given)
    table, blocking, some = columns.table, features.blocking_, np.flatnonzero(touched)
    sources = _sources(features, columns)
    if blocking is not None and (blocking.lists(table) or len(some) * len(table) > MOST_PAIRS):
        # The blocking looks for neighbours of the last items, which new ones mostly are.
        since = len(table) - len(some)
        if (equal := _frequent_rows(features, columns)) is not None:
            return _row_candidates(blocking, columns, touched, sources, equal, groups)
        if not touched[:since].any():
            return blocking.pairs(columns, since=since, sources=sources)
        order = np.concatenate([np.flatnonzero(~touched), some])
        own = None if sources is None else sources[order]
        return np.sort(order[blocking.pairs(table.take(order), since=since, sources=own)], axis=1)
    first, second = np.repeat(some, len(table)), np.tile(np.arange(len(table)), len(some))
    keep = (first < second) | ((first > second) & ~touched[second])
    pairs = np.sort(np.column_stack([first[keep], second[keep]]), axis=1).astype(np.int64)
    return pairs if sources is None else across(pairs, sources)


def _frequent_rows(features: PairFeatures, columns: Columns) -> EqualRows | None:
    """The equal rows of a set in which some row is there so often that its words are not looked up."""
    equal = features.equal_rows(columns)
    return None if equal is None or int(equal.counts.max()) <= MOST_COPIES else equal


def _copies(features: PairFeatures, columns: Columns, touched: Bools, groups: Ints) -> Ints:
    """For how many items of its group a known item of a frequent row stands; 1 for others."""
    equal = _frequent_rows(features, columns) if features.sources_ is None else None
    if equal is None:
        return np.ones(len(columns), np.int64)
    parts = equal.split_by(np.where(touched, 0, 2 + groups))
    return np.where(touched, 1, parts.counts[parts.row])


def _row_candidates(
    blocking: Blocking,
    columns: Columns,
    touched: Bools,
    sources: Ints | None,
    equal: EqualRows,
    groups: Ints | None,
) -> Ints:
    """The likely pairs that touch some items, found among one item of each row and known group, and the
    touched items with a known item that is equal to them, or with the first of themselves.
    """
    state = np.where(touched, 0, 1 if groups is None else 2 + groups)
    parts = equal.split_by(state)
    first, new = parts.first, touched[parts.first]
    if sources is not None:  # equal items of one source are not compared: none of them stands for another
        first = np.unique(np.concatenate([first, np.flatnonzero(touched)]))
        new = touched[first]
    order = np.concatenate([first[~new], first[new]])
    own = None if sources is None else sources[order]
    since = int(np.count_nonzero(~new))
    pairs = np.sort(order[blocking.pairs(columns.take(order), since=since, sources=own)], axis=1)
    if sources is not None:
        return pairs
    leader = np.full(len(equal.counts), -1)
    for some in (first[new][::-1], first[~new][::-1]):  # known ones last, the first of them in the end
        leader[equal.row[some]] = some
    items = np.flatnonzero(touched)
    ties = np.column_stack([leader[equal.row[items]], items])
    ties = np.sort(ties[ties[:, 0] != ties[:, 1]], axis=1)
    return np.unique(np.concatenate([pairs, ties]), axis=0)


def _sources(features: PairFeatures, columns: Columns) -> Ints | None:
    return None if features.sources_ is None else features.sources_.codes(columns)


def _near_groups(pairs: Ints, values: Floats, touched: Bools, pieces: Ints, groups: Ints) -> Ints:
    """Pairs (p x 2) of a piece of touched items and a group that it scores well with."""
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    sums = np.concatenate([values, values])
    keep = touched[ends[:, 0]] & (groups[ends[:, 1]] >= 0)
    k = int(groups.max(initial=0)) + 1
    keys, inverse = np.unique(pieces[ends[keep, 0]] * k + groups[ends[keep, 1]], return_inverse=True)
    total = np.bincount(inverse, weights=sums[keep], minlength=len(keys))
    return np.stack(np.divmod(keys[total > 0.0], k), axis=1)


def _pairs_of_moves(pairs: Ints, values: Floats, moved: Bools, pieces: Ints, groups: Ints) -> Ints:
    """The pairs, not compared so far, of pieces that may leave their group with others in it, and with those
    of the groups near them.
    """
    items, n = np.flatnonzero(moved), len(groups)
    near = [_near_groups(pairs, values, moved, pieces, groups), np.stack([pieces[items], groups[items]], 1)]
    members, parts = _by_number(groups), _by_number(np.where(moved, pieces, -1))
    grids = [
        np.stack(np.meshgrid(parts[piece], members[group], indexing="ij"), axis=-1).reshape(-1, 2)
        for piece, group in np.unique(np.concatenate(near), axis=0).tolist()
    ]
    both = np.sort(np.concatenate(grids), axis=1)
    both = np.unique(both[both[:, 0] != both[:, 1]], axis=0)
    return both[~np.isin(both @ [n, 1], pairs @ [n, 1])]


def _by_number(numbers: Ints) -> dict[int, Ints]:
    """The items of each number from 0 on."""
    order = np.argsort(numbers, kind="stable")
    found, starts = np.unique(numbers[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, starts[1:]), strict=True))


def _inside(groups: Ints, near: Ints, touched: Bools) -> Ints:
    """Pairs of items inside each of some groups: all of a small one, of a large one each item with a few
    others.
    """
    wanted = np.zeros(int(groups.max(initial=-1)) + 2, np.bool_)
    wanted[near] = True
    items = np.flatnonzero(wanted[groups] & ~touched)
    items = items[np.argsort(groups[items], kind="stable")]
    group = groups[items]
    sizes = np.bincount(group, minlength=1)
    reach = np.where(sizes <= LARGE_GROUP, sizes - 1, PAIRS_OF_ITEM)[group]
    behind = np.cumsum(sizes)[group] - np.arange(len(items)) - 1
    steps = np.minimum(reach, behind)  # with so many of the next items each is paired
    first = np.repeat(np.arange(len(items)), steps)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(steps) - steps, steps)
    return np.sort(np.column_stack([items[first], items[second]]), axis=1)
