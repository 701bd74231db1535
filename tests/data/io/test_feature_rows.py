"""Rows for learners of rows: what tables and SVM^light files say alike, and faults by their line."""

import numpy as np
import pytest

from clustruct.core.exceptions import DataError
from clustruct.data.io import RowColumns, read_rows, read_svmlight_labels, widen_rows

TABLE = "id,a,b,x,y,text\nr1,1,2.5,1,0,one word\nr2,3,-1e2,0,0,\nr3,0,4,1,1,three more words\n"
LABELS = RowColumns(labels=("x", "y"), features=("a", "b"))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(TABLE)
    return path


def test_a_table_and_svmlight_rows_say_the_same(table, tmp_path):
    (tmp_path / "a.svm").write_text("# first\n1 1:1 2:2.5\n1:3 2:-100\n\n1,2 2:4\n")
    by_column = read_rows(table, LABELS)
    by_line = read_rows(tmp_path / "a.svm", several_labels=True)
    np.testing.assert_array_equal(by_column.X, by_line.X.toarray())
    assert by_column.label_sets == [{"x"}, set(), {"x", "y"}]
    assert by_line.label_sets == [{"1"}, set(), {"1", "2"}]
    assert (by_column.names, by_column.ids) == (("a", "b"), ["r1", "r2", "r3"])
    assert (by_line.names, by_line.ids, by_line.label_names) == (None, [2, 3, 5], ("1", "2"))
    assert by_line.place(2) == f"{tmp_path / 'a.svm'}:5"
    assert read_svmlight_labels(tmp_path / "a.svm").y == [(1,), (), (1, 2)]


def test_labels_are_in_the_order_of_numbers(tmp_path):
    (tmp_path / "a.svm").write_text("10,9 1:1\n-1,100 1:1\n")
    assert read_rows(tmp_path / "a.svm", several_labels=True).label_names == ("-1", "9", "10", "100")


def test_texts_are_joined_and_may_be_missing(table):
    rows = read_rows(table, RowColumns(text=("text", "a"), label="x"))
    assert rows.X == ["one word\n1", "3", "three more words\n0"]
    assert rows.label == ["1", "0", "1"]
    some = rows.take([2, 0])
    assert (some.X, some.ids, some.label) == ([rows.X[2], rows.X[0]], ["r3", "r1"], ["1", "1"])
    assert some.place(0).endswith("a.csv:4")


def test_vectors_of_arrays_are_columns(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    np.savez(tmp_path / "a.npz", v=X, w=np.array([7.0, 8.0, 9.0]), kind=np.array([0, 1, 1]))
    rows = read_rows(tmp_path / "a.npz", RowColumns(label="kind"))
    np.testing.assert_array_equal(rows.X, np.column_stack([X, [7.0, 8.0, 9.0]]))
    with pytest.raises(DataError, match="rows have 3 numbers, the model takes 4"):
        read_rows(tmp_path / "a.npz", RowColumns(label="kind"), n_features=4)


def test_wider_rows_are_zero_there(tmp_path):
    (tmp_path / "a.svm").write_text("1 2:3\n")
    X = widen_rows(read_rows(tmp_path / "a.svm").X, 4)
    assert X.toarray().tolist() == [[0.0, 3.0, 0.0, 0.0]]
    assert widen_rows(np.ones((1, 2)), 4).shape == (1, 2)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            RowColumns(features=("a", "text")),
            "a.csv:2: the column 'text' holds 'one word', which is no number",
        ),
        (RowColumns(labels=("a", "b"), features=("x",)), "a.csv:3: the column 'a' says by 0 or 1 whether"),
        (RowColumns(labels=("x", "z")), "a.csv:1: there is no column 'z'"),
        (RowColumns(features=("c",)), "a.csv:1: there is no column 'c'"),
        (RowColumns(id="z"), "a.csv:1: there is no column 'z'"),
        (RowColumns(labels=("a", "b", "x", "y", "text")), "a.csv: no column is left for features"),
    ],
)
def test_faults_of_tables_name_the_line(table, columns, message):
    with pytest.raises(DataError) as caught:
        read_rows(table, columns)
    assert str(caught.value).replace(str(table), "a.csv").startswith(message)


def test_an_empty_cell_is_no_number(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,\n")
    with pytest.raises(DataError, match=r"a\.csv:3: the column 'b' is empty"):
        read_rows(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1;3 1:1\n", "a.svm:1: labels are whole numbers, as in 1,3; not '1;3'"),
        ("1,,3 1:1\n", "a.svm:1: labels are whole numbers"),
        ("1 1:1\n1.5 1:1\n", "a.svm:2: labels are whole numbers"),
        ("1\n2\n", "a.svm: no row has a feature"),
        ("", "a.svm: there are no examples"),
    ],
)
def test_faults_of_labels_name_the_line(tmp_path, text, message):
    path = tmp_path / "a.svm"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_rows(path, several_labels=True)
    assert str(caught.value).replace(str(path), "a.svm").startswith(message)


def test_columns_of_svmlight_rows_are_refused(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n")
    with pytest.raises(DataError, match="SVM\\^light rows have none"):
        read_rows(tmp_path / "a.svm", RowColumns(label="kind"))
    with pytest.raises(DataError, match=r"a\.jsonl: rows are read from \.csv"):
        read_rows(tmp_path / "a.jsonl")
