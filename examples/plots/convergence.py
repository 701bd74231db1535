"""How the bounds on the training objective met."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from clustruct.plot import ConvergenceDisplay
from examples.plots.sample import trained


def main(picture: Path = Path("out/plots/convergence.svg")) -> ConvergenceDisplay:
    model, _, _ = trained()
    display = ConvergenceDisplay.from_estimator(model, against="rounds")
    picture.parent.mkdir(parents=True, exist_ok=True)
    display.figure_.savefig(picture, metadata={"Date": None})
    plt.close(display.figure_)
    print(f"Picture: {picture}")
    return display


if __name__ == "__main__":
    main()
