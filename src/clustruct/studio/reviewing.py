"""What a person is to look at: the least sure groups, merges that nearly happened, sets to group by hand,
questions, and why two items are together or not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from clustruct.core.typing import Floats, Ints
from clustruct.data import Pairs, PairScores
from clustruct.evaluate.explain import feature_fields, field_sums, suggested_splits
from clustruct.groups import Store
from clustruct.groups.decisions import contradiction
from clustruct.pipeline import is_calibrated

from .asking import BATCH, LARGE_BATCH, Pool, questions
from .engine import MOST_HELD, Engine, ProjectSnapshot, probabilities
from .learning import count_confirmed

# Items of a set that is grouped by hand.
BLOCK = 24
# Items of a group that are sent to the page.
MOST_SHOWN = 200


# Group number, expected wrong pairs, mean probability across the split, items that would leave.
DoubtfulGroup: TypeAlias = tuple[int, float, float, tuple[int, ...]]
# Group, group, mean probability across, pairs.
NearMerge: TypeAlias = tuple[int, int, float, int]


def find_doubts(
    snapshot: ProjectSnapshot, scores: PairScores, pipeline: Pipeline
) -> tuple[list[DoubtfulGroup], list[NearMerge]]:
    """The least sure groups first, and pairs of groups that nearly belong together."""

    def probability(values: Floats) -> Floats:
        return probabilities(pipeline, values)

    numbers = snapshot.numbers
    settled = {snapshot.groups[numbers[i]] for i in snapshot.state.confirmed_items() if i in numbers}
    found = [  # groups are numbered by first appearance, here as there
        (split.cluster, split.wrong_pairs, split.together, split.part)
        for split in suggested_splits(scores, snapshot.groups, probability)
        if split.cluster not in settled
    ]
    pairs, values = _pairs_and_scores(scores)
    return found, near_merges(snapshot, pairs, probability(values), settled)


def _pairs_and_scores(scores: PairScores) -> tuple[Ints, Floats]:
    assert scores.index is not None
    assert scores.values is not None
    return scores.index, scores.values


def near_merges(
    snapshot: ProjectSnapshot, pairs: Ints, p: Floats, settled: set[Any], most: int = 500
) -> list[NearMerge]:
    """Pairs of groups with the highest mean probability across, of those that nobody has judged different."""
    ends = np.sort(snapshot.groups[pairs], axis=1)
    across = ends[:, 0] != ends[:, 1]
    k = int(snapshot.groups.max(initial=0)) + 1
    keys, cell = np.unique(ends[across, 0] * k + ends[across, 1], return_inverse=True)
    count = np.bincount(cell)
    mean = np.bincount(cell, weights=p[across]) / np.maximum(count, 1)
    different = [s for s in snapshot.judgements if s.answer == "different"]
    judged = {tuple(np.sort(snapshot.groups_of(s.a, s.b)).tolist()) for s in different}
    found: list[tuple[int, int, float, int]] = []
    for at in np.argsort(-mean, kind="stable")[: 4 * most].tolist():
        pair = (int(keys[at] // k), int(keys[at] % k))
        if pair not in judged and not settled.intersection(pair) and mean[at] > 0.02:
            found.append((*pair, float(mean[at]), int(count[at])))
    return found[:most]


def review_page(engine: Engine, offset: int, limit: int) -> dict[str, Any]:
    """Doubtful groups, from one place on, and merges."""
    snapshot, (number, pipeline) = engine.snapshot(), engine.need_model()
    if engine.doubts is None or engine.doubts[0] != snapshot.at:
        engine.doubts = snapshot.at, *find_doubts(snapshot, engine.scores(number, pipeline), pipeline)
    _, doubtful, near = engine.doubts

    def record(group: int) -> dict[str, Any]:
        items = np.flatnonzero(snapshot.groups == group)
        return {
            "group": snapshot.names[group],
            "items": _ids(snapshot, items[:MOST_SHOWN].tolist()),
            "size": len(items),
        }

    groups = [
        {**record(g), "sure": q, "wrong_pairs": wrong, "part": _ids(snapshot, part)}
        for g, wrong, q, part in doubtful[offset : offset + limit]
    ]
    merges = [{"first": record(a), "second": record(b), "sure": p, "pairs": n} for a, b, p, n in near[:20]]
    return {
        "total": len(doubtful),
        "groups": groups,
        "merges": merges,
        "calibrated": is_calibrated(pipeline),
        "confirmed": count_confirmed(snapshot.evidence),
        "model": number,
    }


def _ids(snapshot: ProjectSnapshot, items: Iterable[int]) -> list[str]:
    return [str(snapshot.table.item_ids[a]) for a in items]


def next_questions(engine: Engine, skipped: int = 0) -> dict[str, Any]:
    """A batch of questions, others than those that were skipped."""
    snapshot, (number, pipeline) = engine.snapshot(), engine.need_model()
    pairs, values = _pairs_and_scores(engine.scores(number, pipeline))
    evidence, n_items = snapshot.evidence, len(snapshot.groups)
    open_ = ~evidence.judges(pairs)
    if len(evidence.unsure):
        open_ &= Pairs(n_items, np.sort(evidence.unsure, axis=1)).rows_of(pairs) < 0
    rng = np.random.default_rng([skipped, snapshot.at])
    found = questions(
        Pool(pairs, probabilities(pipeline, values), open_, snapshot.groups),
        engine.committee(snapshot, rng),
        BATCH if n_items <= MOST_HELD else LARGE_BATCH,
        rng,
        len(snapshot.answers) + skipped,
    )
    records = [
        {
            "kind": "sort" if one.is_board else "pair",
            "items": [] if one.is_board else _ids(snapshot, one.items),
            "piles": [_ids(snapshot, pile) for pile in one.piles] if one.is_board else [],
            "why": one.why,
        }
        for one in found
    ]
    return {"questions": records, "open": int(np.count_nonzero(open_))}


def problem(engine: Engine) -> dict[str, Any]:
    """Which decisions cannot all be right, by number; None where all can. Items are not read for it."""
    with Store(engine.path) as store:
        return {"problem": contradiction(store.state().judgements(), "majority")}


def block(engine: Engine, skip: int) -> dict[str, Any]:
    """A set to group by hand: all items of a small table; of a large one a doubtful item, and those most like
    it, with the groups they are in.
    """
    snapshot, model = engine.snapshot(), engine.model()
    n = len(snapshot.groups)
    if n <= BLOCK or model is None:
        first = skip * BLOCK if skip * BLOCK < n else 0
        return {"items": _ids(snapshot, range(first, min(first + BLOCK, n))), "more": n > (skip + 1) * BLOCK}
    pairs, values = _pairs_and_scores(engine.scores(*model))
    p = probabilities(model[1], values)
    doubt = np.where(snapshot.evidence.judges(pairs), 0.0, p * (1.0 - p))
    total = np.bincount(pairs.ravel(), weights=np.repeat(doubt, 2), minlength=n)
    taken = np.zeros(n, np.bool_)
    for _ in range(skip + 1):
        chosen = _most_alike(int(np.argmax(np.where(taken, -1.0, total))), pairs, p, n)
        taken[chosen] = True
    return {"items": _ids(snapshot, chosen.tolist()), "more": bool((total[~taken] > 0.0).any())}


def _most_alike(start: int, pairs: Ints, p: Floats, n: int) -> Ints:
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


def why(engine: Engine, a: str, b: str) -> dict[str, Any]:
    """What each field adds to the similarity of two items, by their ids."""
    snapshot, (_, pipeline) = engine.snapshot(), engine.need_model()
    for name in (a, b):
        if name not in snapshot.numbers:
            raise ValueError(f"there is no item {name!r:.60}")
    pair = sorted((snapshot.numbers[a], snapshot.numbers[b]))
    if pair[0] == pair[1]:
        raise ValueError("a pair is two items")
    features, (w, intercept) = pipeline[0], pipeline[-1].linear_similarity()
    terms = features.check_tables().terms(snapshot.table, np.array([pair]), w)
    fields = field_sums(terms, feature_fields(features))
    similarity = float(terms.contributions.sum() + intercept)
    return {
        "similarity": similarity,
        "p": float(probabilities(pipeline, np.array([similarity]))[0]),
        "together": bool(snapshot.groups[pair[0]] == snapshot.groups[pair[1]]),
        "fields": [{"field": field, "contribution": float(sums[0])} for field, sums in fields.items()]
        + [{"field": "to begin with", "contribution": float(intercept)}],
        "note": terms.note,
    }


def precision_curve(engine: Engine) -> dict[str, Any]:
    """Precision and recall by threshold, from held-out groups; nothing for a model without probabilities."""
    _, pipeline = engine.need_model()
    if not is_calibrated(pipeline):
        return {"curve": []}
    curve = pipeline[-1].calibration_.curve
    found = np.maximum(curve.found, 1e-9)
    points = zip(curve.right / found, curve.lower, curve.right / max(curve.true, 1e-9), strict=True)
    return {"curve": [{"precision": float(p), "lower": float(lo), "recall": float(r)} for p, lo, r in points]}
