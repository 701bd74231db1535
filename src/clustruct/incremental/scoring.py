"""Scores by a trained model of the pairs that matter to new items: theirs, and those of the groups near
them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct._typing import Bools, Floats, Ints
from clustruct.callbacks import working
from clustruct.explain import objective_of
from clustruct.features import PairFeatures
from clustruct.itemsets import PairScores
from clustruct.records import RawSet

from .assign import NEW, assign
from .constraints import Constraints
from .update import Update, update_groups

# A group of more items is looked at through so many pairs of each item.
LARGE_GROUP, PAIRS_OF_ITEM = 30, 10


def place_items(
    pipeline: Pipeline,
    raw: RawSet,
    groups: Mapping[str, str] | None = None,
    *,
    constraints: Constraints | None = None,
    confirmed: Mapping[str, int] | None = None,
    revise: bool = False,
    fresh: Callable[[str], str] | None = None,
    random_state: int = 0,
) -> Update:
    """Group the new items of a set with a trained pipeline, beside items whose groups are known.

    Only pairs that touch a new item are looked for, and of known items those of groups that a new item scores
    well with, to see whether these should be merged or split.

    Parameters
    ----------
    pipeline : fitted `PairFeatures` and a clusterer by correlation
    raw : all items, known and new, with their ids
    groups : group id of each known item; the others are new
    constraints, confirmed, revise, fresh, random_state : as for `update_groups`
    """
    _check_correlation(pipeline[-1])
    items = [str(name) for name in raw.item_ids]
    known, held = groups or {}, constraints or Constraints()
    named = {item for said in held.broken(known) for item in (said.a, said.b)}
    touched = np.array([item not in known or item in named for item in items])
    scores = scores_near(pipeline, raw, touched, [known.get(item) for item in items])
    more = {"confirmed": confirmed, "revise": revise, "fresh": fresh, "random_state": random_state}
    with working("grouping"):
        return update_groups(known, items, scores, constraints=held, **more)  # type: ignore[arg-type]


def constrained(
    model: object, K: Any, ids: Sequence[Hashable], held: Constraints, random_state: int = 0
) -> Ints:
    """The clusters of one set, by a model's scores of its pairs, that hold what people said of its items."""
    _check_correlation(model)
    numbers = {str(name): a for a, name in enumerate(ids)}
    return assign(
        PairScores.from_matrix(K),
        np.full(len(numbers), NEW),
        must_link=held.must_link(numbers),
        cannot_link=held.cannot_link(numbers),
        random_state=random_state,
    ).labels


def _check_correlation(model: object) -> None:
    if objective_of(model) != "correlation":
        name = type(model).__name__
        raise ValueError(
            f"{name} has a fixed number of groups: it takes neither known groups nor constraints"
        )


def joined(first: RawSet, second: RawSet) -> RawSet:
    """One set of the items of two, without labels.

    >>> joined(RawSet([{"t": 1}], ids=["a"]), RawSet([{"u": 2}], ids=["b"])).column("t")
    [1, None]
    """
    fields = list(dict.fromkeys([*first.fields(), *second.fields()]))
    ids: list[Hashable] = [*first.item_ids, *second.item_ids]
    if not fields:
        return RawSet([{}] * len(ids), ids=ids)
    columns = {field: [*first.column(field), *second.column(field)] for field in fields}
    return RawSet.from_columns(columns, ids=ids, context={**first.context, **second.context})


def scores_near(
    pipeline: Pipeline, raw: RawSet, touched: Bools, groups: Sequence[Hashable | None]
) -> PairScores:
    """Scores of the pairs that touch some items, and of pairs of other items in the groups near these.

    A group is near where the sum of its scores with one of the items is positive.
    """
    with working("features") as work:
        pairs = candidates(pipeline[0], raw, touched)
        values = score_pairs(pipeline, raw, pairs)
        number = {group: g for g, group in enumerate(dict.fromkeys(g for g in groups if g is not None))}
        known = np.array([-1 if g is None else number[g] for g in groups], dtype=np.int64)
        inside = _inside(known, _near_groups(pairs, values, touched, known), touched)
        work.keep(items=int(touched.sum()), pairs=len(pairs) + len(inside))
        index = np.concatenate([pairs, inside])
        return PairScores(
            len(raw), index=index, values=np.concatenate([values, score_pairs(pipeline, raw, inside)])
        )


def candidates(features: PairFeatures, raw: RawSet, touched: Bools) -> Ints:
    """The likely pairs (all pairs of a small set) that touch some items."""
    blocking = features.blocking_
    if blocking is not None and blocking.lists(raw):
        pairs = blocking.pairs(raw)
        return pairs[touched[pairs].any(axis=1)]
    some = np.flatnonzero(touched)
    first, second = np.repeat(some, len(raw)), np.tile(np.arange(len(raw)), len(some))
    keep = (first < second) | ((first > second) & ~touched[second])
    return np.sort(np.column_stack([first[keep], second[keep]]), axis=1).astype(np.int64)


def score_pairs(pipeline: Pipeline, raw: RawSet, pairs: Ints) -> Floats:
    """What the model says of some pairs (p x 2, the smaller item first), at the cost of the items in them."""
    if not len(pairs):
        return np.zeros(0)
    items, ends = np.unique(pairs, return_inverse=True)
    local = ends.reshape(pairs.shape).astype(np.int64)
    features, model = copy(pipeline[0]), pipeline[-1]
    features.blocking_ = _GivenPairs(local)
    part, linear = raw.take(items), model.linear_similarity()
    if linear is not None:
        values = features.scores(part, *linear).values
        assert values is not None
        return values
    K = model.decision_function(features.checked().transform([part]))[0]
    return np.asarray(K[local[:, 0], local[:, 1]], dtype=np.float64).ravel()


class _GivenPairs:
    """In the place of a blocking: the pairs are known."""

    def __init__(self, pairs: Ints) -> None:
        self._pairs = pairs

    def lists(self, raw: Any) -> bool:
        return True

    def pairs(self, raw: Any) -> Ints:
        return self._pairs


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
    cuts = np.flatnonzero(np.diff(groups[items])) + 1
    found = [np.zeros((0, 2), np.int64)]
    for members in np.split(items, cuts):
        reach = len(members) - 1 if len(members) <= LARGE_GROUP else PAIRS_OF_ITEM
        for step in range(1, reach + 1):
            found.append(np.column_stack([members[:-step], members[step:]]))
    return np.sort(np.concatenate(found), axis=1)
