"""Are promises of precision kept? How often are they made where they could be?

    python -m benchmarks.promises scores [--repeats 200]
    python -m benchmarks.promises tables [--seeds 0-9] [--rows 1200] [--clusters 500]

"scores": clusters, and links between items with scores, are drawn from populations of known precision, no
model is learned; some clusters are held out, and the threshold that their curve gives for a precision is
looked up in the population. "tables": made-up tables of several shapes, half of the clusters are learned
from (some of them labelled), the other half is the fresh table on which the precision is counted.

made: how often the precision was promised; kept: of these, how often the population or the fresh table had
it; could: how often one who knows the truth has a threshold of higher precision (.97 for .95, .995 for .99),
found: of these, how often it was promised with 90 % of the recall of that threshold.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.precision import labelled_table
from benchmarks.printing import format_table, keep_row
from benchmarks.tables import made
from benchmarks.tables.scores import touching
from clustruct import Recipe
from clustruct.data import GroupingOptions, PairScores, Table
from clustruct.features import check_tables
from clustruct.learning.calibration import HeldOutPart, PrecisionCurve
from clustruct.learning.calibration.precision_curve import tried_thresholds
from clustruct.pipeline import group, score_set
from clustruct.search.oracles import make_predictor

# What is asked for, and the precision of a threshold that one who knows the truth would take.
ASKED = {0.95: 0.97, 0.99: 0.995}
POPULATION = 20_000
SIZES = {
    "pairs": lambda rng, n: np.full(n, 2),
    "one or more": lambda rng, n: rng.geometric(0.5, n),
    "two or more": lambda rng, n: 1 + rng.geometric(0.5, n),
    "mostly single": lambda rng, n: np.where(rng.random(n) < 0.6, 1, 2 + rng.poisson(0.7, n)),
    "a few large": lambda rng, n: np.minimum(1 + rng.zipf(2.5, n), 20),
}
# Links to items of other clusters, for each item.
RATES = (0.03, 0.1)


class Clusters(NamedTuple):
    """Items of clusters, and the scores of their links."""

    truth: np.ndarray
    scores: PairScores


def draw_clusters(rng: np.random.Generator, kind: str, n: int, rate: float) -> Clusters:
    """True links are of two mates of each item; false ones come in some clusters more than in others, most of
    them between the same two clusters.
    """
    size = SIZES[kind](rng, n)
    c = np.repeat(np.arange(n), size)
    first = np.concatenate([[0], np.cumsum(size)[:-1]])
    near, ease = rng.permutation(n), rng.normal(0.0, 0.7, n)
    ends, values = [], []
    for _ in range(2):
        a = np.arange(len(c))
        ends.append(np.column_stack([a, first[c] + rng.integers(0, size[c])]))
        values.append(rng.normal(3.0, 1.5, len(a)) + ease[c])
    times = rng.poisson((rate * np.exp(rng.normal(0.0, 1.0, n) - 0.5))[c])
    a = np.repeat(np.arange(len(c)), times)
    other = np.where(rng.random(len(a)) < 0.7, near[c[a]], rng.integers(0, n, len(a)))
    other = np.where(other == c[a], (other + 1) % n, other)
    ends.append(np.column_stack([a, first[other] + rng.integers(0, size[other])]))
    values.append(rng.normal(-1.0, 1.5, len(a)))
    index, value = np.sort(np.concatenate(ends), axis=1), np.concatenate(values)
    kept = index[:, 0] != index[:, 1]
    index, where = np.unique(index[kept], axis=0, return_index=True)
    return Clusters(c, PairScores(len(c), index=index, values=value[kept][where]))


def curve_of(clusters: Clusters, thresholds: np.ndarray | None = None) -> PrecisionCurve:
    part = HeldOutPart(clusters.scores, clusters.truth, np.ones(len(clusters.truth), np.bool_))
    if thresholds is None:
        a, b = clusters.scores.index.T
        thresholds = tried_thresholds(clusters.scores.values[clusters.truth[a] == clusters.truth[b]])
    return PrecisionCurve.of([part], make_predictor("components", "correlation"), thresholds)


@cache
def population_curve(kind: str, rate: float) -> PrecisionCurve:
    drawn = draw_clusters(np.random.default_rng(10**6), kind, POPULATION, rate)
    return curve_of(drawn, np.linspace(-2.0, 8.0, 81))


class Tally:
    """How often a precision was promised, and rightly."""

    def __init__(self) -> None:
        self.of = self.made = self.kept = self.could = self.found = 0

    def add(self, promised: bool, precision: float, recall: float, asked: float, best: float | None) -> None:
        """``best`` is the recall of the threshold of one who knows the truth, None where there is none."""
        self.of, self.made = self.of + 1, self.made + promised
        self.kept += promised and precision >= asked
        self.could += best is not None
        self.found += best is not None and promised and recall >= 0.9 * best

    def row(self) -> dict[str, Any]:
        shares = {"kept %": (self.kept, self.made), "found %": (self.found, self.could)}
        percent = {title: 100.0 * n / of if of else float("nan") for title, (n, of) in shares.items()}
        return {"of": self.of, "made": self.made, "could": self.could, **percent}


def best_recall(curve: PrecisionCurve, precision: float) -> float | None:
    """The recall of the lowest threshold of a precision; None where no threshold has it."""
    there = np.flatnonzero((curve.precision >= precision) & (curve.found > 0.0))
    return float(curve.recall[there[0]]) if len(there) else None


def by_scores(repeats: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Promises by scores alone."""
    for kind in SIZES:
        for n in (150, 500, 2000):
            for rate in RATES:
                begun, whole = time.process_time(), population_curve(kind, rate)
                tallies = {asked: Tally() for asked in ASKED}
                for k in range(repeats if n < 2000 else repeats // 4):
                    rng = np.random.default_rng([seed, k])
                    curve = curve_of(draw_clusters(rng, kind, n, rate))
                    for asked, tally in tallies.items():
                        dial = curve.dial(asked)
                        true = [
                            float(np.interp(dial.threshold, whole.thresholds, v))
                            for v in (whole.precision, whole.recall)
                        ]
                        tally.add(dial.reached, *true, asked, best_recall(whole, ASKED[asked]))
                for asked, tally in tallies.items():
                    about = {"sizes": kind, "clusters": n, "rate": rate, "asked": asked}
                    yield about | tally.row() | {"CPU s": time.process_time() - begun}


class Halves(NamedTuple):
    """A table to learn from, and a fresh one of the same population with the entity of each row."""

    known: Table
    fresh: Table
    entity: np.ndarray


def halves(shape: str, n_rows: int, clusters: int, seed: int) -> Halves:
    """A table of twice so many rows by half of its entities; of one half some clusters are labelled."""
    held, rng = made.SHAPES[shape].make(2 * n_rows, seed), np.random.default_rng(seed)
    columns = {
        field: np.array([cell.decode() or None for cell in column.tolist()], object)
        for field, column in held.columns.items()
    }
    first = (rng.permutation(int(held.entity.max()) + 1) % 2 == 0)[held.entity]
    tables = []
    for rows in (np.flatnonzero(first), np.flatnonzero(~first)):
        entity = held.entity[rows]
        chosen = rng.permutation(np.unique(entity))[:clusters]
        cells = {field: column[rows].tolist() for field, column in columns.items()}
        tables.append((labelled_table(cells, entity, np.isin(entity, chosen)), entity))
    return Halves(tables[0][0], replace(tables[1][0], labels=None), tables[1][1])


def by_tables(shape: str, n_rows: int, clusters: int, seed: int) -> Iterator[dict[str, Any]]:
    """What is promised of one table, and what the fresh one has."""
    table = halves(shape, n_rows, clusters, seed)
    pipeline = check_tables(Recipe().fit([table.known]).pipeline_, [table.fresh])
    model = pipeline[-1]
    if model.calibration_ is None:
        return
    scores = score_set(pipeline, table.fresh)
    part = HeldOutPart(scores, table.entity, np.ones(len(table.entity), np.bool_))
    tried = model.calibration_.curve.thresholds
    search = make_predictor("local_search", "correlation", random_state=0)
    truth = PrecisionCurve.of([part], search, tried)
    every = np.ones(len(table.entity), np.bool_)
    for asked, wanted in ASKED.items():
        dial = model.dial(asked)
        found = group(pipeline, table.fresh, options=GroupingOptions(precision=asked))
        counts = touching(table.entity, found.labels, every)
        best = best_recall(truth, wanted)
        yield {
            "table": shape,
            "rows": n_rows,
            "labelled": clusters,
            "seed": seed,
            "asked": asked,
            "promised": dial.reached,
            "P": counts.precision,
            "R": counts.recall,
            "held-out P": 100.0 * dial.precision,
            "bound": 100.0 * dial.lower,
            "rivals": dial.beats_rivals,
            "best R": None if best is None else 100.0 * best,
        }


def summary(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """How often promises were made and kept, by what was asked."""
    tallies: dict[tuple[Any, ...], Tally] = {}
    for row in rows:
        for shape in (row["table"], "all"):
            tally = tallies.setdefault((shape, row["labelled"], row["asked"]), Tally())
            best = row["best R"]
            tally.add(row["promised"], row["P"] / 100.0, row["R"], row["asked"], best)
    for (shape, labelled, asked), tally in sorted(tallies.items(), key=str):
        yield {"table": shape, "labelled": labelled, "asked": asked, **tally.row()}


def numbers(text: str) -> list[int]:
    """Seeds: "0-9", "3" or "1,4".

    >>> numbers("0-2"), numbers("1,4")
    ([0, 1, 2], [1, 4])
    """
    if "-" in text:
        first, last = map(int, text.split("-"))
        return [*range(first, last + 1)]
    return [int(part) for part in text.split(",")]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=("scores", "tables"))
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--shapes", nargs="+", default=list(made.SHAPES))
    parser.add_argument("--seeds", type=numbers, default=numbers("0-9"))
    parser.add_argument("--rows", type=int, default=1200)
    parser.add_argument("--clusters", type=int, default=500)
    parser.add_argument("--json", type=Path, default=Path("out/promises.json"))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.part == "scores":
        for row in by_scores(given.repeats):
            print(format_table([row]), flush=True)
        return
    rows = []
    for seed in given.seeds:
        for shape in given.shapes:
            for row in by_tables(shape, given.rows, given.clusters, seed):
                rows.append(row)
                keep_row(given.json, row, ("table", "rows", "labelled", "seed", "asked"))
                print(format_table([row]), flush=True)
    print(format_table([*summary(rows)]))


if __name__ == "__main__":
    main()
