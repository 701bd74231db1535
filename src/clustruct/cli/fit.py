"""``clustruct fit``: learn from sets whose groups are known."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.core.formatting import count, duration, format_table, harmless, short

from . import column_words, corrections, on_dask
from .arguments import (
    about,
    add_background,
    add_data,
    add_learning,
    add_model,
    add_verbose,
    partly_labelled_sets,
    recipe,
    unlabelled_sets,
)
from .output import INTERRUPTED, UsageError, print_json
from .progress import training_progress
from .sources import in_words

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from clustruct.data import Table
    from clustruct.pipeline import Recipe

# Of more items what fields count is not worked out: their pairs would have to be found again.
MOST_LOOKED_AT = 20_000
SUMMARY = "learn from sets whose groups are known"
# What ``--help`` shows; ``--help all`` shows the rest.
COMMON = (
    "--set",
    "--id",
    "--cluster",
    "--fields",
    "--ignore",
    "--as",
    "--labels",
    "--unlabelled",
    "--source",
    "--loss",
    "--similarity",
    "--corrections",
    "--start",
)
DESCRIPTION = """\
Learn a similarity of pairs from sets whose clusters are known, and write it to a model file.
Features are guessed from the fields (--kind, --fields), C is chosen by cross-validation.
Ctrl-C stops the training and keeps the model so far; with --checkpoint the same command goes on later."""
EXAMPLES = """\
examples
  clustruct fit people.csv --id nr --cluster person --model people.model   (rows may lack the person)
  clustruct fit people.csv --set batch --id nr --cluster person --model people.model
  clustruct fit news.jsonl --model news.model
  clustruct fit people.csv --id nr --labels none --model first.model  (no groups are known yet)
  clustruct fit cora.csv.gz --set fold --where fold=0,1,2 --id nr --cluster work --model c.model
  clustruct fit people.csv --cluster person --corrections fix.csv --corrected groups.csv
                --start people.model --model better.model             (go on, with what people corrected)"""

ASSUMED = {
    "apart": "rows without a cluster are taken as not belonging to any labelled cluster (--unlabelled "
    "apart); if they may belong to one: --unlabelled unknown",
    "unknown": "rows without a cluster may belong to a labelled cluster (--unlabelled unknown); if labelled "
    "clusters are complete, --unlabelled apart learns more",
}

GUESS = (
    "a model without labels is a guess by which fields agree: nothing says how good it is. Label some "
    "groups, or answer questions in clustruct studio, before you rely on it"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Data, model file, and what a recipe takes."""
    add_data(parser)
    add_model(parser)
    add_learning(parser)
    add_verbose(parser)
    add_background(parser)
    resumed = "save progress in FILE; the same command with the same data resumes from it"
    parser.add_argument("--checkpoint", metavar="FILE", help=resumed)
    kept = "cache the features of the training pairs in FILE, for a later --start on the same DATA"
    parser.add_argument("--keep-features", metavar="FILE", help=kept)
    none = "none: start without labels, from how often the fields of likely pairs agree (a first guess)"
    parser.add_argument("--labels", choices=("known", "none"), default="known", help=none)
    corrections.add_arguments(parser)
    on_dask.add_arguments(parser)


def run(args: argparse.Namespace) -> int | None:
    """Read, learn, write the model, and say what was learned."""
    started, learned = time.perf_counter(), recipe(args)
    corrected, sets = corrections.is_asked(args), list[Any]()
    clustruct.core.storage.check_target(Path(args.model), [*args.data, *corrections.inputs(args)])
    if args.checkpoint is not None:
        learned.set_params(checkpoint=_checkpoint(args))
    if args.keep_features is not None:
        learned.set_params(kept_features=_own_file(args, "--keep-features", args.keep_features))
    with on_dask.training(args), training_progress(args.quiet) as progress:
        if args.labels == "none":
            _without_labels(args, learned)
        elif corrected:
            corrections.fit(args, learned)
        else:
            sets = partly_labelled_sets(args)
            learned.fit(sets)
    fields = compared_fields(learned.pipeline_[0])
    found = {**learned.training_, "fields": fields, "seconds": time.perf_counter() - started}
    if sizes := _field_sizes(learned.pipeline_, sets):
        found["field_sizes"] = sizes
    clustruct.save(args.model, learned.pipeline_, about={"columns": about(args), "training": found})
    rows = weight_rows(learned.pipeline_)
    if args.json:
        weights = {name: weight for name, weight, _ in rows}
        print_json({"model": str(args.model), **found, "weights": weights})
    else:
        if not args.quiet:
            _print(found, rows, " (one table cut by whole clusters)" if learned.was_cut_ else "")
            _print_columns(learned.pipeline_[0])
            print(f"model written to {args.model}")
        if found["interrupted"]:
            print("clustruct: interrupted; the model so far was kept", file=sys.stderr)
            if args.checkpoint is not None:
                print(f"clustruct: the same command goes on from {args.checkpoint}", file=sys.stderr)
    if args.verbose:
        progress.costs.print()
    return INTERRUPTED if found["interrupted"] else None


