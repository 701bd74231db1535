"""What the features of `clustruct.features` are worth, with default settings. Needs CLUSTRUCT_DATA.

``python -m benchmarks.features records`` (or another part) prints tables and writes out/features_<part>.json:

- records: folds 0-4 train, 5-9 test; beside logistic regression on pairs
- news: news and author names, two halves by group
- mentions: litbank and gum, models trained for different losses
- blocking: whole data sets as one set each, with candidate pairs
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from benchmarks import features_blocking, features_mentions, features_news, features_records
from benchmarks.printing import show
from benchmarks.study import save

PARTS: dict[str, tuple[Callable[[str, bool], list[dict[str, Any]]], tuple[str, ...]]] = {
    "records": (features_records.records, features_records.NAMES),
    "news": (features_news.news, tuple(features_news.TASKS)),
    "mentions": (features_mentions.mentions, ("litbank", "gum")),
    "blocking": (features_blocking.blocking, features_blocking.NAMES),
}


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("part", choices=list(PARTS))
    options.add_argument("--data", nargs="+", help="some of the part's data sets")
    options.add_argument("--quick", action="store_true", help="less data")
    given = options.parse_args()
    warnings.filterwarnings("ignore", category=ConvergenceWarning)
    study, names = PARTS[given.part]
    rows: list[dict[str, Any]] = []
    for name in given.data or names:
        rows += (found := study(name, given.quick))
        show({f"{given.part}, {name}": found})
    save(f"features_{given.part}", rows)


if __name__ == "__main__":
    main()
