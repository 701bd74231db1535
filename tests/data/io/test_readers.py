"""Readers give the sets that a file holds, or one line that says what is wrong and where."""

import gzip
import json

import numpy as np
import pytest

from clustruct.core.exceptions import DataError
from clustruct.data.io import ColumnRoles, read_sets, sets_of

SET = {"id": "s1", "group": 3, "items": [{"id": "a", "t": "x"}, {"id": "b", "t": "y"}], "labels": [0, 1]}


def write(tmp_path, name, content):
    path = tmp_path / name
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def fault(path, columns=None, labels="required"):
    with pytest.raises(DataError) as caught:
        list(read_sets(path, columns=columns, labels=labels))
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message.replace(str(path), path.name)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_jsonl_has_a_set_on_each_line(tmp_path, name):
    second = {"id": "s2", "items": ["free text", [1.0, 2.0]], "labels": ["p", "p"], "note": 5}
    first, other = read_sets(write(tmp_path, name, json.dumps(SET) + "\n\n" + json.dumps(second)))
    assert (first.name, first.group, first.ids, first.labels) == ("s1", 3, ["a", "b"], [0, 1])
    assert first.items == [{"t": "x"}, {"t": "y"}]
    assert other.items == [{"text": "free text"}, {"vector": [1.0, 2.0]}]
    assert (other.ids, dict(other.context)) == (None, {"note": 5})


def test_mentions_keep_their_document(tmp_path):
    document = {"id": 7, "tokens": [["He", "ran"]], "mentions": [{"sent": 0}], "clusters": [4], "genre": "x"}
    (found,) = read_sets(write(tmp_path, "a.jsonl", json.dumps(document)))
    assert (found.name, found.labels, found.items) == ("7", [4], [{"sent": 0}])
    assert dict(found.context) == {"tokens": [["He", "ran"]], "genre": "x"}


def test_no_answer_is_left_among_the_fields(tmp_path):
    """Labels, ids, groups and the columns that choose rows never reach the features."""
    given = {
        "name": "s",
        "fold": 1,
        "items": [{"t": "x", "who": 1}, {"t": "y", "who": 1}],
        "clusters": [9, 9],
    }
    columns = ColumnRoles(set="name", cluster="who", where={"fold": frozenset("1")})
    for labels in ("required", "ignored"):
        (found,) = read_sets(write(tmp_path, "a.jsonl", json.dumps(given)), columns=columns, labels=labels)
        assert found.items == [{"t": "x"}, {"t": "y"}]
        assert dict(found.context) == {}
    table = "fold,id,who,part,t\n0,1,a,0,x\n0,2,a,0,y\n"
    columns = ColumnRoles(cluster="who", group="part", where={"fold": frozenset("0")})
    (found,) = read_sets(write(tmp_path, "a.csv", table), columns=columns)
    assert found.items == [{"t": "x"}, {"t": "y"}]


def test_csv_rows_are_gathered_by_set(tmp_path):
    table = '\ufefffold,key,who,name\n1,a,x,"Ann, B."\n2,b,y,"two\nlines"\n1,c,x,\n'
    columns = ColumnRoles(set="fold", id="key", cluster="who")
    first, second = read_sets(write(tmp_path, "a.csv.gz", table), columns=columns)
    assert (first.name, first.ids, first.labels) == ("1", ["a", "c"], ["x", "x"])
    assert first.items == [{"name": "Ann, B."}, {"name": None}]
    assert second.items == [{"name": "two\nlines"}]
    (third,) = read_sets(
        tmp_path / "a.csv.gz", columns=ColumnRoles(cluster="who", without={"fold": frozenset("1")})
    )
    assert (third.name, third.ids) == ("", [3])


def test_tabs_and_other_delimiters(tmp_path):
    (found,) = read_sets(write(tmp_path, "a.tsv", "who\tn\n1\t2\n"), columns=ColumnRoles(cluster="who"))
    assert found.items == [{"n": "2"}]
    path = write(tmp_path, "a.csv", "who;n\n1;2\n")
    assert "delimiter" in fault(path, ColumnRoles(cluster="who"))
    (found,) = read_sets(path, columns=ColumnRoles(cluster="who"), delimiter=";")
    assert found.items == [{"n": "2"}]


