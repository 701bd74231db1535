"""Bad tables: CSV, TSV, packed, Parquet."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .inputs import COLUMNS, EITHER, FINE, HEADER, LEARN, NEED_LABELS, ROWS, TABLE, Kind, cells, packed, table

BARE = ("--set", "set", "--cluster", "who")


def kinds() -> Iterator[Kind]:
    """All of them."""
    yield from _whole()
    yield from _headers()
    yield from _rows()
    yield from _labels()
    yield from _values()
    yield from _names()
    yield from _separated()
    yield from _packed()
    yield from _parquet()


def _whole() -> Iterator[Kind]:
    yield Kind("empty file", "")
    yield Kind("blank lines", "\n\n\n")
    yield Kind("header alone", HEADER + "\n")
    yield Kind("header without end of line", HEADER)
    yield Kind("zero bytes", bytes(1000))
    yield Kind("random bytes", bytes(range(256)) * 20)
    yield Kind("a model as data", (b"clustruct model\n" + bytes(100)))
    yield Kind("an archive as data", b"PK\x03\x04" + bytes(100))
    yield Kind("UTF-16", TABLE.encode("utf-16"))
    yield Kind("UTF-16 without mark", TABLE.encode("utf-16-le"))
    yield Kind("Latin-1", table(cells(name="Andr\xe9")).encode("latin-1"), says=("a.csv:10",))
    yield Kind("byte order mark", b"\xef\xbb\xbf" + TABLE.encode(), code=FINE)
    yield Kind("old Mac line ends", TABLE.replace("\n", "\r"), code=EITHER)
    yield Kind("Windows line ends", TABLE.replace("\n", "\r\n"), code=FINE)
    yield Kind("a folder", lambda path: path.mkdir())
    yield Kind("a dangling link", lambda path: path.symlink_to("nowhere"))
    yield Kind("a link to itself", lambda path: path.symlink_to(path.name))
    yield Kind("no such file", lambda path: None)
    yield Kind("no suffix", TABLE, file="table")
    yield Kind("unknown suffix", TABLE, file="a.xlsx")
    yield Kind("name with control characters", TABLE, file="a\x1b[31m.txt", says=("a\\x1b[31m.txt",))
    yield Kind("JSON called CSV", '{"id": 1, "items": []}\n')
    yield Kind("HTML called CSV", "<html>\n<body>\n</body>\n</html>\n")
    yield Kind("a device", lambda path: path.symlink_to("/dev/null"))
    yield Kind("one good file and one bad", TABLE, also={"b.csv": ""}, second="b.csv", says=("b.csv",))


def _headers() -> Iterator[Kind]:
    yield Kind("two columns of one name", table(header="set,id,who,name,name"), says=("a.csv:1",))
    yield Kind("a column without a name", table(header="set,id,who,name,"), says=("a.csv:1",))
    yield Kind("header quoted open", table(header='set,id,who,"name,age'))
    yield Kind("no header", "\n".join(ROWS) + "\n", says=("a.csv:1",))
    yield Kind("header in capitals", table(header=HEADER.upper()), says=("a.csv:1",))
    yield Kind("set column missing", table(header="sets,id,who,name,age"), says=("a.csv:1",))
    yield Kind("id column missing", table(header="set,nr,who,name,age"), says=("a.csv:1",))
    yield Kind("header with spaces", table(header=" set , id , who , name , age "), code=FINE)
    yield Kind("control characters in a column", table(header="set,id,who,name,a\x1b[31mge"), code=EITHER)
    yield Kind("a column of 10,000 letters", table(header="set,id,who,name," + "a" * 10_000), code=EITHER)
    wide = ",".join(f"c{i}" for i in range(3000))
    rows = "\n".join(row + "," * 3000 for row in ROWS)
    yield Kind("3,000 empty columns", f"{HEADER},{wide}\n{rows}\n", code=EITHER, commands=("predict", "fit"))


def _rows() -> Iterator[Kind]:
    yield Kind("a row too short", table("2,e,v"), says=("a.csv:10",))
    yield Kind("a row too long", table(cells() + ",x"), says=("a.csv:10",))
    yield Kind("an open quote", table('2,e,v,"Eve,3'), says=("a.csv:10",))
    yield Kind("a quote inside", table('2,e,v,E"v"e,3'), code=EITHER)
    yield Kind("text after a quote", table('2,e,v,"Eve"x,3'), says=("a.csv:10",))
    yield Kind("zero byte in a cell", table(cells(name="E\0ve")), code=EITHER)
    yield Kind("a set without a name", table(cells(set="")), says=("a.csv:10",))
    yield Kind("an item without an id", table(cells(id="")), says=("a.csv:10",))
    yield Kind("an id twice", table(cells(id="d")), says=("a.csv:10",))
    yield Kind("a blank id", table(cells(id="   ")), says=("a.csv:10",))
    yield Kind("ids twice, numbered", table(cells(id="d")), code=FINE, more=("--number-ids",))
    yield Kind("a cell of 2 MiB", table(cells(name="x" * 2**21)), says=("a.csv:10",))
    yield Kind("a quoted cell over 100,000 lines", table('2,e,v,"' + "x\n" * 100_000 + '",3'), code=EITHER)
    yield Kind("one item", f"{HEADER}\n{ROWS[0]}\n", commands=LEARN)
    yield Kind("sets of one item", f"{HEADER}\n{ROWS[0]}\n{ROWS[4]}\n", commands=LEARN)
    yield Kind("escapes in names", table(cells(id="\x1b[31mred", set="\x1b]0;x")), code=EITHER)
    yield Kind("formulas in names", table(cells(id="=1+1", name="@SUM(A1)")), code=EITHER)
    yield Kind("right-to-left marks", table(cells(id="a\u202eb", name="\u202ename")), code=EITHER)
    yield Kind("letters beyond the plane", table(cells(name="\U0001f600" * 50)), code=EITHER)


def _labels() -> Iterator[Kind]:
    one = "\n".join([HEADER, *(row.replace(",x,", ",y,") for row in ROWS[:4])]) + "\n"
    alone = "\n".join([HEADER, *(f"1,{i},c{i},Ann {i},3" for i in range(6))]) + "\n"
    yield Kind("a label missing", table(cells(who="")), says=("a.csv:10",), commands=NEED_LABELS)
    yield Kind("all labels missing", "\n".join([HEADER, "1,a,,A,1", "1,b,,B,2", ""]), commands=NEED_LABELS)
    yield Kind(
        "label column missing", table(header="set,id,whom,name,age"), says=("a.csv:1",), commands=NEED_LABELS
    )
    yield Kind("one cluster", one, commands=LEARN)
    yield Kind("every item alone", alone, commands=LEARN)
    yield Kind("label column not named", TABLE, columns=("--set", "set"), commands=LEARN, says=("a.csv:1",))
    yield Kind("labels are fields", TABLE, columns=(*COLUMNS, "--fields", "who"), commands=LEARN, code=EITHER)
    yield Kind("cluster is the set", TABLE, columns=("--set", "set", "--cluster", "set"), commands=LEARN)
    yield Kind("a set in two groups", TABLE, columns=(*COLUMNS, "--group", "age"), says=("a.csv:4",))
    yield Kind("no group column", TABLE, columns=(*COLUMNS, "--group", "town"), says=("a.csv:1",))


def _values() -> Iterator[Kind]:
    for word in ("inf", "-Infinity", "1e999", "INF"):  # missing, and counted
        yield Kind(f"a number {word}", table(cells(age=word)), code=FINE)
    for word in (
        "nan",
        "1e308",
        "-1e308",
        "1e-320",
        "0x10",
        "1_000",
        "9" * 400,
        "1e",
        "\u0661\u0662",
        "\u00bd",
    ):
        yield Kind(f"a number {word[:8]}", table(cells(age=word)), code=EITHER)
    yield Kind(
        "text where numbers were", table().replace(",31", ",old").replace(",52", ",older"), code=EITHER
    )
    yield Kind("numbers where text was", table(cells(name="12.5")), code=EITHER)
    blank = "\n".join([HEADER, *(",".join([*row.split(",")[:3], "", ""]) for row in ROWS)]) + "\n"
    yield Kind("all fields empty", blank, commands=LEARN)


def _names() -> Iterator[Kind]:
    both = ("predict", "evaluate", "explain", "report")
    yield Kind("a field missing", table(header="set,id,who,title,age"), commands=both, says=("name",))
    yield Kind(
        "two fields missing", table(header="set,id,who,title,years"), commands=both, says=("name", "age")
    )
    yield Kind("a field in capitals", table(header="set,id,who,NAME,age"), commands=both, says=("name",))
    yield Kind("fields left out", TABLE, columns=(*COLUMNS, "--fields", "age"), commands=both, says=("name",))
    yield Kind("a field that is not there", TABLE, columns=(*COLUMNS, "--fields", "nam"), says=("a.csv:1",))
    yield Kind("a field named twice", TABLE, columns=(*COLUMNS, "--fields", "name,name"), code=EITHER)
    yield Kind("empty list of fields", TABLE, columns=(*COLUMNS, "--fields", ""), code=(0, 1, 2))
    yield Kind("--where without a column", TABLE, more=("--where", "fold=1"), says=("a.csv:1",))
    yield Kind("--where without rows", TABLE, more=("--where", "set=7"))
    yield Kind("--except all", TABLE, more=("--except", "set=1,2"))
    yield Kind("other delimiter in the file", TABLE.replace(",", ";"), says=("a.csv:1",))
    yield Kind("wrong --delimiter", TABLE, more=("--delimiter", ";"), says=("a.csv:1",))
    yield Kind(
        "delimiter of two letters", TABLE, more=("--delimiter", ";;"), code=(1, 2), says=("delimiter",)
    )
    yield Kind(
        "delimiter is a line end", TABLE, more=("--delimiter", "\n"), code=(1, 2), says=("delimiter", "a.csv")
    )
    yield Kind(
        "delimiter is a quote", TABLE, more=("--delimiter", '"'), code=(1, 2), says=("delimiter", "a.csv")
    )
    yield Kind(
        "delimiter is nothing", TABLE, more=("--delimiter", ""), code=(1, 2), says=("delimiter", "a.csv")
    )
    yield Kind("one file twice", TABLE, second="a.csv", commands=("predict",), says=("a.csv",))
    yield Kind(
        "two files with one name of set",
        TABLE,
        second="b.csv",
        also={"b.csv": TABLE},
        commands=("predict",),
        code=FINE,  # tests/cli/test_fields.py: they are kept apart
    )
    yield Kind(
        "no set column, two files",
        TABLE,
        columns=BARE[2:],
        second="b.csv",
        also={"b.csv": TABLE},
        code=EITHER,
    )


def _separated() -> Iterator[Kind]:
    tabs = TABLE.replace(",", "\t")
    yield Kind("tabs in a .tsv", tabs, file="a.tsv", code=FINE)
    yield Kind("commas in a .tsv", TABLE, file="a.tsv", says=("a.tsv:1",))
    yield Kind("tabs in a .csv", tabs, says=("a.csv:1",))
    yield Kind("empty .tsv", "", file="a.tsv")
    yield Kind("a short row in a .tsv", tabs + "2\te\n", file="a.tsv", says=("a.tsv:10",))
    yield Kind("an open quote in a .tsv", tabs + '2\te\tv\t"x\t3\n', file="a.tsv", says=("a.tsv:10",))
    yield Kind("header alone in a .tsv", "set\tid\twho\n", file="a.tsv")
    yield Kind("bad UTF-8 in a .tsv", tabs.encode() + b"2\te\tv\t\xff\t3\n", file="a.tsv", says=("a.tsv:10",))


def _packed() -> Iterator[Kind]:
    whole = packed(TABLE)
    yield Kind("packed table", whole, file="a.csv.gz", code=FINE)
    yield Kind("not packed", TABLE, file="a.csv.gz")
    yield Kind("packed, cut short", whole[:-20], file="a.csv.gz")
    yield Kind("packed, one byte changed", whole[:40] + b"\xff" + whole[41:], file="a.csv.gz", code=EITHER)
    yield Kind("packed, text behind it", whole + b"text", file="a.csv.gz", code=EITHER)
    yield Kind("packed, nothing in it", packed(""), file="a.csv.gz")
    yield Kind("packed without suffix", whole, file="a.csv")
    yield Kind(
        "a bomb: 300 MB of one line",
        packed(b"x" * 300_000_000),
        file="a.csv.gz",
        commands=("predict",),
        others=False,
    )


def parquet(columns: dict[str, Any], names: list[str] | None = None) -> Any:
    """What writes a Parquet file of these columns."""

    def make(path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet as pq

        held = pa.table(list(columns.values()), names=names or list(columns))
        pq.write_table(held, path)

    return make


def _columns(**more: Any) -> dict[str, Any]:
    split = [row.split(",") for row in ROWS]
    held: dict[str, Any] = {name: [row[i] for row in split] for i, name in enumerate(HEADER.split(","))}
    return {k: v for k, v in {**held, **more}.items() if v is not None}


def _parquet() -> Iterator[Kind]:
    import pyarrow as pa

    def kind(name: str, made: Any, **more: Any) -> Kind:
        return Kind(f"Parquet: {name}", made, file="a.parquet", **more)

    yield kind("whole", parquet(_columns()), code=FINE)
    yield kind("empty file", "")
    yield kind("text", TABLE)
    yield kind("magic alone", b"PAR1" + bytes(20) + b"PAR1")
    yield kind("no rows", parquet({name: pa.array([], pa.string()) for name in HEADER.split(",")}))
    yield kind("a column missing", parquet(_columns(set=None)))
    yield kind(
        "two columns of one name", parquet({**_columns(), "extra": ["x"] * 8}, [*HEADER.split(","), "name"])
    )
    yield kind("infinite", parquet(_columns(age=[1.0] * 7 + [float("inf")])), code=FINE)
    yield kind("nulls", parquet(_columns(name=[None] * 8)), code=EITHER)
    yield kind("null sets", parquet(_columns(set=["1"] * 7 + [None])))
    yield kind("null labels", parquet(_columns(who=["x"] * 7 + [None])), commands=NEED_LABELS)
    yield kind("nested", parquet(_columns(name=[{"a": 1}] * 8)), code=EITHER)
    yield kind("lists", parquet(_columns(name=[["a", "b"]] * 8)), code=EITHER)
    yield kind(
        "bytes that are no text",
        parquet(_columns(name=pa.array([b"\xff\xfe"] * 8, pa.binary()))),
        code=EITHER,
    )
    yield kind("bad UTF-8", _bad_utf8, code=EITHER)
    for name, made in {
        "timestamps out of range": pa.array([2**62] * 8, pa.timestamp("us")),
        "dates out of range": pa.array([2**30] * 8, pa.date32()),
        "durations out of range": pa.array([2**62] * 8, pa.duration("s")),
        "times": pa.array([datetime.time(1, 2)] * 8),
        "timestamps": pa.array([datetime.datetime(2020, 1, 2)] * 8),
        "big decimals": pa.array(["1" * 30] * 8).cast(pa.decimal256(40, 0)),
        "dictionary": pa.array(["x"] * 8).dictionary_encode(),
        "unsigned": pa.array([2**64 - 1] * 8, pa.uint64()),
        "halves": pa.array(np.full(8, 1.5, np.float16)),
        "maps": pa.array([[("a", 1)]] * 8, pa.map_(pa.string(), pa.int64())),
        "null type": pa.nulls(8),
    }.items():
        yield kind(name, parquet(_columns(age=made)), code=EITHER)
    yield kind("cut short", lambda path: _then(path, parquet(_columns()), lambda data: data[:-30]))
    yield kind("a byte changed", lambda path: _then(path, parquet(_columns()), _flipped), code=EITHER)
    yield kind("packed name", packed(TABLE), commands=("predict",))
    yield Kind("a pipe nobody writes to", os.mkfifo, file="a.parquet", commands=(), others=False)


def _bad_utf8(path: Path) -> None:
    import pyarrow as pa

    raw = pa.array([b"\xff\xfe"] * 8, pa.binary())
    text = pa.Array.from_buffers(pa.string(), 8, raw.buffers())
    parquet(_columns(name=text))(path)


def _then(path: Path, make: Any, change: Any) -> None:
    make(path)
    path.write_bytes(change(path.read_bytes()))


def _flipped(data: bytes) -> bytes:
    return data[:60] + bytes(255 - b for b in data[60:64]) + data[64:]
