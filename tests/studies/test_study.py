"""Fresh, stale and missing; and a small run of every study."""

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import clustruct.ssvm  # noqa: F401
from studies import rendering, results
from studies.data import NoData
from studies.every import STUDIES, names
from studies.study import ROOT, Study, Table


def compute(results, quick, *, count=2):
    return [{"n": results.get(str(i), lambda i=i: i)} for i in range(count)]


class Made(Study):
    """A study whose results lie elsewhere."""

    folder = property(lambda self: Path(self.title))


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.setenv("CLUSTRUCT_DATA", str(tmp_path))
    (tmp_path / "data").write_text("1")
    table = Table("one", "A table", partial(compute, count=2), data=("data",))
    return Made("made", str(tmp_path / "results"), (table,))


def test_states_of_a_table(study, tmp_path, monkeypatch):
    table = study["one"]
    assert study.state(table).word == "missing"
    assert study.run(table) == [{"n": 0}, {"n": 1}]
    assert study.state(table).word == "fresh"
    assert study.state(table).made.startswith("0.")
    other = replace(table, compute=partial(compute, count=3))
    assert study.state(other).word == "stale"
    assert study.state(replace(table, sources=(rendering,))).why == "2 of 2 cells by other sources"
    monkeypatch.delenv("CLUSTRUCT_DATA")
    assert study.state(table).why == "data not looked at"
    with pytest.raises(NoData, match="set CLUSTRUCT_DATA"):
        study.run(table)


def test_other_data_makes_a_table_stale(study, tmp_path, monkeypatch):
    study.run(study["one"])
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "data").write_text("2")
    monkeypatch.setenv("CLUSTRUCT_DATA", str(tmp_path / "more"))
    assert study.state(study["one"]).why == "with other data"


def test_other_rows_of_a_table_that_is_read_make_a_table_stale(study):
    table = study["one"]
    both = Table("both", "Put together", compute, reads=("one",))
    whole = replace(study, tables=(table, both))
    whole.run(table)
    whole.run(both)
    assert whole.state(both).word == "fresh"
    whole.results(table).finish([{"n": 7}], data=None)
    assert whole.state(both).why == "from other tables"


def test_a_part_of_the_library_that_changed_is_named_and_makes_nothing_stale(study, monkeypatch):
    study.run(study["one"])
    assert study.state(study["one"]).why == ""
    now = results.digest_of_part
    monkeypatch.setattr(results, "digest_of_part", lambda part: "other" if part == "ssvm" else now(part))
    assert study.state(study["one"]) == replace(
        study.state(study["one"]), word="fresh", why="library changed since: ssvm"
    )


def test_rendering_twice_changes_nothing(study, tmp_path):
    study.run(study["one"])
    (tmp_path / "studies").mkdir()
    assert study.render(tmp_path) == ["one"]
    page = (tmp_path / "studies" / "made.md").read_text()
    assert "| 1 |" in page
    assert "python -m studies.made --only one" in page
    study.render(tmp_path)
    assert (tmp_path / "studies" / "made.md").read_text() == page


def test_a_table_that_is_missing_is_said_to_be(study, tmp_path):
    other = Table("other", "Another", compute)
    study = replace(study, tables=(*study.tables, other))
    study.run(study["one"])
    page = tmp_path / "studies" / "made.md"
    page.parent.mkdir()
    page.write_text(f"<!-- table made/other -->\n| typed |\n{rendering.END}\n")
    study.render(tmp_path)
    assert "Not made yet: `python -m studies.made --only other`." in page.read_text()
    assert "typed" not in page.read_text()


@pytest.mark.parametrize("name", names())
def test_small_run_of_every_study(name, tmp_path):
    """The whole way of one table, from data to Markdown, and again from what was kept."""
    study = next(study for study in STUDIES if study.name == name)
    table = study[study.small]
    try:
        rows = study.run(table, quick=True, folder=tmp_path)
    except NoData as why:
        pytest.skip(str(why))
    assert "| --- |" in table.render(rows)
    kept = study.results(table, tmp_path)
    assert kept.rows == rows
    assert kept.stale_cells() == 0


@pytest.mark.parametrize("name", names())
def test_pages_show_what_is_kept(name, tmp_path):
    """Nobody has typed into a table that a command makes, and every place in a page has its table."""
    study = next(study for study in STUDIES if study.name == name)
    page = ROOT / "docs" / "studies" / f"{name}.md"
    known = [f"{name}/{table.key}" for table in study.tables]
    assert set(rendering.names_in(page.read_text())) <= set(known)
    (tmp_path / "studies").mkdir()
    copy = shutil.copy(page, tmp_path / "studies")
    replace(study, tables=tuple(replace(table, draw=None) for table in study.tables)).render(tmp_path)
    assert Path(copy).read_text() == page.read_text()


def test_keys_are_the_names_of_files():
    for study in STUDIES:
        keys = [table.key for table in study.tables]
        assert len(set(keys)) == len(keys)
        assert all(key == key.strip() and "/" not in key and " " not in key for key in keys)
        files = {path.stem for path in study.folder.glob("*.json")}
        assert files <= set(keys)
