"""``clustruct explain``: what went wrong, what is least confident, and why two items are together."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.core.formatting import count, format_table, harmless, short

from .arguments import add_data, add_model, add_needs, read_model, sets_as_they_are, whole
from .output import plain, print_json
from .progress import ProgressOutput

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from clustruct.data import Table
    from clustruct.evaluate.explain import ClusterMove, MixedCluster, PairExplanation, SetFindings

SUMMARY = "what went wrong, and why are these two together?"
# What ``--help`` shows; ``--help all`` shows the rest.
COMMON = ("--set", "--id", "--cluster", "--where", "--pair", "--why-not", "--in", "--top")
DESCRIPTION = """\
Which clusters were split or merged against the truth, worst first; in which items and clusters the
confidence is least (the score lost by their best other place); for a pair, what each feature adds to
its similarity."""
EXAMPLES = """\
examples
  clustruct explain test.jsonl --model news.model
  clustruct explain test.jsonl --model news.model --in monday --pair 17 42
  clustruct explain people.csv --model people.model --why-not p1 p7     (what would have to be otherwise?)"""
SHOWN_ITEMS = 5
BESIDE_OTHERS = (
    "Some likeness counts against the pair: a weight says what a feature adds beside the others that go with "
    "it, so look at sums. fit --nonnegative learns without that."
)
DONE = {"equal": "the same in both", "unlike": "unlike", "missing": "missing in both"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Data, model file, and what is asked."""
    add_data(parser)
    add_model(parser)
    add_needs(parser)
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--pair", nargs=2, metavar="ID", help="why are these two items together or apart?")
    other = "the same, and the smallest change of fields that would make it the other way"
    asked.add_argument("--why-not", nargs=2, metavar="ID", help=other)
    parser.add_argument("--in", dest="within", metavar="SET", help="the set to look at (default: all)")
    parser.add_argument("--top", type=whole(1), default=10, metavar="N", help="lines of each kind (10)")


def run(args: argparse.Namespace) -> None:
    """One pair, or all sets."""
    saved = read_model(args.model, args.allow_missing_fields)
    read = sets_as_they_are(args, saved.columns)
    pipeline, sets = clustruct.features.check_tables(saved.pipeline, read), _choose_sets(args.within, read)
    asked = args.pair or args.why_not
    if asked is not None:
        place = _place(asked, sets)
        found, show = _explain_pair(pipeline, *place, change=args.why_not is not None), _print_pair
    else:
        examine, each = (
            clustruct.evaluate.explain.examine,
            ProgressOutput(args.quiet).each(sets, "looking at sets"),
        )
        found, show = _summary([examine(pipeline, table) for table in each]), _print_summary
    print_json(found) if args.json else show(plain(found), args.top)


def _choose_sets(name: str | None, sets: list[Table]) -> list[Table]:
    chosen = [table for table in sets if name in (None, table.name)]
    if not chosen:
        some = ", ".join(table.name for table in sets[:5]) + (" ..." if len(sets) > 5 else "")
        raise clustruct.core.exceptions.DataError(f"there is no set {name!r}; there are {some}")
    return chosen


def _place(pair: list[str], sets: list[Table]) -> tuple[Table, int, int]:
    """The set that has both items, and their numbers there."""
    first, second = pair
    fault = clustruct.core.exceptions.DataError
    known = [{str(name): a for a, name in enumerate(table.item_ids)} for table in sets]
    for table in sets:
        alike = [name for name in map(str, table.item_ids) if name in pair]
        if len(alike) > len(set(alike)):
            raise fault(
                f"{table.title}: two items have an id that is written {max(alike, key=alike.count)!r}"
            )
    holding = [(table, at) for table, at in zip(sets, known, strict=True) if first in at and second in at]
    if len(holding) > 1:
        names = ", ".join(table.name for table, _ in holding[:3])
        raise fault(f"the two items are together in several sets ({names}); choose one with --in")
    for name in pair:
        if not any(name in numbers for numbers in known):
            raise fault(f"no item has the id {name!r}")
    if not holding:
        raise fault(f"no set has both {first!r} and {second!r}")
    if first == second:
        raise fault("a pair is two different items")
    table, at = holding[0]
    return table, at[first], at[second]


def _summary(examined: Sequence[SetFindings]) -> dict[str, object]:
    """All sets together, worst and least confident first."""
    found: dict[str, object] = {"sets": len(examined)}
    judged = [(one.table, one.errors) for one in examined if one.errors is not None]
    if judged:
        splits = [_mixture(table, m) for table, errors in judged for m in errors.splits]
        merges = [_mixture(table, m) for table, errors in judged for m in errors.merges]
        for kind, mixtures in (("splits", splits), ("merges", merges)):
            found[kind] = sorted(mixtures, key=lambda entry: -entry["pairs"])
    for kind, entries in (("items", _items), ("clusters", _clusters)):
        listed = [entry for one in examined for entry in entries(one)]
        found[f"least_confident_{kind}"] = sorted(listed, key=itemgetter("confidence"))
    splits = [entry for one in examined for entry in _splits(one)]
    found["suggested_splits"] = sorted(splits, key=lambda entry: -entry["wrong_pairs"])
    found["probabilities"] = any(
        one.items is not None and one.items.probability is not None for one in examined
    )
    return found


