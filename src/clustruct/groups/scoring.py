"""Scores by a trained model of the pairs that matter to new items: theirs, and those of the groups near
them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct.core.callbacks import working
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import PairScores, Table
from clustruct.features import PairFeatures
from clustruct.features.blocking import across
from clustruct.features.columns import Columns
from clustruct.pipeline import check_correlation, score_pairs

from .assign import NEW
from .constraints import Constraints
from .update import Update, numbered, update_groups

# A group of more items is looked at through so many pairs of each item.
LARGE_GROUP, PAIRS_OF_ITEM = 30, 10
# Where a model knows likely pairs, more than so many pairs are not all compared.
MOST_PAIRS = 20_000


def place_items(
    pipeline: Pipeline,
    given: Table | Columns,
    groups: Mapping[str, str] | None = None,
    *,
    constraints: Constraints | None = None,
    confirmed: Mapping[str, int] | None = None,
    revise: bool = False,
    loose: Collection[str] | None = None,
    fresh: Callable[[str], str] | None = None,
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
    constraints, confirmed, revise, loose, fresh, random_state
        As for `update_groups`.

    Returns
    -------
    Update
        The group of each item, and proposals for known groups.
    """
    check_correlation(pipeline[-1])
    columns = given if isinstance(given, Columns) else Columns(given)
    items = [*map(str, columns.table.item_ids)]
    known, held = groups or {}, constraints or Constraints()
    theirs = numbered([*map(known.get, items)])[1]
    touched = theirs == NEW
    if named := {item for said in held.broken(known) for item in (said.a, said.b)}:
        touched |= np.fromiter(map(named.__contains__, items), np.bool_, len(items))
    scores = scores_near(pipeline, columns, touched, theirs)
    with working("grouping"):
        return update_groups(
            known,
            items,
            scores,
            constraints=held,
            confirmed=confirmed,
            revise=revise,
            loose=loose,
            fresh=fresh,
            random_state=random_state,
        )


def scores_near(pipeline: Pipeline, given: Table | Columns, touched: Bools, groups: Ints) -> PairScores:
    """Scores of the pairs that touch some items, and of pairs of other items in the groups near these
    (``groups``: the number of each item's, or `NEW`).

    A group is near where the sum of its scores with one of the items is positive.
    """
    with working("features") as work:
        columns = given if isinstance(given, Columns) else Columns(given)
        sources, known_sources = pipeline[0].sources_, _sources(pipeline[0], columns)
        pairs = candidates(pipeline[0], columns, touched)
        values = score_pairs(pipeline, columns, pairs)
        inside = _inside(groups, _near_groups(pairs, values, touched, groups), touched)
        inside = inside if known_sources is None else across(inside, known_sources)
        work.keep(items=int(touched.sum()), pairs=len(pairs) + len(inside))
        index = np.concatenate([pairs, inside])
        both = np.concatenate([values, score_pairs(pipeline, columns, inside)])
        apart = None if known_sources is None else sources.apart(known_sources)
        return PairScores(len(columns), index=index, values=both, sources=apart)


def candidates(features: PairFeatures, given: Table | Columns, touched: Bools) -> Ints:
    """The likely pairs (all pairs of a small set) that touch some items, of different sources."""
    columns = given if isinstance(given, Columns) else Columns(given)
    table, blocking, some = columns.table, features.blocking_, np.flatnonzero(touched)
    sources = _sources(features, columns)
    if blocking is not None and (blocking.lists(table) or len(some) * len(table) > MOST_PAIRS):
        # The blocking looks for neighbours of the last items, which new ones mostly are.
        since = len(table) - len(some)
        if not touched[:since].any():
            return blocking.pairs(columns, since=since, sources=sources)
        order = np.concatenate([np.flatnonzero(~touched), some])
        own = None if sources is None else sources[order]
        return np.sort(order[blocking.pairs(table.take(order), since=since, sources=own)], axis=1)
    first, second = np.repeat(some, len(table)), np.tile(np.arange(len(table)), len(some))
    keep = (first < second) | ((first > second) & ~touched[second])
    pairs = np.sort(np.column_stack([first[keep], second[keep]]), axis=1).astype(np.int64)
    return pairs if sources is None else across(pairs, sources)


def _sources(features: PairFeatures, columns: Columns) -> Ints | None:
    return None if features.sources_ is None else features.sources_.codes(columns)


def _near_groups(pairs: Ints, values: Floats, touched: Bools, groups: Ints) -> Ints:
    """The groups that an item scores well with."""
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    sums = np.concatenate([values, values])
    keep = touched[ends[:, 0]] & (groups[ends[:, 1]] >= 0)
    k = int(groups.max(initial=0)) + 1
    keys, inverse = np.unique(ends[keep, 0] * k + groups[ends[keep, 1]], return_inverse=True)
    total = np.bincount(inverse, weights=sums[keep], minlength=len(keys))
    return np.unique(keys[total > 0.0] % k)


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
