"""Where the clusters found differ from the true ones."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from clustruct.plot import SplitMergeDisplay
from examples.plots.sample import trained


def main(picture: Path = Path("out/plots/split_merge.svg")) -> SplitMergeDisplay:
    model, x, truth = trained()
    display = SplitMergeDisplay.from_estimator(model, x, truth)
    picture.parent.mkdir(parents=True, exist_ok=True)
    display.figure_.savefig(picture, metadata={"Date": None})
    plt.close(display.figure_)
    print(f"Picture: {picture}")
    return display


if __name__ == "__main__":
    main()
