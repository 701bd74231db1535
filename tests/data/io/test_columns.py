"""A table read by compiled code is the table that the csv module reads, and what is odd is left to that."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clustruct.core.exceptions import DataError
from clustruct.data.io import ColumnRoles, csv_files, read_sets
from clustruct.data.io.csv_files import gathered_table, plain_table

CELLS = st.one_of(
    st.sampled_from(
        ["", " ", "\u00a0", "\x1c", "\u3000", "a", "b", '"', 'a"b', '""', "a,b", "x\ny", "\r\n", "\0"]
    ),
    st.text(alphabet='ab ,"\n\r\t;\u00e9\u4e2d\u2003\U0001f600', max_size=5),
)


def written(rows, header, end="\n", quoting=csv.QUOTE_MINIMAL):
    text = io.StringIO()
    csv.writer(text, lineterminator=end, quoting=quoting).writerows([header, *rows])
    return text.getvalue().encode()


def slow(data, header):
    lines = io.StringIO(data.decode(), newline="")
    reader = csv.reader(iter(lambda: _line(lines), ""), strict=True)
    next(reader)
    found = []
    while True:
        at = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return gathered_table(found, header, header)
        if any(cell.strip() for cell in cells):
            if len(cells) != len(header):
                raise csv.Error("ragged")
            found.append((at, cells))


def _line(lines):
    """Up to a line feed, as files are read."""
    found = ""
    while not found.endswith("\n"):
        piece = lines.readline()
        if not piece:
            return found
        found += piece
    return found


def same(one, other):
    assert one.lines.tolist() == other.lines.tolist()
    assert list(one.columns) == list(other.columns)
    for name, column in one.columns.items():
        assert column.tolist() == other.columns[name].tolist()
        codes, values = column.factorize()
        assert (codes.tolist(), values) == (
            other.columns[name].factorize().codes.tolist(),
            other.columns[name].factorize().values,
        )
        assert len(set(values)) == len(values)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.booleans(),
)
def test_what_a_writer_has_written_is_read_alike(rows, end, quoting, cut):
    data = written(rows, ["k", "l", "m"], end, quoting)
    data = data.rstrip(b"\r\n") if cut else data
    found = plain_table(data, 1, ["k", "l", "m"], ",", {"k", "l", "m"})
    if found is not None:
        same(found, slow(data, ["k", "l", "m"]))


@settings(max_examples=1000, deadline=None)
@given(st.text(alphabet='ab ,"\n\r\u00e9', max_size=30))
@example('a,"b""\nc"\n\n"",""\n')
@example('a,b"\n"a",b""\n')
@example('"a"b,c\n')
@example("a,b\r\rc,d\n")
def test_any_text_is_read_alike_or_left_to_the_csv_module(body):
    data = ("k,l\n" + body).encode()
    found = plain_table(data, 1, ["k", "l"], ",", {"k", "l"})
    if found is not None:
        same(found, slow(data, ["k", "l"]))


def test_plain_files_are_not_left_to_the_csv_module():
    rows = [["Ann", "", "x\ny"], ["Z\u00e4h", ' "q"', "\u4e2d"], ["Ann", " ", "3,5"]]
    found = plain_table(written(rows, ["k", "l", "m"]), 1, ["k", "l", "m"], ",", {"k", "m"})
    assert {name: column.tolist() for name, column in found.columns.items()} == {
        "k": ["Ann", "Z\u00e4h", "Ann"],
        "m": ["x\ny", "\u4e2d", "3,5"],
    }
    assert found.lines.tolist() == [2, 4, 5]


@pytest.mark.parametrize(
    "data",
    [
        b'k,l\n"a"b,c\n',
        b"k,l\na\n",
        b"k,l\na,b,c\n",
        b'k,l\na,"b\n',
        b"k,l\na\rb,c\n",
        b"k,l\n,\n",
        b"k,l\n\xff,a\n",
        b"k,l\na," + b"b" * (2**20 + 1) + b"\n",
    ],
)
def test_what_is_odd_is_left_to_the_csv_module(data):
    assert plain_table(data, 1, ["k", "l"], ",", {"k", "l"}) is None


TABLE = 'fold,id,who,name\n1,a,x,"Ann, ""B."""\n\n2,b,y,"two\nlines"\n1,c,x,\n,,,\n2,d,y, \n1,e,x,\u00e9"\n'


