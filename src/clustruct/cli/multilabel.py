"""``clustruct multilabel``: which labels a row has, where labels hang together."""

from __future__ import annotations

import argparse
import time
import warnings
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.core.formatting import count, duration, format_table, short

from . import rows
from .arguments import names_between_commas, processes, weight_or_cv, whole
from .output import print_json

if TYPE_CHECKING:
    from clustruct.data.io import FeatureRows

    from .rows import RowModel

SUMMARY = "learn which labels rows have, several each (fit, predict, evaluate)"
DESCRIPTION = """\
Learn the labels of rows that may have several each, with a weight for every pair of labels (a structural SVM
on a Markov random field), and give new rows their labels."""
EXAMPLES = """\
examples
  clustruct multilabel fit train.svm --model m.model
  clustruct multilabel predict new.svm --model m.model --out labels.csv
  clustruct multilabel evaluate test.svm --model m.model
  clustruct multilabel fit songs.csv --labels happy,calm,sad --oracle graph_cut --C 1000 --model songs.model
  clustruct multilabel fit posts.csv --text body --labels sport,politics --model posts.model

data
  a table (.csv, .tsv, .parquet, .npz) with a column of 0 and 1 for each label (--labels), and columns of
  numbers (--features) or of text (--text);
  any other name: SVM^light rows, "1,3 4:0.5 7:1" for a row with the labels 1 and 3"""
ORACLES = ("exact", "graph_cut", "linear_program", "greedy", "loopy_bp", "combine")
# Up to so many labels all labelings are looked at: 2^12 additions for a row.
FEW_LABELS = 12
STRONGEST = 8
# Labelings that take some 40 s of one processor.
MANY = 3e10


