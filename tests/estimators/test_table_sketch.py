"""What a table learned from is like, and whether a promise holds for the next one."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from clustruct import Recipe, Table
from clustruct.core.exceptions import ReliabilityWarning
from clustruct.data import GroupingOptions, PairScores
from clustruct.data.datasets import make_records
from clustruct.estimators.table_sketch import SurestPairs, TableSketch
from clustruct.pipeline import group, pipeline_with_cut


def test_the_surest_pair_of_each_item():
    scores = PairScores(5, index=np.array([[0, 1], [0, 2], [1, 2]]), values=np.array([3.0, 5.0, -1.0]))
    found = SurestPairs.of(scores)
    assert found.pairs.tolist() == [[0, 2], [0, 1], [0, 2]]  # of items 0, 1 and 2
    assert found.scores.tolist() == [5.0, 3.0, 5.0]
    assert found.alone == pytest.approx(2 / 5)
    some = SurestPairs.of(scores, np.array([False, True, False, False, True]))
    assert (some.scores.tolist(), some.alone) == ([3.0], 0.5)


@pytest.mark.parametrize("n", [100, 1000])
def test_tables_of_one_kind_are_rarely_far_from_each_other(n):
    rng = np.random.default_rng(0)

    def drawn(n):
        return np.column_stack([rng.normal(size=n), rng.random(n) < 0.3, np.zeros(n)])

    sketch = TableSketch.of(drawn(n), ["a: same", "b: missing", "score"])
    far = [sketch.differs_from(drawn(int(rng.integers(100, 2000)))).is_far for _ in range(100)]
    assert np.mean(far) <= 0.05
    shifted = drawn(500) + [0.0, 0.0, 0.0]
    shifted[:100, 1] = 1.0
    assert sketch.differs_from(shifted).name == "b: missing"
    assert sketch.differs_from(drawn(500), alone=0.5).name == "rows compared with nothing"


def test_what_depends_on_the_rows_of_a_table_is_not_looked_at():
    sketch = TableSketch.of(np.zeros((100, 2)), ["a: rarest shared word", "score"])
    assert sketch.differs_from(np.column_stack([np.ones(100), np.zeros(100)])).distance == 0.0


def test_a_sketch_is_kept_and_checked():
    sketch = TableSketch.of(np.random.default_rng(0).normal(size=(60, 2)), ["a", "score"], 0.1)
    again = TableSketch.from_state(sketch.state())
    np.testing.assert_array_equal(again.quantiles, sketch.quantiles)
    assert (again.names, again.alone) == (sketch.names, 0.1)
    with pytest.raises(ValueError, match="sketch of a table"):
        replace(sketch, names=["a"])


@pytest.fixture(scope="module")
def halves():
    """A model of half of a table, and the other half."""
    raw = make_records(n_sets=1, n_people=320, errors=0.6, random_state=1)[0]
    known = np.array([int(label[1:]) % 2 == 0 for label in raw.labels])
    tables = [raw.take(np.flatnonzero(side)) for side in (known, ~known)]
    return Recipe(block=100).fit(tables[:1]).pipeline_, replace(tables[1], labels=None)


def test_a_promise_is_withdrawn_where_the_next_table_is_unlike(halves):
    pipeline, fresh = halves
    options = GroupingOptions(precision=0.7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        group(pipeline, fresh, options=options)
    moved = pipeline_with_cut(pipeline, options)
    assert moved[-1].promised_ == 0.7
    name = fresh.fields()[0]
    rows = {field: list(fresh.column(field)) for field in fresh.fields()}
    rows[name] = [None if k % 2 else value for k, value in enumerate(rows[name])]
    emptied = Table.from_columns(rows)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        group(moved, emptied)
        group(pipeline, emptied)  # nothing was promised
    texts = [str(w.message) for w in said if issubclass(w.category, ReliabilityWarning)]
    assert len([t for t in texts if "precision 0.7 is not promised here" in t and name in t]) == 1
