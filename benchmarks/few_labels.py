"""Few labels: is a model that learned from some labelled clusters as good as one without labels, and is its
held-out figure true?

    python -m benchmarks.few_labels persons abt_buy ... --clusters 10 20 50 100 --draws 10 --out out/few.jsonl

Of each table so many clusters are drawn at random and labelled, all other rows have no label. F is that of
pairs with an unlabelled row, by `Recipe()` from the labels and by the guess without labels. The held-out
figure and its 90 % interval stand beside it, and the interval of one who knows all rows: a bootstrap over as
many clusters that were not labelled, grouped by the delivered model. A draw that is in the file is not made
again. At the end: how often labels cost more than a point, how often the interval holds the true F, and how
wide it is beside the other.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.printing import format_table
from benchmarks.tables.made import SHAPES
from benchmarks.tables.scores import touching
from clustruct import Recipe
from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import Table
from clustruct.learning.problems.fold_losses import count_pairs, pairwise_f
from clustruct.pipeline import fit_without_labels

# Rows of a made table where the name does not say (persons:10000), and of a made table of vectors.
ROWS, VECTORS = 3000, 2000
BOOTSTRAPS = 1000
POINT = 1.0


def table_of(name: str, seed: int) -> tuple[Table, Ints]:
    """The table without labels, and the cluster of each row; made ones are other ones for each seed."""
    kind, _, size = name.partition(":")
    if kind == "vectors":
        return _vectors(int(size or VECTORS), seed)
    if kind in SHAPES:
        made = SHAPES[kind].make(int(size or ROWS), seed)
        columns = {
            field: [cell or None for cell in column.tolist()] for field, column in made.columns.items()
        }
        items = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return Table(items), canonical_labels(made.entity)
    from studies.raw_data import records_together

    table = records_together(kind, range(10))
    return Table(table.items, ids=table.ids), canonical_labels(
        np.unique(table.labels, return_inverse=True)[1]
    )


def _vectors(n: int, seed: int) -> tuple[Table, Ints]:
    """Clusters of 1 to 10 vectors around centres, and dimensions that are noise."""
    rng = np.random.default_rng(seed)
    truth = canonical_labels(np.repeat(np.arange(n), rng.integers(1, 11, n))[:n])
    dims, noisy = 32, int(rng.integers(0, 33))
    spread = rng.uniform(0.3, 0.6)
    own = rng.normal(size=(n, dims))[truth] + spread * rng.normal(size=(n, dims))
    X = np.hstack([own, rng.normal(size=(n, noisy))])
    order = rng.permutation(n)
    return Table([{"v": row.tolist()} for row in X[order]]), truth[order]


def labelled_rows(truth: Ints, clusters: int, seed: int) -> Bools:
    """The rows of so many clusters, drawn at random from all; drawn again where none has two rows."""
    rng, sizes = np.random.default_rng([seed, clusters]), np.bincount(truth)
    while (sizes[drawn := rng.permutation(len(sizes))[:clusters]] < 2).all():
        pass
    return np.isin(truth, drawn)


def try_draw(name: str, clusters: int, draw: int, without: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """The figures of one draw."""
    made = name.partition(":")[0] in {*SHAPES, "vectors"}
    table, truth = table_of(name, draw if made else 0)
    own = labelled_rows(truth, clusters, draw)
    if clusters > int(truth.max()) + 1:
        return {}
    labels = [f"c{c}" if known else None for c, known in zip(truth.tolist(), own, strict=True)]
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recipe = Recipe(**settings).fit([table], [labels])
        seconds = time.process_time() - started
        predicted = recipe.predict([table])[0]
        key = f"{name} {draw if made else 0}"
        if key not in without:
            bare = fit_without_labels(Recipe(), [table])
            without[key] = bare.predict([table])[0]
    model = recipe.pipeline_[-1]
    held = model.held_out_
    found: dict[str, Any] = {
        "with": touching(truth, predicted, ~own).f1,
        "without": touching(truth, without[key], ~own).f1,
        "share": getattr(model, "guess_share_", None),
        "C": model.C_,
        "seconds": seconds,
    }
    if held is not None:
        low, high = knowing_interval(truth, predicted, own, clusters, draw)
        shown = {"f": held.f, "low": held.low, "high": held.high, "knowing": high - low}
        found |= {key: 100.0 * value for key, value in shown.items()}
    return found


def knowing_interval(
    truth: Ints, predicted: Ints, own: Bools, clusters: int, seed: int
) -> tuple[float, float]:
    """The 90 % interval by a bootstrap over as many clusters that were not labelled."""
    rng = np.random.default_rng([seed, clusters, 1])
    some = rng.permutation(np.unique(truth[~own]))[:clusters]
    counts: Floats = count_pairs(truth, np.asarray(predicted), some.tolist(), True)
    drawn = rng.integers(0, len(counts), (BOOTSTRAPS, len(counts)))
    low, high = np.quantile(pairwise_f(counts[drawn].sum(axis=1)), [0.05, 0.95]).tolist()
    return low, high


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        yield from map(json.loads, path.read_text().splitlines())


def summary(rows: list[dict[str, Any]]) -> str:
    """By table and number of clusters, and over all."""
    lines: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault((row["table"], row["clusters"]), []).append(row)
        lines.setdefault(("all", 0), []).append(row)
    return format_table(
        [
            {"table": name, "clusters": n or None, "draws": len(own), **_line(own)}
            for (name, n), own in sorted(lines.items())
        ]
    )


def _line(rows: list[dict[str, Any]]) -> dict[str, Any]:
    def mean(name: str, of: list[dict[str, Any]]) -> float | None:
        return round(float(np.mean([row[name] for row in of])), 2) if of else None

    figures = [row for row in rows if "f" in row]
    for row in figures:
        row |= {"holds": row["low"] <= row["with"] <= row["high"], "width": row["high"] - row["low"]}
    costly = sum(row["with"] < row["without"] - POINT for row in rows)
    shared = [row for row in rows if row["share"] is not None]
    found = {"with": mean("with", rows), "without": mean("without", rows), "cost > 1": costly}
    found["share"] = mean("share", shared)
    return found | {name: mean(name, figures) for name in ("f", "holds", "width", "knowing")}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--clusters", type=int, nargs="+", default=[10, 20, 50, 100])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--C", default="cv")
    parser.add_argument("--out", type=Path, default=Path("out/few_labels.jsonl"))
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    known = {(row["table"], row["clusters"], row["draw"]) for row in rows_of(args.out)}
    C = args.C if args.C == "cv" else float(args.C)
    for name in args.tables:
        without: dict[str, Any] = {}
        for draw in range(args.first, args.first + args.draws):
            for clusters in args.clusters:
                if (name, clusters, draw) in known:
                    continue
                found = try_draw(name, clusters, draw, without, C=C)
                if found:
                    with args.out.open("a") as file:
                        file.write(
                            json.dumps({"table": name, "clusters": clusters, "draw": draw, **found}) + "\n"
                        )
    print(summary(list(rows_of(args.out))))


if __name__ == "__main__":
    main()
