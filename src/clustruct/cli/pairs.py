"""Why two items are together or apart, by field and by feature, and what would make it the other way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.core.formatting import count, format_table, harmless, short

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from clustruct.data import Table
    from clustruct.evaluate.explain import PairExplanation

BESIDE_OTHERS = (
    "Some likeness counts against the pair: a weight says what a feature adds beside the others that go with "
    "it, so look at sums. fit --nonnegative learns without that."
)
DONE = {"equal": "the same in both", "unlike": "unlike", "missing": "missing in both"}


def explained(pipeline: Pipeline, table: Table, a: int, b: int, *, change: bool) -> dict[str, object]:
    """What each field and feature adds to the similarity of two items; with ``change`` what would make the
    prediction another.
    """
    names, explain = table.item_ids, clustruct.evaluate.explain
    x = pipeline[0].transform([table])[0]
    labels = clustruct.pipeline.group(pipeline, x).labels
    why = explain.explain_pair(pipeline, table, a, b, labels, x=x)
    fields = explain.by_field(why, explain.feature_fields(pipeline[0]))
    found: dict[str, object] = {
        "set": table.name,
        "items": [names[a], names[b]],
        "fields": [dict(table.items[a]), dict(table.items[b])],
        "together": why.together,
        "compared": why.compared,
        "right": None if table.labels is None else table.labels[a] == table.labels[b],
        "similarity": why.similarity,
        "by_field": [{"field": one.field, "contribution": one.contribution} for one in fields],
        "contributions": [
            {"feature": n, "value": v, "weight": w, "contribution": c}
            for n, v, w, c in zip(why.names, why.values, why.weights, why.contributions, strict=True)
        ],
        "likeness_against": _likeness_against(why),
        "note": why.note,
        "path": [names[i] for i in why.path],
        "support": [why.support_a, why.support_b],
    }
    if change:
        other = explain.counterfactual(pipeline, table, a, b, labels)
        changes = [{"field": c.field, "kind": c.kind, "values": list(c.values)} for c in other.changes]
        found["change"] = {"changes": changes, "similarity": other.similarity, "smallest": other.exact}
    return found


def _likeness_against(why: PairExplanation) -> list[str]:
    """Features that say how alike two items are, and speak against the pair by their weight."""
    columns = zip(why.names, why.weights, why.contributions, strict=True)
    against = [n for n, w, c in columns if c < 0.0 and w < 0.0]
    return clustruct.features.likeness_features(against)


def print_pair(found: Mapping[str, Any], top: int) -> None:
    """The two items side by side, the contributions, and the smallest change where it was asked for."""
    first, second = found["fields"]
    sides = [[key, _text(first.get(key)), _text(second.get(key))] for key in {**first, **second}]
    print(format_table(["field", *map(str, found["items"])], sides))
    verdict = "together" if found["together"] else "apart"
    truth = {None: "", True: " (the truth: together)", False: " (the truth: apart)"}[found["right"]]
    unlisted = "not compared, being no likely pair or of one source; it would have the "
    how = "" if found["compared"] else unlisted
    print(f"\npredicted {verdict}{truth}; {how}similarity {found['similarity']:.3f}, by field the sum of")
    fields = [[one["field"], one["contribution"]] for one in found["by_field"]]
    print(format_table(["field", "contribution"], fields[:top]))
    print("\nand by feature of")
    _print_features([c for c in found["contributions"] if c["contribution"] != 0.0], top)
    if found["note"]:
        print(found["note"])
    if found["likeness_against"]:
        print(BESIDE_OTHERS)
    if found["path"]:
        names = " - ".join(harmless(str(name)) for name in found["path"])
        alone = "not alike by themselves" if found["compared"] else "not compared"
        print(f"{alone}, but each is like the next: {names}")
    if not found["together"] and found["compared"] and found["similarity"] > 0.0:
        ties = " and ".join(f"{value:.2f}" for value in found["support"])
        print(f"alike by themselves, but each has stronger ties to the rest of its group ({ties})")
    if "change" in found:
        _print_change(found)


def _print_features(contributions: Sequence[Mapping[str, Any]], top: int) -> None:
    """The first ones in lines; weights only where there are some: what trees add has none."""
    keys = ["feature", "value", "weight", "contribution"]
    if all(one["weight"] is None for one in contributions):
        keys.remove("weight")
    print(format_table(keys, [[one[key] for key in keys] for one in contributions[:top]]))
    rest = [one["contribution"] for one in contributions[top:]]
    if rest:
        print(f"and {count(len(rest), 'other')} of {sum(rest):.2f} in all")


def _print_change(found: Mapping[str, Any]) -> None:
    """What would have to be otherwise."""
    other, verdict = found["change"], "apart" if found["together"] else "together"
    if not other["changes"]:
        print(f"\nno change of fields was found that would put them {verdict}")
        return
    how = "the smallest change" if other["smallest"] else "a small change"
    print(f"\n{how} that would put them {verdict} (similarity {other['similarity']:.3f}):")
    for change in other["changes"]:
        value = change["values"][1]
        told = f", {short(str(value), 60)!r}" if change["kind"] != "missing" else ""
        print(f"  {harmless(change['field'])}: {DONE[change['kind']]}{harmless(told)}")


def _text(value: object) -> str:
    return "" if value is None else str(value)
