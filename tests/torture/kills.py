"""Processes killed at random moments: the file they write is the old one or the new one, nothing stays."""

from __future__ import annotations

import csv
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import ParseError

import numpy as np

from clustruct import load
from clustruct.groups import Store, read_groups

from .living import fault_of
from .pool import ROOT
from .tally import FINE, Limits, Outcome, Part, fault
from .victims import BESIDE, NEEDED, WORKS, prepare

KILLS, ENDS = 12, 2


class Kills(Part):
    name = "kills"
    about = "SIGKILL and SIGTERM in the middle of fit, checkpoint, save, predict, link, stores and others"
    limits = Limits(cpu=60.0, wall=300.0, memory=None)

    def cases(self, scale: float, seed: int) -> list[str]:
        names = list(WORKS)
        n_kills, n_ends = (round(each * len(names) * scale) for each in (KILLS, ENDS))
        kills = [f"SIGKILL:{names[n % len(names)]}:{n}" for n in range(max(1, n_kills))]
        ends = [f"SIGTERM:{names[n % len(names)]}:{n}" for n in range(n_ends)]
        return kills + ends

    def prepare(self, folder: Path, seed: int) -> None:
        prepare(folder)

    def start(self, folder: Path, seed: int) -> None:
        """The process whose children are killed; it works in a folder of its own."""
        own = Path(tempfile.mkdtemp(dir=folder))
        _furnish(folder, own)
        words = [sys.executable, "-m", "tests.torture.victims", str(own)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.host = subprocess.Popen(words, cwd=ROOT, text=True, **pipes)
        if self._answer() != "ready":
            raise RuntimeError("the victims did not start")

    def _answer(self) -> str:
        assert self.host.stdout is not None
        return self.host.stdout.readline().strip()

    def _ask(self, what: str, name: str, folder: Path) -> int:
        assert self.host.stdin is not None
        print(what, name, folder, sep="\t", file=self.host.stdin, flush=True)
        return int(self._answer())

    def run(self, case: str, folder: Path, seed: int) -> Outcome:
        kind, name, number = case.split(":")
        rng = np.random.default_rng([seed, int(number)])
        with tempfile.TemporaryDirectory(dir=folder) as own:
            there = Path(own)
            _furnish(folder, there)
            if rng.random() < 0.7 and self._ask("once", name, there) != 0:
                return fault("exit code", f"{name} does not work")
            victim = self._ask("start", name, there)
            time.sleep(float(rng.uniform(0.0, 0.6)))
            os.kill(victim, getattr(signal, kind))
            _wait(victim)
            return _state(there, name) or self._again(there, name)

    def _again(self, folder: Path, name: str) -> Outcome:
        """The next run works, and afterwards there is nothing left over."""
        if self._ask("once", name, folder) != 0:
            return fault("exit code", f"{name} does not work any more")
        written = {WORKS[name][1], *BESIDE.get(name, ())}
        left = {path.name for path in folder.iterdir()} - {*NEEDED, *written, "__pycache__"}
        if left:
            return fault("left over", f"{len(left)} after {name}: {min(left)}")
        return _state(folder, name) or FINE


def _furnish(folder: Path, own: Path) -> None:
    for name in NEEDED:
        shutil.copy(folder / name, own)


def _wait(victim: int) -> None:
    while Path(f"/proc/{victim}").exists():
        time.sleep(0.001)


def _state(folder: Path, name: str) -> Outcome | None:
    """A fault where a file is neither absent nor whole."""
    if (damage := fault_of(folder / "people.db")) is not None:
        return fault("half-written", f"people.db after {name}: {damage}")
    for file in (WORKS[name][1], *BESIDE.get(name, ())):
        path = folder / file
        if not path.exists() or name == "decisions":
            continue
        try:
            _look_at(path, name)
        except (ValueError, OSError, EOFError, ParseError) as error:
            return fault("half-written", f"{path.name} after {name}: {error}")
    return None


def _look_at(path: Path, name: str) -> None:
    """An error where a file that a work writes is not whole."""
    folder = path.parent
    if name in ("fit", "save", "checkpoint", "learn", "corrections", "start", "kept"):
        load(path)
    elif path.suffix == ".db":
        Store(path).close()
    elif name == "existing":
        # The file has its name when the run is kept, or none of the two is there.
        _check(read_groups(path) == read_groups(folder / "people.db"))
    elif name == "classify":
        _check(len(path.read_text().split()) == 40)
    elif path.suffix in (".svg", ".graphml"):
        ElementTree.parse(path)
    elif path.suffix == ".jsonl":
        _check(len([json.loads(line) for line in path.read_text().splitlines()]) > 1)
    else:
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        rows = list(csv.reader(text.decode().splitlines()))
        _check(text.endswith(b"\n") and len({len(row) for row in rows}) == 1)
        given = len((folder / "records.csv").read_text().splitlines())
        wanted = 50 * (given - 1) + 1 if name == "sets" else given
        _check(len(rows) == wanted or name in ("link", "create") or path.name == "pairs.csv")


def _check(right: bool) -> None:
    if not right:
        raise ValueError("the file is not whole")