def _add_fit(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    _add_labels(parser)
    add(
        "--C",
        type=weight_or_cv,
        default="cv",
        metavar="NUMBER|cv",
        help="weight of errors (cross-validation)",
    )
    oracle = f"how violated labelings are searched (exact up to {FEW_LABELS} labels, else graph_cut)"
    add("--oracle", choices=ORACLES, help=oracle)
    add("--predictor", choices=ORACLES, help="how labels are predicted (as --oracle)")
    add(
        "--edges",
        choices=("full", "tree", "none"),
        default="full",
        help="pairs of labels with a weight (full)",
    )
    add("--no-constant", action="store_true", help="no constant feature for each label")
    add("--folds", type=whole(2), default=3, metavar="N", help="folds of the cross-validation (3)")
    add("--n-jobs", type=processes, metavar="N", help="processes for training")
    add("--seed", type=whole(0), default=0, metavar="N", help="random numbers (0)")
    rows.add_words(add)


def _add_labels(parser: argparse.ArgumentParser) -> None:
    text = "columns of 0 and 1, one for each label (SVM^light: before the features)"
    parser.add_argument("--labels", type=names_between_commas, metavar="A,B", help=text)


def _fit(args: argparse.Namespace) -> int | None:
    started = time.perf_counter()
    rows.check_inputs(args)
    found = _read(args, rows.columns(args, labels=args.labels or ()))
    names = found.label_names
    if len(names) < 2:
        what = f"rows have {count(len(names), 'label')} in all, two are needed at least"
        raise clustruct.core.exceptions.DataError(f"{found.path}: {what}")
    oracle = args.oracle or ("exact" if len(names) <= FEW_LABELS or args.edges == "tree" else "graph_cut")
    if oracle == "exact" and args.edges == "full":
        _mention_cost(found, len(names))
    learner = clustruct.MultiLabelMRF(
        args.C,
        oracle=oracle,
        predictor=args.predictor,
        edges=args.edges,
        fit_intercept=not args.no_constant,
        n_jobs=args.n_jobs,
        random_state=args.seed,
        cv=args.folds,
    )
    Y = _indicators(found, names)
    model = rows.fit_rows(args, found, lambda numbers: learner.fit(numbers(found), Y))
    info = {**_training(model, len(found), len(names)), "seconds": time.perf_counter() - started}
    rows.save(args, model, {"labels": list(names)}, info)
    pairs = _pairs(model, names)
    if args.json:
        print_json({"model": str(args.model), **info, "labels": names, "pairs": pairs})
    elif not args.quiet:
        _print(info, pairs)
    return rows.print_end(args, info["stop_reason"] == "interrupted")


def _mention_cost(found: FeatureRows, n_labels: int) -> None:
    """Say before the work that all labelings of all rows will take long."""
    if len(found) * 2.0**n_labels > MANY:
        what = f"each round looks at all 2^{n_labels} labelings of {count(len(found), 'row')}"
        advice = "--oracle graph_cut or --edges tree takes a small part of the time"
        warnings.warn(f"{found.path}: {what}: {advice}", clustruct.core.exceptions.CostWarning, stacklevel=3)


def _read(args: argparse.Namespace, named: Any, n_features: int | None = None) -> FeatureRows:
    path = args.data[0]
    found: FeatureRows = clustruct.data.io.read_rows(
        path, named, n_features=n_features, several_labels=True, delimiter=args.delimiter
    )
    if found.label_sets is None and args.action != "predict":
        text = "name the columns of the labels (--labels A,B)"
        raise clustruct.core.exceptions.NoLabels(f"{path}: {text}")
    return found


def _indicators(found: FeatureRows, names: tuple[str, ...]) -> Any:
    """0/1 columns, one for each name."""
    import numpy as np

    held = [[name in labels for name in names] for labels in found.label_sets or ()]
    return np.array(held, dtype=np.int8).reshape(len(found), len(names))


def _training(model: RowModel, n: int, n_labels: int) -> dict[str, Any]:
    learner = model.learner
    choice = getattr(learner, "cv_results_", {})
    losses = [choice["mean_loss"][choice["C"] == learner.C_]] if "mean_loss" in choice else []
    return {
        "rows": n,
        "features": learner.n_features_in_,
        "n_labels": n_labels,
        "oracle": learner.oracle,
        "predictor": learner.predictor_,
        "C": learner.C_,
        "held_out_loss": float(losses[0][0]) if losses else None,
        "rounds": learner.n_iter_,
        "undecided_share": learner.undecided_share_,
        "stop_reason": learner.result_.stop_reason,
    }


def _pairs(model: RowModel, names: tuple[str, ...]) -> list[list[Any]]:
    """Pairs of labels by the size of their weights."""
    weights = model.learner.edge_weights_
    held = [[names[u], names[v], float(weights[u, v])] for u, v in model.learner.edges_.tolist()]
    return sorted(held, key=lambda row: -abs(row[2]))


def _print(info: dict[str, Any], pairs: list[list[Any]]) -> None:
    labels, features = count(info["n_labels"], "label"), count(info["features"], "feature")
    print(
        f"learned {labels} from {count(info['rows'], 'row')} with {features} in {duration(info['seconds'])}"
    )
    if pairs:
        print("\npairs of labels with the largest weights (above 0: they go together)")
        print(
            format_table(
                ["label", "label ", "weight"], [[short(a), short(b), w] for a, b, w in pairs[:STRONGEST]]
            )
        )
    loss = info["held_out_loss"]
    chosen = "" if loss is None else f" (chosen; on held-out rows {loss:.3g} % of the labels wrong)"
    print(f"\nC = {info['C']:g}{chosen}, {info['rounds']} rounds by {info['oracle']}, {info['stop_reason']}")


def _open_model(args: argparse.Namespace) -> tuple[RowModel, tuple[str, ...]]:
    rows.check_inputs(args)
    model = rows.read_model(args.model, clustruct.MultiLabelMRF)
    names = tuple(rows.stored_names(args.model, model.about, "labels"))
    V = len(model.learner.intercept_)
    names = names or tuple(map(str, range(1, V + 1)))
    if len(names) != V or len(set(names)) != V or model.learner.y_form_ != "labels":
        raise clustruct.core.exceptions.ModelFileError(f"{args.model}: damaged, its labels do not fit")
    return model, names


def _predict(args: argparse.Namespace) -> None:
    model, names = _open_model(args)
    found = _read(args, rows.columns(args, model.columns), model.n_features)
    X = model.numbers(found)
    Y = model.learner.predict(X)
    scores = model.learner.label_scores(X, Y)
    listed: list[Any] = [[names[a] for a in row.nonzero()[0].tolist()] for row in Y]
    as_text = args.out is None or clustruct.data.io.check_table(args.out) in (".csv", ".tsv")
    labels = [",".join(some) for some in listed] if as_text and not args.json else listed
    answers = {"id": found.ids, "labels": labels}
    answers |= {f"score {name}": scores[:, a] for a, name in enumerate(names)}
    held = f"{count(int(Y.sum()), 'label')} of {count(len(found), 'row')}"
    rows.write_answers(args, answers, held)


def _evaluate(args: argparse.Namespace) -> None:
    model, names = _open_model(args)
    table_labels = args.labels or (names if model.columns.text or model.columns.features else ())
    found = _read(args, rows.columns(args, model.columns, labels=table_labels), model.n_features)
    _mention_unknown(found, names)
    X, Y = model.numbers(found), _indicators(found, names)
    predicted = model.learner.predict(X)
    scores = clustruct.papers.multilabel.label_set_scores(Y, predicted)
    each = clustruct.papers.multilabel.label_sets.label_rows(Y, predicted, names)
    undecided = model.learner.undecided_share(X)
    if args.json:
        keys = ("precision", "recall", "f1", "rows")
        per_label = {name: dict(zip(keys, values, strict=True)) for name, *values in each}
        print_json({"rows": len(found), **scores, "undecided_share": undecided, "per_label": per_label})
        return
    print(f"{count(len(found), 'row')}, {count(len(names), 'label')}\n")
    listed = [[name, *(None if v is None else 100 * v for v in some), n] for name, *some, n in each]
    print(format_table(["label", "precision", "recall", "f1", "rows"], listed, most=30))
    print("\nover all rows and labels (percent; of the loss less is better)")
    percent = {name: v if name == "hamming_loss" else 100 * v for name, v in scores.items()}
    print(format_table(["score", "percent"], [[name.replace("_", " "), v] for name, v in percent.items()]))
    print(f"\nlabels that the relaxation leaves undecided: {100 * undecided:.2f} %")


def _mention_unknown(found: FeatureRows, names: tuple[str, ...]) -> None:
    """Say that rows have labels which were not there in training."""
    unknown = sorted(set().union(*(found.label_sets or [])) - set(names))
    if unknown:
        first = next(a for a, held in enumerate(found.label_sets or []) if not held <= set(names))
        shown = ", ".join(short(name) for name in unknown[:5]) + (", ..." if len(unknown) > 5 else "")
        text = f"{found.place(first)}: not among the labels of the training, and not counted: {shown}"
        warnings.warn(text, clustruct.core.exceptions.DataWarning, stacklevel=2)


ACTIONS = {
    "fit": rows.Action("learn from rows whose labels are known", _add_fit, _fit),
    "predict": rows.Action("the labels of each row, with scores", rows.add_out, _predict),
    "evaluate": rows.Action("compare predicted labels with known ones", _add_labels, _evaluate),
}
add_arguments, run = rows.command(ACTIONS)
