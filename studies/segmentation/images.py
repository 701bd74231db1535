"""Pictures that several people segmented, and how far a segmentation is from theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustruct.core.typing import Ints
from clustruct.evaluate.metrics import rand_index, variation_of_information
from studies.data import data_file

from .regions import Regions, cut

FILES = {part: f"bsds500/bsds500-{part}-80x120.npz" for part in ("train", "val")}


@dataclass(frozen=True)
class Picture:
    """An image, its regions, and the segmentations that people drew."""

    name: str
    image: NDArray[np.uint8]
    regions: Regions
    people: tuple[Ints, ...]


@dataclass(frozen=True)
class Judged:
    """Distances to people, first the mean over those of a picture, then over pictures.

    variation : variation of information, in bits (0 is best)
    rand : the Rand index (1 is best)
    segments : how many segments there are, in the mean
    """

    variation: float
    rand: float
    segments: float
    by_picture: tuple[float, ...]


def pictures(part: str, limit: int | None = None) -> list[Picture]:
    """Pictures of the Berkeley data ("train" or "val"), reduced to 80 x 120 pixels."""
    with np.load(data_file(FILES[part])) as held:
        ids, images = held["ids"][:limit], held["images"][:limit]
        drawn, of_image = held["segmentations"].astype(np.int64), held["image_index"]
    return [
        Picture(str(name), image, cut(image), tuple(drawn[of_image == at]))
        for at, (name, image) in enumerate(zip(ids, images, strict=True))
    ]


def judged(method: Callable[[Picture], Ints], held: Sequence[Picture]) -> Judged:
    """How far the segmentations of a method are from those of people."""
    drawings = ((picture.regions.paint(method(picture)), picture.people) for picture in held)
    return _mean([(*_distance(drawn, people), len(np.unique(drawn))) for drawn, people in drawings])


def people(held: Sequence[Picture]) -> Judged:
    """How far people are from each other."""
    rows = []
    for picture in held:
        others = [picture.people[:at] + picture.people[at + 1 :] for at in range(len(picture.people))]
        pairs = zip(picture.people, others, strict=True)
        rows.append(
            np.mean([(*_distance(drawn, rest), len(np.unique(drawn))) for drawn, rest in pairs], axis=0)
        )
    return _mean(rows)


def _distance(drawn: Ints, people: Sequence[Ints]) -> tuple[float, float]:
    variation, rand = np.mean([distances(drawn, other) for other in people], axis=0)
    return float(variation), float(rand)


def _mean(rows: Sequence[Any]) -> Judged:
    variation, rand, segments = np.mean(rows, axis=0)
    by_picture = tuple(float(row[0]) for row in rows)
    return Judged(float(variation), float(rand), float(segments), by_picture)


def distances(a: Ints, b: Ints) -> tuple[float, float]:
    """Variation of information in bits, and the Rand index, of two labellings of the same pixels.

    >>> distances(np.array([[0, 0], [1, 1]]), np.array([[0, 0], [0, 0]]))
    (1.0, 0.3333333333333333)
    """
    one, other = a.ravel(), b.ravel()
    return variation_of_information(one, other) / float(np.log(2.0)), rand_index(one, other)
