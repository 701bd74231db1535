"""Corrections of files and stores as something to learn from."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from clustruct import Recipe
from clustruct.core.exceptions import DataError
from clustruct.data import Table
from clustruct.data.datasets import make_records
from clustruct.groups import Decision, Item, KnownItems, State, Store, corrections


def table(labels: list[str | None] | None = None) -> Table:
    items = [{"t": word} for word in ("ann", "anne", "bob", "bobby", "cy")]
    return Table(items, labels, ids=list("abcde"))


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_pairs_become_evidence(tmp_path: Path) -> None:
    path = written(tmp_path / "fix.csv", "a,b,answer\na,b,yes\nb,c,no\nd,e,unsure\n")
    found = corrections([table()], path)
    (known,) = found.evidence
    assert known is not None
    assert known.piece[0] == known.piece[1] != known.piece[2]
    assert known.named.all()
    assert (found.n_same, found.n_different, found.n_unsure) == (1, 1, 1)
    assert known.unsure.tolist() == [[3, 4]]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b,answer\na,zz,yes\n", r"decision 1 \(line 2 of .*fix.csv\) names 'zz', and there is no such"),
        ("a,b,answer\na,b,yes\nb,c,yes\na,c,no\n", r"line 4 of .* 'a' and 'c' are different, but .*line 2"),
        ("a,b,answer,author\na,b,yes,ann\na,b,no,bob\n", r"line 3 of .*by bob.* but .*line 2 of .*by ann"),
        ("a,b,answer\na,b,perhaps\n", r"fix.csv:2: 'perhaps' is no answer"),
        ("decision,group,into\nmerge,g,h\n", r"line 2 of .*names 'g', 'h', and no set has"),
        ("decision,a,b,undoes\nsame,a,b,\nundo,,,7\n", r"line 3 of .*undoes decision 7, but there is none"),
    ],
)
def test_what_is_wrong_is_named_by_file_line_and_items(tmp_path: Path, text: str, told: str) -> None:
    path = written(tmp_path / "fix.csv", text)
    with pytest.raises(DataError, match=told):
        corrections([table()], path)


def test_two_files_that_disagree_are_told_of_unless_the_majority_counts(tmp_path: Path) -> None:
    one = written(tmp_path / "one.csv", "a,b,answer,author\na,b,yes,ann\n")
    two = written(tmp_path / "two.csv", "a,b,answer,author\na,b,no,bob\na,b,no,eve\n")
    with pytest.raises(DataError, match=r"two.csv.*one.csv"):
        corrections([table()], one, two)
    found = corrections([table()], one, two, disagreement="majority")
    assert (found.n_same, found.n_different) == (0, 1)


def test_labels_that_contradict_do_not_count_and_are_noted(tmp_path: Path) -> None:
    path = written(tmp_path / "fix.csv", "a,b,answer\na,b,no\n")
    found = corrections([table(["x", "x", "y", "y", None])], path)
    assert found.sets[0].labels == [None, None, "y", "y", None]
    assert len(found.notes) == 2
    assert "contradicts the corrections" in found.notes[0]


def test_decisions_about_groups_change_labels(tmp_path: Path) -> None:
    text = "decision,a,group,into\nmove,e,,y\nmerge,,x,y\n"
    found = corrections([table(["x", "x", "y", "y", "z"])], written(tmp_path / "fix.csv", text))
    assert found.sets[0].labels == ["y"] * 5


def test_decisions_may_name_groups_that_others_made(tmp_path: Path) -> None:
    text = "decision,a,group,into\nsplit,b,x,new\nmerge,,z,new\n"
    found = corrections([table(["x", "x", "y", "y", "z"])], written(tmp_path / "fix.csv", text))
    assert found.sets[0].labels == ["x", "new", "y", "y", "new"]


def test_an_undone_decision_says_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "fix.csv", "decision,a,b,undoes\nsame,a,b,\ndifferent,a,c,\nundo,,,1\n")
    found = corrections([table()], path)
    assert (found.n_same, found.n_different) == (0, 1)


def test_groups_that_people_saw_are_not_labels_but_shown(tmp_path: Path) -> None:
    seen = KnownItems(table(), State.start({"a": "g", "b": "g", "c": "g", "d": "h"}))
    path = written(tmp_path / "fix.csv", 'decision,group,items\nsplit,g,"[""c""]"\n')
    found = corrections([], path, seen=[seen])
    assert found.sets[0].labels is None
    known = found.evidence[0]
    assert known is not None
    assert known.shown is not None
    assert known.shown.tolist() == [0, 0, 1, 2, 3]


def test_groups_by_one_person_are_labels_of_items_that_have_none(tmp_path: Path) -> None:
    path = written(tmp_path / "some.csv", "id,cluster\na,1\nb,1\nc,\n")
    found = corrections([table()], path)
    labels = found.sets[0].labels
    assert labels is not None
    assert labels[0] == labels[1] is not None
    assert labels[2] is None
    with pytest.raises(DataError, match="names the item 'q'"):
        corrections([table()], written(tmp_path / "other.csv", "id,cluster\nq,1\n"))


def test_a_store_brings_its_own_items(tmp_path: Path) -> None:
    with Store.create(tmp_path / "s.db") as store:
        store.add_items([Item(name, {"t": name}) for name in "pqr"])
        store.record_run({"p": "g", "q": "g", "r": "h"})
        store.decide(Decision("split", ("q",), group="g"))
        store.decide(Decision("confirm", group="h"))
    found = corrections([table(["x", "x", "y", "y", "z"])], tmp_path / "s.db")
    assert [len(raw) for raw in found.sets] == [5, 3]
    known = found.evidence[1]
    assert found.evidence[0] is None
    assert known is not None
    assert known.shown is not None
    assert known.shown.tolist() == [0, 1, 2]
    assert known.complete[known.piece[2]]


@pytest.fixture(scope="module")
def sets() -> list[Table]:
    made = make_records(n_sets=6, n_people=6, random_state=3)
    return [replace(raw, ids=[f"s{s}:{a}" for a in range(len(raw))]) for s, raw in enumerate(made)]


def pairs_file(path: Path, raw: Table) -> Path:
    y, rows = list(raw.labels or ()), ["a,b,answer"]
    ids = [str(i) for i in raw.item_ids]
    for a in range(len(raw)):
        for b in range(a):
            rows.append(f"{ids[a]},{ids[b]},{'yes' if y[a] == y[b] else 'no'}")
    return written(path, "\n".join(rows))


def test_pairs_alone_are_enough_to_learn_from(tmp_path: Path, sets: list[Table]) -> None:
    bare = replace(sets[0], labels=None)
    found = corrections([bare], pairs_file(tmp_path / "pairs.csv", sets[0]))
    recipe = Recipe(C=1.0).fit(found.sets, corrections=found.evidence)
    assert recipe.score(sets[1:]) > 0.8


def test_a_fit_that_goes_on_keeps_features_and_C_and_starts_near(tmp_path: Path, sets: list[Table]) -> None:
    first = Recipe(C=1.0).fit(sets[:3])
    found = corrections(
        [*sets[:3], replace(sets[3], labels=None)], pairs_file(tmp_path / "pairs.csv", sets[3])
    )
    again = Recipe(C=1.0).fit(found.sets, corrections=found.evidence, start=first.pipeline_)
    one, two = first.pipeline_[-1], again.pipeline_[-1]
    assert one.C_ == two.C_
    np.testing.assert_array_equal(one.feature_scale_, two.feature_scale_)
    assert again.score(sets[4:]) > 0.8
    # Nothing new: the planes of the first fit are those of the optimum.
    same = Recipe(C=1.0).fit(sets[:3], start=first.pipeline_)
    assert same.pipeline_[-1].result_.n_iter <= max(3, one.result_.n_iter // 2)
    np.testing.assert_allclose(same.pipeline_[-1].w_, one.w_, atol=0.05 * np.abs(one.w_).max())


def test_the_model_given_stays_as_it_is(sets: list[Table]) -> None:
    first = Recipe(C=1.0).fit(sets[:3])
    before = first.pipeline_[-1].w_.copy()
    Recipe(C=1.0).fit(sets[:4], start=first.pipeline_)
    np.testing.assert_array_equal(first.pipeline_[-1].w_, before)
