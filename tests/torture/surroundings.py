"""Full disks, read-only folders, and output that nobody takes."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from clustruct import load, save
from clustruct.data import io
from clustruct.ssvm.checkpoint import Checkpoint

from . import commands, processes
from .commands import Ran, judged
from .fuzz_checkpoints import train
from .tally import FINE, Limits, Outcome, Part, fault, refused, skipped, thinned
from .victims import LINKED, NEEDED, prepare

CLONE_NEWNS = 0x20000
TABLE = ("--set", "set", "--cluster", "cluster", "--id", "id")
Write = Callable[[Path, Path], Outcome]


def _by_command(name: str, *words: str) -> Write:
    """A command line; TARGET is the file to write."""

    def write(folder: Path, target: Path) -> Outcome:
        line = [str(target) if word == "TARGET" else word for word in words]
        # Where no file can grow, the one beside it cannot either.
        names = [target.name, str(target.parent), "kept.csv"]
        return judged(commands.run(name, line, folder), names, lines=20)

    return write


def _in_python(write: Callable[[Path, Path], object]) -> Write:
    def tried(folder: Path, target: Path) -> Outcome:
        try:
            write(folder, target)
        except (OSError, ValueError) as error:
            # Whoever calls the library knows the file that was given.
            return refused(error)
        return FINE

    return tried


def _sets(folder: Path, target: Path) -> None:
    io.write_sets(target, io.read_sets(folder / "records.csv", set="set", cluster="cluster", id="id"))


def _checkpoint(folder: Path, target: Path) -> None:
    # Of a training that ends at once none would be written.
    with mock.patch.object(Checkpoint, "every", 0.0):
        train(target, "n_slack")


PREDICT = ("predict", "records.csv", "--model", "records", "--quiet", "--out", "TARGET")
EXISTING = ("predict", "new.jsonl", "--model", "records", "--id", "id", "--quiet", "--existing", "people.db")
FIT = ("fit", "records.csv", *TABLE, "--C", "1", "--quiet")
CURVE = ("evaluate", "records.csv", *TABLE, "--model", "sure", "--quiet", "--curve")
FURTHER = {"pairs": ".parquet", "groups": ".csv", "wide": ".csv.gz", "graph": ".graphml"}
# What changes a store, in the folder of the store.
STORES: dict[str, tuple[str, ...]] = {
    "predict into a store": EXISTING,
    "decide": ("store", "people.db", "--decide", "note", "third"),
    "decisions": ("store", "people.db", "--decisions", "fix.csv"),
    "create": ("store", "made.db", "--create"),
}
# What writes a file, and the end of its name.
WRITES: dict[str, tuple[Write, str]] = {
    "fit": (
        _by_command("clustruct", "fit", "records.csv", *TABLE, "--C", "1", "--quiet", "--model", "TARGET"),
        "",
    ),
    "predict": (_by_command("clustruct", *PREDICT), ".csv"),
    "predict JSONL": (_by_command("clustruct", *PREDICT), ".jsonl"),
    "predict packed": (_by_command("clustruct", *PREDICT), ".csv.gz"),
    "predict --existing": (_by_command("clustruct", *EXISTING, "--out", "TARGET"), ".csv"),
    "predict --existing JSONL": (_by_command("clustruct", *EXISTING, "--out", "TARGET"), ".jsonl"),
    "store --groups-out": (_by_command("clustruct", "store", "people.db", "--groups-out", "TARGET"), ".csv"),
    "store --decisions-out": (
        _by_command("clustruct", "store", "people.db", "--decisions-out", "TARGET"),
        ".jsonl",
    ),
    **{
        f"predict --{name}": (
            _by_command("clustruct", *PREDICT[:-2], "--out", "kept.csv", f"--{name}", "TARGET"),
            end,
        )
        for name, end in FURTHER.items()
    },
    "link": (_by_command("clustruct", "link", *LINKED, "--out", "TARGET"), ".csv"),
    "link JSONL": (_by_command("clustruct", "link", *LINKED, "--out", "TARGET"), ".jsonl"),
    "link Parquet": (_by_command("clustruct", "link", *LINKED, "--out", "TARGET"), ".parquet"),
    "evaluate --curve": (_by_command("clustruct", *CURVE, "TARGET"), ".svg"),
    "fit --corrections": (
        _by_command("clustruct", *FIT, "--corrections", "said.csv", "--model", "TARGET"),
        "",
    ),
    "fit --start": (_by_command("clustruct", *FIT, "--start", "records", "--model", "TARGET"), ""),
    "report": (_by_command("clustruct", "report", *PREDICT[1:]), ".html"),
    "learn": (_by_command("clustruct-learn", "-v", "0", "--m", "linear.py", "train.dat", "TARGET"), ""),
    "classify": (
        _by_command(
            "clustruct-classify", "-v", "0", "--m", "linear.py", "train.dat", "linear.model", "TARGET"
        ),
        "",
    ),
    "save": (_in_python(lambda folder, target: save(target, load(folder / "records"))), ""),
    "checkpoint": (_in_python(_checkpoint), ""),
    "write_sets": (_in_python(_sets), ".jsonl"),
}
PRINTS = {
    "predict": ("clustruct", "predict records.csv --model records"),
    "predict --json": ("clustruct", "predict records.csv --model records --json"),
    "predict --out": ("clustruct", "predict records.csv --model records --out new.csv"),
    "evaluate": ("clustruct", f"evaluate records.csv {' '.join(TABLE)} --model records"),
    "explain": ("clustruct", "explain records.csv --model records"),
    "store": ("clustruct", "store people.db"),
    "store --json": ("clustruct", "store people.db --json"),
    "diff": ("clustruct", "diff people.db records.csv"),
    "predict --existing": ("clustruct", "predict new.jsonl --model records --id id --existing people.db"),
    "link": ("clustruct", f"link {' '.join(LINKED)}"),
    "link --json": ("clustruct", f"link {' '.join(LINKED)} --json"),
    "link --out": ("clustruct", f"link {' '.join(LINKED[:-1])} --out new.csv"),
    "predict dials": ("clustruct", "predict records.csv --model sure --precision 0.9 --reject-below 0.5"),
    "evaluate --curve": ("clustruct", f"{' '.join(CURVE)}"),
    "explain --why-not": ("clustruct", "explain records.csv --model records --why-not r0-0 r0-1"),
    "show": ("clustruct", "show --model records"),
    "show --json": ("clustruct", "show --model records --json"),
    "fit": ("clustruct", f"fit records.csv {' '.join(TABLE)} --C 1 --model new"),
    "cv": ("clustruct", f"cv records.csv {' '.join(TABLE)} --C 1 --folds 2"),
    "report": ("clustruct", "report records.csv --model records --out new.html"),
    "refused": ("clustruct", "show --model none"),
    "misused": ("clustruct", "show"),
    "--help": ("clustruct", "--help"),
    "fit --help": ("clustruct", "fit --help"),
    "--version": ("clustruct", "--version"),
    "learn": ("clustruct-learn", "--m linear.py train.dat new"),
    "classify": ("clustruct-classify", "--m linear.py train.dat linear.model new"),
    "learn --help": ("clustruct-learn", "--help"),
}
STREAMS = ("stdout closed", "stderr closed", "all closed", "stdout full", "pipe closed")
# With these nothing is written but what is printed: output lost without a word is an answer lost.
ANSWERS = (
    *("predict", "predict --json", "evaluate", "explain", "show", "show --json", "cv", "store", "diff"),
    *("link", "link --json", "predict dials", "evaluate --curve", "explain --why-not"),
)


class Surroundings(Part):
    name = "surroundings"
    about = "disk full, file too large, read-only folder; stdout closed, full, a pipe nobody reads"
    limits = Limits(cpu=120.0, wall=300.0, memory=None)
    can_mount = False

    def cases(self, scale: float, seed: int) -> list[str]:
        kinds = ("disk full", "size limit", "read-only")
        writes = [f"{kind}: {name}" for name in WRITES for kind in kinds] + [
            "read-only: demo",
            "disk full: demo",
        ]
        writes += [f"{kind}: {name}" for name in STORES for kind in kinds]
        inputs = [f"read-only inputs: {name}" for name in ("predict", "link", "classify", "store", "diff")]
        prints = [f"{stream}: {name}" for name in PRINTS for stream in STREAMS]
        return thinned([*writes, *inputs, *prints], scale)

    def prepare(self, folder: Path, seed: int) -> None:
        prepare(folder)

    def start(self, folder: Path, seed: int) -> None:
        """Mounts of this process are seen by nobody else, and gone with it."""
        if os.geteuid() == 0 and ctypes.CDLL(None).unshare(CLONE_NEWNS) == 0:
            done = subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True)
            self.can_mount = done.returncode == 0

    def run(self, case: str, folder: Path, seed: int) -> Outcome:
        kind, _, name = case.partition(": ")
        with tempfile.TemporaryDirectory(dir=folder) as own:
            there = Path(own, "work")
            there.mkdir()
            for needed in NEEDED:
                shutil.copy(folder / needed, there)
            if kind in STREAMS and name in PRINTS:
                return _printed(kind, name, there)
            if kind == "size limit":
                return _limited(name, there)
            if name in STORES and self.can_mount:
                return _on_a_disk(kind, name, there)
            if not self.can_mount:
                return skipped("no right to mount a file system")
            if kind == "read-only inputs":
                return _read_only_inputs(name, there)
            return _unwritable(kind, name, there)


@contextmanager
def mounted(folder: Path, size: str = "256k") -> Iterator[Path]:
    """A small disk of its own."""
    disk = folder.parent / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(disk)], check=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def _fill(disk: Path) -> None:
    """Until there is no room for a single byte."""
    fd = os.open(disk / "filler", os.O_WRONLY | os.O_CREAT)
    for size in (4096, 1):
        try:
            while True:
                os.write(fd, b"x" * size)
        except OSError:
            pass
    os.close(fd)


def _unwritable(kind: str, name: str, folder: Path) -> Outcome:
    with mounted(folder) as disk:
        if name == "demo":
            return _demo(kind, folder, disk)
        write, suffix = WRITES[name]
        target = disk / f"target{suffix}"
        if name != "checkpoint":
            target.write_bytes(b"old")
        if kind == "disk full":
            _fill(disk)
        else:
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        return _refused_whole(write, folder, target, name != "checkpoint")


def _on_a_disk(kind: str, name: str, folder: Path) -> Outcome:
    """A store on a disk that is full, or cannot be written to."""
    with mounted(folder, "2m") as disk:
        for needed in ("people.db", "new.jsonl", "fix.csv", "records"):
            shutil.copy(folder / needed, disk)
        if kind == "disk full":
            _fill(disk)
        else:
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        found = _store_kept(name, disk)
        if kind == "read-only":
            shutil.copy(disk / "people.db", folder)
        return found


def _store_kept(name: str, folder: Path) -> Outcome:
    """The store is as it was, and the refusal names it."""
    before = commands.contents(folder)
    found = judged(commands.run("clustruct", STORES[name], folder), ["people.db", "made.db"], (1,), 20)
    if found.status == "fault":
        return found
    after = commands.contents(folder)
    left = set(after) - set(before)
    if left:
        return fault("left over", ", ".join(sorted(left)))
    changed = [name for name in before if before[name] != after.get(name)]
    return fault("half-written", ", ".join(changed)) if changed else found


def _demo(kind: str, folder: Path, disk: Path) -> Outcome:
    if kind == "disk full":
        _fill(disk)
    else:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    return judged(
        commands.run("clustruct", ["demo", "--folder", disk / "demo"], folder), [str(disk)], (1,), 20
    )


def _refused_whole(write: Write, folder: Path, target: Path, old: bool) -> Outcome:
    before = {*os.listdir(target.parent), *os.listdir(folder)}
    found = write(folder, target)
    left = {*os.listdir(target.parent), *os.listdir(folder)} - {*before, "__pycache__"}
    if left:
        return fault("left over", ", ".join(sorted(left)))
    if old and target.read_bytes() != b"old":
        return fault("half-written", f"{target.name} holds {target.read_bytes()[:60]!r}")
    return fault("silent", "written, it seems") if found.status == "fine" else found


def _limited(name: str, folder: Path) -> Outcome:
    """No file may grow beyond 16 bytes."""
    if name == "demo":
        return skipped("there is no such case")
    if name in STORES:
        with _small_files():
            return _store_kept(name, folder)
    write, suffix = WRITES[name]
    target = folder / f"target{suffix}"
    if name != "checkpoint":
        target.write_bytes(b"old")
    with _small_files():
        return _refused_whole(write, folder, target, name != "checkpoint")


@contextmanager
def _small_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _read_only_inputs(name: str, folder: Path) -> Outcome:
    write, suffix = WRITES[name] if name in WRITES else (_by_command(*_words(name)), ".csv")
    with mounted(folder, "2m") as disk:
        for needed in NEEDED:
            shutil.copy(folder / needed, disk)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        found = write(disk, folder / f"target{suffix}")
    return found if found.status == "fine" else fault("exit code", found.detail)


def _words(name: str) -> list[str]:
    command, text = PRINTS[name]
    return [command, *text.split()]


def _printed(kind: str, name: str, folder: Path) -> Outcome:
    command, text = PRINTS[name]
    words = processes.words_of(command, text.split())
    shell = {"stdout closed": '"$@" >&-', "stderr closed": '"$@" 2>&-', "all closed": '"$@" <&- >&- 2>&-'}
    if kind in shell:
        ran = processes.run(["sh", "-c", shell[kind], "sh", *words], folder).ran
    elif kind == "stdout full":
        with open("/dev/full", "wb") as full:
            ran = processes.run(words, folder, stdout=full).ran
    else:
        reading, writing = os.pipe()
        os.close(reading)
        ran = processes.run(words, folder, stdout=writing).ran
        os.close(writing)
    return _judged_print(kind, name, ran, folder)


def _judged_print(kind: str, name: str, ran: Ran, folder: Path) -> Outcome:
    if "Traceback" in ran.err or "Exception ignored" in ran.err:
        return fault("traceback", ran.err[-400:])
    allowed = {"refused": (1,), "misused": (2,)}.get(name, (0, 1))
    if ran.code not in allowed:
        return fault("exit code", f"{ran.code}: {ran.err[-200:]}")
    if kind == "stdout full" and name in ANSWERS and ran.code == 0:
        return fault("silent", "the output is lost, exit code 0")
    left = {p.name for p in folder.iterdir()} - {*NEEDED, "new", "new.csv", "new.html", "__pycache__"}
    if left:
        return fault("left over", ", ".join(sorted(left)))
    return FINE if ran.code == 0 else refused(ran.err)
