"""Similarities of new marbles, ordered by the clusters found, with the true ones beside."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from clustruct.plot import SimilarityMatrixDisplay
from examples.plots.sample import trained


def main(picture: Path = Path("out/plots/similarity_matrix.svg")) -> SimilarityMatrixDisplay:
    model, x, truth = trained()
    display = SimilarityMatrixDisplay.from_estimator(model, x, truth)
    picture.parent.mkdir(parents=True, exist_ok=True)
    display.figure_.savefig(picture, metadata={"Date": None})
    plt.close(display.figure_)
    print(f"Picture: {picture}")
    return display


if __name__ == "__main__":
    main()
