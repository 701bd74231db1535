"""No value stops a run: what cannot be read as its column's kind is text or missing, and is counted."""

import csv
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from clustruct import PairFeatures, Recipe, Table, load, read_sets, save, sets_of
from clustruct.cli.main import main
from clustruct.data import as_number
from clustruct.data.io import csv_files
from clustruct.data.readings import holds
from clustruct.features import Numbers, Vectors, guess_blocks

# A postcode with a typed letter (DEFECTS 22), and its brothers.
ODD = ["2e859", "1e999", "-1e400", "inf", "-Infinity", "nan", "1" + "0" * 400, "1+2j", "9" * 200]
ODD_OBJECTS = [float("inf"), -float("inf"), 10**400, complex(1, 2), np.float32("inf"), 1e300, "2e859"]
CODES = [2859, 1234, 1235, 4711, 815, 2222, 3030, 9090, 1111, 5050, 6006, 7007]
NAMES = ["anna", "ana", "bob", "bobb", "carl", "karl", "dora", "dorra", "emil", "emill", "fritz", "frits"]


def rows_with(value):
    """Six persons, each twice; one code is odd."""
    rows = [
        {"id": str(n), "code": code, "name": name, "who": f"w{n // 2}"}
        for n, (code, name) in enumerate(zip(CODES, NAMES, strict=True))
    ]
    rows[0]["code"] = value
    return rows


