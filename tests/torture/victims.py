"""What is killed: a process that forks children, each of which writes one file over and over.

``python -m tests.torture.victims FOLDER``. A line "start NAME FOLDER" starts a child there and answers its
number; "once NAME FOLDER" does the work once in a child and answers its exit code.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

from clustruct import load, save
from clustruct.data import io
from clustruct.ssvm.checkpoint import Checkpoint

from . import commands
from .fuzz_checkpoints import train
from .fuzz_models import fit_by_command, write_data
from .living import write_early, write_store, write_tables

Work = Callable[[Path], None]


def command(*words: str) -> Work:
    """A command that must end well."""

    def work(folder: Path) -> None:
        ran = commands.run(words[0], [*words[1:]], folder)
        if ran.code != 0:
            raise RuntimeError(str(ran))

    return work


def _save(folder: Path) -> None:
    save(folder / "target", load(folder / "records"))


def _checkpoint(folder: Path) -> None:
    Checkpoint.every = 0.0
    train(folder / "target", "n_slack")


def _sets(folder: Path) -> None:
    held = list(io.read_sets(folder / "records.csv", set="set", cluster="cluster", id="id"))
    io.write_sets(folder / "target.csv", held * 50)


def _create(folder: Path) -> None:
    (folder / "target.db").unlink(missing_ok=True)
    command("clustruct", "store", "target.db", "--create", "--groups-out", "target.csv")(folder)


# Files that a work writes beside its target.
BESIDE: dict[str, tuple[str, ...]] = {
    "files": ("pairs.csv", "groups.jsonl", "wide.csv.gz", "graph.graphml"),
    "create": ("target.csv",),
    "kept": ("target.features",),
}
NEW = ("new.jsonl", "--model", "records", "--id", "id")
TABLE = ("--set", "set", "--cluster", "cluster", "--id", "id", "--C", "1", "--quiet")
LINKED = ("first.csv", "second.csv", "--model", "records", "--id", "id", "--quiet")
NEEDED = (
    *(
        "records.csv",
        "records",
        "linear.py",
        "linear.model",
        "train.dat",
        "people.db",
        "new.jsonl",
        "fix.csv",
    ),
    *("first.csv", "second.csv", "sure", "said.csv"),
)
# What is done over and over, and the file that it writes.
WORKS: dict[str, tuple[Work, str]] = {
    "fit": (command("clustruct", "fit", "records.csv", *TABLE, "--model", "target"), "target"),
    "save": (_save, "target"),
    "checkpoint": (_checkpoint, "target"),
    "predict": (
        command(
            "clustruct", "predict", "records.csv", "--model", "records", "--out", "target.csv", "--quiet"
        ),
        "target.csv",
    ),
    "packed": (
        command(
            "clustruct", "predict", "records.csv", "--model", "records", "--out", "target.csv.gz", "--quiet"
        ),
        "target.csv.gz",
    ),
    "files": (
        command(
            *("clustruct", "predict", "records.csv", "--model", "records", "--out", "target.csv", "--quiet"),
            *("--pairs", "pairs.csv", "--groups", "groups.jsonl", "--wide", "wide.csv.gz"),
            *("--graph", "graph.graphml"),
        ),
        "target.csv",
    ),
    "link": (command("clustruct", "link", *LINKED, "--out", "target.csv", "--unmatched"), "target.csv"),
    "link JSONL": (
        command("clustruct", "link", *LINKED, "--out", "target.jsonl", "--unmatched"),
        "target.jsonl",
    ),
    "curve": (
        command(
            "clustruct", "evaluate", "records.csv", *TABLE[:6], "--model", "sure", "--curve", "target.svg"
        ),
        "target.svg",
    ),
    "corrections": (
        command("clustruct", "fit", "records.csv", *TABLE, "--corrections", "said.csv", "--model", "target"),
        "target",
    ),
    "start": (
        command("clustruct", "fit", "records.csv", *TABLE, "--start", "records", "--model", "target"),
        "target",
    ),
    "kept": (
        command(
            *("clustruct", "fit", "records.csv", *TABLE, "--start", "records", "--model", "target"),
            *("--keep-features", "target.features"),
        ),
        "target",
    ),
    "sets": (_sets, "target.csv"),
    "existing": (
        command("clustruct", "predict", *NEW, "--existing", "people.db", "--out", "target.csv", "--quiet"),
        "target.csv",
    ),
    "decisions": (command("clustruct", "store", "people.db", "--decisions", "fix.csv"), "people.db"),
    "create": (_create, "target.db"),
    "learn": (command("clustruct-learn", "-v", "0", "--m", "linear.py", "train.dat", "target"), "target"),
    "classify": (
        command("clustruct-classify", "-v", "0", "--m", "linear.py", "train.dat", "linear.model", "target"),
        "target",
    ),
}


def prepare(folder: Path) -> None:
    """Data and models."""
    from .fuzz_hooks import HookModels

    write_data(folder)
    fit_by_command(folder, "records")
    fit_by_command(folder, "sure", "--calibrate")
    write_tables(folder)
    write_store(folder)
    command("clustruct", *write_early(folder))(folder)
    HookModels().prepare(folder, 0)


def _forever(work: Work, folder: Path) -> None:
    while True:
        work(folder)


def _child(work: Callable[[], None]) -> int:
    """The number of a child that does the work and leaves."""
    sys.stdout.flush()
    number = os.fork()
    if number:
        return number
    code = 1
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1):
            os.dup2(nowhere, fd)
        warnings.simplefilter("ignore")
        work()
        code = 0
    finally:
        os._exit(code)


def main() -> None:
    """Warm up, then answer lines."""
    there = Path(sys.argv[1])
    for name, (work, target) in WORKS.items():
        work(there)
        for made in (target, *BESIDE.get(name, ())):
            if made not in NEEDED:
                (there / made).unlink(missing_ok=True)
        print(f"{name} works", file=sys.stderr)
    print("ready", flush=True)
    for line in sys.stdin:
        what, name, folder = line.rstrip("\n").split("\t")
        work, _ = WORKS[name]
        if what == "start":
            print(_child(partial(_forever, work, Path(folder))), flush=True)
            # The parent kills it; here it is only taken note of.
            os.wait()
        else:
            _, status = os.waitpid(_child(partial(work, Path(folder))), 0)
            print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
