"""The recipe does what the command does, and is an estimator like others."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from clustruct import PairFeatures, Recipe, SupervisedCorrelationClustering, Table, load, read_sets, save
from clustruct.cli.main import main
from clustruct.core.callbacks import Callback, training_callback
from clustruct.core.exceptions import DataError, NoLabels
from clustruct.data.datasets import make_news, make_records
from clustruct.data.io import write_sets
from clustruct.data.row_order import sort_rows
from clustruct.features import guess_blocks
from clustruct.pipeline import LEARNERS, PART_SIZE

SETS = make_records(n_sets=6, n_people=6)
NEWS = make_news(n_sets=6, n_stories=3, most=4)


def same(first, second):
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ("", {}),
        ("--C 1 --learner pairs", {"learner": "pairs"}),
        ("--C 1 --learner kmeans", {"learner": "kmeans", "C": 1.0}),
        ("--C 1 --merge-cost 3 --fields name,city", {"C": 1, "merge_cost": 3.0, "fields": ["name", "city"]}),
        ("--C 1 --block 10 --neighbours 4 --seed 1",
         {"C": 1, "block": 10, "n_neighbors": 4, "random_state": 1}),
        ("--C 1 --loss mitre --scaling slack --predictor greedy",
         {"C": 1.0, "loss": "mitre", "scaling": "slack", "predictor": "greedy"}),
    ],
)  # fmt: skip
def test_same_groups_as_the_command(tmp_path, options, parameters):
    """Read, fit, predict in Python and on the command line."""
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    write_sets(train, SETS[:4])
    write_sets(test, SETS[4:])
    named = {"set": "set", "id": "id", "cluster": "cluster"}
    columns = [word for name in named for word in (f"--{name}", name)]
    model, out = str(tmp_path / "m"), str(tmp_path / "groups.csv")
    assert main(["fit", str(train), *columns, "--quiet", "--model", model, *options.split()]) == 0
    assert main(["predict", str(test), "--quiet", "--model", model, "--out", out]) == 0
    with open(out, newline="") as f:
        by_command = [int(row["cluster"]) for row in csv.DictReader(f)]
    recipe = Recipe(**parameters).fit(read_sets(train, **named))
    found = recipe.predict(read_sets(test, **named, labels="ignored"))
    assert np.concatenate(found).tolist() == by_command


def test_the_pipeline_is_that_of_the_parts():
    """Guessed blocks and the estimator, put together by hand."""
    by_hand = make_pipeline(PairFeatures(guess_blocks(SETS[:4])), SupervisedCorrelationClustering(C=1.0))
    in_order = [sort_rows(table) for table in SETS[:4]]
    by_hand.fit(in_order, [table.labels for table in in_order])
    recipe = Recipe(C=1.0).fit(SETS[:4])
    np.testing.assert_array_equal(recipe.pipeline_[-1].w_, by_hand[-1].w_)
    assert same(recipe.predict(SETS[4:]), by_hand.predict(SETS[4:]))
    assert recipe.score(SETS[4:]) == by_hand.score(SETS[4:], [table.labels for table in SETS[4:]])


@pytest.mark.parametrize("n_labelled", [25, 40])
def test_the_model_does_not_depend_on_the_order_of_the_rows(n_labelled):
    table = make_records(n_sets=1, n_people=40, errors=0.5, random_state=3)[0]
    known = [label if int(label[1:]) < n_labelled else None for label in table.labels]
    table = replace(table, labels=known)
    order = np.random.default_rng(0).permutation(len(table))
    first, second = (Recipe().fit([t]) for t in (table, table.take(order)))
    assert first.pipeline_[-1].C_ == second.pipeline_[-1].C_
    np.testing.assert_array_equal(first.pipeline_[-1].w_, second.pipeline_[-1].w_)
    assert same(first.predict([table]), second.predict([table]))


def test_sorted_rows_keep_their_labels_and_ids():
    def rows(table):
        return [*zip(map(dict, table.items), table.labels, strict=True)]

    table = make_records(n_sets=1)[0]
    other = sort_rows(table.take(np.random.default_rng(1).permutation(len(table))))
    assert rows(other) == rows(sort_rows(table)) != rows(table)
    by_id = dict(zip(table.ids, rows(table), strict=True))
    assert [by_id[id] for id in other.ids] == rows(other)
    numbered = sort_rows(Table([{"x": 3.0}, {"x": 1.0}, {"x": None}]))
    assert list(numbered.item_ids) == [3, 2, 1]


def test_labels_may_come_as_y():
    bare = [Table(table.items, ids=table.ids) for table in SETS[:4]]
    labels = [table.labels for table in SETS[:4]]
    first, second = Recipe(C=1.0).fit(SETS[:4]), Recipe(C=1.0).fit(bare, labels)
    np.testing.assert_array_equal(first.pipeline_[-1].w_, second.pipeline_[-1].w_)
    assert second.score(bare, labels) == first.score(SETS[:4])


def test_a_single_set_is_cut_by_whole_clusters():
    whole = make_records(n_sets=1, n_people=30)[0]
    recipe = Recipe(C=1.0, parts=4)
    parts = recipe.cut(whole)
    assert len(parts) == 4
    owners = [{table.labels[a] for a in range(len(table))} for table in parts]
    assert sum(map(len, owners)) == len(set(whole.labels))
    assert sorted(name for table in parts for name in table.ids) == sorted(whole.ids)
    recipe.fit([whole])
    assert recipe.was_cut_
    assert (recipe.training_["sets"], recipe.training_["items"]) == (4, len(whole))
    assert not Recipe(C=1.0).fit(SETS[:2]).was_cut_
    assert len(Recipe(parts=None).cut(whole)) == max(5, round(len(whole) / PART_SIZE))


def test_groups_are_held_out_together():
    """By default those of the sets: two days in a row."""
    found = Recipe(C=1.0).cross_predict(NEWS, folds=3)
    assert sorted(i for fold in found.folds for i in fold) == list(range(6))
    assert {frozenset(fold) for fold in found.folds} == {frozenset(p) for p in ((0, 1), (2, 3), (4, 5))}
    own = Recipe(C=1.0).cross_predict(NEWS, groups=[0, 1, 2, 0, 1, 2], folds=3)
    assert {frozenset(fold) for fold in own.folds} == {frozenset(p) for p in ((0, 3), (1, 4), (2, 5))}


def test_held_out_sets_are_predicted_by_models_that_have_not_seen_them():
    found = Recipe(C=1.0).cross_predict(NEWS, folds=3)
    for fold in found.folds:
        kept = [table for i, table in enumerate(NEWS) if i not in fold]
        again = Recipe(C=1.0).fit(kept).predict([NEWS[i] for i in fold])
        assert same([found.labels[i] for i in fold], again)


def test_scikit_learn_can_clone_and_search():
    recipe = Recipe(C=1.0, fields=["name", "street"], learner="pairs")
    assert clone(recipe).get_params() == recipe.get_params()
    search = GridSearchCV(Recipe(C=1.0), {"learner": ["correlation", "pairs"]}, cv=2)
    search.fit(SETS, [table.labels for table in SETS])
    assert search.best_score_ > 0.9
    with pytest.raises(NotFittedError):
        Recipe().predict(SETS)


def test_an_estimator_of_ones_own_is_a_learner():
    own = SupervisedCorrelationClustering(C=2.0)
    recipe = Recipe(learner=own).fit(SETS[:4])
    assert recipe.training_["C"] == 2.0
    assert not hasattr(own, "w_")


def test_a_learner_joins_by_a_line(monkeypatch, tmp_path):
    """The recipe and the command know it by its name."""

    class Cautious(SupervisedCorrelationClustering):
        def __init__(self, C=0.5, random_state=0):
            super().__init__(C=C, random_state=random_state)

    monkeypatch.setitem(LEARNERS, "cautious", Cautious)
    assert isinstance(Recipe(learner="cautious", C=0.1).fit(SETS[:4]).pipeline_[-1], Cautious)
    write_sets(tmp_path / "a.jsonl", SETS[:4])
    assert (
        main(
            ["cv", str(tmp_path / "a.jsonl"), "--learner", "cautious", "--C", "1", "--folds", "2", "--quiet"]
        )
        == 0
    )


@pytest.mark.parametrize("learner", LEARNERS)
def test_saved_and_loaded_it_is_the_same(tmp_path, learner, capsys):
    recipe = Recipe(learner=learner, C=1.0, fields=["name", "street"], n_jobs=1).fit(SETS[:4])
    save(tmp_path / "m", recipe)
    again = load(tmp_path / "m")
    assert again.get_params() == {**recipe.get_params(), "n_jobs": None}
    assert (again.was_cut_, again.training_) == (recipe.was_cut_, recipe.training_)
    assert same(again.predict(SETS[4:]), recipe.predict(SETS[4:]))
    # The commands take the file of a recipe as that of its pipeline.
    write_sets(tmp_path / "test.jsonl", SETS[4:])
    assert (
        main(["predict", str(tmp_path / "test.jsonl"), "--model", str(tmp_path / "m"), "--json", "--quiet"])
        == 0
    )
    printed = json.loads(capsys.readouterr().out)["sets"]
    assert same([one["clusters"] for one in printed], recipe.predict(SETS[4:]))


def test_an_unfitted_recipe_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save(tmp_path / "m", Recipe())


def test_facts_of_training_are_plain_values():
    facts = Recipe().fit(SETS[:4]).training_
    assert json.loads(json.dumps(facts)) == facts
    assert facts["held_out_loss"] >= 0.0
    assert (facts["sets"], facts["interrupted"], facts["stop_reason"]) == (4, False, "converged")


def test_a_callback_hears_of_features_and_rounds():
    class Heard(Callback):
        stages = ()

        def on_step(self, stage, done, total):
            self.stages += ((stage, done, total),)

        def on_begin(self, training):
            self.stages += ((training.stage,),)

    heard = Heard()
    with training_callback(heard):
        Recipe(C=1.0).fit(SETS[:2])
    assert heard.stages == (("features", 0, 2), ("features", 1, 2), ("training",))


@pytest.mark.parametrize(
    ("sets", "fault", "message"),
    [
        ([], DataError, "no sets"),
        ([Table([{"a": 1}, {"a": 2}])], NoLabels, "has no labels"),
        ([Table([{"a": 1}], labels=[0])], DataError, "no set has two items"),
        ([Table([{"a": 1}, {"a": 2}], labels=[0, 0])], DataError, "in one cluster"),
        ([Table([{"a": 1}, {"a": 2}], labels=[0, 1])], DataError, "no two items share"),
        ([{"a": 1}], TypeError, "takes Tables, not dict"),
    ],
)
def test_what_nothing_can_be_learned_from_is_refused(sets, fault, message):
    with pytest.raises(fault, match=message):
        Recipe().fit(sets)


def test_parameters_are_refused_by_name():
    with pytest.raises(ValueError, match="learner must be one of correlation, agglomerative, kmeans"):
        Recipe(learner="magic").fit(SETS)
    with pytest.raises(ValueError, match="merge_cost goes with the pairwise loss only"):
        Recipe(loss="mitre", merge_cost=2.0).fit(SETS)
    with pytest.raises(ValueError, match="6 sets but 1 label vectors"):
        Recipe().fit(SETS, [[1]])
    with pytest.raises(ValueError, match="two sets at least"):
        Recipe(parts=1).cross_predict(SETS[:1])


def test_a_small_labelled_table_is_learned_from_as_a_whole():
    """In a fifth of the table an item has a fifth of those that it may be confused with: what was held out in
    parts looked better than the next table.
    """
    table, fresh = (make_records(n_sets=1, n_people=60, random_state=seed)[0] for seed in (0, 1))
    recipe = Recipe().fit([table])
    assert not recipe.was_cut_
    assert recipe.training_["held_out"] == "clusters"
    truth, found = (np.asarray(y) for y in (fresh.labels, recipe.predict([fresh])[0]))
    same, together = (y[:, None] == y for y in (truth, found))
    n = len(truth)
    f = 2 * ((same & together).sum() - n) / (same.sum() + together.sum() - 2 * n)
    assert recipe.training_["held_out_low"] - 0.02 <= f <= recipe.training_["held_out_high"] + 0.02


def test_with_a_given_c_a_table_is_learned_from_as_a_whole_too():
    """In parts of it the score depended on which rows were in one part by chance."""
    tables = [make_records(n_sets=1, n_people=60, random_state=seed)[0] for seed in range(6)]
    scores = []
    for parts in (None, 5):
        recipes = [Recipe(C=1.0, loss="pairwise_f", calibrate=False, parts=parts).fit([t]) for t in tables]
        assert {(r.was_cut_, r.training_["sets"]) for r in recipes} == {(parts is not None, parts or 1)}
        scores.append(np.mean([r.score([t]) for r, t in zip(recipes, tables[1:] + tables[:1], strict=True)]))
    assert scores[0] > scores[1]
    few = make_records(n_sets=1, n_people=6)[0]
    assert Recipe(C=1.0).fit([few]).was_cut_
