"""Relaxed clusterings: to what degree each pair of items is together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clustruct.itemsets.pair_algebra import condensed_index


@dataclass(frozen=True)
class EdgeDegrees:
    """Edge degrees e_ab in [0, 1] of the relaxed clustering problem (C_R, OP 10).

    Attributes
    ----------
    degrees : one per unordered pair, in the order of scipy's ``pdist``.
    n_items : number of items m; there are m (m - 1) / 2 degrees.
    value : sum of e_ab K_ab. It is an upper bound of the objective of every clustering (within the links),
        also when not converged: the rows left out could only lower it.
    converged : every triangle inequality holds within the tolerance asked for.
    rounds : how often the linear programme was solved.

    >>> EdgeDegrees(np.array([1.0, 0.5, 0.5]), 3, 2.0).matrix()
    array([[1. , 1. , 0.5],
           [1. , 1. , 0.5],
           [0.5, 0.5, 1. ]])
    """

    degrees: NDArray[np.float64]
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

    def matrix(self) -> NDArray[np.float64]:
        """The degrees as a symmetric m x m matrix with ones on the diagonal."""
        E: NDArray[np.float64] = np.ones((self.n_items, self.n_items))
        rows, columns = np.triu_indices(self.n_items, 1)
        E[rows, columns] = E[columns, rows] = self.degrees
        return E

    def at(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        """The degrees of pairs (a, b), a < b, given as rows.

        >>> EdgeDegrees(np.array([1.0, 0.5, 0.2]), 3, 2.0).at(np.array([[0, 2], [1, 2]]))
        array([0.5, 0.2])
        """
        return self.degrees[condensed_index(self.n_items, index[:, 0], index[:, 1])]

    def is_integral(self, tolerance: float = 1e-6) -> bool:
        """Is every degree 0 or 1? Then a converged answer is an optimal clustering."""
        return bool(np.all(np.minimum(self.degrees, 1.0 - self.degrees) <= tolerance))
