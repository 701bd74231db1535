"""Ways to put regions together: learned from people, by a fixed threshold, by spectral clustering.

Each has one number that is chosen on the training pictures, by the score that it is to do well in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import SpectralClustering

from clustruct import ItemSet, SupervisedCorrelationClustering
from clustruct.core.typing import Ints

from .images import Judged, Picture, judged
from .regions import pair_features

Method = Callable[[Picture], Ints]
Score = Callable[[Judged], float]

THRESHOLDS = (2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0)
COUNTS = (2, 3, 4, 6, 8, 12, 16)
STEPS = (1, 2, 3, 4)
HELD_OUT = 3  # every third picture of the training is held out to choose how many borders apart to look


@dataclass(frozen=True)
class Learned:
    """Correlation clustering of regions with a similarity learned from the segmentations of people."""

    model: SupervisedCorrelationClustering
    steps: int

    def __call__(self, picture: Picture) -> Ints:
        labels: Ints = self.model.predict(pair_features(picture.regions, self.steps))
        return labels


def learn(pictures: Sequence[Picture], steps: int, C: float | str = "cv") -> Learned:
    """Learn from every person who segmented a picture; pictures count alike, however many did so."""
    sets: list[ItemSet] = []
    labels: list[Ints] = []
    groups: list[int] = []
    for at, picture in enumerate(pictures):
        sets += [pair_features(picture.regions, steps)] * len(picture.people)
        labels += [picture.regions.majority(drawn) for drawn in picture.people]
        groups += [at] * len(picture.people)
    weights = 1.0 / np.bincount(groups)[groups]
    model = SupervisedCorrelationClustering(C=C, random_state=0)
    return Learned(model.fit(sets, labels, groups=groups, sample_weight=weights), steps)


def learned(pictures: Sequence[Picture], score: Score) -> Learned:
    """Learn, with the reach of pairs that does best on held-out pictures of the training."""
    inside = [picture for at, picture in enumerate(pictures) if at % HELD_OUT]
    reach = max(STEPS, key=lambda steps: score(judged(learn(inside, steps, C=1.0), pictures[::HELD_OUT])))
    return learn(pictures, reach)


@dataclass(frozen=True)
class Threshold:
    """Neighbours whose colours are nearer than a threshold are put together."""

    threshold: float

    def __call__(self, picture: Picture) -> Ints:
        regions = picture.regions
        a, b = regions.borders.nonzero()
        near = np.linalg.norm(regions.colour[a] - regions.colour[b], axis=1) < self.threshold
        graph = sparse.coo_array((np.ones(near.sum()), (a[near], b[near])), shape=regions.borders.shape)
        labels: Ints = connected_components(graph, directed=False)[1]
        return labels


@dataclass(frozen=True)
class NormalisedCut:
    """Spectral clustering of regions by their colours and the edges between them (Shi and Malik 2000)."""

    count: int

    def __call__(self, picture: Picture) -> Ints:
        x = pair_features(picture.regions, steps=4)
        names = list(x.feature_names)
        likeness = x.pairs[:, names.index("colour, far")] * x.pairs[:, names.index("line, near")] + 1e-6
        a, b = x.pair_index.T
        n = len(picture.regions)
        affinity = sparse.coo_array((likeness, (a, b)), shape=(n, n)).tocsr()
        search = SpectralClustering(
            self.count, affinity="precomputed", assign_labels="cluster_qr", random_state=0
        )
        labels: Ints = search.fit_predict((affinity + affinity.T + sparse.eye_array(n)).toarray())
        return labels


def threshold(pictures: Sequence[Picture], score: Score) -> Threshold:
    """The threshold that does best on the training."""
    return max((Threshold(t) for t in THRESHOLDS), key=lambda method: score(judged(method, pictures)))


def spectral(pictures: Sequence[Picture], score: Score) -> NormalisedCut:
    """The number of segments that does best on the training."""
    return max((NormalisedCut(k) for k in COUNTS), key=lambda method: score(judged(method, pictures)))


METHODS: dict[str, Callable[[Sequence[Picture], Score], Method]] = {
    "learned": learned,
    "spectral": spectral,
    "threshold": threshold,
}
SCORES: dict[str, Score] = {"variation": lambda found: -found.variation, "Rand": lambda found: found.rand}


def whole(picture: Picture) -> Ints:
    """One segment."""
    return np.zeros(len(picture.regions), np.int64)
