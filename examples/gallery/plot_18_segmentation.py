"""
Segmenting pictures as shown
============================

A made-up picture of discs on a background with shade and grain. Cut it into small regions; neighbouring
regions are pairs, with differences of colour and the strength of the border between them as features.
From pictures with right segments a similarity is learned, and new pictures are put together by it.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage

from clustruct import ItemSet, SupervisedCorrelationClustering

SIZE, CELL = 72, 6


def picture(rng):
    """An image and its true segments: discs of random colours, a slope of light, grain."""
    yy, xx = np.mgrid[:SIZE, :SIZE]
    truth = np.zeros((SIZE, SIZE), int)
    for k in range(1, 6):
        y, x, r = *rng.uniform(8, SIZE - 8, 2), rng.uniform(8, 16)
        truth[(yy - y) ** 2 + (xx - x) ** 2 < r**2] = k
    colours = rng.uniform(0.15, 0.85, (6, 3))
    light = 0.25 * (xx * rng.normal() + yy * rng.normal())[..., None] / SIZE
    return np.clip(colours[truth] + light + 0.06 * rng.normal(size=(SIZE, SIZE, 3)), 0, 1), truth


# %%
# Regions: k-means-like cells that follow colour (a few rounds of nearest centre by place and colour).


def regions(image):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    smooth = ndimage.gaussian_filter(image, (1, 1, 0))
    points = np.concatenate([np.stack([yy, xx], -1) / CELL, 8.0 * smooth], -1).reshape(-1, 5)
    start = np.mgrid[CELL // 2 : SIZE : CELL, CELL // 2 : SIZE : CELL].reshape(2, -1)
    centres = points[start[0] * SIZE + start[1]]
    for _ in range(4):
        cell = ((points[:, None, :] - centres[None]) ** 2).sum(-1).argmin(1)
        sums = np.stack([np.bincount(cell, points[:, d], len(centres)) for d in range(5)], 1)
        centres = sums / np.maximum(np.bincount(cell, minlength=len(centres)), 1)[:, None]
    return np.unique(cell, return_inverse=True)[1].reshape(SIZE, SIZE)


def item_set(image, cells):
    """Regions as items; pairs that touch, with their differences and the edge along their border."""
    edge = ndimage.gaussian_gradient_magnitude(image.mean(-1), 1.0)
    beside = [(cells[:, :-1], cells[:, 1:], edge[:, 1:]), (cells[:-1], cells[1:], edge[1:])]
    a, b, strength = (np.concatenate([part[k].ravel() for part in beside]) for k in range(3))
    keys = np.minimum(a, b) * (cells.max() + 1) + np.maximum(a, b)
    used, inverse = np.unique(keys[a != b], return_inverse=True)
    border = np.bincount(inverse, strength[a != b]) / np.bincount(inverse)
    index = np.column_stack(np.divmod(used, cells.max() + 1))
    mean = np.stack([ndimage.mean(image[..., c], cells, range(cells.max() + 1)) for c in range(3)], 1)
    difference = np.abs(mean[index[:, 0]] - mean[index[:, 1]])
    pairs = np.column_stack([difference.max(1), difference.mean(1), border, np.ones(len(index))])
    return ItemSet(pairs=pairs, pair_index=index, n_items=int(cells.max()) + 1)


# %%
# Learn from six pictures; the label of a region is the segment that most of its pixels have.

rng = np.random.default_rng(2)
train = []
for image, truth in (picture(rng) for _ in range(6)):
    cells = regions(image)
    labels = [np.bincount(truth[cells == k]).argmax() for k in range(cells.max() + 1)]
    train.append((item_set(image, cells), labels))
model = SupervisedCorrelationClustering(C=1.0).fit(*zip(*train, strict=True))

figure, axes = plt.subplots(2, 4, figsize=(10, 5.2), layout="constrained")
for row in axes:
    image, truth = picture(rng)
    cells = regions(image)
    segments = model.predict(item_set(image, cells))[cells]
    for ax, shown, title in zip(
        row, (image, cells, segments, truth), ("picture", "regions", "segments", "truth"), strict=True
    ):
        colours = {} if shown.ndim == 3 else {"cmap": "prism" if title == "regions" else "tab20"}
        ax.imshow(shown, **colours)
        count = "" if shown.ndim == 3 else f": {len(np.unique(shown))}"
        ax.set(title=title + count, xticks=[], yticks=[])
plt.show()
