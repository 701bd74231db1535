"""The linear (or integer) programme of one set of nodes, with triangle rows added when they are violated."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np

from clustruct._typing import Floats, Ints

# HiGHS keeps rows within 1e-7, so violations above this are real and a row is never added twice in a row.
TOLERANCE = 1e-6
# Weaker cuts than this are left to branching.
STAR_TOLERANCE = 0.01
# How much a triangle of strong scores is preferred among violated ones.
PREFERENCE = 0.1


class TriangleProgram:
    r"""max sum e_ab W_ab, 0 <= e <= 1, e = 0 where apart, and the triangle rows found so far.

    ``degrees`` is the last solution as a symmetric matrix with -inf on the diagonal (so that the separation
    never takes c = a), ``value`` its objective: an upper bound of the full programme's.
    """

    def __init__(self, W: Floats, apart: Ints) -> None:
        n = len(W)
        self.rows, self.columns = np.triu_indices(n, 1)
        self.costs = W[self.rows, self.columns]
        self.number, order = np.zeros((n, n), np.int32), np.arange(len(self.costs))
        self.number[self.rows, self.columns] = self.number[self.columns, self.rows] = order
        self.upper = np.ones(len(self.costs))
        self.upper[self.number[apart[:, 0], apart[:, 1]]] = 0.0
        self.degrees = np.full((n, n), -np.inf)
        self.preference = PREFERENCE * W / max(np.abs(self.costs).max(), 1e-300)
        self.highs: Any = None
        self.rounds = 0
        self._take((self.costs > 0) * self.upper)

    def violated(self) -> Ints:
        """One violated triangle (a, b, c) per pair (a, b) that has any.

        Many are violated alike, and those of strong scores matter more: a tenth of the relative score added
        to each degree halved the rounds and made m = 100 and 150 solve 3 to 6 times faster.
        """
        from ._kernels.triangles import violated_triangles

        found = violated_triangles(self.degrees + self.preference, -0.3)
        a, b, c = found.T
        truly = self.degrees[a, c] + self.degrees[b, c] - self.degrees[a, b] > 1.0 + TOLERANCE
        # only a search without the preference can say that nothing is violated
        return found[truly] if truly.any() else violated_triangles(self.degrees, TOLERANCE)

    def add(self, triangles: Ints) -> None:
        """Rows e_ac + e_bc - e_ab <= 1 for rows (a, b, c) of ``triangles``."""
        if self.highs is None:
            self._start()
        a, b, c = triangles.T
        n = len(triangles)
        places = np.stack([self.number[a, c], self.number[b, c], self.number[a, b]], axis=1)
        starts, signs = np.arange(0, 3 * n, 3, dtype=np.int32), np.tile([1.0, 1.0, -1.0], n)
        self.highs.addRows(n, np.full(n, -np.inf), np.ones(n), 3 * n, starts, places.ravel(), signs)

    def add_violated_stars(self) -> int:
        """Rows sum_T e_at - sum_{s<t in T} e_st <= 1 that the last solution violates; how many were added."""
        from ._kernels.triangles import violated_stars

        centres, starts, members = violated_stars(self.degrees, STAR_TOLERANCE)
        known = set()
        for a, begin, end in zip(centres, starts[:-1], starts[1:], strict=True):
            T = members[begin:end]
            if (a, *T) in known:
                continue
            known.add((a, *T))
            s, t = np.triu_indices(len(T), 1)
            places = np.r_[self.number[a, T], self.number[T[s], T[t]]]
            signs = np.r_[np.ones(len(T)), -np.ones(len(s))]
            self.highs.addRow(-np.inf, 1.0, len(places), places, signs)
        return len(known)

    def solve(self) -> None:
        """Solve with the rows at hand, from the last basis (dual simplex)."""
        self.highs.run()
        self.rounds += 1
        self._take(np.asarray(self.highs.getSolution().col_value))

    def is_integral(self) -> bool:
        """Is every degree 0 or 1?"""
        e = self.degrees[self.rows, self.columns]
        return bool(np.all(np.minimum(e, 1.0 - e) <= TOLERANCE))

    def make_integer(self) -> None:
        """From here on solve the integer programme."""
        n = len(self.costs)
        kinds = np.full(n, highspy.HighsVarType.kInteger)
        self.highs.changeColsIntegrality(n, np.arange(n, dtype=np.int32), kinds)
        for name, setting in {"mip_rel_gap": 0.0, "solver": "choose", "presolve": "choose"}.items():
            self.highs.setOptionValue(name, setting)

    def offer(self, together: Floats) -> None:
        """Tell the integer search of a clustering (degrees 0 or 1) that it may start from."""
        known = highspy.HighsSolution()
        known.col_value = together.tolist()
        self.highs.setSolution(known)

    def _start(self) -> None:
        n = len(self.costs)
        self.highs = highspy.Highs()
        # one thread: results must not depend on the machine; presolve would throw the last basis away
        settings = {"output_flag": False, "threads": 1, "solver": "simplex", "presolve": "off"}
        for name, setting in settings.items():
            self.highs.setOptionValue(name, setting)
        self.highs.addVars(n, np.zeros(n), self.upper)
        self.highs.changeColsCost(n, np.arange(n, dtype=np.int32), self.costs)
        self.highs.changeObjectiveSense(highspy.ObjSense.kMaximize)

    def _take(self, solution: Floats) -> None:
        clean = np.clip(solution, 0.0, 1.0)
        self.degrees[self.rows, self.columns] = self.degrees[self.columns, self.rows] = clean
        self.value = float(self.costs @ clean)
