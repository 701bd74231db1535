"""Relaxed clusterings, to what degree each pair of items is together, and from there to clusters (C_R*)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from clustruct.core.partitions import canonical_labels
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data.compared_pairs import condensed_index

from .graph import Pairs, link_groups
from .search import local_search


@dataclass(frozen=True)
class EdgeDegrees:
    """Edge degrees e_ab in [0, 1] of the relaxed clustering problem (C_R, OP 10).

    Attributes
    ----------
    degrees : array of float
        One per unordered pair, in the order of scipy's ``pdist``.
    n_items : int
        Number of items m; there are m (m - 1) / 2 degrees.
    value : float
        Sum of e_ab K_ab. It is an upper bound of the objective of every clustering (within the links),
        also when not converged: the rows left out could only lower it.
    converged : bool, default=True
        Every triangle inequality holds within the tolerance asked for.
    rounds : int, default=0
        How often the linear programme was solved.

    Examples
    --------
    >>> EdgeDegrees(np.array([1.0, 0.5, 0.5]), 3, 2.0).matrix()
    array([[1. , 1. , 0.5],
           [1. , 1. , 0.5],
           [0.5, 0.5, 1. ]])
    """

    degrees: Floats
    n_items: int
    value: float
    converged: bool = True
    rounds: int = 0

    def __post_init__(self) -> None:
        pairs = self.n_items * (self.n_items - 1) // 2
        if self.degrees.shape != (pairs,):
            raise ValueError(
                f"{self.n_items} items have {pairs} pairs, but degrees has shape {self.degrees.shape}"
            )

    def matrix(self) -> Floats:
        """The degrees as a symmetric m x m matrix with ones on the diagonal."""
        E = np.ones((self.n_items, self.n_items))
        rows, columns = np.triu_indices(self.n_items, 1)
        E[rows, columns] = E[columns, rows] = self.degrees
        return E

    def at(self, index: Ints) -> Floats:
        """The degrees of pairs (a, b), a < b, given as rows.

        >>> EdgeDegrees(np.array([1.0, 0.5, 0.2]), 3, 2.0).at(np.array([[0, 2], [1, 2]]))
        array([0.5, 0.2])
        """
        return self.degrees[condensed_index(self.n_items, index[:, 0], index[:, 1])]

    def is_integral(self, tolerance: float = 1e-6) -> bool:
        """Is every degree 0 or 1? Then a converged answer is an optimal clustering."""
        return bool(np.all(np.minimum(self.degrees, 1.0 - self.degrees) <= tolerance))


def round_edges(
    e: EdgeDegrees,
    method: Literal["best", "algorithm5", "ball"] = "best",
    threshold: float = 0.7,
    K: Any = None,
    *,
    must_link: Pairs | None = None,
    cannot_link: Pairs | None = None,
) -> Ints:
    r"""Turn edge degrees into a clustering.

    ``"best"`` takes the clustering nearest to e in pairwise loss, itself a correlation clustering problem,

    .. math::
        \min_y \sum_{a<b} | 1[y_a = y_b] - e_{ab} | = \text{const} - \max_y \sum_{y_a = y_b} (2 e_{ab} - 1)

    solved by :func:`local_search`; with the scores ``K`` that clustering is then improved by single moves and
    joins. The two rules of the documents, both going through the items in order:

    - ``"algorithm5"`` (dissertation): an item still alone joins the cluster of the first other item with
      e > threshold.
    - ``"ball"`` (2005 paper): an item still alone pulls in every other item still alone with e > threshold.

    On integral degrees all of them give the same clustering. On 12 fractional ones (planted partitions of 60
    and 100 items) the objective reached, over the best known, was 0.99 for "best" with K, 0.12 without, and
    0.00 for the other two, which left every item alone: degrees of 1/2 say little, so give K if you have it.
    O(m^2), and local search for "best".

    Parameters
    ----------
    e : EdgeDegrees
        What :func:`lp_relaxation` returned.
    method : {"best", "algorithm5", "ball"}, default="best"
        The rule.
    threshold : float, default=0.7
        For the rules of the documents, 0.7 there.
    K : object, optional
        The scores that e came from, as for :func:`greedy`; only for ``"best"``.
    must_link, cannot_link : Pairs, optional
        Honoured always. A must-link group counts as one item, with mean degrees.

    Returns
    -------
    array of int
        One per item, clusters numbered by first appearance.

    Examples
    --------
    >>> e = EdgeDegrees(np.array([0.9, 0.6, 0.9]), n_items=3, value=0.0)
    >>> round_edges(e), round_edges(e, "algorithm5"), round_edges(e, "ball")
    (array([0, 0, 0]), array([0, 0, 0]), array([0, 0, 1]))
    """
    if method not in ("best", "algorithm5", "ball"):
        raise ValueError(f"method must be 'best', 'algorithm5' or 'ball', not {method!r}")
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"threshold must lie in [0, 1], but is {threshold}")
    E = e.matrix()
    if method == "best":
        nearest = local_search(2.0 * E - 1.0, must_link=must_link, cannot_link=cannot_link)
        if K is None:
            return nearest
        return local_search(K, nearest, must_link=must_link, cannot_link=cannot_link, sweeps=0)
    groups, apart = link_groups(e.n_items, must_link, cannot_link)
    n = int(groups.max(initial=-1)) + 1
    member = np.eye(n)[groups]
    sizes = np.maximum(member.sum(axis=0), 1.0)
    close = (member.T @ E @ member) / np.outer(sizes, sizes) > threshold
    barred = np.zeros((n, n), dtype=bool)
    barred[apart[:, 0], apart[:, 1]] = barred[apart[:, 1], apart[:, 0]] = True
    rule = _join_first if method == "algorithm5" else _grow_balls
    return canonical_labels(rule(close, barred)[groups])


def _join_first(close: Bools, barred: Bools) -> Ints:
    """Algorithm 5; a cluster with an item that must stay apart is passed over."""
    labels = np.arange(len(close))
    for a in range(len(close)):
        if np.count_nonzero(labels == labels[a]) > 1:
            continue
        for b in np.flatnonzero(close[a]):
            if b != a and not barred[a, labels == labels[b]].any():
                labels[a] = labels[b]
                break
    return labels


def _grow_balls(close: Bools, barred: Bools) -> Ints:
    """The rule of the 2005 paper; an item that must stay apart from the ball is left out."""
    labels = np.arange(len(close))
    alone = np.ones(len(close), dtype=bool)
    for a in range(len(close)):
        if not alone[a]:
            continue
        for b in np.flatnonzero(close[a] & alone):
            if b != a and not barred[b, labels == a].any():
                labels[b] = a
                alone[a] = alone[b] = False
    return labels