def _without_labels(args: argparse.Namespace, learned: Recipe) -> None:
    """A first guess; labels, where the data has some, are not looked at."""
    for name in ("corrections", "start", "checkpoint", "for_size", "unlabelled", "cluster"):
        if getattr(args, name):
            raise UsageError(f"--{name.replace('_', '-')} does not go with --labels none")
    clustruct.pipeline.fit_without_labels(learned, unlabelled_sets(args))
    warnings.warn(GUESS, clustruct.core.exceptions.ChoiceWarning, stacklevel=2)


def _checkpoint(args: argparse.Namespace) -> str:
    """The file of the checkpoint, which must be no other file of the command."""
    path = _own_file(args, "--checkpoint", args.checkpoint)
    if Path(path).exists() and not args.quiet:
        print(f"clustruct: going on from {path}", file=sys.stderr)
    return path


def _own_file(args: argparse.Namespace, option: str, name: str) -> str:
    """A file that the command writes beside the model; it must be no other file of the command."""
    path = Path(name)
    if clustruct.core.storage.targets.is_same(path, Path(args.model)):
        raise UsageError(f"{option} and --model cannot be the same file, {path}")
    clustruct.core.storage.check_target(path, [*args.data, *corrections.inputs(args)])
    return str(path)


def compared_fields(features: clustruct.PairFeatures) -> list[str]:
    """The fields that pairs are compared by."""
    return list(dict.fromkeys(name for block in features.blocks_ for name in block.used_fields()))


def _field_sizes(pipeline: Pipeline, sets: Sequence[Table]) -> dict[str, float]:
    """How much each field counts, where weights do not tell; else empty, and where there is so much data that
    its pairs are not found again for it.
    """
    tells = clustruct.pipeline.tells_by_feature(pipeline)
    if not tells or not 0 < sum(map(len, sets)) <= MOST_LOOKED_AT:
        return {}
    sizes = clustruct.evaluate.explain.field_sizes(pipeline, sets)
    return {field: round(size, 4) for field, size in sizes.items()}


def _print(found: Mapping[str, Any], rows: list[tuple[str, float, float]], how: str) -> None:
    sets, items = count(found["sets"], "set"), count(found["items"], "item")
    print(f"learned from {sets} with {items}{how} in {duration(found['seconds'])}")
    if 0 < found["labelled"] < found["items"] and found["unlabelled"] is not None:
        print(f"{found['labelled']:,} of the items have a cluster; {ASSUMED[found['unlabelled']]}")
        if found.get("completeness") is not None:
            print(completeness_line(found["completeness"]))
    if found.get("source") is not None:
        print(in_words(found["source"]))
    if lonely := found.get("compared_with_nothing"):
        print(clustruct.data.uncompared_line(lonely))
    if len(found["fields"]) > 1:
        print(f"compared: {', '.join(found['fields'])} (--ignore A,B leaves fields out)")
    if "field_sizes" in found:
        print("\nhow much each field counts, by the usual size of what it adds to a pair:")
        print(format_table(["field", "size"], list(found["field_sizes"].items())))
    elif rows:
        print(f"\n{count(found['features'], 'feature')}; the strongest, by weight times usual size:")
        print(format_table(["feature", "weight", "effect"], rows[:8]))
    if found["C"] is not None and found["rounds"] is not None:
        chosen = _choice(found)
        print(f"\nC = {found['C']:g}{chosen}, {found['rounds']} rounds, {found['stop_reason']}")
    if found.get("held_out_pairwise_f") is not None:
        print(held_out_line(found))
    if found.get("guess_share"):
        print(f"{found['guess_share']:.0%} of the similarity was found without labels, by which fields agree")
    if found.get("similarities") is not None:
        print(similarity_line(found))
    if found.get("judged_pairs") is not None:
        print(f"\n{corrections.judged_line(found)}")
    if found["calibration"] is not None:
        known = found["calibration"]
        pairs = (
            f"{known['true_pairs']:,.0f} held-out pairs that belong together and {known['false_pairs']:,.0f}"
        )
        before = "" if found.get("corrected_items") is None else ", before it went on"
        print(
            f"probabilities learned from {pairs} that do not (Brier skill {known['brier_skill']:.3f}{before})"
        )