def by_csv(rows, path):
    with open(path / "a.csv", "w", newline="", encoding="utf-8") as f:
        writer = csv.DictWriter(f, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return list(read_sets(path / "a.csv", id="id", cluster="who"))


def by_jsonl(rows, path):
    labels = [row["who"] for row in rows]
    items = [{key: value for key, value in row.items() if key != "who"} for row in rows]
    (path / "a.jsonl").write_text(json.dumps({"items": items, "labels": labels}) + "\n")
    return list(read_sets(path / "a.jsonl", id="id"))


def by_parquet(rows, path):
    pd.DataFrame(rows).astype({"code": str}).to_parquet(path / "a.parquet")
    return list(read_sets(path / "a.parquet", id="id", cluster="who"))


def by_frame(rows, path):
    return sets_of(pd.DataFrame(rows), id="id", cluster="who")


def by_dicts(rows, path):
    items = [{key: row[key] for key in ("code", "name")} for row in rows]
    return [Table(items, labels=[row["who"] for row in rows], ids=[row["id"] for row in rows])]


DOORS = [by_csv, by_jsonl, by_parquet, by_frame, by_dicts]


def pairs_of(sets):
    """Features of all pairs; the texts of the codes do not differ by door."""
    sets = [replace(table, source=None) for table in sets]
    return PairFeatures(guess_blocks(sets, "records")).fit_transform(sets)[0].pairs


def test_the_table_of_the_report_is_learned_from(tmp_path, capsys):
    table = tmp_path / "a.csv"
    table.write_text("id,code,name,who\n1,2e859,anna,a\n2,2859,ana,a\n3,1234,bob,b\n4,1235,bobb,b\n")
    model = str(tmp_path / "m")
    assert main(["fit", str(table), "--id", "id", "--cluster", "who", "--C", "1", "--model", model]) == 0
    assert main(["predict", str(table), "--model", model, "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "id,cluster" in out


@pytest.mark.parametrize("value", ODD)
def test_a_column_with_an_odd_text_is_the_same_through_every_door(value, tmp_path, monkeypatch):
    rows = rows_with(value)
    expected = pairs_of(by_dicts(rows, tmp_path))
    assert np.isfinite(expected).all()
    for door in DOORS:
        np.testing.assert_array_equal(pairs_of(door(rows, tmp_path)), expected)
    monkeypatch.setattr(csv_files, "SMALLEST", 0)  # the compiled reader
    np.testing.assert_array_equal(pairs_of(by_csv(rows, tmp_path)), expected)


@pytest.mark.parametrize("value", ODD_OBJECTS, ids=repr)
@pytest.mark.parametrize("door", [by_dicts, by_frame])
def test_odd_numbers_of_python_are_missing_as_numbers(value, door, tmp_path):
    (table,) = door(rows_with(value), tmp_path)
    made = PairFeatures([Numbers("code")]).fit_transform([table])[0].pairs
    without = PairFeatures([Numbers("code")]).fit_transform(by_dicts(rows_with(None), tmp_path))[0].pairs
    np.testing.assert_array_equal(made, without)


@pytest.mark.parametrize("value", [1e999, -1e999, [1e999, 1.0], [None, 1.0], float("nan")])
def test_odd_numbers_of_json_stop_nothing(value, tmp_path):
    assert np.isfinite(pairs_of(by_jsonl(rows_with(value), tmp_path))).all()


WRONG = [[np.inf, 1.0], [np.nan, 1.0], [None, 1.0], [10**400, 1], [1e300, 0.0], ["a", "b"], [[1.0, 2.0]]]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_vector_that_is_none_is_missing(wrong, tmp_path):
    vectors = [[float(n % 3), float(n % 5)] for n in range(12)]
    right = Table([{"v": v} for v in (None, *vectors)])
    odd = Table([{"v": v} for v in (wrong, *vectors)])
    block = PairFeatures([Vectors(["v"], parts=("cosine", "nearness", "difference", "product"))])
    np.testing.assert_array_equal(block.fit_transform([odd])[0].pairs, block.fit_transform([right])[0].pairs)
    (tmp_path / "a.jsonl").write_text(json.dumps({"items": odd.items}) + "\n")
    (read,) = read_sets(tmp_path / "a.jsonl", labels="ignored")
    assert len(block.fit_transform([read])) == 1


def test_arrays_with_odd_rows_are_read(tmp_path):
    X = np.arange(24.0).reshape(12, 2)
    X[3, 0], X[5, 1] = np.inf, np.nan
    np.save(tmp_path / "a.npy", X)
    (table,) = read_sets(tmp_path / "a.npy", labels="ignored")
    made = PairFeatures([Vectors(["vector"])]).fit_transform([table])[0]
    assert np.isfinite(made.pairs).all()


def test_what_is_no_number_is_counted():
    (table,) = by_dicts(rows_with("2e859"), None)
    assert not holds("number", "2e859")
    features = PairFeatures([Numbers("code")]).fit([table])
    (need,) = [need for need in features.needs_ if need.name == "code"]
    assert need.other == pytest.approx(1 / 12)


def test_odd_values_are_kept_in_models_stores_and_kept_features(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    by_jsonl(rows_with(1e999), tmp_path)
    words = ["fit", "a.jsonl", "--id", "id", "--C", "1", "--quiet"]
    assert main([*words, "--model", "m", "--keep-features", "kept"]) == 0
    by_csv(rows_with("inf"), tmp_path)
    assert main(["store", "s.db", "--create", "--items", "a.csv", "--id", "id", "--cluster", "who"]) == 0
    new = [{**row, "id": f"new{row['id']}"} for row in rows_with("2e859")]
    by_csv(new, tmp_path)
    words = ["--model", "m", "--id", "id", "--quiet", "--out", "o.csv"]
    assert main(["predict", "a.csv", *words, "--existing", "s.db"]) == 0
    by_csv(rows_with("1e999"), tmp_path)
    assert main(["predict", "a.csv", *words]) == 0


@pytest.mark.filterwarnings("ignore::clustruct.core.exceptions.UnfamiliarDataWarning")
def test_a_recipe_learns_and_is_saved(tmp_path):
    sets = by_frame(rows_with(np.inf), tmp_path)
    save(tmp_path / "m", Recipe(C=1.0).fit(sets))
    assert len(load(tmp_path / "m").predict(sets)[0]) == 12


@pytest.mark.parametrize("value", [*ODD, *ODD_OBJECTS], ids=repr)
def test_as_number_knows_no_infinite_numbers(value):
    assert np.isnan(as_number(value))
    assert not holds("number", value)
