"""Equal items as nodes with a multiplicity, against all pairs of all items."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from clustruct.data import EqualRows, Evidence, GroupingOptions, PairScores
from clustruct.learning.grouping import group_scores
from clustruct.learning.multiplicity import Nodes
from clustruct.search.oracles import make_predictor

SEARCH = make_predictor("local_search", "correlation")


def partitions(n: int) -> list[list[int]]:
    """All label vectors of n items, canonical."""
    found = [[0]]
    for _ in range(n - 1):
        found = [[*y, c] for y in found for c in range(max(y) + 2)]
    return found


def problem(seed: int, counts: list[int], shift: float = 0.0) -> tuple[PairScores, np.ndarray]:
    """Scores of rows with so many copies each, as a table lists them, and the matrix of all pairs."""
    rng = np.random.default_rng(seed)
    k = len(counts)
    of_rows = rng.normal(size=(k, k))
    of_rows = of_rows + of_rows.T
    of_rows[np.diag_indices(k)] = rng.normal(size=k) + shift
    row = rng.permutation(np.repeat(np.arange(k), counts))
    equal = EqualRows.of(row)
    K = of_rows[row][:, row]
    between = [(a, b) for a, b in combinations(sorted(equal.first.tolist()), 2)]
    index = np.array([*between, *map(tuple, equal.pairs().tolist())], np.int64).reshape(-1, 2)
    order = np.argsort(index @ [len(row), 1])
    scores = PairScores(len(row), index=index[order], values=K[tuple(index[order].T)], equal=equal)
    return scores, K


def value(K: np.ndarray, y: object) -> float:
    labels = np.asarray(y)
    together = np.triu(labels[:, None] == labels, 1)
    return float(K[together].sum())


@pytest.mark.parametrize("shift", [1.5, -1.5, 0.0])
def test_the_groups_are_those_of_all_pairs(shift: float) -> None:
    everything = partitions(8)
    for seed in range(20):
        scores, K = problem(seed, [3, 2, 1, 2], shift)
        best = max(value(K, y) for y in everything)
        found = group_scores(scores, SEARCH)
        assert value(K, found.labels) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(10))
def test_copies_of_a_row_that_likes_itself_are_one_group(seed: int) -> None:
    scores, _ = problem(seed, [40, 300, 1, 7, 2], 10.0)
    found = group_scores(scores, SEARCH)
    assert scores.equal is not None
    for row in range(5):
        assert len(set(found.labels[scores.equal.row == row].tolist())) == 1
    assert not found.equal_apart


def test_further_copies_that_dislike_each_other_join_as_many_as_gain() -> None:
    """40 copies score 5 with one item and -1 with each other: five of them gain, a sixth neither way."""
    equal = EqualRows.of(np.array([0] + [1] * 40))
    pairs = np.concatenate([[[0, 1]], equal.pairs()])
    values = np.r_[5.0, np.full(39, -1.0)]
    scores = PairScores(41, index=pairs, values=values, equal=equal)
    found = group_scores(scores, SEARCH)
    assert np.bincount(found.labels).max() in (6, 7)
    assert np.count_nonzero(np.bincount(found.labels) > 1) == 1
    assert found.equal_apart == {"score": 40}


def test_more_copies_than_are_searched_are_placed_afterwards() -> None:
    """One row of 400 that likes itself scores 1 with each of 200 copies that score -1 with each other."""
    equal = EqualRows.of(np.repeat([0, 1], [400, 200]))
    pairs = np.concatenate([[[0, 400]], equal.pairs()])
    identical = np.where(equal.pairs()[:, 0] == 0, 1.0, -1.0)
    scores = PairScores(600, index=pairs, values=np.r_[1.0, identical], equal=equal)
    found = group_scores(scores, SEARCH, confidence=True)
    assert found.n_groups == 1
    assert found.confidence is not None
    assert np.isfinite(found.confidence).all()


def test_evidence_parts_copies_and_is_the_reason() -> None:
    scores, _ = problem(0, [4, 1], 10.0)
    assert scores.equal is not None
    one, other, *rest = np.flatnonzero(
        scores.equal.row == scores.equal.row[np.argmax(scores.equal.counts[scores.equal.row])]
    )
    evidence = Evidence.of_pairs(5, different=[(one, other)])
    found = group_scores(scores, SEARCH, evidence)
    assert found.labels[one] != found.labels[other]
    assert len(set(found.labels[rest].tolist())) == 1
    assert found.equal_apart == {"evidence": 4}


def test_a_source_that_holds_each_thing_once_keeps_copies_apart() -> None:
    """Three copies in one source, an item like them in another."""
    equal = EqualRows.of(np.array([0, 0, 0, 1]))
    scores = PairScores(4, np.array([[0, 3]]), np.array([0, 0, 0, 1]), values=np.array([4.0]), equal=equal)
    found = group_scores(scores, SEARCH)
    assert sorted(np.bincount(found.labels).tolist()) == [1, 1, 2]
    assert found.labels[3] in found.labels[:3]
    assert found.equal_apart == {"source": 3}


def test_bounds_count_items() -> None:
    scores, _ = problem(1, [10, 1], 10.0)
    found = group_scores(scores, SEARCH, options=GroupingOptions(max_size=4))
    assert np.bincount(found.labels).max() <= 4
    assert found.n_groups <= 4
    assert "options" in found.equal_apart


def test_nodes_weigh_pairs_by_their_number() -> None:
    equal = EqualRows.of(np.array([0, 0, 0, 1, 1]))
    pairs = np.array([[0, 1], [0, 2], [0, 3], [3, 4]])
    scores = PairScores(5, index=pairs, values=np.array([1.0, 1.0, -2.0, 0.5]), equal=equal)
    nodes = Nodes.of(scores, None).node_scores()
    assert nodes.n_items == 2
    assert nodes.values is not None
    assert nodes.values.tolist() == [-12.0]


def test_items_compared_with_nothing_are_counted() -> None:
    scores = PairScores(5, index=np.array([[0, 1]]), values=np.array([-1.0]))
    assert group_scores(scores, SEARCH).n_uncompared == 3
    assert group_scores(PairScores(2, matrix=np.zeros((2, 2))), SEARCH).n_uncompared == 0
