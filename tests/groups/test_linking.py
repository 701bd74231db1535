"""Two tables in the library: links, names of columns, rows side by side."""

import warnings

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from clustruct import Recipe, Table
from clustruct.core.exceptions import DataError, DataWarning, ReliabilityWarning
from clustruct.data import Evidence, PairScores
from clustruct.data.datasets import make_records
from clustruct.evaluate.metrics import calibration_error
from clustruct.groups import LinkedRows, assign, link, link_columns, rename_fields, side_by_side


@pytest.fixture(scope="module")
def tables():
    raw = make_records(n_sets=1, n_people=150, most=2, random_state=2)[0]
    times = [raw.labels[:a].count(label) for a, label in enumerate(raw.labels)]
    return [raw.take([a for a, n in enumerate(times) if n == k]) for k in (0, 1)]


@pytest.fixture(scope="module")
def model(tables):
    return Recipe(C=1.0, source="table").fit([side_by_side(tables, "table", ["a", "b"])])


def test_links_are_right_and_one_to_one(model, tables):
    first, second = tables
    found = link(model.pipeline_, first, second)
    assert found.one_to_one
    right = [first.labels[a] == second.labels[b] for a, b in found.pairs.tolist()]
    assert np.mean(right) > 0.95
    assert sum(right) > 0.9 * len(second)
    assert (found.scores > 0).all()
    for side in (0, 1):
        rows = [*found.pairs[:, side].tolist(), *found.unmatched_rows(side).tolist()]
        assert sorted(rows) == list(range(len(tables[side])))


def test_the_order_of_the_tables_does_not_matter(model, tables):
    there, back = link(model.pipeline_, *tables), link(model.pipeline_, *tables[::-1])
    assert set(map(tuple, there.pairs.tolist())) == {(b, a) for a, b in back.pairs.tolist()}


def test_a_model_without_sources_links_too(tables):
    raw = make_records(n_sets=1, n_people=150, most=2, random_state=3)[0]
    plain = Recipe(C=1.0, source=None).fit([raw])
    found = link(plain.pipeline_, *tables)
    assert not found.one_to_one
    only = link(plain.pipeline_, *tables, one_to_one=True)
    assert len(set(only.pairs[:, 0].tolist())) == len(only.pairs) <= len(found.pairs)
    assert plain.pipeline_[0].sources_ is None


