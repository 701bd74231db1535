"""What the features of `clustruct.features` are worth, with default settings. Needs CLUSTRUCT_DATA.

``python -m benchmarks.features records`` (or another part) prints tables and writes out/features_<part>.json:

- records: folds 0-4 train, 5-9 test; beside logistic regression on pairs
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from benchmarks import features_records
from benchmarks.study import save
from benchmarks.tables import show

PARTS: dict[str, Callable[[bool], Any]] = {"records": features_records.records}


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("part", choices=list(PARTS))
    options.add_argument("--quick", action="store_true", help="less data")
    given = options.parse_args()
    warnings.filterwarnings("ignore", category=ConvergenceWarning)
    figures = PARTS[given.part](given.quick)
    show({given.part: figures})
    save(f"features_{given.part}", figures)


if __name__ == "__main__":
    main()
