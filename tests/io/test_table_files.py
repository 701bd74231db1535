"""Tables and graphs in chunks: what is written is read again; nothing stays of what failed."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from clustruct.exceptions import DataError
from clustruct.io import check_graph, check_table, graph_file, read_sets, table_file

CHUNKS = [
    {"id": ["a", "b"], "n": np.array([1, 2]), "p": np.array([0.5, 0.25]), "t": ['x,\n"y"', None]},
    {"id": ["c"], "n": np.array([3]), "p": np.array([1.0]), "t": ["\u65e5"]},
]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet"])
def test_chunks_come_back(tmp_path, name):
    with table_file(tmp_path / name) as write:
        for chunk in CHUNKS:
            write(chunk)
    (raw,) = read_sets(tmp_path / name, id="id", labels="ignored")
    assert list(raw.item_ids) == ["a", "b", "c"]
    assert [float(p) for p in raw.column("p")] == [0.5, 0.25, 1.0]
    assert [int(n) for n in raw.column("n")] == [1, 2, 3]
    assert raw.column("t") == ['x,\n"y"', None, "\u65e5"]


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
