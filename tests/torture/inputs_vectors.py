"""Bad arrays (.npy, .npz), lists of numbers in Parquet, and tables of which only some rows are labelled."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .inputs import COLUMNS, EITHER, FINE, HEADER, LEARN, ROWS, USAGE, Kind, Line, a_set, lines
from .inputs_tables import parquet

READ = ("predict", "explain", "report")
VECTORS = np.array([[0, 0, 9], [0, 1, 9], [5, 5, 0], [5, 6, 0], [9, 0, 0], [9, 1, 0], [0, 9, 4], [1, 9, 4.0]])
NAMED = {
    "set": np.array(list("11112222")),
    "id": np.array(list("abcdabcd")),
    "who": np.array(list("xxyyzzvv")),
    "vector": VECTORS,
}


def kinds() -> Iterator[Kind]:
    """All of them."""
    yield from _arrays()
    yield from _archives()
    yield from _lists()
    yield from _partial()


def npy(array: Any) -> bytes:
    held = io.BytesIO()
    np.save(held, array, allow_pickle=True)
    return held.getvalue()


def npz(**changes: Any) -> bytes:
    held = io.BytesIO()
    np.savez(held, **{k: v for k, v in {**NAMED, **changes}.items() if v is not ...})
    return held.getvalue()


def _claims(shape: str, kind: str = "<f8", data: bytes = b"") -> bytes:
    """A file whose header says what it likes."""
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data


def _with(value: float) -> Any:
    held = VECTORS.copy()
    held[5, 1] = value
    return held


def _arrays() -> Iterator[Kind]:
    def kind(name: str, content: Any, **more: Any) -> Kind:
        given = {
            "file": "a.npy",
            "columns": (),
            "model": "vectors",
            "commands": READ,
            "others": False,
            **more,
        }
        return Kind(f"npy: {name}", content, **given)

    whole = npy(VECTORS)
    yield kind("whole", whole, code=FINE)
    for name, content in {
        "empty": b"",
        "text": "hello",
        "cut short": whole[:-20],
        "header cut short": whole[:40],
        "another magic": b"\x93NUMPX" + whole[6:],
        "a later version": b"\x93NUMPY\x09\x00" + whole[8:],
        "objects": npy(np.array([[1, "x"]] * 8, object)),
        "structured": npy(np.zeros(8, [("a", "f8"), ("b", "i4")])),
        "complex": npy(VECTORS + 1j),
        "dates": npy(np.zeros((8, 3), "datetime64[D]")),
        "one axis": npy(VECTORS[:, 0]),
        "three axes": npy(VECTORS[:, :, None]),
        "a number": npy(np.float64(3)),
        "no rows": npy(VECTORS[:0]),
        "no columns": npy(VECTORS[:, :0]),
        "a column less": npy(VECTORS[:, :2]),
        "words": npy(np.full((8, 3), "word")),
        "says ten million million rows": _claims("(10000000000000, 3)"),
        "says less than nothing": _claims("(-8, 3)"),
        "says numbers of 400 digits": _claims(f"({'9' * 400}, 3)"),
        "shape a word": _claims("'x'"),
        "shape a call": _claims("__import__('os').getcwd()"),
        "shape nested": _claims("(" * 300 + ")" * 300),
        "a type of 10 GB": _claims("(1, 1)", "<U2500000000"),
        "a folder": lambda path: path.mkdir(),
        "not there": lambda path: None,
    }.items():
        yield kind(name, content)
    for name, array in {
        "NaN": _with(np.nan),
        "by columns": np.asfortranarray(VECTORS),
        "big-endian": VECTORS.astype(">f8"),
        "halves": VECTORS.astype(np.float16),
        "bytes": VECTORS.astype(np.int8),
        "long doubles": VECTORS.astype(np.longdouble),
        "beyond a double": VECTORS.astype(np.longdouble) * np.longdouble("1e4000"),
        "truth": VECTORS > 1,
        "1e300": VECTORS * 1e300,
        "unsigned": np.full((8, 3), 2**64 - 1, np.uint64),
    }.items():
        yield kind(name, npy(array), code=EITHER)
    for number in (np.float64, np.float16):
        yield kind(f"infinite {number.__name__}", npy(_with(np.inf).astype(number)), code=FINE)
    yield kind("bytes behind it", whole + b"text", code=EITHER)
    yield kind("labels wanted", whole, commands=LEARN, columns=("--cluster", "who"))


def _archives() -> Iterator[Kind]:
    def kind(name: str, content: Any, **more: Any) -> Kind:
        return Kind(f"npz: {name}", content, **{"file": "a.npz", "model": "vectors", **more})

    whole = npz()
    yield kind("whole", whole, code=FINE)
    yield kind("infinite", npz(vector=_with(np.inf)), code=FINE)
    for name, content in {
        "empty": b"",
        "no arrays": _archive({}),
        "cut short": whole[:-30],
        "not an archive": npy(VECTORS),
        "one array too short": npz(vector=VECTORS[:7]),
        "ids too short": npz(id=NAMED["id"][:3]),
        "objects": npz(vector=np.array([[1, "x"]] * 8, object)),
        "ids twice": npz(id=np.array(list("aacdabcd"))),
        "no sets": npz(set=...),
        "no ids": npz(id=...),
        "three axes": npz(vector=VECTORS[:, :, None]),
        "an array of nonsense": _archive({"vector.npy": b"x" * 100, "set.npy": npy(NAMED["set"])}),
        "an array twice": _archive({"vector.npy": npy(VECTORS)}, twice=True),
        "a byte changed": whole[:120] + bytes([whole[120] ^ 255]) + whole[121:],
        "an array that says too much": _archive({"vector.npy": _claims("(10000000000, 3)")}),
    }.items():
        code = EITHER if name == "a byte changed" else (1,)
        yield kind(name, content, code=code)
    yield kind("no vectors", npz(vector=...), commands=("predict", "evaluate", "explain", "report"))
    yield kind(
        "a column less", npz(vector=VECTORS[:, :2]), commands=("predict", "evaluate", "explain", "report")
    )
    yield kind("no labels", npz(who=...), commands=("fit", "cv", "evaluate"))
    for name, content in {
        "labels NaN": npz(who=np.array([0, 0, 1, np.nan, 0, 0, 1, 1.0])),
        "labels minus one": npz(who=np.array([0, 0, 1, 1, 0, 0, 1, -1])),
        "labels of two columns": npz(who=VECTORS[:, :2]),
        "a name with a path": npz(**{"../x": np.zeros(8)}),
        "a name with escapes": npz(**{"\x1b[31m": np.zeros(8)}),
        "sets of numbers": npz(set=np.array([1, 1, 1, 1, 2, 2, 2, 2.0])),
        "a bomb": _archive({"vector.npy": _claims("(30000000, 1)", "<f8", bytes(240_000_000))}),
    }.items():
        yield kind(name, content, code=EITHER, says=("a.npz",))


def _archive(parts: dict[str, bytes], twice: bool = False) -> bytes:
    held = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of a name that is there twice
        for name, data in [*parts.items(), *(parts.items() if twice else ())]:
            archive.writestr(name, data)
    return held.getvalue()


def _lists() -> Iterator[Kind]:
    """Columns of lists in Parquet."""
    import pyarrow as pa

    rows = VECTORS.tolist()

    def kind(name: str, vector: Any, **more: Any) -> Kind:
        named = {k: v.tolist() for k, v in NAMED.items() if k != "vector"}
        made = parquet({**named, "vector": vector})
        return Kind(f"lists: {name}", made, **{"file": "a.parquet", "model": "vectors", **more})

    yield kind("whole", rows, code=FINE)
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(VECTORS.ravel()), 3)
    yield kind("of one size", fixed, code=FINE)
    yield kind("of a million", [rows[0] * 100_000, *rows[1:]], commands=("predict", "fit"), others=False)
    for value in (np.inf, None):
        yield kind(f"{value} inside", [[value, 0, 0], *rows[1:]], code=FINE)
    for name, vector in {
        "of different lengths": [rows[0][:2], *rows[1:]],
        "all too short": [row[:2] for row in rows],
    }.items():
        reading = ("predict", "evaluate", "explain", "report")
        yield kind(name, vector, commands=reading if name == "all too short" else (*reading, *LEARN))
    for name, vector in {
        "NaN": [[np.nan, 0, 0], *rows[1:]],
        "one null": [None, *rows[1:]],
        "all null": pa.array([None] * 8, pa.list_(pa.float64())),
        "one empty": [[], *rows[1:]],
        "of lists": [[row] for row in rows],
        "of words": [["a", "b", "c"]] * 8,
        "of truth": [[True, False, True]] * 8,
        "of large integers": [[2**62, 1, 2]] * 8,
        "of dictionaries": [[{"a": 1.0}]] * 8,
        "large lists": pa.array(rows, pa.large_list(pa.float32())),
    }.items():
        yield kind(name, vector, code=EITHER)


def _partial() -> Iterator[Kind]:
    """One table of which some rows are labelled."""
    one = ("--id", "id", "--cluster", "who")
    free = ["", *(f"1,u{i},,Una {i},{i}" for i in range(20))]
    single = [row.replace("2,", "1,n", 1) if row[0] == "2" else row for row in ROWS]
    text = "\n".join([HEADER, *single]) + "\n".join(free) + "\n"
    learn = {"columns": one, "commands": ("fit",), "others": False}
    for option in ("apart", "unknown"):
        more = ("--unlabelled", option)
        yield Kind(f"some labelled, {option}", text, code=FINE, **learn, more=more)
        alone = "\n".join([HEADER, *(f"1,{i},c{i},Ann {i},3" for i in range(4)), *free[1:], ""])
        yield Kind(f"every labelled row alone, {option}", alone, **learn, more=more)
        yield Kind(
            f"one row labelled, {option}", "\n".join([HEADER, ROWS[0], *free[1:], ""]), **learn, more=more
        )
        yield Kind(f"none labelled, {option}", "\n".join([HEADER, *free[1:], ""]), **learn, more=more)
        pair = "\n".join([HEADER, *ROWS[:2], *free[1:], ""])
        yield Kind(f"one pair labelled, {option}", pair, **{**learn, "code": EITHER}, more=more)
        yield Kind(
            f"several sets, some labelled, {option}",
            "\n".join([HEADER, *ROWS, *free[1:], ""]),
            **{**learn, "columns": COLUMNS},
            code=EITHER,
            more=more,
        )
        yield Kind(
            f"some labelled, for k-means, {option}",
            text,
            **learn,
            more=(*more, "--learner", "kmeans"),
            says=("a.csv", "labels of all items", "--unlabelled"),
            code=(1, 2),
        )
    for size in ("1", "100000", "99999999999999999999"):
        yield Kind(f"for {size} rows", text, **learn, code=EITHER, more=("--for-size", size))
    nulls = lines(a_set(labels=[0, 0, None, 1]), a_set(id="s2"))
    more = ("--unlabelled", "apart")
    yield Kind(
        "JSONL with some labels", nulls, **{**learn, "columns": ()}, file="a.jsonl", code=EITHER, more=more
    )


def options() -> Iterator[tuple[str, Line]]:
    """Values that the options do not take."""
    fit = "fit a.csv --set set --id id --cluster who --quiet --model new.model"
    table = "\n".join([HEADER, *ROWS, ""])
    for words in (
        "--unlabelled x",
        "--unlabelled",
        "--for-size 0",
        "--for-size -3",
        "--for-size x",
        "--for-size 1.5",
    ):
        found = Line(
            "clustruct", f"{fit} {words}".split(), {"a.csv": table}, USAGE, (words.split()[0],), lines=60
        )
        yield f"fit {words}", found
    for words, code in {
        "--unlabelled apart --skip-unlabelled": (0, 1, 2),
        "--verbose --C 1": (0,),
        "--memory-limit 1K --C 1": (1,),
        "--memory-limit x": (2,),
    }.items():
        says = ("--memory-limit", "a.csv", "--unlabelled", "--skip-unlabelled")
        line = Line("clustruct", f"{fit} {words}".split(), {"a.csv": table}, code, says, ("new.model",), 60)
        yield f"fit {words}", line


def write_vectors(path: Path) -> None:
    """What the model of vectors is learned from."""
    path.write_bytes(npz())
