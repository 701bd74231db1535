"""A start as in a container: the package read-only, no HOME, no place for caches, a user without a name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import processes
from .tally import FINE, Limits, Outcome, Part, fault, skipped, thinned
from .victims import LINKED, NEEDED, prepare

USER = 54321
TABLE = "--set set --cluster cluster --id id --C 1 --quiet"
IMPORTS = """
import importlib, pkgutil, clustruct
for found in pkgutil.walk_packages(clustruct.__path__, "clustruct."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
"""
LINES = {
    "imports": ("python", ""),
    "fit": ("clustruct", f"fit records.csv {TABLE} --model new"),
    "predict": ("clustruct", "predict records.csv --model records"),
    "evaluate": ("clustruct", "evaluate records.csv --model records --set set --cluster cluster --id id"),
    "explain": ("clustruct", "explain records.csv --model records"),
    "report": ("clustruct", "report records.csv --model records --out new.html"),
    "learn": ("clustruct-learn", "--m linear.py train.dat new"),
    "classify": ("clustruct-classify", "--m linear.py train.dat linear.model new"),
    "existing": ("clustruct", "predict new.jsonl --model records --id id --existing people.db"),
    "store": ("clustruct", "store people.db --decide note third --groups-out new.csv"),
    "diff": ("clustruct", "diff people.db records.csv"),
    "link": ("clustruct", f"link {' '.join(LINKED)} --out new.csv"),
    "dials": ("clustruct", "predict records.csv --model sure --threshold 0.6 --confidence --pairs new.csv"),
    "demo": ("clustruct", "demo"),
}
HOMES = ("no HOME", "HOME not there", "no TMPDIR")


def as_user() -> list[str] | None:
    """What makes a process one of a user who may read all and write little; None where that cannot be."""
    if os.geteuid() != 0:
        return []
    # The interpreter may be where others cannot look: this user may read whatever there is.
    caps = ["--inh-caps=-all,+dac_read_search", "--ambient-caps=+dac_read_search"]
    words = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *caps]
    if shutil.which("setpriv") is None:
        return None
    return words if subprocess.run([*words, "true"], capture_output=True).returncode == 0 else None


class Container(Part):
    name = "container"
    about = "a read-only package, a user without a name, no HOME: every command"
    limits = Limits(cpu=400.0, wall=600.0, memory=None)

    def cases(self, scale: float, seed: int) -> list[str]:
        return thinned([f"{home}: {name}" for home in HOMES for name in LINES], scale)

    def prepare(self, folder: Path, seed: int) -> None:
        """The package is copied without caches, and may not be written to."""
        prepare(folder)
        held = folder / "lib"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(processes.SOURCES / "clustruct", held / "clustruct", ignore=ignored)
        for path in (held, *held.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        for path in (folder, *folder.parents):
            if path.stat().st_uid == os.geteuid() and path.name.startswith("torture"):
                path.chmod(0o755)

    def run(self, case: str, folder: Path, seed: int) -> Outcome:
        home, _, name = case.partition(": ")
        user = as_user()
        if user is None:
            return skipped("setpriv cannot change the user here")
        with tempfile.TemporaryDirectory(dir=folder) as own:
            there = Path(own)
            for needed in NEEDED:
                shutil.copy(folder / needed, there)
            if os.geteuid() == 0:
                for path in (there, there / "people.db"):
                    os.chown(path, USER, USER)
            env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder / "lib")}
            if home == "HOME not there":
                env["HOME"] = "/nonexistent"
            if home == "no TMPDIR":
                env |= {"TMPDIR": "/nonexistent", "HOME": "/nonexistent"}
            command, text = LINES[name]
            words = [sys.executable, "-c", IMPORTS] if name == "imports" else None
            return _started([*user, *(words or processes.words_of(command, text.split()))], there, env)


def _started(words: list[str], folder: Path, env: dict[str, str]) -> Outcome:
    done = processes.run(words, folder, env, cpu=300.0)
    if "Traceback" in done.ran.err:
        return fault("traceback", done.ran.err.strip()[-400:])
    if done.ran.code != 0:
        return fault("exit code", f"{done.ran.code}: {done.ran.err[-400:]}")
    left = {path.name for path in folder.iterdir()} - {*NEEDED, "new", "new.csv", "new.html", "__pycache__"}
    return fault("left over", ", ".join(sorted(left))) if left else FINE
