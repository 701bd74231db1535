"""Labelled pairs as other tools write them, taken as they are."""

import json
from dataclasses import replace

import numpy as np
import pytest

from clustruct import Recipe
from clustruct.core.exceptions import DataError, DataWarning
from clustruct.data import Table
from clustruct.data.datasets import make_records
from clustruct.groups import corrections, read_labels


def table(ids="abcde"):
    words = ("Ann  Lee", "ann lee.", "Bób", "bob", "cy")
    return Table([{"name": word, "age": n // 2} for n, word in enumerate(words)], ids=list(ids))


@pytest.fixture
def written(tmp_path):
    def write(text, name="f.csv"):
        (tmp_path / name).write_text(text if isinstance(text, str) else json.dumps(text))
        return tmp_path / name

    return write


def kinds(path, **more):
    return [(d.items, d.kind) for d in read_labels(path, **more).decisions]


def test_splink_with_scores_and_tables(written):
    head = "source_dataset_l,unique_id_l,source_dataset_r,unique_id_r,clerical_match_score\n"
    path = written(head + "t,0,t,1,0.98\nt,0,t,2,0.0\nt,1,t,2,0.5\nt,2,t,3,1.0\n")
    expected = [(("0", "1"), "same"), (("0", "2"), "different"), (("1", "2"), "unsure"), (("2", "3"), "same")]
    assert kinds(path) == expected


def test_splink_of_two_tables_that_share_ids(written):
    head = "source_dataset_l,unique_id_l,source_dataset_r,unique_id_r,clerical_match_score\n"
    path = written(head + "left,1,right,1,1\nleft,2,right,1,0\n")
    both = Table([{"t": n} for n in range(4)], ids=["left.csv:1", "left.csv:2", "right.csv:1", "right.csv:2"])
    (known,) = corrections([both], path).evidence
    assert known.piece[0] == known.piece[2]
    assert known.apart.tolist() == [[known.piece[1], known.piece[2]]]


@pytest.mark.parametrize(
    "head", ["rec_id_1,rec_id_2", "level_0,level_1", "0,1", "id_x,id_y", "leftId,rightId", "Id1,Id2"]
)
def test_two_columns_of_ids_are_pairs_that_are_the_same(written, head):
    assert kinds(written(f"{head}\na,b\nc,d\n")) == [(("a", "b"), "same"), (("c", "d"), "same")]


def test_an_index_of_two_levels_with_labels(written):
    assert kinds(written(",,label\na,b,1\nc,d,0\n")) == [(("a", "b"), "same"), (("c", "d"), "different")]


def test_pairs_with_fields_beside_them(written):
    path = written("width_l,name_l,record_id_l,width_r,name_r,record_id_r,is_match\n1,x,a,1,y,b,TRUE\n")
    assert kinds(path) == [(("a", "b"), "same")]


def test_columns_that_nobody_knows_are_named(written):
    path = written("first,second,opinion\na,b,0.9\nb,c,0.1\n")
    with pytest.raises(DataError, match="there is no column of"):
        kinds(path)
    named = {"pair": ("first", "second"), "answer": "opinion"}
    assert kinds(path, **named) == [(("a", "b"), "same"), (("b", "c"), "different")]
    assert corrections([table()], path, **named).n_same == 1
    with pytest.raises(DataError, match="no column of ids \\('third'\\); there are first, second"):
        kinds(path, pair=("first", "third"), answer="opinion")


def test_pairs_without_an_answer_are_counted(written):
    with pytest.warns(DataWarning, match=r"1 pair without an answer \('label'\) do not count"):
        assert len(kinds(written("id1,id2,label\na,b,1\nb,c,\n"))) == 1


def test_pairs_of_items_that_are_not_there_are_counted(written):
    path = written("id1,id2,label\na,b,1\nb,zz,0\nyy,zz,1\n")
    with pytest.warns(DataWarning, match=r"2 of 3 labelled pairs name items .* \('zz', 'yy'\): they do not"):
        found = corrections([table()], path)
    assert (found.n_same, found.n_different) == (1, 0)
    with pytest.raises(DataError, match="names 'q', and there is no such item"):
        corrections([table()], written("id1,id2,label\na,q,1\n"))


def test_ids_that_were_written_as_floating_point_numbers(written):
    found = corrections([table("12345")], written("id1,id2,label\n1.0,2.0,1\n"))
    assert found.n_same == 1


def training(tuples=False):
    def pair(a, b):
        return {"__class__": "tuple", "__value__": [a, b]} if tuples else [a, b]

    rows = [{"name": "ann lee", "age": 0}, {"name": "ANN LEE", "age": "0"}, {"name": "bob", "age": 1.0}]
    missing = {"name": "nobody", "age": None}
    return {"distinct": [pair(rows[0], rows[2]), pair(rows[0], missing)], "match": [pair(rows[0], rows[1])]}


@pytest.mark.parametrize("tuples", [False, True])
def test_dedupe_has_records_by_their_values(written, tuples):
    people = Table(
        [{"name": n, "age": a} for n, a in (("Ann Lee", "0"), ("ann  lee", 0), ("Bób", 1), ("cy", 1))]
    )
    with pytest.warns(DataWarning, match="1 of 3 labelled pairs have a record that is no row of the data"):
        found = corrections([people], written(training(tuples), "training.json"))
    (known,) = found.evidence
    assert (found.n_same, found.n_different) == (1, 1)
    assert known.piece.tolist() == [0, 0, 1, -1]
    assert len(known.apart) == 1


def test_dedupe_of_records_with_sets_and_signs(written):
    people = Table(
        [{"name": "O'Neil, Ann", "tags": ["x"]}, {"name": "oneil ann", "tags": ["x"]}], ids=["p", "q"]
    )
    tags = {"__class__": "frozenset", "__value__": ["x"]}
    held = {"match": [[{"name": "o'neil ann", "tags": tags}, {"name": "oneil ann", "tags": tags}]]}
    assert corrections([people], written(held, "t.json")).n_same == 1


@pytest.mark.parametrize(
    ("held", "told"),
    [
        ("[1, 2", "not JSON"),
        ([1, 2], 'an object with lists "match" and "distinct"'),
        ({"match": [], "distinct": []}, "there are no labels"),
        ({"match": [[{"a": 1}]]}, "no pair of records"),
        ({"match": [[{"name": "x"}, {"name": "y"}]]}, "no two records of a labelled pair are rows"),
        ({"match": [[{"other": "x"}, {"other": "y"}]]}, "no two records of a labelled pair are rows"),
    ],
)
def test_bad_training_of_dedupe(written, held, told):
    with pytest.raises(DataError, match=told):
        corrections([table()], written(held, "t.json"))


def test_the_most_consistent_pairs_count_by_majority(written):
    """One wrong "same" ties two groups of three together: of ten answers it is left out, and named."""
    rows = ["a,b,1", "b,c,1", "a,c,1", "d,e,1", "c,d,1", "a,d,0", "b,e,0", "a,e,0"]
    path = written("id1,id2,label\n" + "\n".join(rows))
    with pytest.raises(DataError, match=r"different, but .* \(--disagreement majority"):
        corrections([table()], path)
    found = corrections([table()], path, disagreement="majority")
    assert (found.n_same, found.n_different) == (4, 3)
    assert len(found.notes) == 1
    assert "says 'c' and 'd' are the same, which most others contradict" in found.notes[0]


@pytest.mark.parametrize("wrong", [0.0, 0.05])
def test_a_file_of_dedupe_is_learned_from(tmp_path, wrong):
    """Hundreds of pairs by value, one in twenty of them wrong: the groups are as good as without them."""
    (people,) = make_records(n_sets=1, n_people=60, random_state=3)
    rng, y = np.random.default_rng(0), people.labels
    pairs = {"match": [], "distinct": []}
    for a, b in rng.integers(0, len(y), (3000, 2)).tolist():
        same = y[a] == y[b]
        if a < b and (same or rng.random() < 0.05):
            pairs["match" if same != (rng.random() < wrong) else "distinct"].append(
                [people.items[a], people.items[b]]
            )
    (tmp_path / "t.json").write_text(json.dumps(pairs))
    bare = replace(people, labels=None)
    found = corrections([bare], tmp_path / "t.json", disagreement="majority")
    recipe = Recipe().fit(found.sets, corrections=found.evidence)
    assert recipe.score([people]) > 0.98
