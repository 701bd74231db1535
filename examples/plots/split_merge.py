"""Where the clusters found differ from the true ones."""

from __future__ import annotations

from pathlib import Path

from clustruct.evaluate.plot import SplitMergeDisplay
from examples.plots.sample import keep, trained


def main(picture: Path = Path("out/plots/split_merge.svg")) -> SplitMergeDisplay:
    model, x, truth = trained()
    display = SplitMergeDisplay.from_estimator(model, x, truth)
    keep(display, picture)
    return display


if __name__ == "__main__":
    main()
