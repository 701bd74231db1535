"""Small regions of an image, and how alike two of them look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, sparse
from skimage.color import rgb2lab
from skimage.segmentation import slic

from clustruct import ItemSet
from clustruct.core.typing import Floats, Ints

REGIONS, COMPACTNESS = 200, 10.0
BINS, STEPS_OF_LINE = 8, 12  # of colours and directions; places looked at on a line
NEAR = 3  # pairs of regions at most so many borders apart are compared


@dataclass(frozen=True)
class Regions:
    """An image cut into regions of nearly one colour.

    of_pixel : the region of each pixel
    borders : for each two regions that touch, the mean strength of the edge between them (others 0)
    """

    of_pixel: Ints
    sizes: Ints
    colour: Floats
    colours: Floats
    textures: Floats
    centre: Floats
    borders: sparse.csr_array
    edges: Floats

    def __len__(self) -> int:
        return len(self.sizes)

    def paint(self, labels: Ints) -> Ints:
        """The group of each pixel."""
        painted: Ints = np.asarray(labels)[self.of_pixel]
        return painted

    def majority(self, segmentation: NDArray[np.integer]) -> Ints:
        """The segment to which most pixels of each region belong."""
        counts = np.zeros((len(self), int(segmentation.max()) + 1), np.int64)
        np.add.at(counts, (self.of_pixel.ravel(), segmentation.ravel().astype(np.int64)), 1)
        return counts.argmax(axis=1)


def cut(image: NDArray[np.uint8], n_regions: int = REGIONS) -> Regions:
    """The regions of an image, with what they look like."""
    of_pixel = slic(image, n_segments=n_regions, compactness=COMPACTNESS, start_label=0).astype(np.int64)
    of_pixel = np.unique(of_pixel, return_inverse=True)[1].reshape(of_pixel.shape)
    lab = rgb2lab(image)
    n = int(of_pixel.max()) + 1
    sizes = np.bincount(of_pixel.ravel(), minlength=n)
    strength, turn = _gradient(lab)
    means = [ndimage.mean(channel, of_pixel, np.arange(n)) for channel in np.moveaxis(lab, 2, 0)]
    places = np.indices(of_pixel.shape)
    centre = np.column_stack([ndimage.mean(axis, of_pixel, np.arange(n)) for axis in places])
    return Regions(
        of_pixel,
        sizes,
        np.column_stack(means),
        _histograms(of_pixel, _colour_codes(lab), None, sizes),
        _histograms(of_pixel, [turn], strength, sizes),
        centre,
        _borders(of_pixel, strength, n),
        strength,
    )


def _gradient(lab: Floats) -> tuple[Floats, Ints]:
    """How fast the colour changes at each pixel, and the direction of that in eighths of a half turn."""
    smooth = ndimage.gaussian_filter(lab, (1.0, 1.0, 0.0))
    down, right = np.gradient(smooth, axis=(0, 1))
    strength = np.sqrt((down**2 + right**2).sum(axis=2))
    angle = np.arctan2(down[..., 0], right[..., 0]) % np.pi
    return strength, np.minimum((angle * BINS / np.pi).astype(np.int64), BINS - 1)


def _colour_codes(lab: Floats) -> list[Ints]:
    """Each channel in steps."""
    low, high = np.array([0.0, -60.0, -60.0]), np.array([100.0, 60.0, 60.0])
    shares = np.clip((lab - low) / (high - low), 0.0, 1.0 - 1e-9)
    return list(np.moveaxis((shares * BINS).astype(np.int64), 2, 0))


def _histograms(of_pixel: Ints, codes: list[Ints], weight: Floats | None, sizes: Ints) -> Floats:
    """The share of a region's pixels at each step of each channel, one channel beside the other."""
    found = []
    for code in codes:
        flat = of_pixel.ravel() * BINS + code.ravel()
        counts = np.bincount(flat, None if weight is None else weight.ravel(), minlength=len(sizes) * BINS)
        found.append(counts.reshape(len(sizes), BINS) / sizes[:, None])
    return np.hstack(found)


