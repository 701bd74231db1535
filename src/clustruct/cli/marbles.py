"""``clustruct demo --task marbles``: learn to group red, green and blue marbles, then group others.

It prints the mean share of wrong pairs (Delta_P, 0 to 100) on ten new sets of yellow, cyan and magenta ones,
and saves a picture of one of them, grouped before and after learning.
"""

from __future__ import annotations

import colorsys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import clustruct

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustruct.core.typing import Ints
    from clustruct.papers.toy_marbles import Marbles

PICTURE = "marbles.png"


def group_untrained(marbles: Marbles) -> Ints:
    """All differences count alike: together where a pair differs less than pairs do on average."""
    import numpy as np

    pairs = marbles.item_set().pairs
    assert pairs is not None
    differences = pairs[:, :-1]
    total = (differences / differences.mean(axis=0)).mean(axis=1)
    K = np.zeros((len(marbles), len(marbles)))
    K[np.triu_indices(len(marbles), 1)] = total.mean() - total
    return clustruct.search.correlation.local_search(K + K.T)


def learn_and_test(by: Literal["hue", "size"]) -> dict[str, list[Any]]:
    """Train on red, green and blue marbles; cluster yellow, cyan and magenta ones in three ways."""
    import numpy as np

    make, loss_of = clustruct.papers.toy_marbles.make_marbles, clustruct.losses.PairwiseLoss()
    train = make(10, by=by, noise=1.5, random_state=1)
    test = make(10, colours=["yellow", "cyan", "magenta"], by=by, noise=1.5, random_state=2)
    X, y = [m.item_set() for m in train], [m.labels for m in train]
    new = [m.item_set() for m in test]
    learned = clustruct.SupervisedCorrelationClustering().fit(X, y)
    pairs = clustruct.estimators.baselines.PairwiseClassifierClustering(predictor="local_search")
    answers = {
        "untrained": [group_untrained(m) for m in test],
        "pair classifier": pairs.fit(X, y).predict(new),
        "learned": learned.predict(new),
    }
    print(f"\nGrouped by {by}: trained on 10 sets of red, green and blue marbles")
    for name, labels in answers.items():
        loss = np.mean([loss_of(m.labels, p) for m, p in zip(test, labels, strict=True)])
        print(f"  {name:<16} mean loss on 10 sets of yellow, cyan and magenta ones: {loss:6.2f}")
    print(
        "  learned weights: "
        + ", ".join(f"{n} {w:.2f}" for n, w in zip(learned.feature_names_in_, learned.w_, strict=True))
    )
    return {"marbles": test, **answers}


def draw(axes: Axes, marbles: Marbles, labels: Ints, title: str) -> None:
    """Marbles in their colours, one box per cluster."""
    import numpy as np
    from matplotlib.patches import Circle, Rectangle

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
                Circle(at, radius, color=colour, ec="0.3", lw=0.6, alpha=1 - 0.5 * marbles.transparency[i])
            )
        axes.add_patch(
            Rectangle((x - 0.05, y - rows - 0.05), columns + 0.1, rows + 0.1, fill=False, ec="0.2", lw=1.2)
        )
        lowest = min(lowest, y - rows)
        x += columns + 0.6
    axes.set_xlim(-0.4, 14)
    axes.set_ylim(lowest - 0.4, 0.4)


def run(folder: Path) -> Path:
    """Learn, print, and draw; where the picture is."""
    clustruct.evaluate.plot.drawing.need_matplotlib("the picture of marbles")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.6), layout="constrained")
    kinds: tuple[Literal["hue", "size"], ...] = ("hue", "size")
    for row, by in zip(figure.subplots(2, 2), kinds, strict=True):
        found = learn_and_test(by)
        marbles = found["marbles"][0]
        for panel, name in zip(row, ("untrained", "learned"), strict=True):
            loss = clustruct.losses.PairwiseLoss()(marbles.labels, found[name][0])
            when = "before" if name == "untrained" else "after"
            draw(panel, marbles, found[name][0], f"by {by}, {when} learning: {loss:.1f} % of pairs wrong")
    figure.savefig(folder / PICTURE, dpi=110)
    return folder / PICTURE
