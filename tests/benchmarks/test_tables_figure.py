"""The picture of cost against rows has a line for each tool."""

import json

import pytest

from benchmarks.tables import figure

pytest.importorskip("matplotlib")


def _row(tool, rows, cost):
    return {"table": "persons", "rows": rows, "labelled": 1250, "tool": tool, "CPU s": cost, "GB": cost / 10}


def test_lines_of_all_tools_are_drawn(tmp_path):
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(json.dumps({"rows": [_row("splink", 10**4, 9.0), _row("splink", 10**5, 20.0)]}))
    second.write_text(
        json.dumps(
            {"rows": [_row("clustruct", 10**4, 3.0), {**_row("dedupe", 10**4, 1.0), "remark": "failed"}]}
        )
    )
    rows = figure.read([first, second])
    figure.draw(rows, tmp_path / "cost.svg")
    assert [row["tool"] for row in rows] == ["splink", "splink", "clustruct"]
    text = (tmp_path / "cost.svg").read_text()
    assert figure.COLOURS["splink"] in text
    assert figure.COLOURS["clustruct"] in text
    assert figure.COLOURS["dedupe"] not in text


def test_a_later_file_replaces_an_earlier(tmp_path):
    old, new = tmp_path / "a.json", tmp_path / "b.json"
    old.write_text(json.dumps({"rows": [_row("splink", 10**4, 9.0)]}))
    new.write_text(json.dumps({"rows": [_row("splink", 10**4, 5.0)]}))
    assert [row["CPU s"] for row in figure.read([old, new])] == [5.0]


def test_nothing_to_draw_is_said(tmp_path):
    with pytest.raises(SystemExit, match="no figures of persons"):
        figure.draw([], tmp_path / "cost.svg")
