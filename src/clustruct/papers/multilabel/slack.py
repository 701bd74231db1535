"""Slack scaling for every search of labelings (section 6.3), for many examples at a time.

    max over y of Delta(y) (1 + gain(y))   by searches with lambda 100/V added to every wrong value

One multiplier for each example, see `clustruct.losses.multiplier_search`. The best labeling met is
the answer, after single flips that raise what it needs; a relaxation gives the mixture of the two ends of its
bracket, which is the relaxation's maximum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustruct.core.typing import Floats
from clustruct.losses.multiplier_search import MultiplierSearch, Point

from .mrf import RelaxedLabeling

Labeling = tuple[Floats, Floats]  # y_u of the labels, y_uv of all pairs u < v


def search_most_slack(
    search: Callable[[Floats], Any], unary: Floats, phi: Floats, truth: NDArray[Any], step: float, mixes: bool
) -> tuple[RelaxedLabeling, Floats]:
    """For each example the labeling that needs most slack, and a bound, if the search is exact or relaxed."""
    pairs = phi[np.triu_indices(len(phi), 1)]
    right = relax(truth)
    base = _scores(right, unary, pairs)
    searches = [
        MultiplierSearch(Point((y, e), 0.0, 0.0)) for y, e in zip(right.nodes, right.edges, strict=True)
    ]
    while len(asked := np.flatnonzero([s.multiplier is not None for s in searches])):
        weight = np.array([searches[i].multiplier for i in asked], float)[:, None]
        found = relax(search(unary[asked] + weight * step * (1.0 - 2.0 * truth[asked])))
        gains = _scores(found, unary[asked], pairs) - base[asked]
        losses = step * np.abs(truth[asked] - found.nodes).sum(axis=1)
        for n, i in enumerate(asked.tolist()):
            searches[i].tell(Point((found.nodes[n], found.edges[n]), float(losses[n]), float(gains[n])))
    bounds = np.array([s.bound for s in searches])
    answers = [_mix(s) if mixes else s.best.output for s in searches]
    nodes, edges = (np.array([answer[part] for answer in answers]) for part in (0, 1))
    if mixes:
        return RelaxedLabeling(nodes, edges), bounds
    return relax(climb(nodes, unary, phi, truth, step, base)), bounds


def relax(y: Any) -> RelaxedLabeling:
    """0/1 labels with y_uv = y_u y_v; a relaxed labeling as it is.

    >>> relax(np.array([[1, 0, 1]])).edges.tolist()
    [[0.0, 1.0, 0.0]]
    """
    if isinstance(y, RelaxedLabeling):
        return y
    nodes = np.asarray(y, float)
    u, v = np.triu_indices(nodes.shape[1], 1)
    return RelaxedLabeling(nodes, nodes[:, u] * nodes[:, v])


def climb(
    y: Floats, unary: Floats, phi: Floats, truth: NDArray[Any], step: float, base: Floats
) -> NDArray[np.int8]:
    """Labels after flips that raise Delta (1 + gain) most, one at a time, until none does."""
    y, phi = y.copy(), phi - np.diag(np.diag(phi))
    for _ in range(4 * y.shape[1]):
        turn = 1.0 - 2.0 * y
        gain = np.sum(y * unary, axis=1) + 0.5 * np.einsum("bu,uv,bv->b", y, phi, y) - base
        loss = step * np.abs(truth - y).sum(axis=1)
        gains = gain[:, None] + turn * (unary + y @ phi)
        losses = loss[:, None] + step * np.where(truth == y, 1.0, -1.0)
        needs = losses * (1.0 + gains)
        best = needs.argmax(axis=1)
        rows = np.arange(len(y))
        better = needs[rows, best] > np.maximum(loss * (1.0 + gain), 0.0) * (1.0 + 1e-9) + 1e-9
        if not better.any():
            break
        y[rows[better], best[better]] = 1.0 - y[rows[better], best[better]]
    return y.astype(np.int8)


def _scores(y: RelaxedLabeling, unary: Floats, pairs: Floats) -> Floats:
    return np.asarray(np.sum(y.nodes * unary, axis=1) + y.edges @ pairs)


def _mix(search: MultiplierSearch[Labeling]) -> Labeling:
    """The mixture of both ends of the bracket, or the best output where that needs more."""
    low, high, share = search.low, search.high, search.mixture()
    if high is None:
        return search.best.output
    mixed = Point(
        None, *((1.0 - share) * a + share * b for a, b in ((low.loss, high.loss), (low.gain, high.gain)))
    )
    if mixed.need < search.best.need:
        return search.best.output
    nodes, edges = ((1.0 - share) * a + share * b for a, b in zip(low.output, high.output, strict=True))
    return nodes, edges
