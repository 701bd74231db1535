"""A cost model by stage, with constants of one run, checked by others, carried to tables no one has here.

    CPU seconds of a stage  =  a * pieces + b * units

``pieces`` are maps and ends of the stage, ``units`` what it goes through: rows, rows exchanged, records. The
constants b of a stage come from the run whose size is named, a from a run of 2,000 rows (which is nearly all
overhead). How many units a row brings depends on the number of partitions P, since a list of s items that
share a key goes to every partition that has one of them:

    entries(P)   = sum over lists  s * P (1 - (1 - 1/P)^s)      towards the sum of s^2
    records(P)   = pairs per row * (1 - 1/P)                    at most
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Row = dict[str, Any]
# What a stage goes through; "rows" where nothing is said.
UNITS = {
    "neighbours": "entries",
    "pairs": "candidates",
    "asked": "records",
    "records": "records",
    "counts": "prepared",
    "scores": "prepared",
}
ROWS, WORKERS = 100_000, 100


def units(run: Row) -> dict[str, float]:
    """How many of each unit a run went through."""
    stages, n = run["stages"], float(run["rows"])
    records = float(stages["asked"]["asked"])
    return {
        "rows": n,
        "entries": float(stages["keys"]["entries"]),
        "candidates": float(stages["neighbours"]["pairs"]),
        "records": records,
        "prepared": n + records,
    }


def constants(run: Row, overhead: float) -> dict[str, Row]:
    """CPU seconds and bytes for each unit, by stage."""
    found = {}
    for stage, cost in by_name(run["stages"]).items():
        unit = UNITS.get(stage, "rows")
        spent = max(cost["CPU s"] - overhead * 2 * run["partitions"], 0.0)
        size = max(units(run)[unit], 1.0)
        found[stage] = {"unit": unit, "CPU us": 1e6 * spent / size, "bytes": cost["bytes moved"] / size}
    return found


def by_name(stages: dict[str, Row]) -> dict[str, Row]:
    """The stages, rounds of components put together."""
    found: dict[str, Row] = {}
    for stage, cost in stages.items():
        name = "components" if stage.startswith("components") else stage
        before = found.get(name, {"CPU s": 0.0, "bytes moved": 0.0, "rounds": 0})
        found[name] = {
            "CPU s": before["CPU s"] + cost["CPU s"],
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
    took = sum(cost["CPU s"] for cost in run["stages"].values())
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
    most, now, parts = keys["squares"] / n, keys["entries"] / n, run["partitions"]
    least = keys["made"] / n
    # From what one partition would have to what all lists at full length have.
    share = (1.0 - 1.0 / partitions) / max(1.0 - 1.0 / parts, 1e-9)
    entries = min(most, least + (now - least) * share) if partitions <= parts else most
    records = pairs / n * (1.0 - 1.0 / partitions)
    candidates = run["stages"]["neighbours"]["pairs"] / n
    return {
        "rows": 1.0,
        "entries": entries,
        "candidates": candidates,
        "records": records,
        "prepared": 1.0 + records,
    }


def carried(run: Row, known: dict[str, Row], n: float, rows: int = ROWS, workers: int = WORKERS) -> Row:
    """Hours and bytes for n rows on so many workers of one thread, and the memory of the largest piece."""
    partitions = max(1, int(n / rows))
    each = per_row(run, partitions)
    stages = {}
    for stage, one in known.items():
        work = each[one["unit"]] * n
        hours = one["CPU us"] * 1e-6 * work / workers / 3600.0
        stages[stage] = {"hours": hours, "GB a worker": one["bytes"] * work / workers / 2**30}
    told = {"counts": {"hours": 0.0, "GB a worker": 0.0}} if "counts" not in stages else {}
    stages |= told
    prepared = each["prepared"] * rows
    return {
        "rows": n,
        "workers": workers,
        "partitions": partitions,
        "hours": sum(one["hours"] for one in stages.values()),
        "GB a worker": sum(one["GB a worker"] for one in stages.values()),
        "records of the largest piece": prepared,
        "GB of the largest piece": prepared * bytes_of_record(run) / 2**30,
        "tasks": 3 * partitions * len(run["stages"]),
        "stages": stages,
    }


def bytes_of_record(run: Row) -> float:
    """Memory of a record in the stage of scores: what one process holds of all of them."""
    return float(run["one process"]["GB"] - run["idle GB"]) * 2**30 / run["rows"]


def model(folder: Path) -> Row:
    """The model from the kept runs."""
    runs = sorted(
        (json.loads(path.read_text()) for path in folder.glob("table-*.json")), key=lambda r: r["rows"]
    )
    smallest, largest = runs[0], runs[-1]
    small = sorted(cost["CPU s"] for cost in smallest["stages"].values())
    overhead = small[len(small) // 4] / (2 * smallest["partitions"])
    known = constants(largest, overhead)
    return {
        "constants of": largest["rows"],
        "overhead of a piece, CPU s": overhead,
        "constants": known,
        "checked": [foretold(run, known, overhead) for run in runs],
        "carried": [carried(largest, known, n, rows) for n in (1e8, 1e9) for rows in (ROWS, 20_000)],
    }