def test_parquet_is_read_as_the_same_table(tmp_path):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"fold": [1, 2, 1], "who": ["x", "y", "x"], "n": [1.5, None, 3.0]})
    frame.to_parquet(tmp_path / "a.parquet")
    columns = ColumnRoles(set="fold", cluster="who")
    first, second = read_sets(tmp_path / "a.parquet", columns=columns)
    assert (first.name, first.labels, first.column("n")) == ("1", ["x", "x"], [1.5, 3.0])
    assert second.column("n") == [None]
    twin, _ = sets_of(frame, set="fold", cluster="who")
    assert (twin.name, twin.labels, twin.column("n")) == (first.name, first.labels, first.column("n"))
    assert "no column 'foldd'; there are fold, who, n" in fault(
        tmp_path / "a.parquet", ColumnRoles(set="foldd")
    )
    (tmp_path / "b.parquet").write_bytes(b"PAR1 but not really")
    assert fault(tmp_path / "b.parquet").startswith("b.parquet: not a readable Parquet file")


def test_labels_missing_in_frames_are_not_known_or_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"who": ["x", np.nan], "n": [1, 2]})
    assert sets_of(frame, cluster="who")[0].labels == ["x", None]
    with pytest.raises(DataError, match="row 1: item 2 has no cluster"):
        sets_of(frame, cluster="who", labels="required")


def test_unlabelled_items_can_be_skipped(tmp_path):
    path = write(tmp_path, "a.csv", "who,n\nx,1\n,2\n")
    assert fault(path, ColumnRoles(cluster="who")).startswith("a.csv:3: item 2 has no cluster")
    (found,) = read_sets(path, columns=ColumnRoles(cluster="who"), labels="skip")
    assert found.items == [{"n": "1"}]
    lines = [{**SET, "labels": [0, None]}, {**SET, "id": "s2", "labels": None}]
    path = write(tmp_path, "a.jsonl", "\n".join(map(json.dumps, lines)))
    assert fault(path).startswith("a.jsonl:1: item 'b' has no cluster")
    (found,) = read_sets(path, labels="skip")
    assert found.ids == ["a"]


def test_repeated_ids_can_be_numbered(tmp_path):
    path = write(tmp_path, "a.csv", "id,who\n7,x\n7,x\n7,y\n")
    assert fault(path, ColumnRoles(cluster="who")).startswith(
        "a.csv:3: the id '7' appears twice in the table (first at a.csv:2)"
    )
    (found,) = read_sets(path, columns=ColumnRoles(cluster="who", repeated_ids=True))
    assert found.ids == ["7", "7 (2)", "7 (3)"]


