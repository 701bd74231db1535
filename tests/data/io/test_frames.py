"""Data frames and arrays become the sets that the same table in a file becomes."""

import numpy as np
import pytest

import clustruct
from clustruct.core.exceptions import DataError
from clustruct.data import Table
from clustruct.data.column_types import ArrayColumn, CodedColumn
from clustruct.data.io import ColumnRoles, read_sets, sets_of

VALUES = {
    "fold": [1, 2, 1, 2],
    "nr": ["a", "b", "c", "d"],
    "who": ["x", "y", "x", "y"],
    "name": ["Ann", None, " ", "Z\u00e4h"],
    "year": [1.5, None, 3.0, 1.5],
}


def frames():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(VALUES)
    kinds = {"pandas": frame, "polars": polars.DataFrame(VALUES), "lazy": polars.LazyFrame(VALUES)}
    objects = frame.astype({"name": object})
    return {**kinds, "arrow": arrow.table(VALUES), "objects": objects}


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "arrow", "objects"])
def test_frames_are_the_sets_of_their_rows(kind, tmp_path):
    first, second = sets_of(frames()[kind], set="fold", id="nr", cluster="who")
    assert (first.name, first.ids, first.labels) == ("1", ["a", "c"], ["x", "x"])
    assert first.items == [{"name": "Ann", "year": 1.5}, {"name": None, "year": 3.0}]
    assert second.column("name") == [None, "Z\u00e4h"]
    assert second.column("year") == [None, 1.5]
    assert first.source is None
    table = Table.from_frame(frames()[kind], id="nr", cluster="who")
    assert (table.ids, table.labels, table.fields()) == (
        VALUES["nr"],
        VALUES["who"],
        ["fold", "name", "year"],
    )
    assert table.factorize("name").values == ["Ann", "Z\u00e4h"]


def test_columns_of_frames_are_not_copied_to_objects():
    for kind in ("pandas", "polars", "arrow"):
        frame = frames()[kind]
        if kind == "pandas" and frame["name"].dtype == object:  # before pandas 3 text is objects already
            continue
        (table,) = sets_of(frame)
        assert isinstance(table.items.column("name"), CodedColumn)
        assert isinstance(table.items.column("year"), ArrayColumn)


def test_frames_hold_anything():
    pandas = pytest.importorskip("pandas")
    day = pandas.to_datetime(["2020-01-01", None])
    columns = {
        "kind": pandas.Categorical(["u", None]),
        "day": day,
        "many": pandas.array([1, None], dtype="Int64"),
        "mixed": [1, ["a"]],
        "true": [True, False],
        "vector": [np.arange(3.0), np.ones(3)],
    }
    (table,) = sets_of(pandas.DataFrame(columns))
    assert table.column("kind") == ["u", None]
    assert table.column("day") == [day[0], None]
    assert table.column("many") == [1, None]
    assert table.column("mixed") == [1, ["a"]]
    assert table.column("true") == [True, False]
    assert table.matrix("vector").tolist() == [[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]


def test_what_is_no_frame_is_refused():
    with pytest.raises(TypeError, match=r"expected a data frame \(pandas, polars, Arrow\), not int"):
        sets_of(5)
    with pytest.raises(DataError, match="there is no column 'x'; there are fold, nr"):
        sets_of(frames()["polars"], set="x")
    with pytest.raises(ValueError, match="there is no column 'x'"):
        Table.from_frame(frames()["polars"], id="x")
    assert clustruct.sets_of is sets_of


def test_lists_of_numbers_in_parquet_are_one_array(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X = np.arange(12.0).reshape(4, 3)
    ragged, texts = [[1.0], [1.0, 2.0], None, [3.0, 4.0]], [["a"], [], ["b"], ["a"]]
    table = arrow.table({"v": X.tolist(), "r": ragged, "t": texts, "fold": ["1", "2", "1", "2"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    first, second = read_sets(tmp_path / "a.parquet", columns=ColumnRoles(set="fold"), labels="ignored")
    assert second.matrix("v").tolist() == X[[1, 3]].tolist()
    assert second.matrix("r") is None
    assert first.column("r") == [[1.0], None]
    assert second.column("t") == [[], ["a"]]


def test_arrays_are_sets_of_vectors(tmp_path):
    X = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    np.save(tmp_path / "a.npy", np.asfortranarray(X.astype(">f4")))
    (table,) = read_sets(tmp_path / "a.npy", labels="ignored")
    assert table.fields() == ["vector"]
    assert np.array_equal(table.matrix("vector"), X)
    assert (table.matrix("vector").dtype, table.ids) == (np.dtype("f4"), [1, 2, 3, 4, 5, 6])
    for save in (np.savez, np.savez_compressed):
        save(
            tmp_path / "b.npz", image=X, who=np.array(list("aabbcc")), fold=np.arange(6) % 2, n=np.arange(6.0)
        )
        first, second = read_sets(tmp_path / "b.npz", columns=ColumnRoles(set="fold", cluster="who"))
        assert (first.labels, first.fields()) == (["a", "b", "c"], ["image", "n"])
        assert np.array_equal(second.matrix("image"), X[1::2])
        assert second.column("n") == [1.0, 3.0, 5.0]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"vector": np.zeros(3)}, "expected arrays with one row for each item, there are vector: 3"),
        ({"vector": np.zeros((0, 3))}, "the array 'vector' is empty"),
        ({"vector": np.array([[1j]])}, "not a readable file of arrays"),
        ({"vector": np.array([[{}]])}, "holds neither numbers nor texts"),
        ({"a": np.zeros((2, 2)), "b": np.zeros(3)}, "expected arrays with one row for each item"),
        ({"a": np.zeros((2, 2)), "b": np.float64(3)}, "there are a: 2 x 2, b: a number"),
    ],
)
def test_faults_of_arrays_are_named(tmp_path, arrays, message):
    path = tmp_path / ("a.npy" if "vector" in arrays else "a.npz")
    np.save(path, arrays["vector"]) if "vector" in arrays else np.savez(path, **arrays)
    with pytest.raises(DataError, match=message) as caught:
        list(read_sets(path, labels="ignored"))
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("role", ["set", "id", "cluster", "group"])
def test_names_and_clusters_are_no_vectors(tmp_path, role):
    np.savez(tmp_path / "a.npz", x=np.zeros((4, 2)), who=np.zeros((4, 2)))
    columns = ColumnRoles(**{"cluster": "x", role: "who"})
    with pytest.raises(DataError, match=r"a.npz: the column '(who|x)' holds a vector for each item"):
        list(read_sets(tmp_path / "a.npz", columns=columns))


def test_damaged_arrays_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((100, 5)))
    np.savez(tmp_path / "a.npz", x=np.zeros((100, 5)))
    for name in ("a.npy", "a.npz"):
        whole = (tmp_path / name).read_bytes()
        for cut in (0, 5, 50, 1000, len(whole) - 1):
            (tmp_path / name).write_bytes(whole[:cut])
            with pytest.raises(DataError, match=r"not a readable file of arrays|is empty"):
                list(read_sets(tmp_path / name, labels="ignored"))
    huge = whole_header((10**9, 10**6))
    (tmp_path / "b.npy").write_bytes(huge + b"\0" * 100)
    with pytest.raises(DataError, match="cut short"):
        list(read_sets(tmp_path / "b.npy", labels="ignored"))
    with pytest.raises(DataError, match="No such file"):
        list(read_sets(tmp_path / "none.npy", labels="ignored"))


def whole_header(shape):
    import io

    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return stream.getvalue()
