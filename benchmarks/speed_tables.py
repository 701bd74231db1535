"""Tables of docs/figures.md, made of the kept figures of the benchmarks of speed (``--keep``)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from studies.rendering import cell, grid

Rows = list[dict[str, Any]]


def columns(rows: Rows, shown: dict[str, tuple[str, int]]) -> str:
    """Some columns of rows: their names, titles, and digits after the point."""
    return grid(
        [title for title, _ in shown.values()],
        [[cell(row.get(name), digits) for name, (_, digits) in shown.items()] for row in rows],
    )


def of_columns(shown: dict[str, tuple[str, int]]) -> Callable[[Rows], str]:
    """A table of such columns."""
    return partial(columns, shown=shown)


def growth(found: dict[str, Any]) -> str:
    """CPU seconds by number of examples, and the exponents of neighbours."""
    return columns(
        found["rows"],
        {"n": ("examples", 0), "cpu seconds": ("CPU s", 2), "oracle passes": ("oracle passes", 1)},
    )


def small_qps(rows: Rows) -> str:
    """Milliseconds of each solver, by number of planes."""
    names = [name.removesuffix(" ms") for name in rows[0] if name.endswith(" ms")]
    lines = [[row["planes"], *(_ms_and_gap(row, name) for name in names)] for row in rows]
    return grid(["planes", *names], lines)


def _ms_and_gap(row: dict[str, Any], name: str) -> str:
    return f"{row[f'{name} ms']:.2f} ms, {row[f'{name} short']:.0e} short"


SEARCHES = {
    "greedy": "greedy",
    "local_search": "local search",
    "gaec": "GAEC",
    "kl": "Kernighan-Lin",
    "leiden": "Leiden",
}


def searches(rows: Rows) -> str:
    """Value over the planted one and CPU seconds of each search."""
    able = [name for name in SEARCHES if f"{name}_value" in rows[0]]
    lines = [[_instance(row), *(_value_and_seconds(row, name) for name in able)] for row in rows]
    return grid(["instance", *(SEARCHES[name] for name in able)], lines)


def _instance(row: dict[str, Any]) -> str:
    kind = {"gauss": "Gauss", "pm1": "+-1"}[row["kind"]]
    return f"{kind}, m = {row['m']:,}, {row['clusters']} clusters, seed {row['seed']}"


def _value_and_seconds(row: dict[str, Any], name: str) -> str:
    built = row.get(f"{name}_build_seconds")
    more = "" if built is None else f" and {built:.2f} s for its graph"
    return f"{row[f'{name}_value']:.3f}, {row[f'{name}_seconds']:.2f} s{more}"


def prediction(rows: Rows) -> str:
    """Seconds of each predictor for 10,000 examples."""
    return grid([row["predictor"] for row in rows], [[f"{row['seconds']:.2f} s" for row in rows]])


RELAXATION = {
    "m": ("items", 0),
    "noise": ("noise", 1),
    "seconds": ("lazy rows, CPU s", 2),
    "all_rows_seconds": ("all rows by HiGHS, CPU s", 2),
    "fractional": ("share of fractional pairs", 2),
}
DIGITS = {
    "C": ("C", 0),
    "solver": ("training", 0),
    "time ratio": ("time / LinearSVC's", 2),
    "above optimum %": ("above the optimum %", 2),
    "LinearSVC above %": ("LinearSVC above it %", 4),
    "oracle passes": ("oracle passes", 0),
}
CALLS = {
    "C": ("C", 0),
    "solver": ("training", 0),
    "oracle calls": ("oracle calls", 0),
    "objective": ("objective", 3),
}
DLIB = {
    "C": ("C", 0),
    "ratio": ("dlib's time / ours", 0),
    "dlib objective": ("its objective", 3),
    "dlib calls": ("its oracle calls", 0),
}
SPARSE = {
    "search": ("search", 0),
    "edges": ("edges", 0),
    "over_planted": ("value over the planted", 3),
    "seconds": ("CPU s", 2),
}
DENSE_LINKS = {
    "items": ("items", 0),
    "single of greedy": ("single link / greedy", 2),
    "left of greedy": ("left links / greedy", 2),
    "average of greedy": ("average link / greedy", 1),
    "complete of greedy": ("complete link / greedy", 1),
}
SLACK = {
    "oracle": ("oracle", 0),
    "margin ms": ("margin search, ms", 3),
    "slack of margin": ("slack search / margin search", 1),
}
HOOKS = {
    "task": ("task", 0),
    "-w": ("-w", 0),
    "-c": ("C", 0),
    "ratio": ("hook module / native", 1),
    "calls": ("oracle calls", 0),
    "objective, relative": ("objective / native's", 4),
}
EIGEN = {
    "matrix": ("matrix", 0),
    "m": ("items", 0),
    "k": ("vectors", 0),
    "eigh's time over ours": ("eigh's time / ours", 1),
}
TRAINING = {
    "C": ("C", 0),
    "constant feature": ("constant feature", 0),
    "oracle": ("oracle", 0),
    "LP's time over it": ("linear programme's time / its", 1),
    "objective": ("objective", 3),
}

# The benchmark and its part that a table of docs/figures.md is made of, and how.
TABLES: dict[str, tuple[str, str, Callable[[Any], str]]] = {
    "engine/digits": ("engine", "digits", of_columns(DIGITS)),
    "engine/calls": ("engine", "oracle calls", of_columns(CALLS)),
    "engine/dlib": ("engine", "dlib", of_columns(DLIB)),
    "engine/growth": ("engine", "growth", growth),
    "engine/qp": ("engine", "small QP", small_qps),
    "correlation/planted": ("correlation", "planted partitions", searches),
    "correlation/ten": ("correlation", "ten clusters", searches),
    "correlation/relaxation": ("correlation", "relaxation", of_columns(RELAXATION)),
    "correlation/sparse": ("correlation", "sparse", of_columns(SPARSE)),
    "links/sparse": (
        "linkage",
        "sparse",
        of_columns({"search": ("search", 0), "of greedy": ("time / greedy's", 3)}),
    ),
    "links/dense": ("linkage", "dense", of_columns(DENSE_LINKS)),
    "links/slack": ("linkage", "slack scaling", of_columns(SLACK)),
    "hooks/learning": ("hooks", "learning", of_columns(HOOKS)),
    "eigenvectors": ("eigen", "eigenvectors", of_columns(EIGEN)),
    "mrf/training": ("mrf_speed", "training", of_columns(TRAINING)),
    "mrf/prediction": ("mrf_speed", "prediction", prediction),
}
