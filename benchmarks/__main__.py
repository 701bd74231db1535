"""``make bench``: every benchmark, as tables on the screen and as JSON in out/bench.json.

Without CLUSTRUCT_DATA the parts that need it say so. --quick: the short form of each, some
minutes for all of them.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import clustruct
from benchmarks import correlation, eigen, engine, hooks, linkage, mrf_speed, start, universum_speed
from benchmarks.printing import run_parts, show
from studies.data import data_folder

MODULES = {
    "engine": engine.PARTS,
    "correlation": correlation.PARTS,
    "links": linkage.PARTS,
    "hooks": hooks.PARTS,
    "eigenvectors": eigen.PARTS,
    "Markov random fields": mrf_speed.PARTS,
    "Universum": universum_speed.PARTS,
    "start": start.PARTS,
}


# Commands with options of their own, in processes of their own: the words of the short and the long form.
COMMANDS: dict[str, tuple[str, str]] = {
    "tables": ("made --rows 2000 --labelled 200", "made"),
    "linking": ("--tables abt_buy --ways link splink", ""),
    "living": ("googlenews --portions 3", ""),
    "corrections": ("abt_buy --most 10", ""),
    "precision": ("abt_buy", ""),
    "calibration": ("googlenews", ""),
}
# Of these only the first makes its data up.
MADE_UP = ("tables",)
SECONDS = 600.0


def run_command(name: str, words: str, quick: bool) -> str:
    """Run one of `COMMANDS`; what happened, in a word or two."""
    if name not in MADE_UP and data_folder() is None:
        return "not run: set CLUSTRUCT_DATA to the folder with the third-party data"
    line = [sys.executable, "-m", f"benchmarks.{name}", *words.split()]
    print(f"\n{' '.join(line[1:])}", flush=True)
    try:
        code = subprocess.run(line, timeout=SECONDS if quick else None, check=False).returncode
    except subprocess.TimeoutExpired:
        return f"ended after {SECONDS:.0f} s"
    return "done" if code == 0 else f"failed with code {code}"


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--quick", action="store_true", help="smaller sizes, fewer repetitions")
    quick = options.parse_args().quick
    figures: dict[str, Any] = {name: run_parts(parts, quick) for name, parts in MODULES.items()}
    ran = {name: run_command(name, forms[not quick], quick) for name, forms in COMMANDS.items()}
    show({"commands": [{"benchmark": name, "": how} for name, how in ran.items()]})
    where = Path("out/bench.json")
    where.parent.mkdir(exist_ok=True)
    about = {"clustruct": clustruct.__version__, "python": platform.python_version(), "quick": quick}
    where.write_text(json.dumps({"about": about, **figures}, indent=1))
    print(f"\nFigures: {where}")
    if any(how.startswith(("failed", "ended")) for how in ran.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