def line(**changes):
    return json.dumps({**SET, **changes})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.jsonl: the file is empty"),
        (b"\n \n", "a.jsonl: no sets to use"),
        ("{", "a.jsonl:1: not JSON: Expecting property name"),
        ("[" * 100_000, "a.jsonl:1: the JSON is nested too deeply"),
        ("x" * 10_000_000, "a.jsonl:1: not JSON"),
        ("1" * 5000, "a.jsonl:1: not JSON"),
        ("[1]", "a.jsonl:1: expected one set, an object {...}, not a list"),
        ('{"id": 1}', "a.jsonl:1: the set has neither items nor mentions; its keys are id"),
        (line(items=[]), "a.jsonl:1: the set has no items"),
        (line(items=3), "a.jsonl:1: the set has a number for items, not a list"),
        (line(items=[{}, 4]), "a.jsonl:1: item 2 of set s1 is a number, not an object, a string or a list"),
        (line(labels=[1]), "a.jsonl:1: set s1 has 2 items but 1 labels"),
        (line(labels="ab"), "a.jsonl:1: set s1 has 2 items but a string labels"),
        (line(labels=[1, None]), "a.jsonl:1: item 'b' has no cluster"),
        (line(labels=[1, float("nan")]), "a.jsonl:1: item 'b' has no cluster"),
        (line(labels=[1, [2]]), "a.jsonl:1: the cluster of item 'b' must be a number or a string"),
        (line(items=[{"id": 1}, {"id": 1}]), "a.jsonl:1: the id 1 appears twice in set s1"),
        (line(items=[{"id": 1}, {"id": None}]), "a.jsonl:1: item 2 of set s1 has no id"),
        (line(group=[1]), "a.jsonl:1: the group of a set must be a number or a string"),
        (line() + "\n" + line(), "a.jsonl:2: a second set is named 's1' (first on line 1)"),
        (line().encode() + b"\n{\xff", "a.jsonl:2: byte 2 of the line (0xff) is not UTF-8"),
    ],
)
def test_faults_of_jsonl_name_the_line(tmp_path, content, message):
    assert fault(write(tmp_path, "a.jsonl", content)).startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.csv: the file is empty"),
        ("who,n\n", "a.csv: there is a header but no row"),
        ("who,n\nx\n", "a.csv:2: the row has 1 cell, the header 2"),
        ("who,who\nx,y\n", "a.csv:1: two columns are named 'who'"),
        ("who,\nx,y\n", "a.csv:1: column 2 has no name"),
        ("n,m\nx,y\n", "a.csv:1: there is no column 'who'; there are n, m"),
        ('who,n\nx,"open\n', "a.csv:2: not CSV: a quote is opened and never closed"),
        ("who,n\rx,1\ry,2\r", "a.csv:1: not CSV: a line ends in a carriage return alone; save the file"),
        ("who,n\nx,y\nz," + "a" * 10_000_000, "a.csv:3: not CSV: a field is longer than 1 MiB"),
        (b"who,n\nx,caf\xe9\n", "a.csv:2: byte 6 of the line (0xe9) is not UTF-8"),
        ("who,id\nx,1\ny,\n", "a.csv:3: item 2 of the table has no id"),
    ],
)
def test_faults_of_csv_name_the_line(tmp_path, content, message):
    assert fault(write(tmp_path, "a.csv", content), ColumnRoles(cluster="who")).startswith(message)


def test_a_table_without_a_cluster_column_asks_for_one(tmp_path):
    path = write(tmp_path, "a.csv", "n\n1\n")
    assert fault(path).startswith("a.csv:1: name the column of the clusters")
    (found,) = read_sets(path, labels="ignored")
    assert found.labels is None


def test_a_set_in_two_groups_is_refused(tmp_path):
    path = write(tmp_path, "a.csv", "who,part\n1,a\n1,b\n")
    assert fault(path, ColumnRoles(cluster="who", group="part")).startswith(
        "a.csv:3: the table is in two groups"
    )


