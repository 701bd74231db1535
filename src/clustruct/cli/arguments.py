"""Arguments that several commands have, and what they stand for: files, columns, sets, a recipe."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import clustruct

from . import column_words, searches, sources
from .imports import KnownLosses, loss_name, loss_names
from .output import UsageError

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from clustruct.data import Table
    from clustruct.data.io import ColumnRoles, LabelUse
    from clustruct.pipeline import Recipe

LINKAGES = ("single", "average", "complete", "left")
ITEM_KINDS = ("auto", "records", "text", "mentions", "vectors")
# Those of `clustruct.features.similarity`, which is not imported before it is needed.
SIMILARITIES = ("linear", "kernel", "mapped", "trees", "auto")
ROLES = ("set", "id", "cluster", "group")
SHOWN_FILES = 3
# Options whose files a message begins with, where something is wrong with them.
NAMING = (
    "model",
    "out",
    "predictions",
    "against",
    "existing",
    "pairs",
    "groups",
    "wide",
    "graph",
    "universum",
)
# The columns of a model (`SavedModel.columns`), None where there is no model.
Trained: TypeAlias = Mapping[str, Any] | None


def whole(least: int) -> Callable[[str], int]:
    """Whole numbers from ``least`` on."""

    def read(text: str) -> int:
        if (value := int(text)) < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, not {value}")
        return value

    return read


def positive(text: str) -> float:
    """A positive number."""
    if not 0.0 < (value := float(text)) < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a positive number, not {text!r}")
    return value


def weight_or_cv(text: str) -> float | str:
    try:
        return text if text == "cv" else positive(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a positive number or cv, not {text!r}") from None


def processes(text: str) -> int:
    """How many processes; -1 for all processors."""
    if (value := int(text)) == 0:
        raise argparse.ArgumentTypeError("must not be 0 (-1: all processors)")
    return value


def names_between_commas(text: str) -> list[str]:
    """Names between commas, each once."""
    return list(dict.fromkeys(text.split(",")))


def _size(text: str) -> int | None:
    try:
        return clustruct.core.memory.parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _choice(text: str) -> tuple[str, frozenset[str]]:
    name, equals, values = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"takes NAME=VALUE,VALUE, not {text!r}")
    return name, frozenset(values.split(","))


def delimiter_mark(text: str) -> str:
    """One character."""
    try:
        return clustruct.data.io.check_delimiter(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _learner(text: str) -> str:
    known = clustruct.pipeline.LEARNERS
    if text not in known:
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (choose from {', '.join(known)})")
    return text


def add_data(parser: argparse.ArgumentParser) -> None:
    """The files, and how they are read."""
    parser.add_argument("data", nargs="+", metavar="DATA", help="files of sets (.jsonl, .csv, ...)")
    group = parser.add_argument_group("reading the data")
    group.add_argument("--set", metavar="NAME", help="column (or key) that names the set of an item")
    group.add_argument("--id", metavar="NAME", help="column (or key) that names an item")
    group.add_argument("--cluster", metavar="NAME", help="column (or key) of the right cluster")
    group.add_argument("--group", metavar="NAME", help="sets with the same value are kept in one fold")
    group.add_argument("--fields", type=names_between_commas, metavar="A,B", help="use these fields only")
    all_but = "do not compare these fields, such as a date of entry or a row number"
    group.add_argument("--ignore", type=names_between_commas, metavar="A,B", help=all_but)
    rows = partial(group.add_argument, metavar="NAME=V,W", type=_choice, action="append", default=[])
    rows("--where", help="only rows (sets) with these values")
    rows("--except", dest="without", help="all rows (sets) but those with these values")
    mark = "delimiter of .csv files (comma)"
    group.add_argument("--delimiter", type=delimiter_mark, metavar="C", help=mark)
    group.add_argument("--skip-unlabelled", action="store_true", help="leave out items without a cluster")
    group.add_argument("--number-ids", action="store_true", help="allow ids that appear twice in a set")
    add_memory(parser)


def add_memory(parser: argparse.ArgumentParser) -> None:
    """How much memory may be used."""
    size = "refuse work that needs more, e.g. 8G (default: what is available)"
    parser.add_argument("--memory-limit", type=_size, metavar="SIZE", help=size)


def add_learning(parser: argparse.ArgumentParser) -> None:
    """The parameters of a recipe."""
    group = parser.add_argument_group("learning")
    add = group.add_argument
    add("--kind", choices=ITEM_KINDS, default="auto", help="what the items are (default: a guess)")
    column_words.add_kinds(group)
    learners = (
        "correlation: learned as a whole, finds the number of clusters (default); "
        "agglomerative: link by link; pairs: a classifier of pairs; kmeans: learned for k-means"
    )
    add("--learner", type=_learner, metavar="NAME", help=learners)
    links = "--learner agglomerative, joined by: single, average, complete, or left (items in an order)"
    add("--linkage", choices=LINKAGES, help=links)
    shapes = (
        "linear (default); trees: a forest and boosted trees in the place of weights; "
        "mapped, kernel: Gaussian; auto: trees where held-out labels clearly speak for them, else linear"
    )
    add("--similarity", choices=SIMILARITIES, default="linear", help=shapes)
    what = "the loss to train for: %(known)s, or one registered by an --import module"
    add("--loss", type=loss_name, metavar="NAME", help=what).known = KnownLosses()  # type: ignore[attr-defined]
    others = "learn for these losses too; the mean of the best by --loss is kept"
    add("--surrogates", type=loss_names, metavar="A,B", help=others)
    add(
        "--C",
        type=weight_or_cv,
        metavar="NUMBER|cv",
        default="cv",
        help="weight of errors (or cross-validation)",
    )
    add("--merge-cost", type=positive, metavar="X", help="a wrong merge counts X times a wrong split")
    add("--scaling", choices=("margin", "slack"), default="margin", help="slack: better for --loss mitre")
    add("--nonnegative", action="store_true", help="likeness never counts against a pair")
    add("--predictor", metavar="NAME", help="how sets are clustered, e.g. greedy, local_search")
    searches.add_searches(add)
    add("--parts", type=whole(1), metavar="N", help="cut a single set into N sets of whole clusters")
    size = "from N items on compare only likely pairs (1000; 0: always all pairs)"
    add("--block", type=whole(0), default=1000, metavar="N", help=size)
    add("--neighbours", type=whole(0), default=10, metavar="N", help="likely pairs of an item, at least (10)")
    sure = "learn probabilities with a given --C, too (three more trainings)"
    add("--calibrate", action="store_const", const=True, default="auto", help=sure)
    add("--n-jobs", type=processes, metavar="N", help="processes for training")
    add("--seed", type=whole(0), default=0, metavar="N", help="random numbers (0)")
    sources.add_source(parser)


def add_background(parser: argparse.ArgumentParser) -> None:
    """What the rest of a table is."""
    add = parser.add_argument_group("one table, of which some rows are labelled").add_argument
    background = (
        "rows without a cluster belong to no labelled one (apart), or may (unknown); auto (default for one "
        "table): apart where the data bear it out"
    )
    add("--unlabelled", choices=("auto", "apart", "unknown"), help=background)
    larger = "learn for a table of N rows, where it will be larger than the one at hand"
    add("--for-size", type=whole(1), metavar="N", help=larger)


def add_model(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """The model file."""
    parser.add_argument("--model", metavar="FILE", required=required, help="the model file")


def add_needs(parser: argparse.ArgumentParser) -> None:
    """What becomes of data that lacks something."""
    text = "group data without fields that the model was trained with, too"
    parser.add_argument("--allow-missing-fields", action="store_true", help=text)


def add_verbose(parser: argparse.ArgumentParser) -> None:
    """Whether the cost of each step is printed."""
    text = "say at the end what each step cost and kept"
    parser.add_argument("--verbose", action="store_true", help=text)


def add_output(parser: argparse.ArgumentParser) -> None:
    """What is printed."""
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument(
        "--quiet",
        action="store_true",
        help="no progress and no report of what was written: answers, warnings and errors alone",
    )
    text = "exit code 3 where a warning says that a model or a result is of little use"
    parser.add_argument("--strict", action="store_true", help=text)


def recipe(args: argparse.Namespace) -> Recipe:
    """The recipe that the options describe."""
    if args.merge_cost is not None and args.loss not in (None, "pairwise"):
        raise UsageError("--merge-cost goes with --loss pairwise only")
    background = getattr(args, "unlabelled", None)
    if background is not None and args.skip_unlabelled:
        raise UsageError("--skip-unlabelled leaves rows out, --unlabelled learns from them: give one of them")
    same = ["kind", "fields", "linkage", "similarity", "loss", "C", "merge_cost", "scaling", "parts", "block"]
    same += ["nonnegative", "calibrate", "surrogates"]
    more = {
        "learner": searches.learner(args),
        "n_neighbors": args.neighbours,
        "n_jobs": args.n_jobs,
        "random_state": args.seed,
    }
    more |= {"unlabelled": background or "auto", "for_size": getattr(args, "for_size", None)}
    more |= {"kinds": dict(args.kinds) or None}
    more |= sources.of_recipe(args) | searches.of_recipe(args)
    return clustruct.Recipe(**{name: getattr(args, name) for name in same}, **more)


class SavedModel(NamedTuple):
    """A model file: the fitted pipeline, how data was read and training went, by which versions.

    columns : what `about` gave when the model was trained; nothing for a model from Python
    """

    pipeline: Pipeline
    about: Mapping[str, Any]
    versions: Mapping[str, str]
    columns: Mapping[str, Any]


# Learners with commands of their own.
OWN_COMMANDS = {"UniversumClustering": "clustruct universum", "MultiLabelMRF": "clustruct multilabel"}


def other_model(path: str, held: Any, wanted: str) -> str:
    """That a file does not hold what is wanted, what it holds, and which command reads it."""
    name = type(getattr(held, "steps", [("", held)])[-1][1]).__name__
    reads = f"; see {OWN_COMMANDS[name]} --help" if name in OWN_COMMANDS else ""
    return f"{path}: holds no {wanted}, but a model of {name}{reads}"


def read_model(path: str, allow_missing_fields: bool = False) -> SavedModel:
    """The pipeline of a model file (or of the recipe in it), and what else the file says."""
    saved = clustruct.core.storage.read(path)
    pipeline = getattr(saved.object, "pipeline_", saved.object)
    if not isinstance(getattr(pipeline, "steps", [("", None)])[0][1], clustruct.PairFeatures):
        raise clustruct.core.exceptions.ModelFileError(
            other_model(path, saved.object, "PairFeatures with a clusterer")
        )
    held = saved.about.get("columns")
    columns = held if isinstance(held, Mapping) else {}
    lists = [columns.get(name) or [] for name in ("fields", "chosen_by")]
    names = [*map(columns.get, ROLES), *(n for v in lists if isinstance(v, list) for n in v)]
    if not all(isinstance(v, list) for v in lists) or not all(isinstance(n, str | None) for n in names):
        raise clustruct.core.exceptions.ModelFileError(f"{path}: damaged, its columns are no names")
    pipeline[0].allow_missing_fields = allow_missing_fields
    return SavedModel(pipeline, saved.about, saved.versions, columns)


def columns(args: argparse.Namespace, trained: Trained = None) -> ColumnRoles:
    """The columns named by the options; where not named, those that the model was trained with."""
    before = trained or {}
    named: dict[str, Any] = {name: getattr(args, name) or before.get(name) for name in ROLES}
    fields, source = args.fields or before.get("fields"), sources.column(args, before)
    fields = [*fields, source] if fields and source and source not in fields else fields
    kept = [before[name] for name in ROLES if not getattr(args, name) and before.get(name)]
    left_out = before.get("chosen_by") or []
    return clustruct.data.io.ColumnRoles(
        **named,
        fields=fields,
        left_out=frozenset([*left_out, *(args.ignore or ())]),
        remembered=frozenset(kept + left_out + ([] if args.fields else fields or [])),
        repeated_ids=args.number_ids,
        where=_together(args.where),
        without=_together(args.without),
    )


def _together(choices: Iterable[tuple[str, frozenset[str]]]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for name, values in choices:
        found[name] = found.get(name, frozenset()) | values
    return found


def about(args: argparse.Namespace) -> dict[str, object]:
    """What later commands want to know of how the data was read."""
    chosen_by = sorted({*(name for name, _ in [*args.where, *args.without]), *(args.ignore or ())})
    read = {"fields": args.fields, "chosen_by": chosen_by, "source": getattr(args, "source", None)}
    return {**{name: getattr(args, name) for name in ROLES}, **read}


def partly_labelled_sets(
    args: argparse.Namespace, trained: Trained = None, *, may_lack: bool = False
) -> list[Table]:
    """All sets to learn from. In one table, or where that is asked for, rows may lack a cluster; with
    ``may_lack`` all rows may.
    """
    if args.skip_unlabelled:
        return labelled_sets(args, trained)
    try:
        sets = _check_fields(list(_read(args, trained, "partial")), args)
    except clustruct.core.exceptions.NoLabels:
        if not may_lack or args.cluster is not None:
            raise
        sets = _check_fields(list(_read(args, trained, "ignored")), args)
    for table in sets if args.unlabelled is None and len(sets) > 1 and not may_lack else ():
        if None in (labels := list(table.labels or ())):
            raise clustruct.core.exceptions.NoLabels(
                f"{table.item_title(labels.index(None))} has no cluster (--skip-unlabelled leaves such items "
                "out, --unlabelled apart learns from them as background)"
            )
    return sets


def labelled_sets(args: argparse.Namespace, trained: Trained = None) -> list[Table]:
    """All sets, with labels."""
    return _check_fields(list(_read(args, trained, "skip" if args.skip_unlabelled else "required")), args)


def _check_fields(sets: list[Table], args: argparse.Namespace) -> list[Table]:
    for name in args.fields or ():
        if name in (args.ignore or ()):
            raise UsageError(f"--fields and --ignore both name {name!r}")
        if not any(table.has(name) for table in sets):
            raise clustruct.core.exceptions.DataError(f"{args.data[0]}: no item has the field {name!r}")
    return sets


@contextmanager
def naming_files(args: argparse.Namespace) -> Iterator[None]:
    """What is wrong with data names its files, also where sets were looked at that are in memory."""
    try:
        yield
    except (clustruct.core.exceptions.DataError, clustruct.core.exceptions.NotEnoughMemory) as error:
        data = getattr(args, "data", None) or []
        others = [getattr(args, name, None) for name in NAMING]
        text = str(error)
        named = [*data, *filter(None, [getattr(args, name, None) for name in ("constraints", "existing")])]
        named += [*(getattr(args, "corrections", None) or []), *(getattr(args, "corrected", None) or [])]
        if not data or any(n in text for n in named) or any(n and text.startswith(str(n)) for n in others):
            raise
        more = ", ..." if len(data) > SHOWN_FILES else ""
        raise type(error)(f"{', '.join(data[:SHOWN_FILES])}{more}: {error}") from error


def unlabelled_sets(
    args: argparse.Namespace, trained: Trained = None, *, whole: bool = False
) -> Iterator[Table]:
    """The sets one by one, labels left out; ``whole``: with all fields that the data has."""
    if not whole:
        return _read(args, trained, "ignored")
    named = replace(columns(args, trained), fields=None, whole=True)
    return sources.read(args, trained or {}, named, "ignored")


def sets_as_they_are(args: argparse.Namespace, trained: Trained = None) -> list[Table]:
    """All sets, with labels where the data has them."""
    try:
        return labelled_sets(args, trained)
    except clustruct.core.exceptions.NoLabels:
        return list(unlabelled_sets(args, trained))


def _read(args: argparse.Namespace, trained: Trained, labels: LabelUse) -> Iterator[Table]:
    named = columns(args, trained)
    return sources.read(args, trained or {}, named, labels)
