"""The command of the benchmark; see the package."""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path
from typing import Any

from benchmarks import distributed
from benchmarks.distributed import carry, faults, render, tables, training

FIGURES = Path(__file__).parent / "figures"


def main() -> None:
    given = _parser().parse_args()
    folder = Path(given.folder)
    if given.part == "table":
        with tables.two_workers(folder, given.memory) as client:
            for rows in given.rows:
                run = client, given.memory, given.partitions, given.resume
                keep(f"table-{rows}", found := tables.compare(rows, folder, *run))
                show(found)
    elif given.part == "kills":
        keep("kills", found := faults.kills(given.runs, folder))
        show(found)
    elif given.part == "skewed":
        keep("skewed", found := faults.skewed(folder))
        show(found)
    elif given.part == "memory":
        keep("memory", found := faults.memory(folder))
        show(found)
        keep("spill", found := faults.spill())
        show(found)
    elif given.part == "training":
        for part in given.only.split(","):
            keep(f"training-{part}", made := _training(part, given))
            show(made)
    elif given.part == "carry":
        keep("carry", found := carry.model(FIGURES))
        show(found)
    elif given.part == "render":
        render.put(FIGURES, Path("docs/evidence/many-machines.md"))


def _training(part: str, given: argparse.Namespace) -> dict[str, Any]:
    if part == "speed":
        return training.speed(given.large_sets, max_iter=given.rounds)
    return training.on_data() if part == "data" else training.bytes_of_rounds(part, given.sets)


def show(found: dict[str, Any]) -> None:
    """A few lines."""
    for name, value in found.items():
        if isinstance(value, dict) and name == "stages":
            for stage, cost in value.items():
                print(
                    f"  {stage:15}", {n: round(v, 3) if isinstance(v, float) else v for n, v in cost.items()}
                )
        else:
            print(f"{name}: {value}")


def keep(name: str, found: dict[str, Any]) -> None:
    """A file of figures, with the machine they are of."""
    FIGURES.mkdir(exist_ok=True)
    about = {"python": platform.python_version(), "machine": platform.machine(), **found}
    (FIGURES / f"{name}.json").write_text(json.dumps(about, indent=1, default=float) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.distributed",
        description=distributed.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--folder", default="out/distributed", help="for tables and models")
    parts = parser.add_subparsers(dest="part", required=True)
    kills = parts.add_parser("kills", help="workers killed at random")
    kills.add_argument("--runs", type=int, default=20)
    parts.add_parser("skewed", help="one word in every row, one cluster of 5,000")
    parts.add_parser("memory", help="more than a worker can hold: a partition, sets of a training")
    training = parts.add_parser("training", help="bytes of rounds and speed")
    training.add_argument("--sets", type=int, default=2000, help="small ones, for bytes")
    training.add_argument("--large-sets", type=int, default=300, help="for speed")
    training.add_argument("--rounds", type=int, default=10, help="at most so many, for speed")
    training.add_argument("--only", default="one_slack,n_slack,speed,data", help="some of these")
    parts.add_parser("carry", help="the cost model, from kept figures of tables")
    parts.add_parser("render", help="kept figures into docs/evidence/many-machines.md")
    table = parts.add_parser("table", help="one process and two workers")
    table.add_argument("--rows", type=lambda text: [int(float(n)) for n in text.split(",")], default=[10_000])
    table.add_argument("--memory", default="2GB", help="of each worker")
    table.add_argument("--partitions", type=int, default=None)
    table.add_argument("--resume", action="store_true", help="a run that was cut short goes on")
    return parser


if __name__ == "__main__":
    main()
