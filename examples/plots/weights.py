"""What counts when marbles are grouped by hue: the weights, times the usual size of their features."""

from __future__ import annotations

from pathlib import Path

from clustruct.evaluate.plot import WeightsDisplay
from examples.plots.sample import keep, trained


def main(picture: Path = Path("out/plots/weights.svg")) -> WeightsDisplay:
    model, _, _ = trained()
    display = WeightsDisplay.from_estimator(model)
    keep(display, picture)
    return display


if __name__ == "__main__":
    main()
