"""``clustruct universum``: cluster rows beside others that belong to none of the clusters."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.core.formatting import count, duration, format_table, short

from . import rows
from .arguments import names_between_commas, positive, whole
from .output import UsageError, print_json

if TYPE_CHECKING:
    from clustruct.data.io import FeatureRows

    from .rows import RowModel

SUMMARY = "cluster documents beside others that belong to no cluster (fit, predict, evaluate)"
DESCRIPTION = """\
Cluster rows (documents, vectors) into a given number of groups without any labels, far from the borders
between them; rows known to belong to none of the groups, the Universum, lie close to the borders."""
EXAMPLES = """\
examples
  clustruct universum fit docs.csv --text title,body --clusters 4 --universum others.csv --model docs.model
  clustruct universum predict new.csv --model docs.model --out groups.csv
  clustruct universum evaluate test.csv --label kind --model docs.model
  clustruct universum fit rows.svm --clusters 3 --universum-label 0 --model rows.model

data
  a table (.csv, .tsv, .parquet, .npz) with columns of numbers (--features) or of text (--text);
  any other name: SVM^light rows, "target index:value ...", the target being the label"""
SHOWN_WORDS = 6


def _add_fit(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--clusters", type=whole(2), metavar="K", required=True, help="how many clusters")
    add("--universum", metavar="FILE", help="rows that belong to none of the clusters")
    _add_labels(parser)
    add("--C", type=positive, default=2.0, metavar="X", help="weight of the rows' margins (2)")
    add("--C-universum", type=_not_negative, default=1.0, metavar="X", help="weight of the Universum (1)")
    add("--balance", type=_not_negative, default=0.1, metavar="X", help="how unequal clusters may be (0.1)")
    add("--starts", type=whole(1), default=12, metavar="N", help="searches, of which the best is kept (12)")
    add("--seed", type=whole(0), default=0, metavar="N", help="random numbers (0)")
    rows.add_words(add)


def _add_labels(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--label", metavar="NAME", help="column of the known group (SVM^light: the target)")
    outside = "rows with such a label are the Universum, and in no cluster"
    add("--universum-label", type=names_between_commas, metavar="A,B", help=outside)


def _not_negative(text: str) -> float:
    if not float(text) >= 0.0:
        raise argparse.ArgumentTypeError(f"must be at least 0, not {text!r}")
    return float(text)


def _fit(args: argparse.Namespace) -> int | None:
    started = time.perf_counter()
    rows.check_inputs(args, args.universum)
    if args.universum is not None and args.universum_label is not None:
        raise UsageError("--universum names a file of such rows, --universum-label a label: give one of them")
    targets, outside = _split_universum(args, _read(args, args.data[0]), args.universum_label or [])
    if args.universum is not None:
        outside = _read(args, args.universum, targets, labels=False)
    if len(targets) < args.clusters:
        what = f"{count(len(targets), 'row')} cannot be {args.clusters} clusters"
        raise clustruct.core.exceptions.DataError(f"{targets.path}: {what}")
    model = clustruct.UniversumClustering(
        args.clusters,
        args.C,
        args.balance,
        n_init=args.starts,
        random_state=args.seed,
        C_universum=args.C_universum,
    )

    def fit(numbers: Any) -> Any:
        X, others = numbers(targets), None if outside is None else numbers(outside)
        width = max(X.shape[1], 0 if others is None else others.shape[1])
        universum = None if others is None else clustruct.data.io.widen_rows(others, width)
        return model.fit(clustruct.data.io.widen_rows(X, width), universum=universum)

    found = rows.fit_rows(args, targets, fit)
    info = _training(found, len(targets), 0 if outside is None else len(outside))
    info["seconds"] = time.perf_counter() - started
    kept = {"label": args.label, "universum_label": args.universum_label or []}
    rows.save(args, found, kept, info)
    if args.json:
        print_json({"model": str(args.model), **info, "words": _leading(found)})
    elif not args.quiet:
        _print(found, info)
    return rows.print_end(args, info["stop_reason"] == "interrupted")


def _read(
    args: argparse.Namespace, path: str, like: FeatureRows | None = None, *, labels: bool = True
) -> FeatureRows:
    """Rows of a file; with the columns of others where there are some."""
    named = rows.columns(args, label=args.label if labels else None)
    if like is not None and like.names is not None and not named.text:
        named = clustruct.data.io.RowColumns(named.id, features=like.names)
    width = None if like is None or like.names is None or named.text else like.X.shape[1]
    return clustruct.data.io.read_rows(path, named, n_features=width, delimiter=args.delimiter)


def _split_universum(
    args: argparse.Namespace, found: FeatureRows, outside: Sequence[str]
) -> tuple[FeatureRows, FeatureRows | None]:
    """Rows to be clustered, and those of the Universum by their label."""
    if not outside:
        return found, None
    if found.label is None:
        raise UsageError("--universum-label needs --label, the column that it is a value of")
    out = [label in outside for label in found.label]
    if all(out) or not any(out):
        text = f"{'every' if all(out) else 'no'} row has the label {', '.join(outside)} (--universum-label)"
        raise clustruct.core.exceptions.DataError(f"{found.path}: {text}")
    inside = [a for a, is_out in enumerate(out) if not is_out]
    return found.take(inside), found.take([a for a, is_out in enumerate(out) if is_out])


def _training(model: RowModel, n: int, n_universum: int) -> dict[str, Any]:
    learner = model.learner
    sizes = [int((learner.labels_ == c).sum()) for c in range(learner.n_clusters)]
    return {
        "rows": n,
        "universum_rows": n_universum,
        "features": learner.n_features_in_,
        "cluster_sizes": sizes,
        "objective": learner.objective_,
        "steps": learner.n_iter_,
        "stop_reason": learner.result_.stop_reason,
    }


def _leading(model: RowModel) -> list[list[str]] | None:
    """The words that speak most for each cluster, where rows are texts."""
    if model.vectors is None:
        return None
    weights = model.vectors.word_weights(model.learner.coef_)
    weights = weights - weights.mean(axis=0)
    return [[model.vectors.spellings_[a] for a in (-row).argsort()[:SHOWN_WORDS]] for row in weights]


def _print(model: RowModel, info: dict[str, Any]) -> None:
    beside = f" beside {count(info['universum_rows'], 'row')} of the Universum" * bool(info["universum_rows"])
    print(f"clustered {count(info['rows'], 'row')}{beside} in {duration(info['seconds'])}")
    words, sizes = _leading(model), info["cluster_sizes"]
    if words is None:
        print(format_table(["cluster", "rows"], list(enumerate(sizes))))
    else:
        listed = zip(range(len(sizes)), sizes, words, strict=True)
        print(
            format_table(
                ["cluster", "rows", "words that speak for it"], [[c, n, ", ".join(w)] for c, n, w in listed]
            )
        )
    print(f"objective {info['objective']:.4g} after {count(info['steps'], 'step')}, {info['stop_reason']}")


def _open_model(args: argparse.Namespace) -> RowModel:
    rows.check_inputs(args)
    return rows.read_model(args.model, clustruct.UniversumClustering)


def _predict(args: argparse.Namespace) -> None:
    model = _open_model(args)
    named = rows.columns(args, model.columns)
    found = clustruct.data.io.read_rows(
        args.data[0], named, n_features=model.n_features, delimiter=args.delimiter
    )
    scores = model.learner.decision_function(model.numbers(found))
    two = scores.copy()
    two.partition(scores.shape[1] - 2, axis=1)
    clusters = scores.argmax(axis=1)
    answers = {"id": found.ids, "cluster": clusters, "margin": two[:, -1] - two[:, -2]}
    used = len(set(clusters.tolist()))
    rows.write_answers(args, answers, f"{count(len(found), 'row')} in {count(used, 'cluster')}")


def _evaluate(args: argparse.Namespace) -> None:
    model = _open_model(args)
    label = args.label or model.about.get("label")
    named = rows.columns(args, model.columns, label=label if isinstance(label, str) else None)
    found = clustruct.data.io.read_rows(
        args.data[0], named, n_features=model.n_features, delimiter=args.delimiter
    )
    if found.label is None:
        raise clustruct.core.exceptions.NoLabels(
            f"{found.path}: name the column of the known groups (--label NAME)"
        )
    outside = args.universum_label
    if outside is None:
        outside = rows.stored_names(args.model, model.about, "universum_label")
    judged = [a for a, held in enumerate(found.label) if held is not None and held not in outside]
    if len(judged) < len(found):
        what = f"{count(len(found) - len(judged), 'row')} without a group, or of the Universum, not counted"
        warnings.warn(f"{found.path}: {what}", clustruct.core.exceptions.DataWarning, stacklevel=2)
    if not judged:
        raise clustruct.core.exceptions.NoLabels(f"{found.path}: no row has a known group")
    found = found.take(judged)
    clusters = model.learner.predict(model.numbers(found))
    _print_scores(args, found, clusters)


def _print_scores(args: argparse.Namespace, found: FeatureRows, clusters: Any) -> None:
    """The measures of the paper, and which groups went where."""
    truth, metrics = [str(held) for held in found.label or ()], clustruct.evaluate.metrics
    nmi = metrics.normalized_mutual_information(truth, clusters, average="geometric")
    scores = {
        "accuracy": metrics.matched_accuracy(truth, clusters),
        "normalized_mutual_information": nmi,
        "rand": metrics.rand_index(truth, clusters),
        "adjusted_rand": metrics.adjusted_rand_index(truth, clusters),
    }
    names = sorted(set(truth))
    used = sorted(set(clusters.tolist()))
    counts = {
        name: [
            sum(t == name and c == one for t, c in zip(truth, clusters.tolist(), strict=True)) for one in used
        ]
        for name in names
    }
    if args.json:
        print_json({"rows": len(truth), **scores, "clusters": used, "groups": counts})
        return
    print(f"{count(len(truth), 'row')} of {count(len(names), 'group')} in {count(len(used), 'cluster')}\n")
    print(
        format_table(["score", "percent"], [[name.replace("_", " "), 100 * v] for name, v in scores.items()])
    )
    print("\nrows of each group in each cluster")
    print(
        format_table(
            ["group", *map(str, used)], [[short(name), *row] for name, row in counts.items()], most=20
        )
    )


ACTIONS = {
    "fit": rows.Action("find the clusters of a file of rows, and keep them as a model", _add_fit, _fit),
    "predict": rows.Action("the cluster of each row of a file", rows.add_out, _predict),
    "evaluate": rows.Action("compare clusters with known groups", _add_labels, _evaluate),
}
add_arguments, run = rows.command(ACTIONS)
