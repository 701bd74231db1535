"""Tables and graphs in chunks: what is written is read again; nothing stays of what failed."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from clustruct.core.exceptions import DataError
from clustruct.data.io import (
    check_graph,
    check_table,
    graph_file,
    read_sets,
    table_file,
    table_lines,
    write_table,
)

CHUNKS = [
    {"id": ["a", "b"], "n": np.array([1, 2]), "p": np.array([0.5, 0.25]), "t": ['x,\n"y"', None]},
    {"id": ["c"], "n": np.array([3]), "p": np.array([1.0]), "t": ["\u65e5"]},
]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.jsonl"])
def test_chunks_come_back(tmp_path, name):
    with table_file(tmp_path / name) as write:
        for chunk in CHUNKS:
            write(chunk)
    if name.endswith(".jsonl"):
        rows = [json.loads(line) for line in (tmp_path / name).read_text("utf-8").splitlines()]
        assert rows[1:] == [
            {"id": "b", "n": 2, "p": 0.25, "t": None},
            {"id": "c", "n": 3, "p": 1.0, "t": "\u65e5"},
        ]
        return
    (table,) = read_sets(tmp_path / name, id="id", labels="ignored")
    assert list(table.item_ids) == ["a", "b", "c"]
    assert [float(p) for p in table.column("p")] == [0.5, 0.25, 1.0]
    assert [int(n) for n in table.column("n")] == [1, 2, 3]
    assert table.column("t") == ['x,\n"y"', None, "\u65e5"]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_failure_leaves_what_was_there(tmp_path, name):
    path = tmp_path / name
    path.write_text("before")

    def fail():
        with table_file(path) as write:
            write(CHUNKS[0])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == [name]


DATA = {
    "id": ["nan", None, "c"],
    "price": [1234567.891, float("nan"), 2],
    "v": [[1.5, 2.0], None, [3.0, 4.0]],
    "score": np.array([0.123456789, np.nan, 1.0]),
}


def test_values_of_the_data_are_written_as_they_are():
    # A name that reads "nan" is a name, and numbers of the data keep their digits; scores have six.
    rows = [line.split(",", 2) for line in "".join(table_lines(DATA)).splitlines()]
    assert rows[1:] == [
        ["nan", "1234567.891", '"[1.5, 2.0]",0.123457'],
        ["", "", ","],
        ["c", "2", '"[3.0, 4.0]",1'],
    ]
    first, second, _ = (json.loads(line) for line in "".join(table_lines(DATA, ".jsonl")).splitlines())
    assert first == {"id": "nan", "price": 1234567.891, "v": [1.5, 2.0], "score": 0.123457}
    assert set(second.values()) == {None}


def test_parquet_keeps_kinds(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    mixed = {
        "mixed": [1, "a", {"b": 2}],
        "flag": [True, None, False],
        "none": [None] * 3,
        "big": [2**70, 1, 2],
    }
    write_table(tmp_path / "t.parquet", DATA | mixed)
    held = parquet.read_table(tmp_path / "t.parquet")
    assert held.column("v").to_pylist() == DATA["v"]
    assert held.column("price").to_pylist() == [1234567.891, None, 2.0]
    assert held.column("flag").to_pylist() == [True, None, False]
    assert held.column("mixed").to_pylist() == ["1", "a", '{"b": 2}']
    assert held.column("big").to_pylist()[0] == str(2**70)


def test_a_column_that_changes_its_kind_is_named(tmp_path):
    pytest.importorskip("pyarrow")

    def write_both():
        with table_file(tmp_path / "t.parquet") as write:
            write({"n": [1, 2]})
            write({"n": ["x"]})

    with pytest.raises(DataError, match=r"t.parquet: the column 'n' holds int64 first and string later"):
        write_both()
    assert not list(tmp_path.iterdir())


def test_a_table_without_rows_has_its_header():
    assert "".join(table_lines({"a": [], "b": []})) == "a,b\n"


def test_a_graph_is_xml_whatever_items_are_called(tmp_path):
    names = ["<&\"'>", "\x00\x1b[31m", "\ud800", ""]
    with graph_file(
        tmp_path / "g.graphml", {"id": "string", "cluster": "long"}, {"score": "double"}
    ) as graph:
        graph.add_nodes({"id": names, "cluster": np.arange(4)})
        graph.add_edges([0, 1], [2, 3], {"score": np.array([0.5, -1.0])})
        assert graph.n_nodes == 4
    space = "{http://graphml.graphdrawing.org/xmlns}"
    root = ET.parse(tmp_path / "g.graphml").getroot()
    nodes, edges = root.findall(f".//{space}node"), root.findall(f".//{space}edge")
    assert nodes[0].find(f"{space}data").text == names[0]
    assert [(e.get("source"), e.get("target")) for e in edges] == [("n0", "n2"), ("n1", "n3")]
    assert {k.get("id") for k in root.findall(f"{space}key")} == {"node_id", "node_cluster", "edge_score"}


def test_other_names_are_refused(tmp_path):
    with pytest.raises(DataError, match="tables are written as"):
        check_table(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match="graphs are written as"):
        check_graph(tmp_path / "t.csv")
