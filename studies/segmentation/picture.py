"""Photographs with the segments that a learned similarity finds: ``python -m studies.segmentation.picture``.

Learns from photographs of the training part (CLUSTRUCT_DATA), then draws other ones with their segments:
those named by file, else some of the validation part, with the segments of one person beside ours.
The Berkeley photographs are for research and education that is not commercial: pictures of them stay in out/.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from skimage.color import gray2rgb, rgba2rgb
from skimage.io import imread
from skimage.segmentation import find_boundaries
from skimage.transform import resize
from skimage.util import img_as_ubyte

from .images import Picture, pictures
from .methods import Learned, learn
from .regions import cut

LONGER_SIDE = 120  # of the photographs that are learned from
ENLARGED = 4
LINE = (255, 255, 0)


def read(path: Path) -> Picture:
    """A photograph of any size, reduced to that of the photographs learned from."""
    image = imread(path)
    image = gray2rgb(image) if image.ndim == 2 else rgba2rgb(image) if image.shape[2] == 4 else image
    share = LONGER_SIDE / max(image.shape[:2])
    size = tuple(max(1, round(share * side)) for side in image.shape[:2])
    small = img_as_ubyte(np.clip(resize(image, size, anti_aliasing=True), 0.0, 1.0))
    return Picture(path.stem, small, cut(small), ())


def outlined(image: Any, segments: Any) -> Any:
    """The image, enlarged, with a line round each segment."""
    large, of_pixel = (np.repeat(np.repeat(a, ENLARGED, 0), ENLARGED, 1) for a in (image, segments))
    # 0 would be taken for background, which has no line on its side.
    large[find_boundaries(of_pixel + 1, mode="inner")] = LINE
    return large


def draw(shown: Sequence[Picture], method: Learned, path: Path) -> None:
    """A row for each photograph: itself, its regions, our segments, and those of a person where known."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    columns = 4 if any(picture.people for picture in shown) else 3
    figure, axes = plt.subplots(
        len(shown), columns, figsize=(2.6 * columns, 2.0 * len(shown)), squeeze=False, layout="constrained"
    )
    for line, picture in zip(axes, shown, strict=True):
        found = method(picture)
        panels = [
            ("photograph", np.zeros(picture.image.shape[:2], int)),
            (f"{len(picture.regions)} regions", picture.regions.of_pixel),
            (f"{len(np.unique(found))} segments", picture.regions.paint(found)),
            *(("one person", drawn) for drawn in picture.people[:1]),
        ]
        for ax in line:
            ax.set_axis_off()
        for ax, (title, segments) in zip(line, panels, strict=False):
            ax.imshow(outlined(picture.image, segments))
            ax.set_title(title, fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.segmentation.picture", description=__doc__)
    parser.add_argument("photographs", nargs="*", type=Path, help="image files (some of the data's own)")
    parser.add_argument(
        "--learn-from", type=int, default=60, metavar="N", help="photographs learned from (60)"
    )
    parser.add_argument("--out", type=Path, default=Path("out/segmentation.png"), help="out/segmentation.png")
    given = parser.parse_args()
    shown = [read(path) for path in given.photographs] or pictures("val", 4)
    draw(shown, learn(pictures("train", given.learn_from), steps=3, C=1.0), given.out)
    print(f"{given.out}: {len(shown)} photographs")


if __name__ == "__main__":
    main()
