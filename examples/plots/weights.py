"""What counts when marbles are grouped by hue: the weights, times the usual size of their features."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from clustruct.plot import WeightsDisplay
from examples.plots.sample import trained


def main(picture: Path = Path("out/plots/weights.svg")) -> WeightsDisplay:
    model, _, _ = trained()
    display = WeightsDisplay.from_estimator(model)
    picture.parent.mkdir(parents=True, exist_ok=True)
    display.figure_.savefig(picture, metadata={"Date": None})
    plt.close(display.figure_)
    print(f"Picture: {picture}")
    return display


if __name__ == "__main__":
    main()
