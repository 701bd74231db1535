"""What the commands of learners of rows share: actions, how rows are read, model files, tables of answers."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import clustruct
from clustruct.core.formatting import count

from .arguments import add_memory, add_model, delimiter_mark, names_between_commas, other_model, whole
from .output import INTERRUPTED, UsageError, print_json
from .progress import training_progress

if TYPE_CHECKING:
    from clustruct.data.io import FeatureRows, RowColumns

ROWS = "rows"


class Action(NamedTuple):
    """What an action of a command does: a line of help, its own options, and how it is run."""

    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int | None]


def command(actions: Mapping[str, Action]) -> tuple[Callable[..., list[Any]], Callable[..., int | None]]:
    """``add_arguments`` and ``run`` of a command with these actions."""
    return lambda parser: _add_actions(parser, actions), lambda args: actions[args.action].run(args)


def _add_actions(parser: argparse.ArgumentParser, actions: Mapping[str, Action]) -> list[Any]:
    """The parsers of the actions, each of which reads a file of rows and knows a model file."""
    sub = parser.add_subparsers(dest="action", metavar="action", required=True)
    found = []
    for name, action in actions.items():
        one = sub.add_parser(name, help=action.summary, description=action.summary)
        one.add_argument("data", nargs=1, metavar="ROWS", help="SVM^light rows, or a table (.csv, .parquet)")
        add_model(one)
        action.add_arguments(one)
        _add_reading(one)
        found.append(one)
    return found


def _add_reading(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("reading a table").add_argument
    add("--id", metavar="NAME", help="column that names a row (id; else its line)")
    add("--features", type=names_between_commas, metavar="A,B", help="columns of numbers (all that are left)")
    add("--text", type=names_between_commas, metavar="A,B", help="columns of text, instead of numbers")
    add("--delimiter", type=delimiter_mark, metavar="C", help="between the cells of a .csv file (comma)")
    add_memory(parser)


def add_words(add: Callable[..., Any]) -> None:
    """How texts become numbers."""
    add("--words", type=whole(1), default=6600, metavar="N", help="words kept of --text (6600)")
    size = "numbers that a text is reduced to (200; 0: not at all)"
    add("--components", type=whole(0), default=200, metavar="N", help=size)


def add_out(parser: argparse.ArgumentParser) -> None:
    """Where answers go."""
    parser.add_argument("--out", metavar="FILE", help=".csv, .tsv, .jsonl, .parquet (default: CSV on stdout)")


class RowModel(NamedTuple):
    """A model file: what turns texts into numbers (None: rows are numbers), the learner, and its columns."""

    vectors: Any
    learner: Any
    columns: RowColumns
    about: Mapping[str, Any]

    @property
    def n_features(self) -> int | None:
        """How many numbers a row must have."""
        return None if self.vectors is not None else int(self.learner.n_features_in_)

    def numbers(self, rows: FeatureRows) -> Any:
        """Rows as the learner takes them; texts without a known word are mentioned."""
        if self.vectors is None:
            return clustruct.data.io.widen_rows(rows.X, int(self.learner.n_features_in_))
        X = self.vectors.transform(rows.X)
        mention_blank(rows, X)
        return X


def mention_blank(rows: FeatureRows, X: Any) -> None:
    """Say that texts hold no word that the model knows."""
    blank = (abs(X).sum(axis=1) == 0).nonzero()[0].tolist()
    if blank:
        what = f"{count(len(blank), 'row')} of text without any word that the model knows"
        text = f"{rows.path}: {what}, the first at {rows.place(blank[0])}"
        warnings.warn(text, clustruct.core.exceptions.DataWarning, stacklevel=3)


def check_inputs(args: argparse.Namespace, *inputs: str | None) -> None:
    """Refuse what cannot be written, or is read, before any work."""
    if args.text and args.features:
        raise UsageError("--text reads columns of text, --features columns of numbers: give one of them")
    read = [*args.data, *(name for name in inputs if name is not None)]
    target = args.model if args.action == "fit" else getattr(args, "out", None)
    if target is not None:
        clustruct.core.storage.check_target(
            Path(target), read if args.action == "fit" else [*read, args.model]
        )
        if args.action != "fit":
            clustruct.data.io.check_table(target)


def columns(args: argparse.Namespace, saved: RowColumns | None = None, **roles: Any) -> RowColumns:
    """The columns named by the options; where not named, those that the model was trained with."""
    made = clustruct.data.io.RowColumns
    if saved is None:
        return made(id=args.id, features=args.features, text=args.text or (), **roles)
    if (args.text or args.features) and bool(args.text) != bool(saved.text):
        trained = "text (--text)" if saved.text else "numbers (--features)"
        raise UsageError(f"{args.model} was trained on columns of {trained}")
    texts = args.text or saved.text
    return made(
        id=args.id or saved.id,
        features=None if texts else args.features or saved.features,
        text=texts,
        remembered_id=args.id is None,
        **roles,
    )


def fit_rows(
    args: argparse.Namespace, rows: FeatureRows, fit: Callable[[Callable[[FeatureRows], Any]], Any]
) -> RowModel:
    """Make numbers of the rows, and a learner of these by ``fit``, which gets what makes numbers."""
    vectors: Any = None
    with training_progress(args.quiet):
        if args.text:
            made = clustruct.features.DocumentVectors
            vectors = made(args.words, args.components or None, random_state=args.seed)
            try:
                vectors.fit(rows.X)
            except ValueError as error:
                raise clustruct.core.exceptions.DataError(f"{rows.path}: {error}") from None

        def numbers(some: FeatureRows) -> Any:
            if vectors is None:
                return some.X
            X = vectors.transform(some.X)
            mention_blank(some, X)
            return X

        learner = fit(numbers)
    named = columns(args)
    kept = clustruct.data.io.RowColumns(
        named.id, features=None if args.text else rows.names, text=rows.names or () if args.text else ()
    )
    return RowModel(vectors, learner, kept, {})


def save(args: argparse.Namespace, model: RowModel, about: Mapping[str, Any], training: Any) -> None:
    """Write the model file: one object, and beside it the columns and what else later commands need."""
    from sklearn.pipeline import Pipeline

    held = model.learner
    if model.vectors is not None:
        held = Pipeline([("documents", model.vectors), ("model", model.learner)])
    named = model.columns
    features = None if named.features is None else list(named.features)
    rows = {"id": named.id, "features": features, "text": list(named.text), **about}
    clustruct.save(args.model, held, about={ROWS: rows, "training": training})


def read_model(path: str, kind: type) -> RowModel:
    """A model file of ``kind`` learners; whatever it says of columns was looked at."""
    saved = clustruct.core.storage.read(path)
    steps = [step for _, step in getattr(saved.object, "steps", [("", saved.object)])]
    vectors = steps[0] if len(steps) == 2 else None
    documents = clustruct.features.DocumentVectors
    if not isinstance(steps[-1], kind) or not (vectors is None or isinstance(vectors, documents)):
        raise clustruct.core.exceptions.ModelFileError(other_model(path, saved.object, kind.__name__))
    about = saved.about.get(ROWS)
    about = about if isinstance(about, Mapping) else {}
    name, features, text = about.get("id"), about.get("features"), about.get("text") or []
    lists = [held for held in (features, text) if held is not None]
    right = isinstance(name, str | None) and all(_are_names(held) for held in lists)
    if not right or bool(text) != (vectors is not None and bool(about)):
        raise clustruct.core.exceptions.ModelFileError(f"{path}: damaged, its columns are no names")
    return RowModel(
        vectors, steps[-1], clustruct.data.io.RowColumns(name, features=features, text=text), about
    )


def _are_names(held: object) -> bool:
    return isinstance(held, list) and all(isinstance(name, str) for name in held)


def stored_names(path: str, about: Mapping[str, Any], key: str) -> list[str]:
    """A list of names that a model file holds."""
    held = about.get(key, [])
    if not _are_names(held):
        raise clustruct.core.exceptions.ModelFileError(f"{path}: damaged, its {key} are no names")
    return list(held)


def write_answers(args: argparse.Namespace, columns: Mapping[str, Sequence[Any]], summary: str) -> None:
    """A table of answers: a file, CSV on stdout, or JSON."""
    if args.out is not None:
        clustruct.data.io.write_table(args.out, columns)
    if args.json:
        print_json({"model": str(args.model), **columns})
    elif args.out is None:
        sys.stdout.writelines(clustruct.data.io.table_lines(columns))
    elif not args.quiet and clustruct.core.storage.descriptor(Path(args.out)) != 1:
        print(summary)
        print(f"written to {args.out}")


def print_end(args: argparse.Namespace, interrupted: bool) -> int | None:
    """Say where the model is, and the exit code."""
    if not args.json and not args.quiet:
        print(f"model written to {args.model}")
    if interrupted:
        print("clustruct: interrupted; the model so far was kept", file=sys.stderr)
    return INTERRUPTED if interrupted else None
