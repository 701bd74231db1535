"""Marbles: the toy of the 2004 talk and of section 1.5.1 of the dissertation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clustruct.core.random import RandomStateLike, as_generator
from clustruct.core.typing import Floats
from clustruct.data import ItemSet

__all__ = ["Marbles", "make_marbles"]

COLOURS = {"red": 0.0, "yellow": 60.0, "green": 120.0, "cyan": 180.0, "blue": 240.0, "magenta": 300.0}
SIZES = {"small": 8.0, "medium": 14.0, "large": 22.0}
FEATURES = (
    "hue difference",
    "diameter difference",
    "transparency difference",
    "weight difference",
    "constant",
)


@dataclass(frozen=True)
class Marbles:
    """One set of marbles, and the right way to group them.

    ``hue`` is an angle in degrees, ``diameter`` in millimetres, ``transparency`` from 0 to 1, ``weight`` in
    grams, as measured (with noise). ``labels`` number the groups.
    """

    hue: Floats
    diameter: Floats
    transparency: Floats
    weight: Floats
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.hue)

    def item_set(self) -> ItemSet:
        """Pair features: differences of hue (round the colour wheel, in units of 180 degrees), diameter
        (cm), transparency and weight (per 10 g), and a constant."""
        a, b = np.triu_indices(len(self), 1)
        turn = np.abs(self.hue[a] - self.hue[b]) % 360.0
        columns = [
            np.minimum(turn, 360.0 - turn) / 180.0,
            np.abs(self.diameter[a] - self.diameter[b]) / 10.0,
            np.abs(self.transparency[a] - self.transparency[b]),
            np.abs(self.weight[a] - self.weight[b]) / 10.0,
            np.ones(len(a)),
        ]
        return ItemSet(pairs=np.column_stack(columns), feature_names=list(FEATURES))


def make_marbles(
    n_sets: int = 5,
    n_items: int = 24,
    colours: Sequence[str] = ("red", "green", "blue"),
    *,
    by: Literal["hue", "size"] = "hue",
    noise: float = 1.0,
    random_state: RandomStateLike = 0,
) -> list[Marbles]:
    """Sets of marbles of the colours named, in three sizes, grouped by hue or by size as asked.

    Colour and size are drawn independently and uniformly, so that the features alone do not tell which
    of them counts: only the examples do. Weight follows from the size (glass, 2.5 g per cubic
    centimetre) with noise; transparency is uniform and says nothing. ``noise`` scales the spread of hue (12
    degrees), diameter (1.2 mm) and weight (10 %).

    Examples
    --------
    >>> marbles = make_marbles(1, 6, ["yellow", "cyan"], random_state=1)[0]
    >>> sorted(set(marbles.labels.tolist()))
    [0, 1]
    >>> marbles.item_set().n_features
    5
    """
    unknown = [c for c in colours if c not in COLOURS]
    if unknown:
        raise ValueError(f"unknown colour {unknown[0]!r}; known are {', '.join(COLOURS)}")
    if by not in ("hue", "size"):
        raise ValueError(f"by must be 'hue' or 'size', not {by!r}")
    if n_sets < 1 or n_items < 1 or not noise >= 0:
        raise ValueError("n_sets and n_items must be at least 1, and noise not negative")
    rng = as_generator(random_state)
    return [_one_set(rng, n_items, colours, by, noise) for _ in range(n_sets)]


def _one_set(rng: np.random.Generator, m: int, colours: Sequence[str], by: str, noise: float) -> Marbles:
    colour = rng.integers(0, len(colours), m)
    size = rng.integers(0, len(SIZES), m)
    hue = np.array([COLOURS[c] for c in colours])[colour] + 12.0 * noise * rng.normal(size=m)
    diameter = np.array(list(SIZES.values()))[size] + 1.2 * noise * rng.normal(size=m)
    diameter = np.maximum(diameter, 3.0)
    volume = np.pi / 6.0 * (diameter / 10.0) ** 3
    weight = 2.5 * volume * np.exp(0.1 * noise * rng.normal(size=m))
    groups = colour if by == "hue" else size
    _, labels = np.unique(groups, return_inverse=True)
    return Marbles(hue % 360.0, diameter, rng.uniform(size=m), weight, labels.astype(np.int64))
