"""Scores of the pairs that matter to new items: those of the model, of the right pairs, at the right cost."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct import Recipe
from clustruct.core.exceptions import DataWarning
from clustruct.core.partitions import canonical_labels
from clustruct.data import Evidence, Table
from clustruct.data.datasets import make_records
from clustruct.data.io import ColumnRoles
from clustruct.data.table import join_tables
from clustruct.estimators.baselines import PairwiseClassifierClustering
from clustruct.features import Blocking, PairFeatures, check_tables
from clustruct.groups import place_items, read_groups, scoring
from clustruct.groups.item_assignment import NEW
from clustruct.groups.known import known_of_table, write_known_items
from clustruct.groups.named_assignment import number_groups
from clustruct.groups.scoring import LARGE_GROUP, PAIRS_OF_ITEM, _inside, candidates, scores_near
from clustruct.pipeline import group


@pytest.fixture(scope="module")
def pipeline():
    return check_tables(Recipe(C=1.0).fit(make_records(n_sets=5, n_people=6)).pipeline_)


@pytest.fixture(scope="module")
def people():
    table = make_records(n_sets=1, n_people=25, random_state=7)[0]
    return Table(table.items, table.labels, ids=[f"p{a}" for a in range(len(table))])


def test_scores_are_those_of_the_model(pipeline, people):
    K = pipeline[-1].decision_function(pipeline[0].transform([people]))[0]
    touched = np.arange(len(people)) >= len(people) - 5
    groups = [None if t else str(label) for t, label in zip(touched, people.labels, strict=True)]
    found = scores_near(pipeline, people, touched, number_groups(groups)[1])
    assert np.allclose(found.values, K[found.index[:, 0], found.index[:, 1]])
    listed = {tuple(pair) for pair in found.index.tolist()}
    assert len(listed) == len(found.index)
    # Every pair of a new item is there, and of the others those inside of a group.
    assert {(a, b) for b in np.flatnonzero(touched) for a in range(b)} <= listed
    assert all(groups[a] == groups[b] for a, b in listed if not (touched[a] or touched[b]))


@pytest.mark.parametrize("seed", range(3))
def test_candidates_of_a_blocked_set_touch_the_items_and_miss_no_neighbour(pipeline, people, seed):
    features = pipeline[0].check_tables()
    features.blocking_ = Blocking(from_size=10, n_neighbors=3).fit([people])
    touched = np.zeros(len(people), bool)
    touched[np.random.default_rng(seed).choice(len(people), 6, replace=False)] = True
    found = {tuple(pair) for pair in candidates(features, people, touched).tolist()}
    # Of equally near ones the first are taken: in the order in which they are looked at.
    order = [*np.flatnonzero(~touched).tolist(), *np.flatnonzero(touched).tolist()]
    by_order = [features.blocking_.pairs(people.take(order), since=s) for s in (0, len(people) - 6)]
    likely, late = ({tuple(sorted((order[a], order[b]))) for a, b in p.tolist()} for p in by_order)
    assert late == found != set()
    # What only an old item calls its neighbour may be missing; no more than that.
    touching = {(a, b) for a, b in likely if touched[a] or touched[b]}
    assert found <= touching
    assert len(found) >= 0.7 * len(touching)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(0, 2**16))
def test_pairs_inside_groups(sizes, seed):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(len(sizes) + 1), [*sizes, LARGE_GROUP + rng.integers(1, 9)]))
    near = np.flatnonzero(rng.random(len(sizes) + 1) < 0.6)
    touched = rng.random(len(groups)) < 0.1
    groups[touched] = NEW
    expected = set()
    for g in near:
        members = np.flatnonzero(groups == g)
        reach = len(members) if len(members) <= LARGE_GROUP else PAIRS_OF_ITEM
        expected |= {(a, b) for i, a in enumerate(members) for b in members[i + 1 : i + 1 + reach]}
    found = [tuple(pair) for pair in _inside(groups, near, touched)]
    assert sorted(found) == sorted(expected)


def test_a_model_that_is_no_weighted_sum_is_asked_pair_by_pair(people):
    sets = make_records(n_sets=4, n_people=6)
    recipe = Recipe(learner=PairwiseClassifierClustering()).fit(sets)
    pipeline = check_tables(recipe.pipeline_)
    model = pipeline[-1]
    expected = model.decision_function(pipeline[0].transform([people]))[0]
    model.linear_similarity = lambda: None
    touched = np.arange(len(people)) == 3
    found = scores_near(pipeline, people, touched, np.full(len(people), NEW))
    assert np.allclose(found.values, expected[found.index[:, 0], found.index[:, 1]])


def test_new_items_find_their_groups(pipeline, people):
    old = {f"p{a}": f"g{label}" for a, label in enumerate(people.labels[:-8])}
    found = place_items(pipeline, people, old)
    assert {item: found.groups[item] for item in old} == old
    new = [(f"p{a}", f"g{people.labels[a]}") for a in range(len(people) - 8, len(people))]
    known = [(item, group) for item, group in new if group in old.values()]
    assert sum(found.groups[item] == group for item, group in known) >= 0.7 * len(known)


def test_models_with_a_fixed_number_of_groups_are_refused(people):
    recipe = Recipe(C=1.0, learner="kmeans").fit(make_records(n_sets=4, n_people=4))
    with pytest.raises(ValueError, match="SupervisedKMeans has a fixed number of groups"):
        place_items(recipe.pipeline_, people, {})


def test_two_sets_become_one_whatever_they_are_held_in():
    first = Table.from_columns({"t": ["a", None, "b"], "n": [1, 2, None]}, ids=["x", "y", "z"])
    second = Table([{"t": "b", "v": [1.0]}, {"t": "c"}], ids=["u", "v"])
    both = join_tables(first, second)
    assert both.column("t") == ["a", None, "b", "b", "c"]
    assert both.column("n") == [1, 2, None, None, None]
    assert both.column("v") == [None, None, None, [1.0], None]
    assert list(both.item_ids) == ["x", "y", "z", "u", "v"]
    vectors = [Table.from_columns({"v": np.full((2, 3), float(k))}) for k in range(2)]
    assert join_tables(*vectors).matrix("v").tolist() == [[0.0] * 3] * 2 + [[1.0] * 3] * 2


@pytest.mark.parametrize("name", ["all.csv", "all.tsv", "all.jsonl"])
def test_what_is_written_is_what_a_later_run_starts_from(tmp_path, name):
    table = Table.from_columns({"name": ["Ann, A.", "Bob", None]}, ids=["1", "2", "3"])
    groups = {"1": "g1", "2": "g1"}
    write_known_items(tmp_path / name, table, groups, "id", "who" if name.endswith("v") else "cluster")
    known = known_of_table(tmp_path / name, ColumnRoles(), ["who", "cluster"])
    assert known.state.groups == groups
    assert known.table.column("name") == ["Ann, A.", "Bob", None]
    assert read_groups(tmp_path / name, cluster="who" if name.endswith("v") else None) == groups


def test_numbers_of_groups_mean_nothing_outside_their_set(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("set,id,cluster,name\nx,a,0,Ann\nx,b,1,Bob\ny,c,0,Cy\ny,d,0,Cyd\n")
    with pytest.warns(DataWarning, match=r"wide.csv: groups are numbered in each set .* 'x: 0'"):
        known = known_of_table(path, ColumnRoles(id="id"), ["cluster"])
    assert known.state.groups == {"a": "x: 0", "b": "x: 1", "c": "y: 0", "d": "y: 0"}
    # Ids that are not such numbers are those of the user, whatever a column "set" holds.
    path.write_text("set,id,cluster,name\nx,a,0,Ann\nx,b,1,Bob\ny,c,1,Cy\ny,d,2,Cyd\n")
    assert known_of_table(path, ColumnRoles(id="id"), ["cluster"]).state.groups["c"] == "1"


def test_what_a_move_would_bring_together_is_scored_before_it(monkeypatch):
    """A mixed group of 7 and 5 and a strange one of 6, to which one of six pairs was compared (defect 9)."""
    kinds = np.repeat([0, 1, 2], [7, 5, 6])
    K = np.where(np.equal.outer(kinds, kinds), 5.0, -9.0)
    K[7, 12] = K[12, 7] = 0.5
    groups = {f"p{a}": "strange" if kind == 2 else "mixed" for a, kind in enumerate(kinds.tolist())}
    table = Table([{}] * 18, ids=list(groups))
    compared = np.array([[0, 1], [7, 12]])
    model = SimpleNamespace(clustering_objective="correlation")
    features = PairFeatures([]).fit([table])
    features.equal_rows = lambda _: None
    pipeline = [features, model]
    monkeypatch.setattr(scoring, "check_correlation", lambda model: None)
    monkeypatch.setattr(scoring, "candidates", lambda *_: compared)
    monkeypatch.setattr(scoring, "score_pairs", lambda _, columns, pairs: K[pairs[:, 0], pairs[:, 1]])
    known = Evidence.of_pairs(18, (), [(0, 7)])
    found = place_items(pipeline, table, groups, evidence=known).groups
    assert [item for item, group in found.items() if group == "strange"] == [f"p{a}" for a in range(12, 18)]
    assert [item for item, group in found.items() if group == "mixed"] == [f"p{a}" for a in range(7)]
    assert len({found[f"p{a}"] for a in range(7, 12)}) == 1
    # Of a very large group each item is compared with a few: the cut follows these.
    monkeypatch.setattr(scoring, "MOST_TO_SPLIT", 11)
    assert place_items(pipeline, table, groups, evidence=known).groups == found


@pytest.mark.parametrize("calibrated", [False, True])
def test_confidence_in_new_items_is_that_of_all_grouped_at_once(people, calibrated):
    sets = make_records(n_sets=6, n_people=8, errors=0.6)
    pipeline = check_tables(Recipe(C=1.0, calibrate=calibrated).fit(sets).pipeline_)
    once = group(pipeline, people, confidence=True)
    assert once.is_probability == calibrated
    found = place_items(pipeline, people, confidence=True)
    labels = canonical_labels([found.groups[name] for name in people.ids])
    assert labels.tolist() == once.labels.tolist()
    assert found.confidence == pytest.approx(dict(zip(people.ids, once.confidence.tolist(), strict=True)))
    # Beside known groups only what the run has placed is judged, each by its place among these.
    known = {name: str(y) for name, y in list(zip(people.ids, labels.tolist(), strict=True))[:-6]}
    found = place_items(pipeline, people, known, confidence=True)
    assert set(found.confidence) == set(people.ids[-6:])
    if canonical_labels([found.groups[name] for name in people.ids]).tolist() == labels.tolist():
        expected = {name: once.confidence[a] for a, name in enumerate(people.ids) if name in found.confidence}
        assert found.confidence == pytest.approx(expected)
    assert place_items(pipeline, people, known).confidence is None
