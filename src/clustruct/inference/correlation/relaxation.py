"""The linear relaxation of correlation clustering (C_R, OP 10), solved with lazily added triangle rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from clustruct._typing import Floats, Ints
from clustruct.inference.edge_degrees import EdgeDegrees

from .signed_graph import Pairs, SignedGraph, signed_graph
from .triangle_program import TriangleProgram

# The answer has m (m - 1) / 2 numbers whatever the graph: 8 million of them at most.
MOST_ITEMS = 4000
# A component with n nodes has n (n - 1) / 2 variables; beyond this the programme would run for hours.
MOST_NODES = 1000


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
    K, must_link, cannot_link : as for :func:`greedy`. At most 1000 items in a component.
    max_rounds : how many times a component's programme is solved before giving up with a warning; the value
        is an upper bound even then.

    Returns
    -------
    EdgeDegrees : degrees, the optimal value, and whether all triangle rows hold (within 1e-6).

    Cost: O(n^3) per round and component to find rows, plus the solver. Measured on noisy planted partitions:
    m = 100 in 0.1 to 0.5 s (all rows at once: 30 to 50 s), m = 150 in 0.1 s where the solution is integral
    and 3 s where a third of it is fractional, m = 300 in 4 s (a fifth fractional).

    >>> lp_relaxation([[0, 1, -1], [1, 0, 1], [-1, 1, 0]]).value
    1.0
    """
    graph = signed_graph(K, must_link, cannot_link)
    check_size(graph)
    E = np.zeros((graph.n_nodes, graph.n_nodes))
    rounds, converged = 0, True
    for nodes, W, apart in components(graph):
        program = TriangleProgram(W, apart)
        converged &= relax(program, max_rounds)
        rounds = max(rounds, program.rounds)
        E[np.ix_(nodes, nodes)] = program.degrees
    np.fill_diagonal(E, 1.0)
    if not converged:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"lp_relaxation stopped after {max_rounds} rounds with violated triangles; the value is a bound",
            ConvergenceWarning,
            stacklevel=2,
        )
    return _edge_degrees(K, E[np.ix_(graph.groups, graph.groups)], converged, rounds)


def relax(program: TriangleProgram, max_rounds: int) -> bool:
    """Add violated rows and solve until none is left (True) or the rounds are used up (False).

    Rows are kept once added: dropping those that became slack took more rounds and more time at every size.
    """
    for _ in range(max_rounds):
        triangles = program.violated()
        if not len(triangles):
            return True
        program.add(triangles)
        program.solve()
    return not len(program.violated())


def check_size(graph: SignedGraph) -> None:
    """Refuse what could not be stored or solved."""
    if len(graph.groups) > MOST_ITEMS:
        raise ValueError(
            f"{len(graph.groups)} items are too many here, at most {MOST_ITEMS}; use local_search"
        )


def components(graph: SignedGraph) -> Iterator[tuple[Ints, Floats, Ints]]:
    """Nodes, scores and pairs kept apart of each component (two nodes or more) of the positive scores."""
    barred = graph.with_cannot_links(0.0)
    if barred.dense is not None:
        whole = barred.dense
    else:
        assert barred.csr is not None
        indptr, indices, data = barred.csr
        whole = np.zeros((graph.n_nodes, graph.n_nodes))
        whole[np.repeat(np.arange(graph.n_nodes), np.diff(indptr)), indices] = data
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


def _edge_degrees(K: Any, E: Floats, converged: bool, rounds: int) -> EdgeDegrees:
    """Condensed degrees, with the value summed over the items' own scores."""
    m = len(E)
    pairs = np.triu_indices(m, 1)
    degrees = E[pairs]
    graph = signed_graph(K)
    if graph.dense is not None:
        value = float(graph.dense[pairs] @ degrees)
    else:
        assert graph.csr is not None
        indptr, indices, data = graph.csr
        rows = np.repeat(np.arange(m), np.diff(indptr))
        value = float((data * E[rows, indices])[rows < indices].sum())
    return EdgeDegrees(degrees, m, value, converged, rounds)
