"""Explanations of sets and pairs as plain values, and as text."""

from __future__ import annotations

from typing import Any

from clustruct.explain import (
    cluster_confidence,
    item_confidence,
    objective_of,
    pair_contributions,
    split_merge,
)
from clustruct.records import RawSet

from .output import count, harmless, plain, table

SHOWN_ITEMS = 5


def look(pipeline: Any, raw: RawSet) -> dict[str, Any]:
    """Errors against the truth (where it is known) and confidence, of one set."""
    x = pipeline[0].transform([raw])[0]
    model = pipeline[-1]
    labels = model.predict([x])[0]
    K = model.decision_function([x])[0]
    names = list(raw.item_ids)
    sure = item_confidence(K, labels, objective_of(model))
    found: dict[str, Any] = {"set": raw.name}
    found["items"] = [
        {"set": raw.name, "item": names[a], "cluster": labels[a], "confidence": sure.confidence[a]}
        for a in sure.order()
    ]
    if objective_of(model) == "correlation":
        found["clusters"] = [
            {
                "set": raw.name,
                "cluster": move.cluster,
                "size": move.size,
                "confidence": move.lost,
                "alternative": _alternative(move, names),
            }
            for move in cluster_confidence(K, labels)
        ]
    if raw.labels is not None:
        errors = split_merge(raw.labels, labels, ids=names)
        found["splits"] = [_mixture(raw, m) for m in errors.splits]
        found["merges"] = [_mixture(raw, m) for m in errors.merges]
    return found


def _alternative(move: Any, names: list[Any]) -> str:
    if move.kind == "merge":
        return f"merge with cluster {move.other}"
    if move.kind == "none":
        return "none"
    out = sorted(move.parts, key=len)[0]
    if move.kind == "split":
        return f"split into {len(move.parts)} parts, the smallest {_listed([names[a] for a in out])}"
    return f"take out {_listed([names[a] for a in out])}"


def _mixture(raw: RawSet, mixture: Any) -> dict[str, Any]:
    return {
        "set": raw.name,
        "cluster": mixture.cluster,
        "size": mixture.size,
        "pairs": mixture.pairs,
        "pieces": [list(piece.items) for piece in mixture.pieces],
    }


def summary(looked: list[dict[str, Any]]) -> dict[str, Any]:
    """All sets together, worst and least sure first."""
    found: dict[str, Any] = {"sets": len(looked)}
    for kind in ("splits", "merges"):
        if any(kind in one for one in looked):
            entries = [entry for one in looked for entry in one.get(kind, [])]
            found[kind] = sorted(entries, key=lambda entry: -entry["pairs"])
    for kind in ("items", "clusters"):
        entries = [entry for one in looked for entry in one.get(kind, [])]
        found[f"least_sure_{kind}"] = sorted(entries, key=lambda entry: entry["confidence"])
    return plain(found)


def print_summary(found: dict[str, Any], top: int) -> None:
    """Tables of the worst."""
    titles = {
        "splits": ("true clusters that were split", "pairs lost"),
        "merges": ("predicted clusters that mix true ones", "wrong pairs"),
    }
    for kind, (title, lost) in titles.items():
        if kind in found:
            rows = [
                [m["set"] or "table", str(m["cluster"]), m["size"], m["pairs"], _pieces(m["pieces"])]
                for m in found[kind]
            ]
            print(f"{title}: {len(rows)}")
            if rows:
                print(table(["set", "cluster", "items", lost, "pieces"], rows, most=top))
            print()
    print("least sure items (score lost by the best other place)")
    rows = [
        [i["set"] or "table", str(i["item"]), i["cluster"], i["confidence"]]
        for i in found["least_sure_items"]
    ]
    print(table(["set", "item", "cluster", "confidence"], rows, most=top))
    if found["least_sure_clusters"]:
        print("\nleast sure clusters")
        rows = [
            [c["set"] or "table", c["cluster"], c["size"], c["confidence"], c["alternative"]]
            for c in found["least_sure_clusters"]
        ]
        print(table(["set", "cluster", "items", "confidence", "alternative"], rows, most=top))


def _pieces(pieces: list[list[Any]]) -> str:
    """The pieces with their sizes; the smaller ones are the ones to look at."""
    shown = [f"{len(p)}: " + ", ".join(map(str, p[:2])) + (", ..." if len(p) > 2 else "") for p in pieces[:4]]
    return " | ".join(shown) + (" | ..." if len(pieces) > 4 else "")


def _listed(items: list[Any]) -> str:
    shown = ", ".join(str(i) for i in items[:SHOWN_ITEMS])
    return shown if len(items) <= SHOWN_ITEMS else f"{shown}, ... ({len(items)} items)"


def pair(pipeline: Any, raw: RawSet, a: int, b: int) -> dict[str, Any]:
    """What each feature adds to the similarity of two items."""
    x = pipeline[0].transform([raw])[0]
    names = list(raw.item_ids)
    why = pair_contributions(pipeline[-1], x, a, b)
    return plain(
        {
            "set": raw.name,
            "items": [names[a], names[b]],
            "fields": [dict(raw.items[a]), dict(raw.items[b])],
            "together": why.together,
            "right": None if raw.labels is None else raw.labels[a] == raw.labels[b],
            "similarity": why.similarity,
            "contributions": [
                {"feature": n, "value": v, "weight": w, "contribution": c}
                for n, v, w, c in zip(why.names, why.values, why.weights, why.contributions, strict=True)
            ],
            "path": [names[i] for i in why.path],
        }
    )


def print_pair(found: dict[str, Any], top: int) -> None:
    """The two items side by side, and the contributions."""
    first, second = found["fields"]
    keys = list(dict.fromkeys([*first, *second]))
    titles = [str(i) for i in found["items"]]
    print(table(["field", *titles], [[k, _text(first.get(k)), _text(second.get(k))] for k in keys]))
    verdict = "together" if found["together"] else "apart"
    truth = {None: "", True: " (the truth: together)", False: " (the truth: apart)"}[found["right"]]
    print(f"\npredicted {verdict}{truth}; similarity {found['similarity']:.3f}, the sum of")
    rows = [
        [c["feature"], c["value"], c["weight"], c["contribution"]]
        for c in found["contributions"]
        if c["contribution"] != 0.0
    ]
    print(table(["feature", "value", "weight", "contribution"], rows[:top]))
    rest = rows[top:]
    if rest:
        print(f"and {count(len(rest), 'other')} of {sum(row[3] for row in rest):.2f} in all")
    if found["path"]:
        print(
            "not alike by themselves, but each is like the next: "
            + " - ".join(harmless(str(name)) for name in found["path"])
        )


def _text(value: Any) -> str:
    return "" if value is None else str(value)
