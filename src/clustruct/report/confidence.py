"""The section of doubt: the least sure items and clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct.explain import ClusterMove
from clustruct.plot._drawing import counted

from .findings import Findings, SetFindings
from .items import item_html
from .page import Html, section, table

MOST_ITEMS = 20
MOST_CLUSTERS = 10


def sureness_section(findings: Findings) -> tuple[str, Html] | None:
    """Items and clusters whose best other place costs least."""
    if all(s.items is None for s in findings.sets):
        return None
    parts: list[str] = [
        "<p>The score lost by the best other place of an item: near zero it could as well be there, below "
        "zero it would be better there.</p>",
        table(["set", "item", "cluster", "score lost", "best other place"], _item_rows(findings)),
    ]
    clusters = _cluster_rows(findings)
    if clusters:
        parts += [
            "<p>The score lost by the best other shape found for a cluster:</p>",
            table(["set", "cluster", "items", "score lost", "best other shape", "for example"], clusters),
        ]
    return section("Least sure", *parts)


def _item_rows(findings: Findings) -> list[list[Any]]:
    ranked: list[tuple[float, int, int]] = []
    for one in findings.sets:
        if one.items is not None:
            for a in one.items.order()[:MOST_ITEMS]:
                ranked.append((float(one.items.confidence[a]), one.number, int(a)))
    ranked.sort()
    rows = []
    for lost, number, a in ranked[:MOST_ITEMS]:
        one = findings.sets[number]
        if np.isfinite(lost):
            rows.append([one.name, item_html(one.raw, a), int(one.labels[a]), lost, _place(one, a)])
    return rows


def _place(one: SetFindings, a: int) -> str:
    assert one.items is not None
    cluster = int(one.items.alternative[a])
    return "alone" if cluster < 0 else f"cluster {cluster}"


def _cluster_rows(findings: Findings) -> list[list[Any]]:
    moves = [(one, move) for one in findings.sets for move in one.clusters or ()]
    moves = sorted((m for m in moves if np.isfinite(m[1].lost)), key=lambda m: m[1].lost)
    moves = _each_merge_once(moves)[:MOST_CLUSTERS]
    return [
        [
            one.name,
            move.cluster,
            move.size,
            move.lost,
            _shape(one, move),
            item_html(one.raw, _example(one, move)),
        ]
        for one, move in moves
    ]


def _each_merge_once(moves: list[tuple[SetFindings, ClusterMove]]) -> list[tuple[SetFindings, ClusterMove]]:
    """Without a merge that was listed from its other side."""
    seen: set[tuple[int, frozenset[int]]] = set()
    kept = []
    for one, move in moves:
        merged = (one.number, frozenset((move.cluster, move.other)))
        if move.kind != "merge" or merged not in seen:
            kept.append((one, move))
            seen.add(merged)
    return kept


def _shape(one: SetFindings, move: ClusterMove) -> str:
    if move.kind == "merge":
        size = int((one.labels == move.other).sum())
        return f"merged with cluster {move.other} ({counted(size, 'item')})"
    if move.kind == "take out":
        return "one item taken out"
    return "split into " + " + ".join(str(n) for n in sorted(map(len, move.parts), reverse=True)[:8])


def _example(one: SetFindings, move: ClusterMove) -> int:
    """An item of the part that would leave, or of the cluster that would be joined."""
    if move.kind == "merge":
        return int(np.flatnonzero(one.labels == move.other)[0])
    return move.parts[-1][0]
