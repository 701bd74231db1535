"""What the page says, section by section, as plain values; the template says it in HTML."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from clustruct.core.formatting import count, short
from clustruct.data import Table, is_missing, uncompared_line
from clustruct.evaluate.explain import (
    ClusterMove,
    ItemConfidence,
    MixedCluster,
    SetFindings,
    WrongPair,
    explain_pair,
)
from clustruct.evaluate.explain.findings import Findings
from clustruct.evaluate.plot import PairContributionDisplay

from . import figures

# Per set the loss and these; the rest is in the table of means.
PER_SET = {"pairwise_f1": "pairwise F", "b_cubed_f1": "B-cubed F", "adjusted_rand": "adjusted Rand"}
MEANS = {
    "pairwise_precision": "pairwise precision",
    "pairwise_recall": "pairwise recall",
    "pairwise_f1": "pairwise F",
    "b_cubed_f1": "B-cubed F",
    "muc_f1": "MUC F",
    "ceaf_entity_f1": "CEAF-e F",
    "lea_f1": "LEA F",
    "adjusted_rand": "adjusted Rand index",
    "normalized_mutual_information": "normalised mutual information",
    "variation_of_information": "variation of information (0 is best)",
}
MOST_SETS = 40
MOST_ERRORS, MOST_PIECES, MOST_ITEMS = 20, 10, 8
MOST_PAIRS = 4
MOST_CONFIDENCES, MOST_CLUSTERS = 20, 10
# Letters of a field of an item, in a line and in a column of its own.
FIELD_LETTERS, SIDE_LETTERS = 60, 400


class ReportTable(NamedTuple):
    """A head, and rows of texts, numbers and items."""

    head: list[str]
    rows: list[list[object]]


class NamedItem(NamedTuple):
    """An item as people know it: by name and by what its fields say."""

    name: Hashable
    words: str


def contents(findings: Findings) -> dict[str, object]:
    """All that can be said of these sets; what cannot is None or empty."""
    return {
        "verdict": verdict(findings),
        "summary": summary(findings),
        "scores": scores(findings),
        "learned": figures.learning_pictures(findings),
        "sets": figures.sets(findings),
        "errors": errors(findings),
        "wrong_pairs": wrong_pairs(findings),
        "confidence": confidence(findings),
    }


def item_name(table: Table, a: int) -> Hashable:
    """Its id, or its number."""
    return f"item {a}" if table.ids is None else table.ids[a]


def as_item(table: Table, a: int) -> NamedItem:
    """Name and fields, in one line."""
    fields = [f"{name}: {value}" for name, value in table.items[a].items() if not is_missing(value)]
    words = [f if len(f) <= FIELD_LETTERS else f[: FIELD_LETTERS - 1] + "…" for f in fields]
    return NamedItem(item_name(table, a), "; ".join(words))


def verdict(findings: Findings) -> str:
    """How good it is, before anything else."""
    if findings.scores is not None:
        text = findings.scores.verdict()
        return text[0].upper() + text[1:] + "."
    items = sum(len(one.table) for one in findings.sets)
    clusters = sum(int(one.labels.max()) + 1 for one in findings.sets)
    found = f"{count(items, 'item')} in {count(clusters, 'cluster')}."
    return f"{found} Without labels nothing says how many are right; those to look at first are below."


def summary(findings: Findings) -> ReportTable:
    """Data and model in short."""
    sizes = [len(one.table) for one in findings.sets]
    known = findings.with_truth
    rows: list[list[object]] = [
        ["sets", f"{len(sizes):,}, {len(known):,} of them with labels"],
        ["items", f"{sum(sizes):,}; {min(sizes):,} to {max(sizes):,} in a set"],
        ["clusters found", f"{sum(int(one.labels.max()) + 1 for one in findings.sets):,}"],
    ]
    if lonely := sum(one.n_uncompared for one in findings.sets):
        rows.append(["compared with nothing", uncompared_line(lonely)])
    if known:
        rows.append(["true clusters", f"{sum(len(set(one.truth or ())) for one in known):,}"])
    return ReportTable(
        ["", ""], [*rows, ["model", type(findings.model).__name__], *_model_rows(findings.model)]
    )


def _model_rows(model: BaseEstimator) -> list[list[object]]:
    rows: list[list[object]] = [["features", f"{getattr(model, 'n_features_in_', 0):,}"]]
    if hasattr(model, "C_"):
        how = " (by cross-validation)" if hasattr(model, "cv_results_") else ""
        rows.append(["C", f"{model.C_:g}{how}"])
    rows += [[name, str(getattr(model, name))] for name in ("loss", "predictor") if hasattr(model, name)]
    result = getattr(model, "result_", None)
    if result is not None:
        rows.append(["training", f"{result.stop_reason.replace('_', ' ')}, {result.seconds:.3g} s"])
    return rows


def scores(findings: Findings) -> dict[str, object] | None:
    """Means, and the worst sets first."""
    found, known = findings.scores, findings.with_truth
    if found is None:
        return None
    means: list[list[object]] = [
        [label, float(found.mean[name]), float(found.micro[name]) if name in found.micro else ""]
        for name, label in MEANS.items()
    ]
    place = {one.number: row for row, one in enumerate(known)}
    rows: list[list[object]] = []
    for one in findings.worst_first[:MOST_SETS]:
        sizes = [len(one.table), len(set(one.truth or ())), int(one.labels.max()) + 1]
        values = [float(found.per_set[name][place[one.number]]) for name in PER_SET]
        rows.append([one.name, *sizes, float(one.loss or 0.0), *values])
    return {
        "mean_loss": float(np.mean([one.loss for one in known])),
        "n_sets": len(known),
        "means": ReportTable(["score", "mean of sets", "all pairs and items pooled"], means),
        "sets": ReportTable(["set", "items", "true clusters", "predicted", "loss", *PER_SET.values()], rows),
        "hidden": len(known) - len(rows),
    }


def errors(findings: Findings) -> dict[str, object] | None:
    """The worst clusters of all sets; each opens to its items."""
    if not findings.with_truth:
        return None
    found = [
        (mixture, kind, one)
        for one in findings.with_truth
        if one.errors is not None
        for kind, mixtures in (("split", one.errors.splits), ("merge", one.errors.merges))
        for mixture in mixtures
    ]
    found.sort(key=lambda error: -error[0].pairs)
    splits = sum(kind == "split" for _, kind, _ in found)
    return {
        "splits": splits,
        "merges": len(found) - splits,
        "errors": [_error(*error) for error in found[:MOST_ERRORS]],
        "hidden": max(len(found) - MOST_ERRORS, 0),
    }


def _error(mixture: MixedCluster, kind: str, one: SetFindings) -> dict[str, object]:
    listed = mixture.pieces[:MOST_PIECES]
    sizes = [str(len(piece.items)) for piece in listed] + ["…"] * (len(mixture.pieces) > MOST_PIECES)
    pieces = [
        {
            "cluster": piece.cluster,
            "items": [as_item(one.table, a) for a in piece.numbers[:MOST_ITEMS]],
            "more": max(len(piece.numbers) - MOST_ITEMS, 0),
        }
        for piece in listed
    ]
    about = {"set": one.name, "kind": kind, "cluster": mixture.cluster, "pairs": mixture.pairs}
    return {**about, "sizes": " + ".join(sizes), "pieces": pieces}


def wrong_pairs(findings: Findings) -> list[dict[str, Any]]:
    """Wrong pairs of which the model is most confident, of both kinds, each explained feature by feature."""
    parts = []
    for one, pair in _worst_pairs(findings):
        try:
            x = findings.item_set(one)
            found = explain_pair(findings.pipeline, one.table, pair.a, pair.b, one.labels, x=x)
        except ValueError:  # a model without weights of features
            return []
        ax = figures.new_axes(6.8, 1.5 + 0.3 * (len(found.largest(10)) + 1))
        ids = [item_name(one.table, a) for a in range(len(one.table))]
        display = PairContributionDisplay.from_predictions(found, ids=ids, n=10, ax=ax)
        drawn = figures.picture(display, f"contributions of the features to a pair of set {one.name}")
        about = {"set": one.name, "together": pair.together, "picture": drawn, "note": found.note}
        parts.append({**about, "fields": side_by_side(one.table, pair.a, pair.b)})
    return parts


def side_by_side(table: Table, a: int, b: int) -> dict[str, object]:
    """Two items in columns, field by field: what each has, in pieces, with whether the other lacks them."""
    first, second = table.items[a], table.items[b]
    names = [
        n
        for n in dict.fromkeys([*first, *second])
        if not (is_missing(first.get(n)) and is_missing(second.get(n)))
    ]
    rows = [(n, *_mark_differences(_text(first.get(n)), _text(second.get(n)))) for n in names]
    return {"names": [item_name(table, a), item_name(table, b)], "rows": rows}


def _text(value: object) -> str:
    return "" if is_missing(value) else short(value, SIDE_LETTERS)


def _mark_differences(first: str, second: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Each text in pieces, with whether the other text lacks them.

    >>> _mark_differences("12 Main St", "12 main road")
    ([('12', False), (' ', False), ('Main', False), (' ', False), ('St', True)],
     [('12', False), (' ', False), ('main', False), (' ', False), ('road', True)])
    """
    pieces = [re.findall(r"\w+|\W+", text) for text in (first, second)]
    words = [{piece.casefold() for piece in own} for own in pieces]
    return tuple(  # type: ignore[return-value]
        [(piece, piece.casefold() not in words[1 - k] and piece.isalnum()) for piece in own]
        for k, own in enumerate(pieces)
    )


