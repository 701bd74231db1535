"""Why two marbles are apart or together: what each feature adds to their similarity."""

from __future__ import annotations

from pathlib import Path

from clustruct.evaluate.plot import PairContributionDisplay
from examples.plots.sample import keep, trained


def main(picture: Path = Path("out/plots/pair_contributions.svg")) -> PairContributionDisplay:
    model, x, _ = trained()
    display = PairContributionDisplay.from_estimator(model, x, 0, 1)
    keep(display, picture)
    return display


if __name__ == "__main__":
    main()
