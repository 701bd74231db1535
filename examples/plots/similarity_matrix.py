"""Similarities of new marbles, ordered by the clusters found, with the true ones beside."""

from __future__ import annotations

from pathlib import Path

from clustruct.evaluate.plot import SimilarityMatrixDisplay
from examples.plots.sample import keep, trained


def main(picture: Path = Path("out/plots/similarity_matrix.svg")) -> SimilarityMatrixDisplay:
    model, x, truth = trained()
    display = SimilarityMatrixDisplay.from_estimator(model, x, truth)
    keep(display, picture)
    return display


if __name__ == "__main__":
    main()
