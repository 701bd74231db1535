"""A cell that is computed is kept, whatever happens afterwards."""

import json

import numpy as np
import pytest

from studies.results import Results, digest_of_data, digest_of_files, same_values


def table(results, calls, cells="abc", fail_at=None):
    def make(key):
        if key == fail_at:
            raise KeyboardInterrupt
        calls.append(key)
        return {"value": np.float64(ord(key)), "all": np.arange(2)}

    return [results.get(key, lambda k=key: make(k)) for key in cells]


def test_a_killed_run_goes_on(tmp_path):
    path, calls = tmp_path / "table.json", []
    with pytest.raises(KeyboardInterrupt):
        table(Results(path), calls, fail_at="c")
    assert Results(path).rows is None
    again = Results(path)
    again.finish(table(again, calls))
    assert calls == ["a", "b", "c"]
    assert Results(path).rows == [{"value": float(ord(k)), "all": [0, 1]} for k in "abc"]


def test_what_is_computed_is_what_is_read_later(tmp_path):
    """NumPy's types do not survive JSON, so a first run must not see them either."""
    path = tmp_path / "table.json"
    first = Results(path).get("x", lambda: {1: np.arange(3), "y": (np.float32(0.5), np.int64(2))})
    assert first == {"1": [0, 1, 2], "y": [0.5, 2]}
    assert Results(path).get("x", None) == first


def test_cells_of_other_sources_are_kept_unless_asked(tmp_path):
    path, calls = tmp_path / "table.json", []
    old = Results(path, "old")
    old.finish(table(old, calls))
    new = Results(path, "new")
    table(new, calls)
    assert calls == ["a", "b", "c"]
    assert new.stale_cells() == 3
    table(Results(path, "new", again=True), calls)
    assert calls == ["a", "b", "c"] * 2
    assert Results(path, "new").stale_cells() == 0


def test_cells_are_confirmed_by_a_sample(tmp_path):
    path, calls, cells = tmp_path / "table.json", [], "abcdefgh"
    old = Results(path, "old")
    old.finish(table(old, [], cells))
    for cell in old.cells.values():
        cell["seconds"] = 1.0
    old._write()
    new = Results(path, "new", confirm=4.0)
    new.finish(table(new, calls, cells))
    assert len(calls) == 4
    assert new.made["confirmed"] == "4 of 8 cells"
    assert new.about.endswith("; 4 of 8 cells confirmed")
    later = Results(path, "new")
    later.finish(table(later, calls, cells))
    assert later.made["confirmed"] == new.made["confirmed"]
    assert Results(path, "new").stale_cells() == 0


def test_a_cell_that_comes_out_otherwise_confirms_nothing(tmp_path):
    path = tmp_path / "table.json"
    for key in "ab":
        Results(path, "old").get(key, lambda: {"loss": 1.0, "seconds": 2.0})
    new = Results(path, "new", confirm=1e-12)
    for key in "ab":
        new.get(key, lambda: {"loss": 1.5, "seconds": 2.0})
    new.finish([])
    assert new.stale_cells() == 1
    assert "confirmed" not in new.made


def test_values_are_compared_but_for_seconds():
    assert same_values({"x": [1.0, 2], "seconds": 1.0}, {"x": [1.0 + 1e-12, 2], "seconds": 2.0})
    assert not same_values({"x": [1.0, 2]}, {"x": [1.001, 2]})
    assert not same_values({"x": 1.0}, {"x": 1.0, "y": 2.0})
    assert not same_values([1.0], [1.0, 2.0])


def test_cells_that_are_not_asked_for_are_dropped_at_the_end(tmp_path):
    path, calls = tmp_path / "table.json", []
    table(Results(path), calls)
    fewer = Results(path)
    fewer.finish(table(fewer, calls, "ab"))
    assert set(json.loads(path.read_text())["cells"]) == {"a", "b"}


def test_no_half_file_is_left(tmp_path):
    results = Results(tmp_path / "deep" / "table.json")
    with pytest.raises(TypeError):
        results.get("x", lambda: {"x": object()})
    assert not list(tmp_path.rglob("*.part"))
    results.get("y", lambda: 1)
    assert [p.name for p in tmp_path.rglob("*.*")] == ["table.json"]


def test_digests_follow_contents(tmp_path, monkeypatch):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("1")
    two.write_text("2")
    assert digest_of_files([one]) != digest_of_files([two])
    assert digest_of_files([one, two]) != digest_of_files([one])
    monkeypatch.setenv("CLUSTRUCT_DATA", str(tmp_path))
    assert digest_of_data(["one", "two"]) == digest_of_files([one, two])
    assert digest_of_data(["three"]) is None
    monkeypatch.delenv("CLUSTRUCT_DATA")
    assert digest_of_data(["one"]) is None
    assert digest_of_data([]) is not None


def test_a_file_has_a_line_for_each_row_and_each_cell(tmp_path):
    results = Results(tmp_path / "table.json")
    results.finish(table(results, []))
    text = (tmp_path / "table.json").read_text()
    assert [line[:5] for line in text.splitlines() if line.startswith(' "')][-3:] == [
        ' "a":',
        ' "b":',
        ' "c":',
    ]
    assert text.count('{"value": 97.0, "all": [0, 1]}') == 2
    assert set(json.loads(text)) == {"made", "rows", "cells"}
