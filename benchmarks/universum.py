"""Document clustering with Universum: the study behind docs/studies/universum.md.

    python -m benchmarks.universum --part PART [PART ...] [--seeds 10] [--quick] [--corpus 20news]

tables: every method at default settings. grid: settings of the paper's grids from the same k-means starts,
best by the true classes. nolabels: the same grid, chosen by rules that see no labels. starts: what the
Universum does when the best of several starts is kept. sources: which Universum helps. where: where
Universum documents lie among the classes. scale: what is active at which scale of X. speed: against k-means.
sensitivity: Figures 2 to 4. toy: Figure 1. Results are kept under out/universum, so that a run that was
ended is taken up again. All but toy need CLUSTRUCT_DATA.
"""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks import (
    universum_plots,
    universum_scale,
    universum_sources,
    universum_speed,
    universum_starts,
    universum_where,
)
from benchmarks.printing import table
from benchmarks.universum_corpora import CORPORA
from benchmarks.universum_tables import grid, summary, tables

PARTS = ("tables", "grid", "nolabels", "starts", "sources", "where", "scale", "speed", "sensitivity", "toy")


def part_of(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The rows of one part."""
    corpora = (options.corpus,) if options.corpus else CORPORA
    seeds = 2 if options.quick else options.seeds
    if name == "tables":
        return tables(seeds, corpora, options.method)
    if name in ("grid", "nolabels"):
        wanted = ("best on the grid",) if name == "grid" else None
        rows = [{"corpus": c, **r} for c in corpora for r in summary(grid(c, seeds, options.source))]
        return [r for r in rows if wanted is None or r["chosen by"] in wanted]
    if name == "starts":
        return [row for c in corpora for row in universum_starts.starts(c, seeds)]
    if name == "sources":
        return [row for c in corpora for row in universum_sources.by_source(c, seeds)]
    if name == "where":
        return [row for c in corpora for row in universum_where.where(c)]
    if name == "scale":
        return [row for c in corpora for row in universum_scale.scale(c)]
    if name == "speed":
        return universum_speed.speed(options.quick)
    if name == "sensitivity":
        return universum_plots.sensitivity(seeds)
    return universum_plots.toy()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--quick", action="store_true", help="two seeds, smaller sizes")
    parser.add_argument("--corpus", choices=CORPORA)
    parser.add_argument("--source", choices=("select", "rest"), default="select")
    parser.add_argument("--method", help="tables: this method only")
    options = parser.parse_args()
    for name in options.part:
        print(f"\n{name}\n{table(part_of(name, options))}", flush=True)


if __name__ == "__main__":
    main()