@pytest.fixture
def both(tmp_path, monkeypatch):
    """Reads a file in both ways."""

    def read(name, data, columns, **more):
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        found = []
        for smallest in (0, 2**60):
            monkeypatch.setattr(csv_files, "SMALLEST", smallest)
            try:
                found.append(list(read_sets(path, columns=columns, **more)))
            except DataError as error:
                found.append(str(error))
        return found

    return read


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.tsv"])
@pytest.mark.parametrize("change", [lambda t: t, lambda t: "\ufeff" + t, lambda t: t.replace("\n", "\r\n")])
def test_sets_of_both_readers_are_the_same(both, name, change):
    text = change(TABLE)
    text = text.replace("\n,,,\r\n", "\n").replace("\n,,,\n", "\n") if "gz" in name else text
    text = text.replace(",", "\t") if "tsv" in name else text
    fast, plain = both(name, text.encode(), ColumnRoles(set="fold", cluster="who"))
    assert fast == plain
    assert [table.ids for table in fast] == [["a", "c", "e"], ["b", "d"]]
    assert [table.source.lines.tolist() for table in fast] == [table.source.lines.tolist() for table in plain]
    assert fast[0].items[2]["name"] == '\u00e9"'
    assert fast[1].items[1]["name"] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,who\n1,x\n2\n", ":3: the row has 1 cell, the header 2"),
        ('id,who\n1,x\n2,"x"y\n', ":3: not CSV: ',' expected after '\"'"),
        ('id,who\n1,x\n\n2,"x\n', ":4: not CSV: a quote is opened and never closed"),
        (b"id,who\n1,x\n2,\xe9\n", ":3: byte 3 of the line (0xe9) is not UTF-8"),
        (b"id,who\n1,x\n2,\xed\xa0\x80\n", ":3: byte 3 of the line (0xed) is not UTF-8"),
        ("id,who\n1,x\n1,x\n", ":3: the id '1' appears twice in the table (first at"),
        ("id,who\n1,x\n2,\n", ":3: item '2' has no cluster"),
    ],
)
def test_faults_of_large_files_name_the_line(both, text, message):
    data = text if isinstance(text, bytes) else text.encode()
    fast, plain = both("a.csv", data, ColumnRoles(cluster="who"))
    assert message in fast
    assert fast == plain


def test_rows_are_chosen_by_distinct_values(both):
    text = "fold,id,who,n\n1,a,x,5\n2,b,y,6\n,c,x,7\n1,d,,8\n"
    for where, without, ids in (
        ({"fold": frozenset(["1", ""])}, {}, ["a", "c"]),
        ({}, {"fold": frozenset([""])}, ["a", "b"]),
        ({"fold": frozenset("12")}, {"n": frozenset(["6"])}, ["a"]),
    ):
        chosen = ColumnRoles(cluster="who", where=where, without=without)
        for sets in both("a.csv", text.encode(), chosen, labels="skip"):
            assert sets[0].ids == ids
            assert "fold" in sets[0].fields() or "fold" in chosen.roles()
    for found in both("a.csv", text.encode(), ColumnRoles(where={"n": frozenset("0")}), labels="ignored"):
        assert "no rows to use" in found


def test_many_sets_in_any_order_are_gathered(both):
    rng = np.random.default_rng(0)
    rows = [(f"s{k}", i, f"c{i % 7}") for i, k in enumerate(rng.integers(0, 300, 3000))]
    data = ("set,id,cluster\n" + "".join(f"{s},{i},{c}\n" for s, i, c in rows)).encode()
    fast, plain = both("a.csv", data, ColumnRoles(set="set", cluster="cluster"))
    assert fast == plain
    names = list(dict.fromkeys(s for s, _, _ in rows))
    assert [table.name for table in fast] == names
    assert [list(table.ids) for table in fast] == [
        [str(i) for s, i, _ in rows if s == name] for name in names
    ]


def test_wide_tables_are_read_in_linear_time(tmp_path):
    names = [f"c{i}" for i in range(20_000)]
    path = tmp_path / "a.csv"
    path.write_text(",".join(["id", *names]) + "\n" + "".join(f"{i},1{',' * 19_999}\n" for i in range(3)))
    (table,) = read_sets(path, labels="ignored")
    assert table.fields() == names
    assert (table.column("c0"), table.column("c1")) == (["1"] * 3, [None] * 3)


def test_labels_may_be_partial(both):
    for sets in both("a.csv", b"id,who\n1,x\n2,\n3,x\n", ColumnRoles(cluster="who"), labels="partial"):
        assert sets[0].labels == ["x", None, "x"]
