"""``--verbose`` says what each step of fit and predict cost and kept; a large table is read with progress."""

import json

import numpy as np

from clustruct.cli.main import main


def people(path, n):
    rng = np.random.default_rng(0)
    rows = [f"{i},{i // 2},Name{k},{k % 7} Road" for i, k in enumerate(rng.integers(0, 50, n))]
    path.write_text("id,cluster,name,street\n" + "\n".join(rows) + "\n")
    return str(path)


def test_costs_of_fit_and_predict_are_told_by_step(tmp_path, capsys):
    data, model = people(tmp_path / "a.csv", 60), str(tmp_path / "m")
    assert main(["fit", data, "--cluster", "cluster", "--C", "1", "--model", model, "--verbose"]) == 0
    told = capsys.readouterr().err
    steps = ("reading", "looking at fields", "features", "learning")
    places = [told.index(f"\n{step}") for step in steps]
    assert places == sorted(places)
    assert "60 rows" in told
    out = str(tmp_path / "o.csv")
    assert main(["predict", data, "--model", model, "--out", out, "--json", "--quiet", "--verbose"]) == 0
    said = capsys.readouterr()
    assert len(json.loads(said.out)["sets"][0]["ids"]) == 60
    table = {line.split()[0]: line for line in said.err.splitlines()}
    assert list(table) == ["step", "reading", "features", "grouping", "writing"]
    assert "60 rows" in table["reading"]
    assert "60 items, 1,770 pairs" in table["features"]


def test_without_it_nothing_is_told(tmp_path, capsys):
    data, model = people(tmp_path / "a.csv", 40), str(tmp_path / "m")
    assert main(["fit", data, "--cluster", "cluster", "--C", "1", "--model", model, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_names_do_not_steer_a_terminal(tmp_path, capsys, monkeypatch):
    """A line feed or an escape in an id is shown by its number, and files get it as it is."""
    data, model = people(tmp_path / "a.csv", 40), str(tmp_path / "m")
    assert main(["fit", data, "--cluster", "cluster", "--C", "1", "--model", model, "--quiet"]) == 0
    odd = tmp_path / "b.csv"
    odd.write_text('id,name,street\n"x\x1b[31m\ny",Ann,1 Road\nz,Bob,2 Road\n')
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["predict", str(odd), "--model", model, "--quiet"]) == 0
    assert "x\\x1b[31m\\ny,0\n" in capsys.readouterr().out
