"""What to look at: groups of which the model is least sure, merges it nearly made, sets to group by hand, and
why two items are together or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from clustruct.core.typing import Floats, Ints
from clustruct.data import PairScores
from clustruct.evaluate.explain import feature_fields, field_sums, suggested_splits
from clustruct.groups import Store, contradiction
from clustruct.pipeline import is_calibrated

from .asking import BATCH, LARGE_BATCH, Pool, Question, questions
from .engine import MOST_HELD, Engine, Known, probabilities
from .learning import are_listed, n_confirmed

# Items of a set that is grouped by hand.
BLOCK = 24
# Items of a group that are sent to the page.
MOST_SHOWN = 200


@dataclass(frozen=True)
class Doubts:
    """Groups to look at, by the number of the event that they were found after.

    groups : (group number, expected wrong pairs, mean probability across the split, items that would leave)
    merges : (group, group, mean probability across, pairs)
    """

    at: int
    groups: list[tuple[int, float, float, tuple[int, ...]]]
    merges: list[tuple[int, int, float, int]]


def doubts(known: Known, scores: PairScores, pipeline: Pipeline) -> Doubts:
    """The least sure groups first, and pairs of groups that nearly belong together."""

    def probability(values: Floats) -> Floats:
        return probabilities(pipeline, values)

    settled = {known.groups[known.numbers[i]] for i in known.state.confirmed() if i in known.numbers}
    found = [  # groups are numbered by first appearance, here as there
        (split.cluster, split.wrong_pairs, split.together, split.part)
        for split in suggested_splits(scores, known.groups, probability)
        if split.cluster not in settled
    ]
    return Doubts(known.at, found, near_merges(known, scores, probability(_listed(scores)[1]), settled))


def _listed(scores: PairScores) -> tuple[Ints, Floats]:
    assert scores.index is not None
    assert scores.values is not None
    return scores.index, scores.values


def near_merges(
    known: Known, scores: PairScores, p: Floats, settled: set[Any], most: int = 500
) -> list[tuple[int, int, float, int]]:
    """Pairs of groups with the highest mean probability across, of those that nobody has told apart."""
    pairs, _ = _listed(scores)
    ends = np.sort(known.groups[pairs], axis=1)
    across = ends[:, 0] != ends[:, 1]
    k = int(known.groups.max(initial=0)) + 1
    keys, cell = np.unique(ends[across, 0] * k + ends[across, 1], return_inverse=True)
    count = np.bincount(cell)
    mean = np.bincount(cell, weights=p[across]) / np.maximum(count, 1)
    told = {tuple(np.sort(known.groups_of(s.a, s.b)).tolist()) for s in known.held.different}
    found: list[tuple[int, int, float, int]] = []
    for at in np.argsort(-mean, kind="stable")[: 4 * most].tolist():
        pair = (int(keys[at] // k), int(keys[at] % k))
        if pair not in told and not settled.intersection(pair) and mean[at] > 0.02:
            found.append((*pair, float(mean[at]), int(count[at])))
    return found[:most]


def group_record(known: Known, group: int) -> dict[str, Any]:
    """Id and items of a group."""
    items = known.members(group)
    shown = [str(known.table.item_ids[a]) for a in items[:MOST_SHOWN].tolist()]
    return {"group": known.names[group], "items": shown, "size": len(items)}


def _doubts(engine: Engine, known: Known) -> Doubts:
    held: Doubts | None = engine.doubts
    if held is None or held.at != known.at:
        number, pipeline = _needed(engine)
        held = engine.doubts = doubts(known, engine.scores(number, pipeline), pipeline)
    return held


def review_page(engine: Engine, offset: int, limit: int) -> dict[str, Any]:
    """Doubtful groups, from one place on, and merges."""
    known, (number, pipeline) = engine.known(), _needed(engine)
    held, ids = _doubts(engine, known), known.table.item_ids
    groups = [
        {
            **group_record(known, g),
            "sure": q,
            "wrong_pairs": wrong,
            "part": [str(ids[a]) for a in part],
        }
        for g, wrong, q, part in held.groups[offset : offset + limit]
    ]
    merges = [
        {"first": group_record(known, a), "second": group_record(known, b), "sure": p, "pairs": n}
        for a, b, p, n in held.merges[:20]
    ]
    return {
        "total": len(held.groups),
        "groups": groups,
        "merges": merges,
        "calibrated": is_calibrated(pipeline),
        "confirmed": n_confirmed(known.marks),
        "model": number,
    }


class NoModel(ValueError):
    """Nothing was learned yet."""


def _needed(engine: Engine) -> tuple[int, Pipeline]:
    found = engine.model()
    if found is None:
        raise NoModel("there is no model yet: learn first")
    return found


def next_questions(engine: Engine, skipped: int = 0) -> dict[str, Any]:
    """A batch of questions, others than those that were skipped."""
    known, (number, pipeline) = engine.known(), _needed(engine)
    pairs, values = _listed(engine.scores(number, pipeline))
    open_ = ~known.marks.judges(pairs)
    if len(known.marks.unsure):
        open_ &= ~are_listed(pairs, np.sort(known.marks.unsure, axis=1), len(known.groups))
    rng = np.random.default_rng([skipped, known.at])
    items = len(known.groups)
    n_before = len(known.answers)
    found = questions(
        Pool(pairs, probabilities(pipeline, values), open_, known.groups),
        engine.committee(known, rng),
        BATCH if items <= MOST_HELD else LARGE_BATCH,
        rng,
        n_before + skipped,
    )
    return {
        "questions": [_question(known, one) for one in found],
        "open": int(np.count_nonzero(open_)),
    }


def _question(known: Known, one: Question) -> dict[str, Any]:
    """A question as the page shows it: two items, or the piles of a board."""
    ids = known.table.item_ids
    return {
        "kind": "sort" if one.is_board else "pair",
        "items": [] if one.is_board else [str(ids[i]) for i in one.items],
        "piles": [[str(ids[i]) for i in pile] for pile in one.piles] if one.is_board else [],
        "why": one.why,
    }


def problem(engine: Engine) -> dict[str, Any]:
    """Which decisions cannot all be right, by number; None where all can. Items are not read for it."""
    with Store(engine.path) as store:
        return {"problem": contradiction(store.state().statements(), "majority")}


def block(engine: Engine, skip: int) -> dict[str, Any]:
    """A set to group by hand: all items of a small table; of a large one a doubtful item, and those most like
    it, with the groups they are in.
    """
    known = engine.known()
    ids = known.table.item_ids
    if len(ids) <= BLOCK or engine.model() is None:
        chosen = np.arange(min(len(ids), BLOCK)) + (skip * BLOCK if skip * BLOCK < len(ids) else 0)
        return {
            "items": [str(ids[a]) for a in chosen.tolist() if a < len(ids)],
            "more": len(ids) > (skip + 1) * BLOCK,
        }
    number, pipeline = _needed(engine)
    pairs, values = _listed(engine.scores(number, pipeline))
    p = probabilities(pipeline, values)
    doubt = np.where(known.marks.judges(pairs), 0.0, p * (1.0 - p))
    total = np.bincount(pairs.ravel(), weights=np.repeat(doubt, 2), minlength=len(ids))
    taken = np.zeros(len(ids), np.bool_)
    for _ in range(skip + 1):
        start = int(np.argmax(np.where(taken, -1.0, total)))
        chosen = _like(start, pairs, p, len(ids))
        taken[chosen] = True
    return {"items": [str(ids[a]) for a in chosen.tolist()], "more": bool((total[~taken] > 0.0).any())}


def _like(start: int, pairs: Ints, p: Floats, n: int) -> Ints:
    """An item and those that are most like it, step by step."""
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    graph = sparse.csr_array((np.tile(p, 2), (ends[:, 0], ends[:, 1])), shape=(n, n))
    reach = np.zeros(n)
    reach[start], found = np.inf, [start]
    while len(found) < BLOCK:
        row = graph[[found[-1]]]
        np.maximum.at(reach, row.indices, row.data)
        left = reach.copy()
        left[found] = 0.0
        best = int(np.argmax(left))
        if left[best] <= 0.0:
            break
        found.append(best)
    return np.array(found)


def why(engine: Engine, first: str, second: str) -> dict[str, Any]:
    """What each field says for and against two items being together."""
    known, (_, pipeline) = engine.known(), _needed(engine)
    for name in (first, second):
        if name not in known.numbers:
            raise ValueError(f"there is no item {name!r:.60}")
    a, b = sorted((known.numbers[first], known.numbers[second]))
    if a == b:
        raise ValueError("a pair is two items")
    features, (w, intercept) = pipeline[0], pipeline[-1].linear_similarity()
    told = features.checked().terms(known.table, np.array([[a, b]]), w)
    fields = field_sums(told, feature_fields(features))
    similarity = float(told.contributions.sum() + intercept)
    return {
        "similarity": similarity,
        "p": float(probabilities(pipeline, np.array([similarity]))[0]),
        "together": bool(known.groups[a] == known.groups[b]),
        "fields": [{"field": field, "contribution": float(says[0])} for field, says in fields.items()]
        + [{"field": "to begin with", "contribution": float(intercept)}],
        "note": told.note,
    }


def precision_curve(engine: Engine) -> dict[str, Any]:
    """Precision and recall by threshold, from held-out groups; nothing for a model without probabilities."""
    _, pipeline = _needed(engine)
    if not is_calibrated(pipeline):
        return {"curve": []}
    curve = pipeline[-1].calibration_.curve
    found = np.maximum(curve.found, 1e-9)
    points = zip(curve.right / found, curve.lower, curve.right / max(curve.true, 1e-9), strict=True)
    return {"curve": [{"precision": float(p), "lower": float(lo), "recall": float(r)} for p, lo, r in points]}
