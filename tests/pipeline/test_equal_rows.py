"""Equal rows are one item, however many there are and whatever is beside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from clustruct import Recipe
from clustruct.data import EqualRows, Evidence, ItemSet, Table, all_pairs
from clustruct.data.datasets import make_records
from clustruct.features.columns import Columns
from clustruct.features.row_equality import find_equal_rows
from clustruct.groups.linking import link
from clustruct.groups.scoring import place_items
from clustruct.pipeline import blocking_recall, group, score_set
from clustruct.pipeline.exports import scored_pairs
from clustruct.pipeline.guessing import guess_weights
from clustruct.pipeline.training_pairs import fit_features
from clustruct.pipeline.unlabelled import fit_without_labels

pytestmark = [
    pytest.mark.filterwarnings("ignore::clustruct.core.exceptions.UnfamiliarDataWarning"),
    pytest.mark.filterwarnings("ignore::clustruct.core.exceptions.DataWarning"),
]


@pytest.fixture(scope="module")
def pipeline():
    return Recipe(C=1.0, block=200).fit(make_records(n_sets=5, n_people=8)).pipeline_


def table_of(rows: list[dict[str, object]]) -> Table:
    return Table.from_columns({name: [row.get(name) for row in rows] for name in rows[0]})


def persons(n: int) -> list[dict[str, object]]:
    tables = make_records(n_sets=1 + n // 300, n_people=300, random_state=3)
    found = [dict(item) for table in tables for item in table.items]
    return sorted(found, key=lambda row: -sum(map(bool, row.values())))[:n]  # a full one comes first


@pytest.mark.parametrize(("copies", "others"), [(2, 600), (250, 0), (1000, 0), (70, 2000), (3000, 600)])
def test_equal_rows_are_one_group(pipeline, copies: int, others: int) -> None:
    rows = persons(others + 1)
    order = np.random.default_rng(0).permutation(copies + others)
    listed = [rows[0]] * copies + rows[1:]
    found = group(pipeline, table_of([listed[a] for a in order]), confidence=True, pairs=True)
    assert len(set(found.labels[order < copies].tolist())) == 1
    assert found.confidence is not None
    assert len(set(found.confidence[order < copies].tolist())) == 1
    assert found.scores is not None
    assert found.scores.n_pairs < 40 * (copies + others)


def test_groups_of_others_do_not_depend_on_the_number_of_copies(pipeline) -> None:
    rows = persons(700)
    few = group(pipeline, table_of([rows[0]] * 20 + rows[1:])).labels[20:]
    many = group(pipeline, table_of([rows[0]] * 2000 + rows[1:])).labels[2000:]
    assert (few == many).all()


def test_a_score_of_a_pair_is_the_sum_of_what_features_add(pipeline) -> None:
    rows = persons(300)
    table = table_of([rows[0]] * 100 + rows[1:])
    scores = score_set(pipeline, table)
    w, intercept = pipeline[-1].linear_similarity()
    for span, features in pipeline[0].pair_chunks(table, scores.index):
        assert scores.values[span] == pytest.approx(np.asarray(features @ w + intercept))


def test_rows_are_equal_after_folding_and_empty_ones_are_not() -> None:
    table = table_of(
        [
            {"a": "Café  Noir", "n": 1.0},
            {"a": "cafe noir", "n": 1},
            {"a": "cafe noir", "n": None},
            {"a": None, "n": None},
            {"a": "", "n": None},
        ]
    )
    equal = find_equal_rows(Columns(table), ["a", "n"])
    assert equal is not None
    assert equal.row.tolist() == [0, 0, 1, 2, 3]


def test_two_rows_of_one_key_by_chance_are_two(monkeypatch) -> None:
    from clustruct.features import row_equality

    monkeypatch.setattr(row_equality, "mix_keys", lambda keys, more: keys)
    table = table_of([{"a": "x"}, {"a": "y"}, {"a": "x"}])
    equal = find_equal_rows(Columns(table), ["a"])
    assert equal is not None
    assert equal.row.tolist() == [0, 1, 0]


def test_vectors_are_equal_where_all_numbers_are() -> None:
    held = [[1.0, 2.0], [1.0, 2.5], [1.0, 2.0]]
    for values in (held, np.array(held)):
        equal = find_equal_rows(Columns(Table.from_columns({"v": values})), ["v"])
        assert equal is not None
        assert equal.row.tolist() == [0, 1, 0]


def test_copies_are_kept_in_bounded_number() -> None:
    equal = EqualRows.of(np.array([0, 1, 0, 0, 1]))
    assert equal.first_copies(2).tolist() == [True, True, True, False, True]
    assert equal.pairs(1).tolist() == [[0, 2], [1, 4]]
    assert equal.n_further == 3


def test_an_item_whose_words_are_all_common_is_compared_with_those_beside_it(pipeline) -> None:
    """A thousand rows of two common words, one of them missing now and then: all words are too common."""
    names = [f"{first} {last}" for first in ("anna", "bert", "carl") for last in ("smith", "jones", "brown")]
    less = {"street": None, "phone": None}
    rows = [
        {"name": names[k % 9], "city": f"city{k % 5}", "born": str(1950 + k % 40), **less}
        for k in range(3000)
    ]
    scores = score_set(pipeline, table_of([*rows, {"name": "anna brown", "city": "city1", **less}]))
    assert scores.n_without_pairs == 0


def test_rows_without_any_value_are_compared_with_nothing(pipeline) -> None:
    rows = persons(500)
    empty = dict.fromkeys(rows[0])
    odd = {**empty, "name": "Qx"}  # found by no word, but beside others
    found = group(pipeline, table_of([*rows, odd, *[empty] * 40]))
    assert found.n_uncompared == 40
    assert len(set(found.labels[501:].tolist())) == 40


def test_new_items_join_the_group_of_a_known_row_however_often_it_is_there(pipeline) -> None:
    rows = persons(900)
    listed = [rows[0]] * 300 + rows[1:] + [rows[0]] * 60
    table = replace(table_of(listed), ids=[f"i{k}" for k in range(len(listed))])
    groups = {f"i{k}": "many" if k < 300 else f"g{k}" for k in range(300 + 899)}
    found = place_items(pipeline, table, groups)
    assert {found.groups[f"i{k}"] for k in range(1199, 1259)} == {"many"}
    assert found.n_uncompared == 0


def test_new_copies_of_an_unknown_row_open_one_group(pipeline) -> None:
    rows = persons(900)
    listed = [*rows[1:], *[rows[0]] * 60]
    table = replace(table_of(listed), ids=[f"i{k}" for k in range(len(listed))])
    found = place_items(pipeline, table, {f"i{k}": f"g{k}" for k in range(899)})
    assert len({found.groups[f"i{k}"] for k in range(899, 959)}) == 1


def test_linked_copies_have_scores(pipeline) -> None:
    rows = persons(700)
    first, second = table_of([rows[0]] * 30 + rows[1:]), table_of([rows[0]] * 3 + rows[1:400])
    found = link(pipeline, first, second, one_to_one=False)
    copies = (found.pairs[:, 0] < 30) & (found.pairs[:, 1] < 3)
    assert np.count_nonzero(copies) == 90
    assert len(set(found.scores[copies].tolist())) == 1
    assert np.isfinite(found.scores[copies]).all()


def test_a_fit_with_many_copies_learns_from_them() -> None:
    rows = persons(400)
    listed = [rows[0]] * 3000 + rows[1:]
    labels = ["many"] * 3000 + [f"p{k // 2}" for k in range(399)]
    order = np.random.default_rng(0).permutation(len(listed))
    table = replace(table_of([listed[a] for a in order]), labels=[labels[a] for a in order])
    recipe = Recipe(C=1.0, calibrate=False).fit([table])
    made = recipe.pipeline_[0].transform([table], most_copies=10)[0]
    assert made.n_pairs < 80 * len(rows)
    found = recipe.group(replace(table, labels=None))
    assert len(set(found.labels[order < 3000].tolist())) == 1


def test_a_table_without_pairs_has_the_header_of_its_pairs(pipeline) -> None:
    rows = persons(40)
    few, none = (table_of(rows[:n]) for n in (3, 1))
    columns = [list(next(scored_pairs(pipeline, t, group(pipeline, t, pairs=True)))) for t in (few, none)]
    assert columns[0] == columns[1]


def test_pairs_of_equal_rows_count_as_compared(pipeline) -> None:
    rows = persons(400)
    labels = ["a"] * 300 + [f"b{k}" for k in range(399)]
    table = replace(table_of([rows[0]] * 300 + rows[1:]), labels=labels)
    found = blocking_recall(pipeline, [table])
    assert found is not None
    assert found["recall"] == 1.0


@pytest.mark.parametrize(("n", "block"), [(200, 1000), (200, 0), (600, 300)])
def test_without_labels_rows_that_stand_there_twice_are_grouped_like_rows_that_stand_there_once(n, block):
    once = table_of(persons(n))
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(n), 2))
    alone = fit_without_labels(Recipe(block=block), [once])
    twice = fit_without_labels(Recipe(block=block), [once.take(order)])
    wanted, found = alone.predict([once])[0], twice.predict([once.take(order)])[0]
    assert len(set(zip(wanted[order].tolist(), found.tolist(), strict=True))) == len(set(found.tolist()))
    assert len(set(wanted.tolist())) == len(set(found.tolist())) < n


def test_judgements_of_copies_count():
    table = table_of(persons(100) * 2)
    known = Evidence.of_pairs(200, same=[(3, 100)], different=[(101, 4)])
    asked = fit_without_labels(Recipe(), [table], evidence=[known])
    answers = asked.pipeline_[-1]._learned.rows.answers([known])
    assert np.count_nonzero(answers.judged) == 2
    assert not np.allclose(asked.pipeline_[-1].w_, fit_without_labels(Recipe(), [table]).pipeline_[-1].w_)


@pytest.mark.filterwarnings("ignore::clustruct.core.exceptions.ReliabilityWarning")
@pytest.mark.parametrize("distinct", [5, 8])
def test_a_table_of_hardly_any_distinct_rows_is_grouped_without_labels(distinct):
    table = table_of(persons(distinct) * 5)
    labels = fit_without_labels(Recipe(), [table]).predict([table])[0]
    assert len(set(zip(labels.tolist(), list(range(distinct)) * 5, strict=True))) == distinct


def test_the_guess_under_labels_is_learned_from_distinct_rows():
    once = table_of(persons(100))
    features = fit_features(Recipe(block=0), [once], whole=True)
    x = features.transform([once])[0]
    rows = all_pairs(200) % 100
    same = rows[:, 0] == rows[:, 1]
    values = np.ones((len(rows), x.n_features))
    values[~same] = x.pairs[x.rows_of(np.sort(rows[~same], axis=1))]
    twice = ItemSet(pairs=values, equal_rows=EqualRows.of(np.arange(200) % 100))
    wanted = guess_weights(features, x, None, 0)
    assert guess_weights(features, twice, None, 0) == pytest.approx(wanted)
    assert guess_weights(features, ItemSet(pairs=values), None, 0) != pytest.approx(wanted, rel=0.1)


def test_item_sets_know_which_items_are_equal_for_some_of_them_too():
    equal = EqualRows.of(np.array([0, 1, 0, 1, 2]))
    x = ItemSet(pairs=np.ones((10, 1)), equal_rows=equal)
    assert x.subset([4, 3, 1]).equal_rows.row.tolist() == [0, 1, 1]
    with pytest.raises(ValueError, match="5 rows for 4 items"):
        ItemSet(pairs=np.ones((6, 1)), equal_rows=equal)