def test_files_that_are_no_files(tmp_path):
    assert fault(tmp_path / "none.csv") == "none.csv: cannot be read (No such file or directory)"
    assert fault(write(tmp_path, "a.xyz", "1")).startswith("a.xyz: unknown kind of file")
    (tmp_path / "b.csv").mkdir()
    assert fault(tmp_path / "b.csv") == "b.csv: is a folder, not a file"
    (tmp_path / "c.jsonl.gz").write_bytes(b"not gzip")
    assert fault(tmp_path / "c.jsonl.gz").startswith("c.jsonl.gz:1: the file is damaged")
    whole = gzip.compress(line().encode() * 50)
    (tmp_path / "d.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    assert fault(tmp_path / "d.jsonl.gz").startswith("d.jsonl.gz:1: the file is damaged")


def test_a_long_line_that_is_right_is_read(tmp_path):
    given = {"items": [{"t": "word " * 1_000_000}, {"t": "word " * 1_000_000}], "labels": [0, 0]}
    (found,) = read_sets(write(tmp_path, "a.jsonl", json.dumps(given)))
    assert len(found) == 2
    assert found.name == "a.jsonl:1"


def test_sets_come_one_by_one(tmp_path):
    """The second line is not looked at before it is asked for."""
    sets = read_sets(write(tmp_path, "a.jsonl", line() + "\nnot JSON"))
    assert next(sets).name == "s1"
    with pytest.raises(DataError, match=":2: not JSON"):
        next(sets)


def test_wanted_keys_must_be_there(tmp_path):
    path = write(tmp_path, "a.jsonl", line())
    assert "the set has no key 'fold'" in fault(path, ColumnRoles(where={"fold": frozenset("1")}))
    assert "no sets to use" in fault(path, ColumnRoles(where={"group": frozenset("1")}))
    (found,) = read_sets(path, columns=ColumnRoles(where={"group": frozenset("3")}))
    assert found.group == 3


def test_delimiters_are_one_character(tmp_path):
    """DEFECTS 26."""
    path = write(tmp_path, "a.csv", "who\tn\n1\t2\n")
    (found,) = read_sets(path, columns=ColumnRoles(cluster="who"), delimiter="\\t")
    assert found.items == [{"n": "2"}]
    for wrong in (";;", "", '"', "\n"):
        with pytest.raises(ValueError, match="the delimiter must be one character"):
            next(read_sets(path, columns=ColumnRoles(cluster="who"), delimiter=wrong))


def test_sets_know_where_they_were_read(tmp_path):
    path = write(tmp_path, "a.csv", "fold,n\n1,x\n2,y\n1,z\n")
    first, _ = read_sets(path, columns=ColumnRoles(set="fold"), labels="ignored")
    assert first.title == f"{path}: set 1"
    assert first.item_title(1) == f"{path}:4: item 4 of set 1"
    (found,) = read_sets(write(tmp_path, "a.jsonl", "\n" + line()))
    assert found.title == f"{tmp_path / 'a.jsonl'}:2: set s1"
    assert found.item_title(1) == f"{tmp_path / 'a.jsonl'}:2: item 'b' of set s1"
    (found,) = read_sets(write(tmp_path, "b.jsonl", '{"items": [{}]}'), labels="ignored")
    assert found.title == f"{tmp_path / 'b.jsonl'}:1"


def parquet(tmp_path, *columns, names):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    arrays = [column(pyarrow) for column in columns]
    parquet.write_table(pyarrow.Table.from_arrays(arrays, names=names), tmp_path / "a.parquet")
    return tmp_path / "a.parquet"


@pytest.mark.parametrize(
    "column",
    [
        lambda pa: pa.array([0, 2**62], pa.timestamp("us")),
        lambda pa: pa.array([0, 2**30], pa.date32()),
        lambda pa: pa.array([0, 2**62], pa.duration("s")),
    ],
)
def test_times_of_parquet_that_python_has_not_are_missing(tmp_path, column):
    path = parquet(tmp_path, column, lambda pa: pa.array(["x", "y"]), names=["n", "who"])
    (found,) = read_sets(path, columns=ColumnRoles(cluster="who"))
    assert [v is None for v in found.column("n")] == [False, True]


def test_texts_of_parquet_that_are_none_are_named(tmp_path):
    """DEFECTS 28."""
    odd = (lambda pa: pa.array([b"a", b"\xff"]).view(pa.string()), lambda pa: pa.array(["x", "y"]))
    path = parquet(tmp_path, *odd, names=["n", "who"])
    assert fault(path, ColumnRoles(cluster="who")).startswith("a.parquet:2: the field 'n' is not UTF-8")


def test_two_columns_of_one_name_are_refused(tmp_path):
    """DEFECTS 16."""
    path = parquet(tmp_path, *[lambda pa: pa.array(["x"])] * 3, names=["n", "who", "n"])
    assert fault(path, ColumnRoles(cluster="who")) == "a.parquet: two columns are named 'n'"
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[1, 2, 3]], columns=["n", "who", "n"])
    with pytest.raises(DataError, match="two columns are named 'n'"):
        sets_of(frame, cluster="who")
