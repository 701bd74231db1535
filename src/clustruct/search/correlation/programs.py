"""Correlation clustering as a linear programme (the relaxation C_R, OP 10), solved with lazily added triangle
rows, and as an integer one: exact, for small sets and as ground truth.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import highspy
import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from clustruct.core.partitions import canonical_labels
from clustruct.core.program_units import scale_costs
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data.compared_pairs import condensed_index

from .graph import Pairs, SignedGraph, link_groups, local_search, signed_graph


@dataclass(frozen=True)
class EdgeDegrees:
    """Edge degrees e_ab in [0, 1] of the relaxed clustering problem (C_R, OP 10), in the order of ``pdist``.

    ``value``, the sum of e_ab K_ab, is an upper bound of the objective of every clustering (within the
    links), converged or not: the rows left out could only lower it.
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
        """The degrees of pairs (a, b), a < b, given as rows."""
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


# The answer has m (m - 1) / 2 numbers whatever the graph: 8 million of them at most.
MOST_ITEMS = 4000
# A component with n nodes has n (n - 1) / 2 variables; beyond this the programme would run for hours.
MOST_NODES = 1000
# The relative error within which a bound and a clustering count as equal.
CLOSED = 1e-9
# HiGHS keeps rows within 1e-7, so violations above this are real and a row is never added twice in a row.
TOLERANCE = 1e-6
# Weaker cuts than this are left to branching.
STAR_TOLERANCE = 0.01
# How much a triangle of strong scores is preferred among violated ones.
PREFERENCE = 0.1


def lp_relaxation(
    K: Any,
    *,
    must_link: Pairs | None = None,
    cannot_link: Pairs | None = None,
    max_rounds: int = 500,
) -> EdgeDegrees:
    r"""Solve the linear relaxation: to what degree should each pair be together?

    .. math::
        \max_e \sum_{a<b} e_{ab} K_{ab} \quad
        0 \le e_{ab} \le 1, \quad e_{ac} + e_{bc} - e_{ab} \le 1 \text{ for all } a, b, c

    Optimization Problem 10 of Finley's dissertation (2009). Of the m (m-1) (m-2) / 2 triangle rows only those
    that a solution violates are added, one per pair and round, and HiGHS goes on from its last basis. Items
    that no chain of positive scores connects are apart in some optimum, so each component of the positive
    scores is solved alone.

    Parameters
    ----------
    K, must_link, cannot_link
        As for :func:`greedy`. At most 1000 items in a component.
    max_rounds : int, default=500
        How many times a component's programme is solved before giving up with a warning; the value is an
        upper bound even then.

    Returns
    -------
    EdgeDegrees
        Degrees, the optimal value, and whether all triangle rows hold (within 1e-6).

    Notes
    -----
    Cost: O(n^3) per round and component to find rows, plus the solver. Measured on noisy planted partitions:
    m = 100 in 0.1 to 0.5 s (all rows at once: 30 to 50 s), m = 150 in 0.1 s where the solution is integral
    and 3 s where a third of it is fractional, m = 300 in 4 s (a fifth fractional).

    Examples
    --------
    >>> lp_relaxation([[0, 1, -1], [1, 0, 1], [-1, 1, 0]]).value
    1.0
    """
    graph = signed_graph(K, must_link, cannot_link)
    E = np.zeros((graph.n_nodes, graph.n_nodes))
    rounds, converged = 0, True
    for nodes, W, apart in components(graph):
        program = TriangleProgram(W, apart)
        converged &= relax(program, max_rounds)
        rounds = max(rounds, program.rounds)
        E[np.ix_(nodes, nodes)] = program.degrees
    np.fill_diagonal(E, 1.0)
    if not converged:
        warnings.warn(
            f"lp_relaxation stopped after {max_rounds} rounds with violated triangles; the value is a bound",
            ConvergenceWarning,
            stacklevel=2,
        )
    # The value is summed over the items' own scores.
    pairs = np.triu_indices(len(graph.groups), 1)
    degrees = E[np.ix_(graph.groups, graph.groups)][pairs]
    value = float(signed_graph(K).matrix()[pairs] @ degrees)
    return EdgeDegrees(degrees, len(graph.groups), value, converged, rounds)


def relax(program: TriangleProgram, max_rounds: int) -> bool:
    """Add violated rows and solve until none is left (True) or the rounds are used up (False).

    Rows are kept once added: dropping those that became slack took more rounds and more time at every size.
    """
    for _ in range(max_rounds):
        triangles = program.find_violated_triangles()
        if not len(triangles):
            return True
        program.add(triangles)
        program.solve()
    return not len(program.find_violated_triangles())


