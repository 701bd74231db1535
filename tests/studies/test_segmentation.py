"""Regions of made-up pictures: what they are, which are compared, and that a similarity can be learned."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from skimage.io import imread, imsave

from studies.segmentation.images import Picture, judged, people
from studies.segmentation.methods import Threshold, learn, whole
from studies.segmentation.picture import LINE, draw, outlined, read
from studies.segmentation.regions import cut, line_edge, near_pairs, pair_features


def picture(seed: int) -> Picture:
    """Three textured stripes whose colours are nearer to each other than the noise inside each."""
    rng = np.random.default_rng(seed)
    edges = np.sort(rng.choice(np.arange(15, 65), 2, replace=False))
    stripes = np.digitize(np.arange(80), edges)[None, :] * np.ones((40, 1), np.int64)
    colours = rng.permutation(np.array([[190, 120, 60], [90, 140, 200], [70, 160, 70]]))
    image = colours[stripes] + rng.normal(scale=12.0, size=(40, 80, 3))
    return Picture(
        str(seed),
        np.clip(image, 0, 255).astype(np.uint8),
        cut(np.clip(image, 0, 255).astype(np.uint8), 60),
        (stripes,),
    )


def test_every_pixel_has_a_region_and_a_region_has_the_segment_of_most_of_its_pixels() -> None:
    one = picture(0)
    regions = one.regions
    assert regions.sizes.sum() == 40 * 80
    assert np.array_equal(np.unique(regions.of_pixel), np.arange(len(regions)))
    majority = regions.majority(one.people[0])
    for region, segment in enumerate(majority):
        counts = np.bincount(one.people[0][regions.of_pixel == region])
        assert counts[segment] == counts.max()


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_near_pairs_are_those_that_a_walk_over_borders_reaches(steps: int) -> None:
    regions = picture(1).regions
    touch = [set(regions.borders[[a]].nonzero()[1].tolist()) for a in range(len(regions))]
    wanted = set()
    for a, b in combinations(range(len(regions)), 2):
        reach = {a}
        for _ in range(steps):
            reach |= set().union(*(touch[c] for c in reach))
        if b in reach:
            wanted.add((a, b))
    assert {(int(a), int(b)) for a, b in near_pairs(regions, steps)} == wanted


def test_a_line_meets_the_edge_between_its_ends_and_no_other() -> None:
    edges = np.zeros((10, 20))
    edges[:, 10] = 3.0
    edges[:, 15] = 7.0
    starts, ends = np.array([[5.0, 2.0], [5.0, 2.0]]), np.array([[5.0, 8.0], [5.0, 13.0]])
    assert line_edge(edges, starts, ends).tolist() == [0.0, 3.0]


def test_features_do_not_depend_on_the_order_of_two_regions() -> None:
    regions = picture(2).regions
    features = pair_features(regions)
    assert np.isfinite(features.pairs).all()
    assert features.pairs.shape == (len(features.pair_index), len(features.feature_names))


def test_stripes_are_learned_from_others() -> None:
    model = learn([picture(seed) for seed in range(4)], steps=2, C=1.0)
    new = [picture(seed) for seed in range(10, 14)]
    found = judged(model, new)
    assert found.variation < 0.5 < judged(whole, new).variation
    assert found.rand > 0.9
    alone = np.mean([len(one.regions) for one in new])
    assert judged(Threshold(0.0), new).segments == alone  # nothing is nearer than nothing


def test_people_are_compared_with_each_other_and_not_with_themselves() -> None:
    one = picture(3)
    flat = np.zeros_like(one.people[0])
    both = Picture("x", one.image, one.regions, (one.people[0], flat))
    alone = judged(lambda p: np.zeros(len(p.regions), np.int64), [one])
    assert people([both]).variation == pytest.approx(alone.variation)


def test_photographs_of_any_size_and_kind_are_drawn(tmp_path: Path) -> None:
    """Grey, with transparency, upright; with and without people."""
    rng = np.random.default_rng(0)
    grey, upright = (rng.integers(255, size=size).astype(np.uint8) for size in ((90, 200), (150, 60, 4)))
    shown = [picture(1)]
    for name, image in (("grey", grey), ("upright", upright)):
        imsave(tmp_path / f"{name}.png", image, check_contrast=False)
        shown.append(read(tmp_path / f"{name}.png"))
    assert [one.image.shape for one in shown[1:]] == [(54, 120, 3), (120, 48, 3)]
    draw(shown, learn([picture(2)], 2, C=1.0), tmp_path / "new" / "segments.png")
    assert imread(tmp_path / "new" / "segments.png").shape[2] == 4


def test_a_line_runs_round_each_segment() -> None:
    drawn = outlined(np.zeros((2, 4, 3), np.uint8), np.array([[0, 0, 1, 1]] * 2))
    assert drawn.shape == (8, 16, 3)
    assert {tuple(colour) for colour in drawn[:, 7:9].reshape(-1, 3)} == {LINE}
    assert not drawn[:, :7].any()
