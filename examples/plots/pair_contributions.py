"""Why two marbles are apart or together: what each feature adds to their similarity."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from clustruct.plot import PairContributionDisplay
from examples.plots.sample import trained


def main(picture: Path = Path("out/plots/pair_contributions.svg")) -> PairContributionDisplay:
    model, x, _ = trained()
    display = PairContributionDisplay.from_estimator(model, x, 0, 1)
    picture.parent.mkdir(parents=True, exist_ok=True)
    display.figure_.savefig(picture, metadata={"Date": None})
    plt.close(display.figure_)
    print(f"Picture: {picture}")
    return display


if __name__ == "__main__":
    main()