def components(graph: SignedGraph) -> Iterator[tuple[Ints, Floats, Ints]]:
    """Nodes, scores and pairs kept apart of each component (two nodes or more) of the positive scores."""
    if len(graph.groups) > MOST_ITEMS:
        raise ValueError(
            f"{len(graph.groups)} items are too many here, at most {MOST_ITEMS}; use local_search"
        )
    whole = graph.matrix()
    count, part = sparse.csgraph.connected_components(whole > 0, directed=False)
    sizes = np.bincount(part, minlength=count)
    if count and sizes.max() > MOST_NODES:
        raise ValueError(
            f"{sizes.max()} items are connected by positive scores, at most {MOST_NODES} can be solved;"
            " use local_search"
        )
    place = np.empty(graph.n_nodes, np.int64)
    for c in np.flatnonzero(sizes > 1):
        nodes = np.flatnonzero(part == c)
        place[nodes] = np.arange(len(nodes))
        inside = (part[graph.apart] == c).all(axis=1)
        yield nodes, whole[np.ix_(nodes, nodes)], place[graph.apart[inside]]


def exact(K: Any, *, must_link: Pairs | None = None, cannot_link: Pairs | None = None) -> Ints:
    r"""Find a clustering of the highest objective, proven.

    .. math:: \max_y \sum_{a<b,\; y_a = y_b} K_{ab}

    For each component of the positive scores: solve the linear relaxation of :func:`lp_relaxation`, tightened
    by 2-partition inequalities (Grötschel and Wakabayashi 1989). Where its solution is integral, or its bound
    is met by :func:`local_search`, that proves the optimum. Otherwise branch and bound (HiGHS) on the integer
    programme, triangle rows added as before until none is violated.

    Cost: exponential at worst (the problem is NP-hard). Measured: scores with clear clusters, a hundred items
    in 0.05 s; noise without structure, 25 items in 0.4 s and 30 in 8 s.

    Examples
    --------
    >>> exact([[0, 2, -9], [2, 0, 1], [-9, 1, 0]])
    array([0, 0, 1])
    """
    graph = signed_graph(K, must_link, cannot_link)
    labels = np.arange(graph.n_nodes)
    for nodes, W, apart in components(graph):
        labels[nodes] = nodes[_optimum(W, apart)]
    return graph.to_items(labels)


def _optimum(W: Floats, apart: Ints) -> Ints:
    """Best labels of one component."""
    program = TriangleProgram(W, apart)
    relax(program, max_rounds=10_000)
    if program.is_integral():
        return _labels(program.degrees)
    known = local_search(W, cannot_link=apart, sweeps=1000)
    together = (known[program.rows] == known[program.columns]).astype(np.float64)
    enough = float(program.costs @ together) * (1.0 + CLOSED)
    _tighten(program, enough)
    if program.value <= enough:
        return known
    if program.is_integral():
        return _labels(program.degrees)
    program.make_integer()
    while True:
        program.offer(together)
        program.solve()
        triangles = program.find_violated_triangles()
        if not len(triangles):
            return _labels(program.degrees)
        program.add(triangles)


def _tighten(program: TriangleProgram, enough: float) -> None:
    """Add stars, then triangles, until the bound is as low as a known clustering or no star is violated."""
    while program.value > enough and not program.is_integral():
        before = program.value
        if not program.add_violated_stars():
            return
        program.solve()
        relax(program, max_rounds=10_000)
        if program.value > before - 1e-6 * abs(before):
            return


def _labels(degrees: Floats) -> Ints:
    """Labels of an integral solution, whose ones are a disjoint union of cliques."""
    return sparse.csgraph.connected_components(degrees > 0.5, directed=False)[1].astype(np.int64)


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

    def find_violated_triangles(self) -> Ints:
        """One violated triangle (a, b, c) per pair (a, b) that has any.

        Many are violated alike, and those of strong scores matter more: a tenth of the relative score added
        to each degree halved the rounds and made m = 100 and 150 solve 3 to 6 times faster.
        """
        from clustruct.search._kernels.matrix import violated_triangles

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
        from clustruct.search._kernels.matrix import violated_stars

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
        self.highs.changeColsCost(n, np.arange(n, dtype=np.int32), scale_costs(self.costs))
        self.highs.changeObjectiveSense(highspy.ObjSense.kMaximize)

    def _take(self, solution: Floats) -> None:
        clean = np.clip(solution, 0.0, 1.0)
        self.degrees[self.rows, self.columns] = self.degrees[self.columns, self.rows] = clean
        self.value = float(self.costs @ clean)