def _print_columns(features: clustruct.PairFeatures) -> None:
    """Columns that are not compared by themselves, with the reason, and how others were read."""
    alone = {
        name
        for block in features.blocks_
        if getattr(block, "name", "") != "record"
        for name in ([block.field] if hasattr(block, "field") else block.used_fields())
    }
    readings = features.readings_.columns
    for line in [*column_words.left_out(readings, alone), *column_words.notes(readings)]:
        print(harmless(line))


def completeness_line(known: Mapping[str, Any]) -> str:
    """Why rows without a cluster are taken as they are."""
    if not known["decided"]:
        return "(--unlabelled auto: the data do not tell which it is)"
    verb = "has an unlabelled row" if known["open"] == 1 else "have unlabelled rows"
    rows = f"{known['open']:,} of {count(known['labelled'], 'labelled row')} {verb}"
    return f"(--unlabelled auto: {rows} as like them as rows of one cluster are)"


def _choice(found: Mapping[str, Any]) -> str:
    """How C was chosen, and what held-out sets say of it. The loss of a large table is always near zero:
    most of its pairs are apart, and easy to tell.
    """
    if found["left_out"] is not None:
        return f" (not chosen; trained without {', '.join(short(name) for name in found['left_out'])})"
    if found["held_out_loss"] is None:
        return ""
    if found["held_out"] == "clusters":
        return " (chosen)"
    return f" (chosen; loss of held-out sets {found['held_out_loss']:.3g})"


def held_out_line(found: Mapping[str, Any]) -> str:
    """Pairwise F of what was held out, and how sure it is."""
    line = f"held-out pairwise F {100 * found['held_out_pairwise_f']:.1f} %"
    if found.get("held_out_low") is None:
        return line
    low, high = (100 * found[name] for name in ("held_out_low", "held_out_high"))
    return f"{line} ({low:.1f} to {high:.1f} with 90 % confidence)"


def similarity_line(found: Mapping[str, Any]) -> str:
    """Which similarity --similarity auto took, and why."""
    costs, error = found["similarities"], found["similarity_error"]
    line = f"similarity: {found['similarity']} (chosen"
    if error is None:
        return f"{line}: nothing could be held out to try trees)"
    by = "100 - pairwise F of clusters" if found["held_out"] == "clusters" else "loss of sets"
    line += f"; held-out {by}: linear {costs['linear']:.3g}, trees {costs['trees']:.3g}"
    if found["similarity"] == "linear" and costs["trees"] < costs["linear"]:
        return f"{line}: the difference could be chance, its standard error is {error:.2g})"
    return f"{line}, standard error of the difference {error:.2g})"


def weight_rows(pipeline: Pipeline) -> list[tuple[str, float, float]]:
    """(feature, weight, effect), largest effect first; none for a clusterer without weights.

    The effect is the weight times the usual size of the feature, its root mean square over the training pairs
    (with --learner kmeans: over all features of its block).
    """
    model = pipeline[-1]
    linear = model.linear_similarity()
    if linear is None:
        return []
    names = [str(name) for name in pipeline[0].get_feature_names_out()]
    effects = (linear[0] * getattr(model, "feature_scale_", 1.0)).tolist()
    return sorted(zip(names, linear[0].tolist(), effects, strict=True), key=lambda row: -abs(row[2]))
