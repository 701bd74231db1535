"""``make bench``: every benchmark, as tables on the screen and as JSON in out/bench.json."""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path

import clustruct
from benchmarks import correlation, engine, hooks, supervised
from benchmarks.printing import run_parts


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--quick", action="store_true", help="smaller sizes, fewer repetitions")
    quick = options.parse_args().quick
    figures = {"engine": run_parts(engine.PARTS, quick), "correlation": correlation.run(quick)}
    print(correlation.table(figures["correlation"]))
    figures["hooks"] = run_parts(hooks.PARTS, quick)
    figures["supervised"] = run_parts(supervised.PARTS, quick, only="news" if quick else None)
    where = Path("out/bench.json")
    where.parent.mkdir(exist_ok=True)
    about = {"clustruct": clustruct.__version__, "python": platform.python_version(), "quick": quick}
    where.write_text(json.dumps({"about": about, **figures}, indent=1))
    print(f"\nFigures: {where}")


if __name__ == "__main__":
    main()
