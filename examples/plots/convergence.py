"""How the bounds on the training objective met."""

from __future__ import annotations

from pathlib import Path

from clustruct.evaluate.plot import ConvergenceDisplay
from examples.plots.sample import keep, trained


def main(picture: Path = Path("out/plots/convergence.svg")) -> ConvergenceDisplay:
    model, _, _ = trained()
    display = ConvergenceDisplay.from_estimator(model, against="rounds")
    keep(display, picture)
    return display


if __name__ == "__main__":
    main()
