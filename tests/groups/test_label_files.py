"""One reader for labels as people have them; what is wrong with a file is named by its line."""

import json

import pytest

from clustruct.core.exceptions import DataError
from clustruct.groups import Decision, read_decisions, read_labels, settle, write_decisions

ALL = [
    Decision("same", ("a", "b"), author="ann", time="2026-01-02T03:04:05Z", number=1, note='says\n"so", she'),
    Decision("different", ("a", "[c"), number=2),
    Decision("unsure", ("a", "d"), number=4),
    Decision("move", ("a", "b", "c, d"), into="g", number=5),
    Decision("move", ('["a"]',), number=6),
    Decision("merge", group="g", into="h", number=7),
    Decision("split", ("x",), group="h", into="k", number=8),
    Decision("confirm", group="k", number=9),
    Decision("note", note="all done", number=10),
    Decision("undo", undoes=9, number=11),
    Decision("sort", piles=(("a", "[b", "c, d"), ('["a"]',)), author="ann", number=12),
]


def bare(decision):
    return {**decision.__dict__, "source": "", "line": None}


@pytest.fixture
def written(tmp_path):
    def write(text, name="f.csv"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


@pytest.mark.parametrize("name", ["log.csv", "log.tsv", "log.jsonl"])
def test_decisions_come_back_from_every_format(tmp_path, name):
    write_decisions(tmp_path / name, ALL)
    assert [bare(d) for d in read_decisions(tmp_path / name)] == [bare(d) for d in ALL]
    assert [bare(d) for d in read_labels(tmp_path / name).decisions] == [bare(d) for d in ALL]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("sam,a,b,,,,", "a decision is one of same, .* not 'sam'"),
        ("same,a,,,,,", r"same takes two items \(a and b\), not 1"),
        ("same,a,a,,,,", "same: the item 'a' is named twice"),
        ("merge,,,g,g,,", "merge takes two groups"),
        ("merge,,,g,,,", "merge takes two groups"),
        ("split,,,g,,,", "split takes items"),
        ("confirm,,,,,,", "confirm takes a group"),
        ("undo,,,,,,", "undo takes the number"),
        ("undo,,,,,,x", "'undoes' must be a number from 1 on, not 'x'"),
        ("undo,,,,,,0", "'undoes' must be a number"),
        ('split,,,g,,"[1",', "'items' is not a JSON list"),
        ('split,,,g,,"[[1]]",', "'items' must be a list of ids"),
        (",a,b,,,,", "a decision is one of"),
    ],
)
def test_bad_decisions_are_named_by_line(written, row, said):
    path = written(f"decision,a,b,group,into,items,undoes\nsame,a,b,,,,\n{row}\n")
    with pytest.raises(DataError, match=rf"f\.csv:3: {said}"):
        read_decisions(path)


def test_bad_files_of_decisions(written):
    with pytest.raises(DataError, match=r"f.csv:3: the number 4 is also that of line 2"):
        read_decisions(written("number,decision,a,b\n4,same,a,b\n4,same,a,c\n"))
    with pytest.raises(DataError, match=r"there is no column .* 'decision'; there are a, b"):
        read_decisions(written("a,b\n1,2\n"))
    with pytest.raises(DataError, match=r"f.jsonl:1: not JSON"):
        read_decisions(written("{\n", "f.jsonl"))
    with pytest.raises(DataError, match=r"f.jsonl:1: 'a' must be a text, not \[1\]"):
        read_decisions(written(json.dumps({"decision": "same", "a": [1], "b": "x"}), "f.jsonl"))
    with pytest.raises(DataError, match=r"f.txt: unknown kind of file"):
        read_decisions(written("", "f.txt"))


@pytest.mark.parametrize(
    "names", [("a", "b", "answer"), ("id1", "id2", "label"), ("ltable_id", "rtable_id", "gold")]
)
def test_pairs_by_any_of_their_names(written, names):
    found = read_labels(written(",".join(names) + "\n1,2,Yes\n2,3,0\n1,4,?\n"))
    assert found.form == "pairs"
    assert [(d.items, d.kind, d.line) for d in found.decisions] == [
        (("1", "2"), "same", 2),
        (("2", "3"), "different", 3),
        (("1", "4"), "unsure", 4),
    ]


def test_pairs_of_columns_that_are_named(written):
    path = written('{"x": 1, "y": 2, "v": true, "who": "ann"}\n', "f.jsonl")
    (found,) = read_labels(path, pair=("x", "y"), answer="v", author="who").decisions
    assert (found.items, found.kind, found.author) == (("1", "2"), "same", "ann")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b,answer\nx,y,perhaps\n", "f.csv:2: 'perhaps' is no answer"),
        ("a,b,answer\nx,,yes\n", "f.csv:2: the pair has no id in the column 'b'"),
        ("a,b,answer\nx,x,yes\n", "f.csv:2: same: the item 'x' is named twice"),
        ("a,b,colour\nx,y,yes\n", "f.csv:1: there is no column of answers"),
        ("id,colour\nx,y\n", "f.csv:1: there is no column of groups"),
        ("id,cluster\n,y\n", r"f.csv:2: the row has no id"),
        ("id,cluster\nx,1\nx,2\n", r"f.csv:3: the item 'x' is labelled twice \(line 2\)"),
    ],
)
def test_bad_labels_are_named_by_line(written, text, said):
    with pytest.raises(DataError, match=said):
        read_labels(written(text))


def test_partly_labelled_items(written):
    found = read_labels(written("id,name,cluster\n1,x,p\n2,y,\n3,z,p\n"))
    assert (found.form, found.clusters, found.unlabelled) == ("clusters", {"1": "p", "3": "p"}, ("2",))


RATERS = "id,cluster,rater\n1,p,ann\n2,p,ann\n3,q,ann\n1,u,bob\n2,v,bob\n1,m,eve\n2,m,eve\n3,n,eve\n4,,eve\n"


def test_groups_by_several_people_become_pairs_on_which_they_agree_or_not(written):
    found = read_labels(written(RATERS))
    assert found.unlabelled == ("4",)
    with pytest.raises(DataError, match=r"f.csv, by eve\) says '1' and '2' are the same, but .* by bob"):
        settle(found.judgements())
    agreed = settle(found.judgements(), disagreement="majority")
    assert [(s.a, s.b) for s in agreed if s.answer == "same"] == [("1", "2")]
