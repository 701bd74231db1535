"""F of clusters held out of the labelled half, by similarity: ``python -m benchmarks.tables.held_out cora``.

As `real`, but the other half is never looked at: what is chosen among similarities is chosen by this. Beside
F the standard error of the difference to the first similarity, over clusters (jackknife).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.printing import format_table
from benchmarks.tables import real
from benchmarks.tables.table import ENTITY, ID
from clustruct import Recipe
from clustruct.data import Table, io
from clustruct.features.similarity import BoostedColumn, ForestColumn, PairMap
from clustruct.learning.problems.fold_losses import error_of_difference
from clustruct.pipeline.learners import HeldOutUnits, held_out_units

SIMILARITIES: dict[str, str | PairMap] = {
    "linear": "linear",
    "trees": "trees",
    "forest beside features": ForestColumn(),
    "boosted beside features": BoostedColumn(),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables.held_out", description=__doc__)
    parser.add_argument("tables", nargs="+", choices=[*real.NAMES, *real.BESIDE])
    for name in parser.parse_args().tables:
        for half in real.HALVES:
            print(format_table(_half(name, half)), flush=True)


def labelled_half(name: str, half: range) -> list[Table]:
    """The whole table as one set, whose rows have labels in these folds alone."""
    rows = real.read(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        real.write(rows, path, np.array([int(row["fold"]) in half for row in rows]))
        return list(io.read_sets(path, columns=io.ColumnRoles(id=ID, cluster=ENTITY), labels="partial"))


def _half(name: str, half: range) -> list[dict[str, Any]]:
    sets, first, found = labelled_half(name, half), None, []
    for title, similarity in SIMILARITIES.items():
        started = time.process_time()
        units = held_out_units(Recipe(similarity=similarity, calibrate=False).fit(sets))
        assert units is not None
        first = first or units
        about = {"table": name, "labelled folds": f"{half.start}-{half.stop - 1}", "similarity": title}
        found.append({**about, **_told(units, first), "CPU s": time.process_time() - started})
    return found


def _told(units: HeldOutUnits, first: HeldOutUnits) -> dict[str, float]:
    error = 100.0 * error_of_difference(units.judged, first.judged, units.by)
    return {"F of held-out clusters": 100.0 - units.cost, "error of the difference": error}


if __name__ == "__main__":
    main()
