"""The options of the commands. Nothing heavy is imported: help must come at once."""

from __future__ import annotations

import argparse

LOSSES = ("pairwise", "mitre", "purity")
KINDS = ("auto", "records", "text", "mentions", "vectors")
LEARNERS = ("correlation", "pairs", "kmeans")


def _data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", nargs="+", metavar="DATA", help="files of sets (.jsonl, .csv, ...)")
    group = parser.add_argument_group("reading the data")
    group.add_argument("--set", metavar="NAME", help="column (or key) that names the set of an item")
    group.add_argument("--id", metavar="NAME", help="column (or key) that names an item")
    group.add_argument("--cluster", metavar="NAME", help="column (or key) of the right cluster")
    group.add_argument("--group", metavar="NAME", help="sets with the same value here are never split up")
    group.add_argument("--fields", metavar="A,B", help="use these fields only")
    group.add_argument(
        "--where", metavar="NAME=V,W", action="append", default=[], help="only rows (sets) with these values"
    )
    group.add_argument(
        "--except", dest="without", metavar="NAME=V,W", action="append", default=[], help="all but these"
    )
    group.add_argument("--delimiter", metavar="C", help="between the cells of a .csv file (comma)")
    group.add_argument("--skip-unlabelled", action="store_true", help="leave out items without a cluster")
    group.add_argument("--number-ids", action="store_true", help="allow ids that appear twice in a set")


def _learning(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("learning")
    group.add_argument("--kind", choices=KINDS, default="auto", help="what the items are (default: a guess)")
    group.add_argument(
        "--learner",
        choices=LEARNERS,
        default="correlation",
        help="correlation: learned as a whole, finds the number of clusters (default); "
        "pairs: a classifier of pairs; kmeans: learned for k-means",
    )
    group.add_argument("--loss", choices=LOSSES, help="what counts as an error (default: wrong pairs)")
    group.add_argument(
        "--C", metavar="NUMBER|cv", default="cv", help="weight of errors (cv: by cross-validation)"
    )
    group.add_argument(
        "--merge-cost", type=float, metavar="X", help="a wrong merge counts X times as much as a wrong split"
    )
    group.add_argument(
        "--scaling", choices=("margin", "slack"), default="margin", help="slack: better for --loss mitre"
    )
    group.add_argument(
        "--predictor", metavar="NAME", help="how sets are clustered, e.g. greedy, local_search"
    )
    group.add_argument(
        "--parts", type=int, metavar="N", help="cut a single set into N sets of whole clusters"
    )
    group.add_argument(
        "--block",
        type=int,
        default=1000,
        metavar="N",
        help="in sets of N items or more compare only likely pairs (1000; 0: always all pairs)",
    )
    group.add_argument(
        "--neighbours", type=int, default=10, metavar="N", help="likely pairs for each item, at least (10)"
    )
    group.add_argument("--n-jobs", type=int, metavar="N", help="processes for training")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="random numbers (0)")


def _output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")


def _model(parser: argparse.ArgumentParser, *, needed: bool = True) -> None:
    parser.add_argument("--model", metavar="FILE", required=needed, help="the model file")


def fit(parser: argparse.ArgumentParser) -> None:
    _data(parser)
    _model(parser)
    _learning(parser)
    _output(parser)


def predict(parser: argparse.ArgumentParser) -> None:
    _data(parser)
    _model(parser)
    parser.add_argument("--out", metavar="FILE", help=".csv, .tsv or .jsonl (default: CSV on stdout)")
    parser.add_argument("--confidence", action="store_true", help="add how sure each item's place is")
    _output(parser)


def evaluate(parser: argparse.ArgumentParser) -> None:
    _data(parser)
    _model(parser, needed=False)
    parser.add_argument("--against", metavar="FILE", help="a second model (or predictions) to compare with")
    parser.add_argument("--predictions", metavar="FILE", help="judge the clusters of this file, not a model")
    _output(parser)


def explain(parser: argparse.ArgumentParser) -> None:
    _data(parser)
    _model(parser)
    parser.add_argument("--pair", nargs=2, metavar="ID", help="why are these two items together or apart?")
    parser.add_argument("--in", dest="within", metavar="SET", help="the set to look at (default: all)")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="lines of each kind (10)")
    _output(parser)


def cv(parser: argparse.ArgumentParser) -> None:
    _data(parser)
    parser.add_argument("--folds", type=int, default=5, metavar="N", help="parts of the sets (5)")
    _learning(parser)
    _output(parser)


def report(parser: argparse.ArgumentParser) -> None:
    _data(parser)
    _model(parser)
    parser.add_argument("--out", metavar="FILE", default="report.html", help="the page (report.html)")
    _output(parser)


def show(parser: argparse.ArgumentParser) -> None:
    _model(parser)
    parser.add_argument("--top", type=int, default=20, metavar="N", help="weights shown (20)")
    _output(parser)


def demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", metavar="FOLDER", help="keep the files there (default: nowhere)")
    parser.add_argument("--task", choices=("records", "news", "mentions"), default="records", help="records")
    _output(parser)


def check(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """What argparse cannot see: a wrong number, a lone option. Leaves with code 2."""
    if args.command in ("fit", "cv") and args.C != "cv":
        args.C = _positive(parser, args.C)
    for name in ("top", "folds", "parts"):
        least = 2 if name == "folds" else 1
        if getattr(args, name, None) is not None and getattr(args, name) < least:
            parser.error(f"--{name} must be at least {least}")
    for name in ("seed", "block", "neighbours"):
        if getattr(args, name, 0) < 0:
            parser.error(f"--{name} must not be negative")
    if getattr(args, "n_jobs", None) == 0:
        parser.error("--n-jobs must not be 0 (-1: all processors)")
    if getattr(args, "merge_cost", None) is not None:
        if args.loss not in (None, "pairwise"):
            parser.error("--merge-cost goes with --loss pairwise only")
        if not 0.0 < args.merge_cost < float("inf"):
            parser.error("--merge-cost must be a positive number")
    if args.command == "evaluate" and (args.model is None) == (args.predictions is None):
        parser.error("evaluate needs --model or --predictions")
    for option in (*getattr(args, "where", []), *getattr(args, "without", [])):
        name, equals, _ = option.partition("=")
        if not (name and equals):
            parser.error(f"--where and --except take NAME=VALUE,VALUE, not {option!r}")


def _positive(parser: argparse.ArgumentParser, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        parser.error(f"--C must be a positive number or cv, not {text!r}")
    return value
