"""What the pictures are drawn from: marbles grouped by hue, measured so badly that errors are left."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from clustruct import ItemSet, SupervisedCorrelationClustering
from clustruct.papers.toy_marbles import make_marbles

matplotlib.use("Agg")


@cache
def trained() -> tuple[SupervisedCorrelationClustering, ItemSet, np.ndarray]:
    """A fitted model, one new set of marbles, and the right clusters of these."""
    *train, new = make_marbles(
        9, 60, colours=["red", "yellow", "green", "cyan", "blue", "magenta"], noise=1.6, random_state=4
    )
    model = SupervisedCorrelationClustering(C=1.0).fit(
        [m.item_set() for m in train], [m.labels for m in train]
    )
    return model, new.item_set(), new.labels


def keep(display: Any, picture: Path) -> None:
    """Save the figure of a display, the same file on every run, and close it."""
    import matplotlib.pyplot as plt

    picture.parent.mkdir(parents=True, exist_ok=True)
    display.figure_.savefig(picture, metadata={"Date": None})
    plt.close(display.figure_)
    print(f"Picture: {picture}")
