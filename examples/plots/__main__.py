"""All pictures of the gallery, into out/plots."""

from __future__ import annotations

from examples.plots import (
    convergence,
    pair_contributions,
    report,
    similarity_matrix,
    split_merge,
    weights,
)

GALLERY = (similarity_matrix, weights, pair_contributions, convergence, split_merge, report)

if __name__ == "__main__":
    for example in GALLERY:
        example.main()
