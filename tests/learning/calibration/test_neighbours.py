"""Held-out clusters are judged among the neighbours that prediction meets."""

from dataclasses import replace

import numpy as np
import pytest

from clustruct import Recipe
from clustruct.core.partitions import UNKNOWN
from clustruct.data import PairScores, Table
from clustruct.data.datasets import make_records
from clustruct.features import PairFeatures, Strings
from clustruct.learning.calibration import HeldOutPart, PrecisionCurve
from clustruct.learning.calibration import held_out as module
from clustruct.learning.calibration.held_out import with_neighbours
from clustruct.search.oracles import make_predictor

SEARCH = make_predictor("local_search", "correlation")


class Listed(PairScores):
    """Features of one column: the scores."""

    def scores(self, pairs, W):
        return self.at(pairs).reshape(-1, 1) * W


def table(n=300, seed=0):
    """Entities of two rows each, half of them labelled; rows of an entity score 3, of the entity beside it
    one pair 1 and the others -1/2.
    """
    rng = np.random.default_rng(seed)
    entity = np.repeat(np.arange(n), 2)
    place = rng.permutation(len(entity))
    entity = entity[place]
    rows = np.argsort(entity, kind="stable").reshape(n, 2)
    beside = [np.column_stack([rows[:-1, i], rows[1:, j]]) for i, j in ((0, 1), (0, 0), (1, 0), (1, 1))]
    index = np.sort(np.concatenate([rows, *beside]), axis=1)
    values = np.repeat([3.0, 1.0, -0.5], [n, n - 1, 3 * (n - 1)])
    labelled = rng.random(n) < 0.5
    return entity, labelled[entity], index, values


def region(entity, labelled, index, values):
    """The part that training sees: pairs that touch a labelled row."""
    own = labelled[index].any(axis=1)
    items = np.unique(np.concatenate([index[own].ravel(), np.flatnonzero(labelled)]))
    scores = PairScores(len(items), index=np.searchsorted(items, index[own]), values=values[own])
    truth = np.where(labelled, entity, UNKNOWN)[items]
    part = HeldOutPart(scores, truth, labelled[items], w=np.ones(1), items=items)
    return part, Listed(len(entity), index[~own], values=values[~own])


def test_the_curve_is_that_of_the_whole_table():
    entity, labelled, index, values = table()
    part, rest = region(entity, labelled, index, values)
    whole = HeldOutPart(
        PairScores(len(entity), index=index, values=values), np.where(labelled, entity, UNKNOWN), labelled
    )
    at = np.array([0.0, 2.0])
    (among,) = with_neighbours([part], [rest], 0.0)
    seen, true, without = (PrecisionCurve.of([p], SEARCH, at) for p in (among, whole, part))
    assert true.precision[0] == 1.0
    np.testing.assert_array_equal(seen.found, true.found)
    np.testing.assert_array_equal(seen.right, true.right)
    assert without.precision[0] < 0.9  # rows whose mate has no label are free for others


def test_old_pairs_and_items_stay_what_they_are():
    part, rest = region(*table(seed=1))
    (among,) = with_neighbours([part], [rest], -np.inf)
    old = np.searchsorted(among.items, part.items)
    np.testing.assert_array_equal(among.items[old], part.items)
    np.testing.assert_array_equal(among.truth[old], part.truth)
    assert (among.truth[np.setdiff1d(np.arange(len(among.items)), old)] == UNKNOWN).all()
    assert among.mine.sum() == part.mine.sum()
    n = len(part.scores.values)
    np.testing.assert_array_equal(among.items[among.scores.index[:n]], part.items[part.scores.index])
    np.testing.assert_array_equal(among.scores.values[:n], part.scores.values)
    added = among.items[among.scores.index[n:]]
    assert (np.diff(added, axis=1) > 0).all()
    assert len(np.unique(among.scores.index, axis=0)) == len(among.scores.index)


def test_only_items_that_score_enough_are_looked_at_and_no_more_than_there_is_room_for(monkeypatch):
    part, rest = region(*table(seed=2))
    n = len(part.scores.values)
    assert len(with_neighbours([part], [rest], 1.0)[0].scores.values) == n
    assert with_neighbours([part], [None], 0.0)[0] is part
    assert with_neighbours([part], [], 0.0)[0] is part
    full = len(with_neighbours([part], [rest], 0.0)[0].scores.values) - n
    assert full > 10
    monkeypatch.setattr(module, "MOST_UNLISTED", 0.5 * full / n)
    some = len(with_neighbours([part], [rest], 0.0)[0].scores.values) - n
    assert 0 < some <= 0.5 * full


def test_sources_are_those_of_the_items():
    part, rest = region(*table(seed=3))
    sources = np.arange(600) % 7
    given = replace(rest, sources=sources)
    (among,) = with_neighbours([part], [given], 0.0)
    np.testing.assert_array_equal(among.scores.sources, sources[among.items])


@pytest.fixture(scope="module")
def people():
    sets = make_records(n_sets=6, n_people=40, errors=0.5, random_state=3)
    rows = [row for raw in sets for row in raw.items]
    labels = [(k, y) for k, raw in enumerate(sets) for y in raw.labels]
    return Table(rows, labels=[y if y[0] < 3 else None for y in labels])


def test_the_rest_has_the_scores_of_the_whole(people):
    features = PairFeatures([Strings("name"), Strings("street")], blocking=None).fit([people])
    known = np.array([y is not None for y in people.labels])
    x, rest = features.transform_with_rest(people, known)
    whole = features.transform([people], [np.ones(len(people), bool)])[0]
    assert known[x.pair_index].any(axis=1).all()
    assert not known[rest.index].any()
    W = np.random.default_rng(0).normal(size=(whole.n_features, 2))
    rows = {tuple(pair): k for k, pair in enumerate(whole.pair_index.tolist())}
    some = rest.index[:: max(len(rest.index) // 50, 1)]
    expected = whole.pairs[[rows[tuple(pair)] for pair in some.tolist()]] @ W
    np.testing.assert_allclose(rest.scores(some, W), expected, atol=1e-9)


def test_a_recipe_learns_from_them(people):
    model = Recipe(block=100).fit([people]).pipeline_[-1]
    curve = model.calibration_.contested
    assert curve.thresholds[0] == 0.0
    assert curve.upper is not None
    assert (curve.lower <= curve.precision + 1e-12).all()
    assert not hasattr(model, "_rest")
