"""clustruct look, --as, and what fit prints of columns."""

import json

import pytest

from clustruct import load
from clustruct.cli.main import main

ROWS = [
    "nr,name,born,zip,price,phone,note,shop,wife",
    '1,Anna Meier,13/04/1985,02138,"1.299,50 €",unknown,,x,',
    '2,Ana Meier,13/04/1985,02138,"1.299,50 €",unknown,,x,',
    '3,Bob Kurz,04/05/1990,10115,"12,00 €",030 1234,nice,x,',
    '4,Bob Kurtz,4/5/1990,10115,"12,00 €",030 1234,,x,Ida',
    '5,Carl Lang,28/02/1970,80331,"7,25 €",unknown,,x,',
    '6,Karl Lang,30/02/1970,80331,"7,25 €",089 77,,x,Ute',
]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("\n".join(ROWS) + "\n", encoding="utf-8")
    labels = ["who", "a", "a", "b", "b", "c", "c"]
    with_labels = [f"{row},{label}" for row, label in zip(ROWS, labels, strict=True)]
    (tmp_path / "l.csv").write_text("\n".join(with_labels) + "\n", encoding="utf-8")
    return "a.csv"


def lines_of(capsys, *words):
    assert main([*words]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_line_for_each_column(table, capsys):
    lines = lines_of(capsys, "look", table, "--id", "nr")
    assert lines[0] == "6 rows, 8 columns, taken for records"
    found = {line.split()[0]: " ".join(line.split()[1:]) for line in lines[3:11]}
    assert found["born"] == "dates, day first 100 % 4 1.9 yes"
    assert found["zip"] == "codes of 5 digits 100 % 3 1.6 yes"
    assert found["price"] == "numbers, decimal comma 100 % 3 1.6 yes"
    assert found["phone"] == "short text 50 % 2 0.9 yes"
    assert found["shop"] == "nothing 100 % 1 0.0 no: all values are the same"
    assert "phone: 'unknown' in 3 rows, taken as missing" in lines
    assert any(line.startswith("born: 1 row with no date") for line in lines)


def test_a_column_that_most_rows_lack_is_compared_in_the_record_only(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"n{k} x,{'abc'[k % 3] if k > 15 else ''}" for k in range(20)]
    (tmp_path / "a.csv").write_text("\n".join(["name,wife", *rows]) + "\n")
    (line,) = [line for line in lines_of(capsys, "look", "a.csv") if line.startswith("wife")]
    assert line.endswith("in the whole record only: 4 rows of 20 have a value")


def test_what_is_asked_for_overrules(table, capsys):
    lines = lines_of(capsys, "look", table, "--as", "zip=number", "--as", "born=month-first")
    assert any(line.startswith("zip     numbers") for line in lines)
    assert any("dates, month first" in line for line in lines)
    assert main(["look", table, "--as", "zip=postcode"]) == 2
    assert "choose from text, number" in capsys.readouterr().err
    assert main(["look", table, "--as", "plz=code"]) == 1
    assert "no item has the field 'plz'" in capsys.readouterr().err


def test_all_of_it_as_json(table, capsys):
    assert main(["look", table, "--id", "nr", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    by_name = {column["name"]: column for column in found["columns"]}
    assert (found["items"], found["rows"]) == ("records", 6)
    assert (by_name["born"]["kind"], by_name["born"]["form"], by_name["born"]["unread"]) == (
        "date",
        "day first",
        1,
    )
    assert by_name["shop"]["compared"] is False
    assert by_name["phone"]["placeholders"] == ["unknown"]


def test_ids_that_are_alike_are_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("id,name\n7,Ann\n007,Anne\n8,Bob\n")
    assert lines_of(capsys, "look", "a.csv")[-1] == (
        "ids: 1 id like another but for zeros, blanks or .0 (such as '7' and '007')"
    )


@pytest.mark.filterwarnings("ignore")
def test_fit_keeps_what_was_asked_for_and_names_what_it_leaves_out(table, capsys):
    words = ["fit", "l.csv", "--id", "nr", "--cluster", "who", "--C", "1", "--model", "m"]
    lines = lines_of(capsys, *words, "--as", "zip=text")
    assert any(line.startswith("not compared: ") and "shop" in line for line in lines)
    readings = load("m")[0].readings_
    assert (readings["zip"].kind, readings["zip"].chosen) == ("string", True)
    assert (readings["born"].form, readings["price"].form) == ("day first", ",")
    shown = lines_of(capsys, "show", "m")
    assert any(line.startswith("born") and "dates, day first" in line for line in shown)
    assert main(["predict", table, "--id", "nr", "--model", "m", "--quiet"]) == 0
