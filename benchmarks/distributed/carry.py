"""A cost model by stage, with constants measured here, checked by other runs, carried to larger tables.

    CPU seconds of a stage  =  a * pieces + b * units

``pieces`` are maps and ends of the stage, ``units`` what it goes through: rows, rows exchanged, records. CPU
seconds are those of tasks. The constants b come from one run; a from those of its stages that hardly have
anything to do. Scores have two units, records that are prepared and pairs that are compared, whose constants
come from two runs. How many units a row brings depends on the number of partitions P, since a list of s items
that share a key goes to every partition that has one of them, and an item with d likely mates is asked for by
every partition that scores one of its pairs:

    entries(P)   = sum over lists  s * P (1 - (1 - 1/P)^s)      towards the sum of s^2
    records(P)   = (P - 1) / 2 * (1 - (1 - 1/P)^d)              towards d / 2, the pairs of a row
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]
# What a stage goes through; "rows" where nothing is said.
UNITS = {
    "neighbours": "entries",
    "pairs": "candidates",
    "asked": "records",
    "records": "records",
    "preparing": "prepared",
    "comparing": "compared",
}
ROWS, WORKERS = 125_000, 100


def units(run: Row) -> dict[str, float]:
    """How many of each unit a run went through."""
    stages, n = run["stages"], float(run["rows"])
    records = float(stages["asked"]["asked"])
    return {
        "rows": n,
        "entries": float(stages["neighbours"]["entries"]),
        "candidates": float(stages["neighbours"]["pairs"]),
        "records": records,
        "prepared": n + records,
        "compared": float(stages["scores"]["compared"]),
    }


def constants(run: Row, other: Row, overhead: float) -> dict[str, Row]:
    """CPU seconds and bytes for each unit, by stage; scores are cut in two, by two runs."""
    prepared, compared = two_constants([run, other], overhead)
    found: dict[str, Row] = {
        "preparing": {"unit": "prepared", "CPU us": 1e6 * prepared, "bytes": 0.0},
        "comparing": {"unit": "compared", "CPU us": 1e6 * compared, "bytes": 0.0},
    }
    for stage, cost in by_name(run["stages"]).items():
        if stage == "scores":
            continue
        unit = UNITS.get(stage, "rows")
        seconds = max(cost["CPU s"] - overhead * 2 * run["partitions"], 0.0)
        size = max(units(run)[unit], 1.0)
        found[stage] = {"unit": unit, "CPU us": 1e6 * seconds / size, "bytes": cost["bytes moved"] / size}
    return found


def two_constants(runs: list[Row], overhead: float) -> tuple[float, float]:
    """CPU seconds of a record that is prepared and of a pair that is compared."""
    A = [[units(run)["prepared"], units(run)["compared"]] for run in runs]
    b = [spent(run["stages"]["scores"]) - overhead * 2 * run["partitions"] for run in runs]
    x, y = np.linalg.solve(np.array(A), np.array(b))
    return float(x), float(y)


def spent(cost: Row) -> float:
    """CPU seconds of the tasks of a stage."""
    return float(cost["make CPU s"] + cost["finish CPU s"])


def by_name(stages: dict[str, Row]) -> dict[str, Row]:
    """The stages, rounds of components put together."""
    found: dict[str, Row] = {}
    for stage, cost in stages.items():
        name = "components" if stage.startswith("components") else stage
        before = found.get(name, {"CPU s": 0.0, "bytes moved": 0.0, "rounds": 0})
        found[name] = {
            "CPU s": before["CPU s"] + spent(cost),
            "bytes moved": before["bytes moved"] + cost["bytes moved"],
            "rounds": before["rounds"] + 1,
        }
    return found


def foretold(run: Row, known: dict[str, Row], overhead: float) -> Row:
    """The CPU seconds of a run, all stages together, by the constants of another, and those it took."""
    counted = units(run)
    told = sum(
        one["CPU us"] * 1e-6 * counted[one["unit"]] for one in known.values() if one["unit"] in counted
    )
    told += overhead * 2 * run["partitions"] * len(run["stages"])
    took = sum(map(spent, run["stages"].values()))
    return {
        "rows": run["rows"],
        "partitions": run["partitions"],
        "foretold": told,
        "took": took,
        "ratio": told / took,
    }


def per_row(run: Row, partitions: int) -> dict[str, float]:
    """Units that a row brings when the table is cut into so many partitions."""
    n, keys, pairs = run["rows"], run["stages"]["keys"], run["stages"]["pairs"]["pairs"]
    most, now, parts = keys["squares"] / n, run["stages"]["neighbours"]["entries"] / n, run["partitions"]
    least = keys["made"] / n
    # From what one partition would have to what all lists at full length have.
    share = (1.0 - 1.0 / partitions) / max(1.0 - 1.0 / parts, 1e-9)
    entries = min(most, least + (now - least) * share) if partitions <= parts else most
    records = (partitions - 1) / 2.0 * (1.0 - (1.0 - 1.0 / partitions) ** (2.0 * pairs / n))
    candidates = run["stages"]["neighbours"]["pairs"] / n
    return {
        "rows": 1.0,
        "entries": entries,
        "candidates": candidates,
        "records": records,
        "prepared": 1.0 + records,
        "compared": run["stages"]["scores"]["compared"] / n,
    }


def carried(
    run: Row, known: dict[str, Row], n: float, n_bytes: float, rows: int = ROWS, workers: int = WORKERS
) -> Row:
    """Hours and bytes for n rows on so many workers of one thread, and the memory of the largest piece."""
    partitions = max(1, int(n / rows))
    each = per_row(run, partitions)
    stages = {}
    for stage, one in known.items():
        work = each[one["unit"]] * n
        hours = one["CPU us"] * 1e-6 * work / workers / 3600.0
        stages[stage] = {"hours": hours, "GB a worker": one["bytes"] * work / workers / 2**30}
    held = min(1.0 + each["prepared"], 2.5) * rows  # its own twice, of others half as many at once
    return {
        "rows": n,
        "workers": workers,
        "partitions": partitions,
        "hours": sum(one["hours"] for one in stages.values()),
        "GB a worker": sum(one["GB a worker"] for one in stages.values()),
        "records of the largest piece": held,
        "GB of the largest piece": held * n_bytes / 2**30,
        "tasks": 3 * partitions * len(run["stages"]),
        "stages": stages,
    }


def bytes_of_record(small: Row, large: Row) -> float:
    """Memory of a record where all that is made of it is held: how that of one process grows."""
    grown = (large["one process"]["GB"] - small["one process"]["GB"]) * 2**30
    return float(grown / (large["rows"] - small["rows"]))


def model(folder: Path, rows: tuple[int, int] = (40_000, 10_000)) -> Row:
    """The model: constants of the kept runs of so many rows, checked by the other runs."""
    runs = {
        run["rows"]: run for run in (json.loads(path.read_text()) for path in folder.glob("table-*.json"))
    }
    chosen, other = (runs[n] for n in rows)
    # Stages that hardly have anything to do: what a piece costs by itself.
    small = [spent(chosen["stages"][stage]) for stage in ("members", "numbers", "labels")]
    overhead = sum(small) / len(small) / (2 * chosen["partitions"])
    known = constants(chosen, other, overhead)
    n_bytes = bytes_of_record(chosen, runs[max(runs)])
    sizes = [(n, each) for n in (1e8, 1e9) for each in (ROWS, 20_000)]
    return {
        "constants of": list(rows),
        "overhead of a piece, CPU s": overhead,
        "bytes of a record": n_bytes,
        "constants": known,
        "checked": [foretold(runs[n], known, overhead) for n in sorted(runs) if n not in rows],
        "carried": [carried(chosen, known, n, n_bytes, each) for n, each in sizes],
    }