def _worst_pairs(findings: Findings) -> list[tuple[SetFindings, WrongPair]]:
    """Half of them wrongly together and half wrongly apart where there are both; no item twice."""
    pairs = [(one, pair) for one in findings.with_truth for pair in one.wrong]
    pairs.sort(key=lambda p: -p[1].similarity if p[1].together else p[1].similarity)
    chosen: list[tuple[SetFindings, WrongPair]] = []
    used: set[tuple[int, int]] = set()
    places = {True: MOST_PAIRS // 2, False: MOST_PAIRS // 2}
    for one, pair in pairs:
        items = {(one.number, pair.a), (one.number, pair.b)}
        if places[pair.together] and not items & used:
            places[pair.together] -= 1
            used |= items
            chosen.append((one, pair))
    return chosen


def confidence(findings: Findings) -> dict[str, ReportTable] | None:
    """Items and clusters that are least sure, and the splits that would help most."""
    if all(one.items is None for one in findings.sets):
        return None
    known = any(one.items is not None and one.items.probability is not None for one in findings.sets)
    what = "probability" if known else "score lost"
    items = ReportTable(["set", "item", "cluster", what, "best other place"], _item_rows(findings))
    head = ["set", "cluster", "items", "score lost", "best other shape", "for example"]
    splits = ["set", "cluster", "items", "wrong pairs", "together", "leaving", "for example"]
    return {
        "items": items,
        "clusters": ReportTable(head, _cluster_rows(findings)),
        "splits": ReportTable(splits, _split_rows(findings)),
    }


def _item_rows(findings: Findings) -> list[list[object]]:
    ranked = sorted(
        (_sureness(one.items, a), one.number, int(a), int(one.items.alternative[a]))
        for one in findings.sets
        if one.items is not None
        for a in one.items.order()[:MOST_CONFIDENCES]
    )
    rows: list[list[object]] = []
    for lost, number, a, other in ranked[:MOST_CONFIDENCES]:
        if np.isfinite(lost):
            one, place = findings.sets[number], "alone" if other < 0 else f"cluster {other}"
            rows.append([one.name, as_item(one.table, a), int(one.labels[a]), lost, place])
    return rows


def _sureness(items: ItemConfidence, a: int) -> float:
    return float((items.confidence if items.probability is None else items.probability)[a])


def _split_rows(findings: Findings) -> list[list[object]]:
    """The splits of which most wrong pairs are expected."""
    splits = [(one, split) for one in findings.sets for split in one.splits]
    splits.sort(key=lambda found: -found[1].wrong_pairs)
    return [
        [
            one.name,
            split.cluster,
            split.size,
            split.wrong_pairs,
            split.together,
            count(len(split.part), "item"),
            as_item(one.table, split.part[0]),
        ]
        for one, split in splits[:MOST_CLUSTERS]
    ]


def _cluster_rows(findings: Findings) -> list[list[object]]:
    moves = [(one, move) for one in findings.sets for move in one.clusters or ()]
    moves = sorted((m for m in moves if np.isfinite(m[1].confidence)), key=lambda m: m[1].confidence)
    # A merge is found from both sides, and listed once.
    once: dict[tuple[int, frozenset[int]], tuple[SetFindings, ClusterMove]] = {}
    for one, move in moves:
        once.setdefault((one.number, frozenset((move.cluster, move.other))), (one, move))
    return [
        [one.name, move.cluster, move.size, move.confidence, _shape(one, move), _example(one, move)]
        for one, move in list(once.values())[:MOST_CLUSTERS]
    ]


def _shape(one: SetFindings, move: ClusterMove) -> str:
    if move.kind == "merge":
        size = int((one.labels == move.other).sum())
        return f"merged with cluster {move.other} ({count(size, 'item')})"
    if move.kind == "take out":
        return "one item taken out"
    return "split into " + " + ".join(str(n) for n in sorted(map(len, move.parts), reverse=True)[:8])


def _example(one: SetFindings, move: ClusterMove) -> NamedItem:
    """An item of the part that would leave, or of the cluster that would be joined."""
    joined = move.kind == "merge"
    return as_item(
        one.table, int(np.flatnonzero(one.labels == move.other)[0]) if joined else move.parts[-1][0]
    )
