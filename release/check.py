"""python release/check.py dist [--tries]: what the wheel and the sdist hold; with --tries, install the wheel
in an empty environment of every Python found (3.11 and later) and use it there.

Prints one line for each check; the exit code is 1 where one fails.
"""

from __future__ import annotations

import argparse
import email
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14", "python3.15")
# Files without which the package does not work, or may not be passed on.
IN_WHEEL = (
    "clustruct/py.typed",
    "clustruct/report/templates/report.html",
    "clustruct/report/templates/style.css",
    "clustruct/studio/templates/base.html",
    "clustruct/studio/static/common.js",
)
IN_SDIST = (
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "pyproject.toml",
    "constraints.txt",
    "tests/walks.py",
)
LARGEST = 2**20
# What README says to install.
EXTRAS = "records,text,report"
TRIED = """
import numpy as np
import clustruct
from clustruct.data.datasets import make_records
sets = make_records(n_sets=3, n_people=4)
model = clustruct.Recipe(C=1.0).fit(sets)
labels = model.predict(sets)
assert all(len(y) == len(raw) for y, raw in zip(labels, sets, strict=True))
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dist", type=Path)
    parser.add_argument("--tries", action="store_true")
    args = parser.parse_args()
    (wheel,), (sdist,) = (sorted(args.dist.resolve().glob(end)) for end in ("*.whl", "*.tar.gz"))
    faults = [*check_wheel(wheel), *check_sdist(sdist)]
    if args.tries:
        faults += [fault for name in PYTHONS for fault in tried(name, wheel)]
    for fault in faults:
        print(f"FAULT {fault}")
    return 1 if faults else 0


def check_wheel(path: Path) -> list[str]:
    """What is wrong with a wheel."""
    with zipfile.ZipFile(path) as held:
        names = set(held.namelist())
        (about,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(held.read(about))
        large = [i.filename for i in held.infolist() if i.file_size > LARGEST]
    info = about.removesuffix("METADATA")
    faults = [f"{path.name} lacks {name}" for name in IN_WHEEL if name not in names]
    faults += [f"{path.name} holds {name}" for name in names if not name.startswith(("clustruct/", info))]
    faults += [f"{path.name}: {name} is large" for name in large]
    faults += [] if f"{info}licenses/LICENSE" in names else [f"{path.name} lacks its licence"]
    faults += [] if metadata["License-Expression"] == "BSD-3-Clause" else [f"{path.name} names no licence"]
    version, python = metadata["Version"], metadata["Requires-Python"]
    print(f"{path.name}: {len(names)} files, version {version}, Python {python}")
    return faults


def check_sdist(path: Path) -> list[str]:
    """What is wrong with an sdist."""
    with tarfile.open(path) as held:
        members = {m.name.split("/", 1)[1]: m.size for m in held.getmembers() if "/" in m.name and m.isfile()}
    print(f"{path.name}: {len(members)} files, {sum(members.values()):,} bytes")
    faults = [f"{path.name} lacks {name}" for name in IN_SDIST if name not in members]
    return faults + [f"{path.name}: {name} is large" for name, size in members.items() if size > LARGEST]


def found(name: str) -> str | None:
    """The path of a Python that runs; some are only names that lead nowhere."""
    python = shutil.which(name)
    if python is None:
        return None
    runs = subprocess.run([python, "-c", "import venv"], capture_output=True).returncode == 0
    return python if runs else None


def tried(name: str, wheel: Path) -> list[str]:
    """What fails of the wheel in an empty environment of a Python; nothing where that Python is not there."""
    python = found(name)
    if python is None:
        print(f"{name}: not on this machine")
        return []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "venv"
        own = home / "bin" / "python"
        steps = [
            [python, "-m", "venv", str(home)],
            [
                str(own),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                f"{wheel}[{EXTRAS}]",
            ],
            [str(own), "-m", "pip", "check"],
            [str(own), "-c", TRIED],
            [str(home / "bin" / "clustruct"), "--version"],
            [str(home / "bin" / "clustruct"), "demo", "--quiet"],
        ]
        for words in steps:
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
            if done.returncode:
                last = (done.stderr or done.stdout).strip().splitlines()[-1:]
                return [f"{name}: {' '.join(words[1:4])}: {' '.join(last)}"]
    print(f"{name}: installed, pip check, fit and predict, the command")
    return []


if __name__ == "__main__":
    sys.exit(main())