def _borders(of_pixel: Ints, strength: Floats, n: int) -> sparse.csr_array:
    """Regions that touch, with the mean strength of the edge between them."""
    first, second, along = [], [], []
    for here, there in (
        ((slice(None), slice(None, -1)), (slice(None), slice(1, None))),
        ((slice(None, -1), slice(None)), (slice(1, None), slice(None))),
    ):
        a, b = of_pixel[here].ravel(), of_pixel[there].ravel()
        apart = a != b
        first.append(np.minimum(a, b)[apart])
        second.append(np.maximum(a, b)[apart])
        along.append(np.maximum(strength[here], strength[there]).ravel()[apart])
    a, b, values = np.concatenate(first), np.concatenate(second), np.concatenate(along)
    total = sparse.coo_array((values, (a, b)), shape=(n, n)).tocsr()
    count = sparse.coo_array((np.ones(len(a)), (a, b)), shape=(n, n)).tocsr()
    total.data = total.data / count.data + 1e-9
    return (total + total.T).tocsr()


def near_pairs(regions: Regions, steps: int = NEAR) -> Ints:
    """Pairs of regions that are at most so many borders apart."""
    touch = (regions.borders > 0).astype(np.int64)
    reach = touch
    for _ in range(steps - 1):
        reach = ((reach + reach @ touch) > 0).astype(np.int64)
    a, b = sparse.triu(reach, 1).nonzero()
    return np.column_stack([a, b]).astype(np.int64)


def line_edge(edges: Floats, starts: Floats, ends: Floats) -> Floats:
    """The strongest edge on the straight line between two places (the intervening contour)."""
    shares = np.linspace(0.0, 1.0, STEPS_OF_LINE)[:, None, None]
    points = np.rint(starts + shares * (ends - starts)).astype(np.int64)
    strongest: Floats = edges[points[..., 0], points[..., 1]].max(axis=0)
    return strongest


def chi_square(a: Floats, b: Floats) -> Floats:
    """Half the chi-square distance of histograms, row by row."""
    both = a + b
    return 0.5 * np.divide((a - b) ** 2, both, out=np.zeros_like(both), where=both > 0).sum(axis=1)


def pair_features(regions: Regions, steps: int = NEAR) -> ItemSet:
    """Regions as items: how two of them differ in colour, texture and by the edges between them."""
    index = near_pairs(regions, steps)
    a, b = index.T
    gap = np.abs(regions.colour[a] - regions.colour[b])
    colour = np.sqrt((gap**2).sum(axis=1))
    edge = np.asarray(regions.borders[a, b]).ravel()
    line = line_edge(regions.edges, regions.centre[a], regions.centre[b])
    rough = regions.textures.sum(axis=1)
    columns = {
        "lightness": gap[:, 0] / 10.0,
        "colour": colour / 10.0,
        "colour, near": np.exp(-((colour / 6.0) ** 2)),
        "colour, far": np.exp(-((colour / 20.0) ** 2)),
        "colours": chi_square(regions.colours[a], regions.colours[b]),
        "textures": chi_square(regions.textures[a], regions.textures[b]) / 5.0,
        "roughness": np.abs(rough[a] - rough[b]) / 5.0,
        "edge": edge / 10.0,
        "edge, near": np.where(edge > 0, np.exp(-((edge / 5.0) ** 2)), 0.0),
        "line": line / 10.0,
        "line, near": np.exp(-((line / 5.0) ** 2)),
        "touching": (edge > 0).astype(np.float64),
        "distance": np.sqrt(((regions.centre[a] - regions.centre[b]) ** 2).sum(axis=1)) / 20.0,
        "constant": np.ones(len(a)),
    }
    return ItemSet(
        pairs=np.column_stack(list(columns.values())),
        pair_index=index,
        n_items=len(regions),
        feature_names=list(columns),
    )
