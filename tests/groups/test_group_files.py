"""Files of groups in every form, and the command that compares two of them."""

import json

import pytest

from clustruct.cli.main import main
from clustruct.core.exceptions import DataError
from clustruct.groups import Item, Store, read_groups, write_groups

GROUPS = {"a": "g1", "b": "g1", "c": "g,2", "d d": "g3"}


@pytest.mark.parametrize("name", ["g.csv", "g.tsv", "g.jsonl"])
def test_groups_come_back_from_every_format(tmp_path, name):
    write_groups(tmp_path / name, GROUPS)
    assert read_groups(tmp_path / name) == GROUPS


def test_groups_of_a_store_and_of_a_table_with_fields(tmp_path):
    with Store.create(tmp_path / "s.db") as store:
        store.add_items(Item(item, {}) for item in GROUPS)
        store.record_run(GROUPS)
    assert read_groups(tmp_path / "s.db") == GROUPS
    (tmp_path / "t.csv").write_text("id,name,group\n1,Ann,p\n2,Bob,\n3,Cy,p\n")
    assert read_groups(tmp_path / "t.csv") == {"1": "p", "3": "p"}
    (tmp_path / "u.csv").write_text("key,who\n1,p\n")
    assert read_groups(tmp_path / "u.csv", id="key", cluster="who") == {"1": "p"}


def test_items_of_several_sets_are_told_apart(tmp_path):
    (tmp_path / "p.csv").write_text("set,id,cluster\nmonday,1,0\ntuesday,1,0\n")
    assert read_groups(tmp_path / "p.csv") == {"monday: 1": "monday: 0", "tuesday: 1": "tuesday: 0"}


def test_what_cannot_be_read_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("id,name\n1,Ann\n")
    with pytest.raises(DataError, match="there is no column 'cluster'; there are id, name"):
        read_groups(tmp_path / "t.csv")
    with pytest.raises(DataError, match=r"groups are written as .csv, .tsv or .jsonl"):
        write_groups(tmp_path / "t.parquet", GROUPS)


@pytest.fixture
def files(tmp_path):
    old = {"a": "g1", "b": "g1", "c": "g2", "d": "g3", "e": "g3", "f": "g4"}
    new = {"a": "g1", "b": "g1", "c": "g1", "d": "g3", "e": "g5", "x": "g6"}
    write_groups(tmp_path / "old.csv", old)
    write_groups(tmp_path / "new.csv", new)
    write_groups(tmp_path / "numbers.csv", {item: str(ord(group[-1]) * 7) for item, group in new.items()})
    return tmp_path


def test_diff_tells_what_changed(files, capsys):
    assert main(["diff", str(files / "old.csv"), str(files / "new.csv")]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.splitlines()[0] == (
        "2 groups merged, 1 split, 2 new, 1 gone; 1 item added, 2 items moved, 1 item removed"
    )
    assert "g2          1      0  now in g1" in said.out
    assert "1 item went to g5" in said.out


def test_diff_for_machines_and_with_numbers_that_mean_nothing(files, capsys):
    assert main(["diff", str(files / "old.csv"), str(files / "new.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["groups"]["merged"] == 2
    assert found["moved"] == [
        {"item": "c", "old": "g2", "new": "g1"},
        {"item": "e", "old": "g3", "new": "g5"},
    ]
    assert main(["diff", str(files / "old.csv"), str(files / "numbers.csv")]) == 0
    assert "--match" in capsys.readouterr().out
    assert main(["diff", str(files / "old.csv"), str(files / "numbers.csv"), "--json", "--match"]) == 0
    matched = json.loads(capsys.readouterr().out)
    assert matched["groups"] == found["groups"]


def test_diff_of_a_file_that_is_not_there_is_one_line(files, capsys):
    assert main(["diff", str(files / "old.csv"), str(files / "none.csv")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("clustruct: ")
    assert said.endswith("none.csv: cannot be read (No such file or directory)\n")