def _mixture(table: Table, mixture: MixedCluster) -> dict[str, Any]:
    pieces = [[table.item_ids[a] for a in piece.numbers] for piece in mixture.pieces]
    numbers = {"size": mixture.size, "pairs": mixture.pairs}
    return {"set": table.name, "cluster": mixture.cluster, **numbers, "pieces": pieces}


def _items(one: SetFindings) -> Iterator[dict[str, Any]]:
    if one.items is not None:
        name, names, known = one.table.name, one.table.item_ids, one.items.probability
        confidence = one.items.confidence if known is None else known
        for a in one.items.order():
            yield {"set": name, "item": names[a], "cluster": one.labels[a], "confidence": confidence[a]}


def _clusters(one: SetFindings) -> Iterator[dict[str, Any]]:
    for move in one.clusters or ():
        about = {"cluster": move.cluster, "size": move.size, "confidence": move.confidence}
        yield {"set": one.table.name, **about, "alternative": _alternative(move, one.table.item_ids)}


def _splits(one: SetFindings) -> Iterator[dict[str, Any]]:
    for split in one.splits:
        about = {
            "cluster": split.cluster,
            "size": split.size,
            "part": [one.table.item_ids[a] for a in split.part],
        }
        yield {"set": one.table.name, **about, "together": split.together, "wrong_pairs": split.wrong_pairs}


def _alternative(move: ClusterMove, names: Sequence[Hashable]) -> str:
    if move.kind == "merge":
        return f"merge with cluster {move.other}"
    if move.kind == "none":
        return "none"
    out = _list_items([names[a] for a in sorted(move.parts, key=len)[0]])
    if move.kind == "split":
        return f"split into {len(move.parts)} parts, the smallest {out}"
    return f"take out {out}"


def _list_items(items: Sequence[Hashable]) -> str:
    shown = ", ".join(str(i) for i in items[:SHOWN_ITEMS])
    return shown if len(items) <= SHOWN_ITEMS else f"{shown}, ... ({len(items)} items)"


def _print_summary(found: Mapping[str, Any], top: int) -> None:
    """Tables of the worst."""
    for kind, title, lost in (
        ("splits", "true clusters that were split", "pairs lost"),
        ("merges", "predicted clusters that mix true ones", "wrong pairs"),
    ):
        if kind in found:
            print(f"{title}: {len(found[kind])}")
            entries = [{**m, "cluster": str(m["cluster"])} for m in found[kind]]
            keys = {"set": "set", "cluster": "cluster", "size": "items", "pairs": lost, "pieces": "pieces"}
            print(_table(entries, keys, top) + "\n" if entries else "")
    what = (
        "probability that the place is right"
        if found["probabilities"]
        else "score lost by the best other place"
    )
    print(f"least confident items ({what})")
    keys = {key: key for key in ("set", "item", "cluster", "confidence")}
    print(_table(found["least_confident_items"], keys, top))
    if found["least_confident_clusters"]:
        print("\nleast confident clusters (score lost by their best other shape)")
        keys = {"set": "set", "cluster": "cluster", "size": "items", "confidence": "confidence"}
        print(_table(found["least_confident_clusters"], {**keys, "alternative": "alternative"}, top))
    if found["suggested_splits"]:
        print(
            "\nsplits to look at first (wrong pairs to be expected; how likely the part belongs to the rest)"
        )
        keys = {"set": "set", "cluster": "cluster", "size": "items", "wrong_pairs": "wrong pairs"}
        keys |= {"together": "together", "part": "part that may not belong"}
        print(_table(found["suggested_splits"], keys, top))


def _table(entries: Sequence[Mapping[str, Any]], keys: Mapping[str, str], top: int) -> str:
    """The entries in lines, their keys under the headings given for them."""
    shown: dict[str, Callable[[Any], str]] = {
        "item": str,
        "pieces": _pieces,
        "part": _list_items,
        "set": lambda s: s or "table",
    }
    rows = [[shown[key](entry[key]) if key in shown else entry[key] for key in keys] for entry in entries]
    return format_table(list(keys.values()), rows, most=top)


def _pieces(pieces: Sequence[Sequence[Hashable]]) -> str:
    """The pieces with their sizes; the smaller ones are the ones to look at."""
    shown = [f"{len(p)}: " + ", ".join(map(str, p[:2])) + (", ..." if len(p) > 2 else "") for p in pieces[:4]]
    return " | ".join(shown) + (" | ..." if len(pieces) > 4 else "")


def _explain_pair(pipeline: Pipeline, table: Table, a: int, b: int, *, change: bool) -> dict[str, object]:
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


def _print_pair(found: Mapping[str, Any], top: int) -> None:
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
        text = f", {short(str(value), 60)!r}" if change["kind"] != "missing" else ""
        print(f"  {harmless(change['field'])}: {DONE[change['kind']]}{harmless(text)}")


def _text(value: object) -> str:
    return "" if value is None else str(value)
