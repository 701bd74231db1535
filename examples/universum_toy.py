"""Two long groups side by side, and documents that belong to neither (like Figure 1 of the Universum paper).

Without Universum the border runs across the gap between the groups and cuts off an end of each. Points of
the Universum lie along the gap; told that they belong to no cluster, the border turns to run through them.
Run with ``python -m examples.universum_toy``; it prints the number of wrong points and saves
out/universum_toy.svg.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from clustruct.evaluate.metrics import matched_accuracy
from clustruct.papers.universum import UniversumClustering

PICTURE = Path("out/universum_toy.svg")


def make_toy(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, their groups, and the Universum."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 40)
    along = rng.uniform(-2.5, 2.5, size=80) + np.where(y == 0, -1.2, 1.2)
    across = 0.25 * rng.normal(size=80) + np.where(y == 0, 0.8, -0.8)
    universum = np.column_stack([rng.uniform(-4.0, 4.0, size=25), 0.15 * rng.normal(size=25)])
    X = np.column_stack([along, across])
    # Borders run through the origin. In two dimensions that leaves no room unless the data lie round it.
    return X - X.mean(axis=0), y, universum - X.mean(axis=0)


def cluster(X: np.ndarray, universum: np.ndarray | None) -> UniversumClustering:
    return UniversumClustering(2, random_state=0).fit(X, universum=universum)


def wrong(y: np.ndarray, model: UniversumClustering) -> int:
    return round(len(y) * (1.0 - matched_accuracy(y, model.labels_)))


def draw(
    axes: plt.Axes, X: np.ndarray, y: np.ndarray, U: np.ndarray | None, model: UniversumClustering
) -> None:
    """Colour is the cluster found, shape the true group, the line the border, ticks the Universum."""
    for group, marker in enumerate("os"):
        mine = y == group
        colours = np.array(["#1f6fb4", "#d1622b"])[model.labels_[mine]]
        axes.scatter(*X[mine].T, c=colours, marker=marker, s=16)
    if U is not None:
        axes.scatter(*U.T, c="#444444", marker="x", s=16, linewidths=0.8)
    normal = model.coef_[0] - model.coef_[1]
    ends = np.array([X[:, 0].min(), X[:, 0].max()])
    axes.plot(ends, -normal[0] / normal[1] * ends, color="0.3", lw=1)
    axes.set_ylim(X[:, 1].min() - 0.4, X[:, 1].max() + 0.4)
    title = "without Universum" if U is None else "with Universum (x)"
    axes.set_title(f"{title}: {wrong(y, model)} of {len(y)} wrong", fontsize=10)
    axes.set_xticks([])
    axes.set_yticks([])


def picture(path: Path) -> tuple[int, int]:
    """Save the picture; the number of wrong points without and with Universum."""
    X, y, U = make_toy()
    plain, told = cluster(X, None), cluster(X, U)
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "clustruct"}):
        figure, axes = plt.subplots(1, 2, figsize=(8, 2.8))
        draw(axes[0], X, y, None, plain)
        draw(axes[1], X, y, U, told)
        figure.tight_layout()
        path.parent.mkdir(exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
    return wrong(y, plain), wrong(y, told)


def main() -> None:
    without, with_universum = picture(PICTURE)
    print(f"Wrong points of 80: {without} without Universum, {with_universum} with it\nPicture: {PICTURE}")


if __name__ == "__main__":
    main()
