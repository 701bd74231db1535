"""The generator of tables: what is asked for is there, and the seed decides everything."""

import csv

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from benchmarks.tables.errors import initials, respelled, slips
from benchmarks.tables.files import read_labels, read_records
from benchmarks.tables.made import SHAPES
from benchmarks.tables.words import invented, zipf

ROWS = 3000


@pytest.fixture(scope="module", params=list(SHAPES))
def shape(request):
    return request.param


@pytest.fixture(scope="module")
def table(shape):
    return SHAPES[shape].make(ROWS, seed=3)


def distance(a, b):
    """Of Levenshtein, with swaps of neighbours."""
    D = np.zeros((len(a) + 1, len(b) + 1), int)
    D[:, 0], D[0] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, D[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 2 : i] == b[j - 2 : j][::-1]:
                D[i, j] = min(D[i, j], D[i - 2, j - 2] + 1)
    return D[-1, -1]


def test_the_seed_decides_everything(shape, table):
    again, other = SHAPES[shape].make(ROWS, seed=3), SHAPES[shape].make(ROWS, seed=4)
    np.testing.assert_array_equal(again.entity, table.entity)
    for name, column in table.columns.items():
        np.testing.assert_array_equal(again.columns[name], column)
        assert not np.array_equal(other.columns[name], column)


def test_rows_and_clusters_are_as_many_as_asked_for(shape, table):
    assert len(table) == ROWS == len(next(iter(table.columns.values())))
    entities = np.unique(table.entity)
    np.testing.assert_array_equal(entities, np.arange(len(entities)))
    wanted = getattr(SHAPES[shape], "rows_per_person", None) or SHAPES[shape].rows_per_product
    assert ROWS / len(entities) == pytest.approx(wanted, rel=0.1)


def test_one_cell_in_twelve_is_missing(shape, table):
    empty = np.array([np.mean(column == b"") for name, column in table.columns.items() if name != "title"])
    np.testing.assert_allclose(empty, SHAPES[shape].missing, atol=0.03)


def test_rows_of_one_entity_are_alike_but_not_the_same(table):
    order = np.argsort(table.entity, kind="stable")
    mates = table.entity[order[1:]] == table.entity[order[:-1]]
    same = np.array([(c[order[1:]] == c[order[:-1]]) & (c[order[1:]] != b"") for c in table.columns.values()])
    assert same[:, mates].mean() > 10 * same[:, ~mates].mean()
    assert same.all(axis=0)[mates].mean() < 0.5


def test_common_names_are_shared_by_more_people():
    def namesakes(shape):
        made = SHAPES[shape].make(ROWS, seed=0)
        _, first = np.unique(made.entity, return_index=True)
        full = np.strings.add(made.columns["given_name"][first], made.columns["surname"][first])
        return len(first) - len(np.unique(full))

    assert namesakes("persons-common") > 3 * namesakes("persons")


def test_labelled_clusters_are_whole_and_as_many_as_asked_for(table):
    labelled = table.labelled(50, seed=1)
    mine = np.unique(table.entity[labelled])
    assert len(mine) == 50
    np.testing.assert_array_equal(labelled, np.isin(table.entity, mine))
    assert table.labelled(10**6, seed=1).all()
    assert not np.array_equal(labelled, table.labelled(50, seed=2))


def test_files_have_ids_the_labelled_entities_and_all_cells(table, tmp_path):
    labelled = table.labelled(50, seed=1)
    path = tmp_path / "table.csv"
    table.write(path, labelled)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["id", "entity", *table.columns]
    assert [row["entity"] for row in rows] == [
        str(e) if known else "" for e, known in zip(table.entity, labelled, strict=True)
    ]
    for name, column in table.columns.items():
        assert [row[name].encode() for row in rows] == column.tolist()
        assert [(record[name] or "").encode() for record in read_records(path)] == column.tolist()
    entity, known = read_labels(path)
    np.testing.assert_array_equal(known, labelled)
    np.testing.assert_array_equal(entity[known], table.entity[labelled])


def test_parquet_has_the_same_cells(table, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table.write(tmp_path / "table.parquet")
    held = parquet.read_table(tmp_path / "table.parquet")
    assert held["entity"].to_pylist() == table.entity.tolist()
    for name, column in table.columns.items():
        assert [(cell or "").encode() for cell in held[name].to_pylist()] == column.tolist()


def test_a_slip_is_one_edit():
    rng = np.random.default_rng(0)
    words = invented(rng, 300)
    found = slips(words, rng)
    edits = [distance(a.decode(), b.decode()) for a, b in zip(words, found, strict=True)]
    assert set(edits) == {0, 1}
    assert np.mean(edits) > 0.9
    assert {len(b) - len(a) for a, b in zip(words, found, strict=True)} == {-1, 0, 1}


def test_slips_of_short_texts():
    rng = np.random.default_rng(0)
    assert slips(np.array([b"", b""]), rng).tolist() == [b"", b""]
    assert all(len(word) <= 2 for word in slips(np.array([b"a"] * 100), rng).tolist())


def test_other_spellings_and_initials():
    words = np.array([b"nick", b"anna"] * 200)
    found = set(respelled(words, np.random.default_rng(0)).tolist())
    assert {b"nik", b"nyck", b"annna", b"ahnna", b"anna", b"nick"} <= found
    assert initials(words[:2]).tolist() == [b"n", b"a"]


def test_words_differ_and_their_frequencies_fall():
    rng = np.random.default_rng(0)
    assert len(np.unique(invented(rng, 5000))) == 5000
    count = np.bincount(zipf(rng, 100_000, 1000, 1.0, 0.0), minlength=1000)
    assert count[0] / count[9] == pytest.approx(10, rel=0.2)
