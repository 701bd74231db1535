"""Kept figures as Markdown, put into the page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from benchmarks.distributed.carry import Row, spent

MARK = "<!-- rendered by python -m benchmarks.distributed render -->"


def put(figures: Path, page: Path) -> None:
    """Replace what stands after the mark."""
    text = page.read_text()
    before = text.partition(MARK)[0].rstrip("\n")
    page.write_text(f"{before}\n\n{MARK}\n\n{rendered(figures)}\n")


def rendered(figures: Path) -> str:
    """All figures that are there."""
    held = {path.stem: json.loads(path.read_text()) for path in sorted(figures.glob("*.json"))}
    tables = sorted(
        (run for name, run in held.items() if name.startswith("table-")), key=lambda run: run["rows"]
    )
    parts = [_tables(tables)] if tables else []
    parts += [_training(held)] if any(name.startswith("training-") for name in held) else []
    parts += [_faults(held)]
    parts += [_carry(held["carry"])] if "carry" in held else []
    return "\n\n".join(filter(None, parts))


def _tables(runs: list[Row]) -> str:
    head = ["rows", "partitions", "same labels", "one process, CPU s", "GB", "two workers, CPU s of tasks"]
    head += ["GB each", "longest way over one process", "wall over one process"]
    rows = []
    for run in runs:
        here, there = run["one process"], run["two workers"]
        tasks = sum(map(spent, run["stages"].values()))
        cells = [f"{here['CPU s']:.1f}", f"{here['GB']:.2f}", f"{tasks:.1f}", f"{there['GB']:.2f}"]
        longest = sum(cost["longest way CPU s"] for cost in run["stages"].values())
        cells += [f"{longest / here['CPU s']:.2f}", f"{there['wall s'] / here['wall s']:.2f}"]
        rows.append([f"{run['rows']:,}", str(run["partitions"]), _yes(run["same labels"]), *cells])
    told = "Tables of persons (`python -m benchmarks.distributed table --rows 1e5`), two workers of 2 GB. "
    told += "The longest way: CPU seconds until two workers with a core each are done, stage after stage."
    return f"{told}\n\n{_table(head, rows)}"


def _training(held: dict[str, Row]) -> str:
    lines = []
    for name in ("one_slack", "n_slack"):
        if (run := held.get(f"training-{name}")) is not None:
            lines.append(
                f"- Training, {run['sets']:,} sets, {name}: w bit for bit that of one process: "
                f"{_yes(run['same w, bit for bit'])}; a round moves {run['bytes of a round']:,.0f} bytes, "
                f"{run['ratio']:.2f} times w and planes."
            )
    if (run := held.get("training-speed")) is not None:
        lines.append(_speed(run))
    if (run := held.get("training-data")) is not None:
        lines.append(
            f"- Training on {run['data']} ({run['sets']} sets): the objective of one process: "
            f"{_yes(run['same objective'])}; w bit for bit: {_yes(run['same w, bit for bit'])}."
        )
    return "\n".join(lines)


def _speed(run: Row) -> str:
    """How much faster two workers are than one, and than a process."""
    return (
        f"- {run['sets']} sets, oracle calls of {run['ms of an oracle call']:.0f} ms, "
        f"{100 * run['share of the oracle']:.0f} % of the time of one process: two workers are "
        f"{run['two over one, by the longest way']:.2f} times as fast as one worker, and "
        f"{run['two over a process, by the longest way']:.2f} times as fast as one process, by CPU seconds "
        f"of the longest way; by the clock {run['two over one, by the clock']:.2f} and "
        f"{run['two over a process, by the clock']:.2f} (load of the machine before it: "
        f"{run['load of the machine']:.1f})."
    )


def _faults(held: dict[str, Row]) -> str:
    lines = []
    if (run := held.get("kills")) is not None:
        lines.append(
            f"- Workers killed at a random moment of a random stage: {run['same answers']} of {run['runs']} "
            f"runs ended with the same answer; in {run['killed more than once']} of them what took the "
            "worker's place was killed, too."
        )
    if (run := held.get("skewed")) is not None:
        lines.append(
            f"- A word in every row and a chain of {run['rows of one person']:,} rows among {run['rows']:,}: "
            f"same labels: {_yes(run['same labels'])}; a worker took {run['worker GB']:.2f} GB at most."
        )
    if (run := held.get("memory")) is not None:
        lines.append(
            f"- {run['rows']:,} rows as one partition, workers of {run['memory limit']}: the run ended with "
            f"`{run['one partition']}`. "
            f"As {run['partitions then']} partitions, same labels: {_yes(run['same labels'])}; a worker took "
            f"{run['worker GB']:.2f} GB at most."
        )
    if (run := held.get("spill")) is not None:
        lines.append(
            f"- Sets of {run['bytes of the sets'] / 1e6:,.0f} MB on a worker of {run['memory limit']}: "
            f"{run['bytes on disk'] / 1e6:,.0f} MB were put on its disk; w bit for bit that of one process: "
            f"{_yes(run['same w, bit for bit'])}."
        )
    return "\n".join(lines)


def _carry(found: Row) -> str:
    checked = [
        f"{one['rows']:,} rows: {one['foretold']:.1f} CPU s foretold, {one['took']:.1f} taken "
        f"({one['ratio']:.2f})"
        for one in found["checked"]
    ]
    head = [
        "rows",
        "rows of a partition",
        "partitions",
        "hours on 100 workers",
        "GB moved by a worker",
        "GB of a piece",
    ]
    rows = [
        [
            f"{one['rows']:.0e}",
            f"{one['rows'] / one['partitions']:,.0f}",
            f"{one['partitions']:,}",
            f"{one['hours']:.1f}",
            f"{one['GB a worker']:,.0f}",
            f"{one['GB of the largest piece']:.1f}",
        ]
        for one in found["carried"]
    ]
    constants = [
        [stage, one["unit"], f"{one['CPU us']:.1f}", f"{one['bytes']:.0f}"]
        for stage, one in found["constants"].items()
    ]
    return "\n\n".join(
        [
            "### Carried further, on paper",
            "Constants (CPU microseconds and bytes exchanged for each unit), "
            f"{found['bytes of a record'] / 1000:.1f} KB of memory for each record of a piece, and "
            f"{1000 * found['overhead of a piece, CPU s']:.0f} ms for each piece of work:",
            _table(["stage", "unit", "CPU us", "bytes"], constants),
            f"Checked by other runs: {'; '.join(checked)}.",
            _table(head, rows),
        ]
    )


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = list(head)
    lines = [names, ["---"] * len(names), *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
