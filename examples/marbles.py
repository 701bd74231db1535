"""Marbles: learn to group by colour from red, green and blue, then group yellow, cyan and magenta ones.

Run with ``make demo``. It prints the mean share of wrong pairs (Delta_P, 0 to 100) on ten new sets and
saves a picture of one of them, grouped before and after learning.
"""

from __future__ import annotations

import colorsys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from clustruct import SupervisedCorrelationClustering
from clustruct.baselines import PairwiseClassifierClustering
from clustruct.datasets import Marbles, make_marbles
from clustruct.inference.correlation import local_search
from clustruct.losses import PairwiseLoss

PICTURE = Path("out/marbles.png")


def untrained(marbles: Marbles) -> np.ndarray:
    """All differences count alike: together where a pair differs less than pairs do on average."""
    differences = marbles.item_set().pairs[:, :-1]
    total = (differences / differences.mean(axis=0)).mean(axis=1)
    K = np.zeros((len(marbles), len(marbles)))
    K[np.triu_indices(len(marbles), 1)] = total.mean() - total
    return local_search(K + K.T)


def learn_and_test(by: str) -> dict[str, list[np.ndarray]]:
    """Train on red, green and blue marbles; cluster yellow, cyan and magenta ones in three ways."""
    train = make_marbles(10, by=by, noise=1.5, random_state=1)
    test = make_marbles(10, colours=["yellow", "cyan", "magenta"], by=by, noise=1.5, random_state=2)
    X, y = [m.item_set() for m in train], [m.labels for m in train]
    new = [m.item_set() for m in test]
    learned = SupervisedCorrelationClustering().fit(X, y)
    answers = {
        "untrained": [untrained(m) for m in test],
        "pair classifier": PairwiseClassifierClustering(predictor="local_search").fit(X, y).predict(new),
        "learned": learned.predict(new),
    }
    print(f"\nGrouped by {by}: trained on 10 sets of red, green and blue marbles")
    for name, labels in answers.items():
        loss = np.mean([PairwiseLoss()(m.labels, p) for m, p in zip(test, labels, strict=True)])
        print(f"  {name:<16} mean loss on 10 sets of yellow, cyan and magenta ones: {loss:6.2f}")
    print(
        "  learned weights: "
        + ", ".join(f"{n} {w:.2f}" for n, w in zip(learned.feature_names_in_, learned.w_, strict=True))
    )
    return {"marbles": test, **answers}


def draw(axes: plt.Axes, marbles: Marbles, labels: np.ndarray, title: str) -> None:
    """Marbles in their colours, one box per cluster."""
    axes.set_title(title, fontsize=11)
    axes.set_aspect("equal")
    axes.axis("off")
    x, y, lowest = 0.0, 0.0, 0.0
    for c in np.argsort(-np.bincount(labels)):
        members = np.flatnonzero(labels == c)
        members = members[np.argsort(marbles.diameter[members])]
        columns = int(np.ceil(np.sqrt(len(members))))
        rows = int(np.ceil(len(members) / columns))
        if x > 0 and x + columns > 13:
            x, y = 0.0, lowest - 0.6
        for k, i in enumerate(members):
            colour = colorsys.hsv_to_rgb(marbles.hue[i] / 360.0, 0.75, 0.95)
            at = (x + k % columns + 0.5, y - k // columns - 0.5)
            radius = 0.45 * marbles.diameter[i] / 26.0
            axes.add_patch(
                plt.Circle(
                    at, radius, color=colour, ec="0.3", lw=0.6, alpha=1 - 0.5 * marbles.transparency[i]
                )
            )
        axes.add_patch(
            plt.Rectangle(
                (x - 0.05, y - rows - 0.05), columns + 0.1, rows + 0.1, fill=False, ec="0.2", lw=1.2
            )
        )
        lowest = min(lowest, y - rows)
        x += columns + 0.6
    axes.set_xlim(-0.4, 14)
    axes.set_ylim(lowest - 0.4, 0.4)


def main() -> None:
    figure, axes = plt.subplots(2, 2, figsize=(11, 4.6))
    for row, by in zip(axes, ("hue", "size"), strict=True):
        found = learn_and_test(by)
        marbles = found["marbles"][0]
        for panel, name in zip(row, ("untrained", "learned"), strict=True):
            loss = PairwiseLoss()(marbles.labels, found[name][0])
            when = "before" if name == "untrained" else "after"
            draw(panel, marbles, found[name][0], f"by {by}, {when} learning: {loss:.1f} % of pairs wrong")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)
    print(f"\nPicture: {PICTURE}")


if __name__ == "__main__":
    main()