def test_a_model_of_one_to_one_pairs_links_others_by_their_probability(model, tables):
    """Its scores say which mate is best, not whether there is one: only probabilities do."""
    first, second = tables
    known = Recipe(C=1.0, source="table", calibrate=True).fit([side_by_side(tables, "table", ["a", "b"])])
    with pytest.warns(DataWarning, match="one-to-one pairs: .* less likely than 1/2 speak against"):
        found = link(known.pipeline_, first, second, one_to_one=False)
    right = [first.labels[a] == second.labels[b] for a, b in found.pairs.tolist()]
    assert np.mean(right) > 0.9
    assert sum(right) > 0.9 * len(second)
    asked = known.pipeline_[-1].at_threshold(threshold=0.5)
    pipeline = Pipeline([known.pipeline_.steps[0], ("model", asked)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a threshold that was asked for needs no words
        assert (link(pipeline, first, second, one_to_one=False).pairs == found.pairs).all()
    chains = pytest.warns(ReliabilityWarning, match="the largest group has")
    with chains, pytest.warns(DataWarning, match="others of its pairs are often false"):
        link(model.pipeline_, first, second, one_to_one=False)


def test_what_a_whole_source_lacked_may_be_lacking(tables):
    first, second = tables
    bare = Table.from_columns(
        {name: second.column(name) for name in second.fields() if name != "born"}, labels=second.labels
    )
    model = Recipe(C=1.0, source="table").fit([side_by_side([first, bare], "table", ["a", "b"])])
    assert model.pipeline_[0].sources_.lacking == ("born",)
    assert len(link(model.pipeline_, first, bare).pairs) > 0.8 * len(bare)
    without = Table.from_columns({name: bare.column(name) for name in bare.fields() if name != "name"})
    with pytest.raises(DataError, match="no item has the field 'name'"):
        link(model.pipeline_, first, without)


def test_fields_have_other_names(model, tables):
    first, second = tables
    other = rename_fields(second, {"label": "name"})
    assert "name" not in other.fields()
    again = rename_fields(other, {"name": "label"})
    assert again.column("name") == second.column("name")
    assert (link(model.pipeline_, first, again).pairs == link(model.pipeline_, *tables).pairs).all()
    with pytest.raises(DataError, match="no item has the field 'name'"):
        link(model.pipeline_, first, other)
    with pytest.raises(DataError, match=r"no column 'nam' to be taken for 'x'.* is it 'name'\?"):
        rename_fields(second, {"x": "nam"})
    dicts = Table([{"full": "Ann"}, {"born": 1}])
    assert list(rename_fields(dicts, {"name": "full"}).items) == [{"name": "Ann"}, {"born": 1}]


def test_rows_side_by_side():
    first, second = (
        Table([{"n": "x"}, {"n": "y"}], ids=[1, 2]),
        Table([{"t": [3]}, {"t": None}], ids=["p", "q"]),
    )
    links = LinkedRows(np.array([[1, 0]]), np.array([np.nan]), (2, 2), True)
    columns = link_columns(links, first, second, unmatched=True)
    assert list(columns) == ["id_a", "id_b", "score", "n_a", "t_b"]
    assert np.isnan(columns.pop("score")).tolist() == [True] * 3
    assert columns == {
        "id_a": [2, 1, None],
        "id_b": ["p", None, "q"],
        "n_a": ["y", "x", None],
        "t_b": [[3], None, None],
    }


def test_probabilities_follow_scores(tables, model):
    raw = side_by_side(tables, "table", ["a", "b"])
    sure = Recipe(C=1.0, source="table", calibrate=True).fit([raw])
    assert link(model.pipeline_, *tables).probabilities is None
    links = link(sure.pipeline_, *tables)
    columns = link_columns(links, *tables, unmatched=True)
    assert list(columns)[:4] == ["id_a", "id_b", "score", "probability"]
    p, pairs = np.asarray(columns["probability"]), len(links.pairs)
    assert p[:pairs].tolist() == sure.pipeline_[-1].match_probabilities(links.scores).tolist()
    assert np.isnan(p[pairs:]).all()
    assert len(p) > pairs
    # The same pairs, joined through a third row, have neither.
    apart = LinkedRows(links.pairs, np.full(pairs, np.nan), links.sizes, False, np.full(pairs, np.nan))
    assert np.isnan(link_columns(apart, *tables)["probability"]).all()


def test_new_items_join_no_group_of_their_source():
    # Items 0 and 1 are a known group of the sources 0 and 1; 2 is new, of source 1; 3 new, of source 2.
    index = np.array([[0, 2], [0, 3], [1, 3]])
    scores = PairScores(4, index=index, values=np.array([5.0, 1.0, 1.0]), sources=np.array([0, 1, 1, 2]))
    assert assign(scores, [0, 0, -1, -1]).labels.tolist() == [0, 0, 1, 0]
    free = PairScores(4, index=index, values=np.array([5.0, 1.0, 1.0]))
    assert assign(free, [0, 0, -1, -1]).labels.tolist() == [0, 0, 0, 0]
    # People may say that two of one source are the same.
    assert assign(scores, [0, 0, -1, -1], evidence=Evidence.of_pairs(4, [(0, 2)])).labels.tolist() == [
        0,
        0,
        0,
        0,
    ]


def products(n, seed):
    """Two tables of goods whose names say little: each row has a near twin of another kind."""
    rng = np.random.default_rng(seed)
    words = [f"w{k}" for k in range(40)]
    tables = []
    names = [" ".join(rng.choice(words, 4)) for _ in range(n)]
    names = [names[k - k % 2] if rng.random() < 0.5 else names[k] for k in range(n)]
    for _ in range(2):
        rows = rng.permutation(n)
        items = []
        for k in rows.tolist():
            kept = [w if rng.random() > 0.15 else str(rng.choice(words)) for w in names[k].split()]
            price = round(20 * (1 + k % 50) * float(rng.lognormal(0, 0.04)), 2)
            items.append({"name": " ".join(kept), "price": price})
        tables.append(Table(items, labels=[f"{seed}-{k}" for k in rows.tolist()]))
    return tables


def test_a_matched_pair_is_as_likely_as_such_pairs_are_right():
    """That it has won a contest speaks for it: of those that scores alone make doubtful most are right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReliabilityWarning)  # the next tables are larger
        known = side_by_side(products(600, 0), "table", ["a", "b"])
        pipeline = Recipe(source="table").fit([known]).pipeline_
        first, second = products(600, 1)
        found = link(pipeline, first, second)
    right = np.array([first.labels[a] == second.labels[b] for a, b in found.pairs.tolist()])
    assert 0.6 < right.mean() < 0.97
    by_score = pipeline[-1].pair_probabilities(found.scores)
    assert right[by_score < 0.5].mean() > 0.7  # what was said of them: more likely wrong than right
    assert abs(found.probabilities.mean() - right.mean()) < 0.08
    assert calibration_error(right, found.probabilities) < calibration_error(right, by_score) / 2
    doubtful = found.probabilities < 0.5
    assert not doubtful.any() or right[doubtful].mean() < 0.5
    lowest = pipeline[-1].at_threshold(threshold=0.01, matched=True)
    assert lowest.threshold_ == 0.0  # no pair is matched below zero
