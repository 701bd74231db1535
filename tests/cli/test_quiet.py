"""``--quiet``: answers on stdout, warnings and errors on stderr, and nothing else; a fit has none."""

import logging

import pytest

from clustruct.cli import COMMANDS

TABLE = ["--set", "set", "--cluster", "cluster"]
# What each command is given, and whether it has an answer to print.
LINES = {
    "fit": (["{0}/train.csv", *TABLE, "--C", "1", "--model", "{1}/new.model"], False),
    "predict": (["{0}/test.csv", "--model", "{0}/records.model", "--out", "{1}/groups.csv"], False),
    "evaluate": (["{0}/test.csv", *TABLE, "--model", "{0}/records.model"], True),
    "explain": (["{0}/test.csv", *TABLE, "--model", "{0}/records.model"], True),
    "cv": (["{0}/train.csv", *TABLE, "--C", "1", "--folds", "2"], True),
    "report": (["{0}/test.csv", "--model", "{0}/records.model", "--out", "{1}/new.html"], False),
    "look": (["{0}/test.csv"], True),
    "show": (["--model", "{0}/records.model"], True),
    "link": (["{1}/a.csv", "{1}/b.csv", "--model", "{0}/records.model", "--out", "{1}/pairs.csv"], False),
    "store": (["{1}/s.db", "--create", "--items", "{1}/known.csv", "--groups-out", "{1}/g.csv"], False),
    "diff": (["{1}/known.csv", "{1}/known.csv"], True),
    "demo": ([], True),
    "completion": (["bash"], True),
    "universum": (["fit", "{1}/rows.svm", "--clusters", "2", "--model", "{1}/rows.model"], False),
    "multilabel": (["fit", "{1}/rows.svm", "--C", "1", "--model", "{1}/rows.model"], False),
}
# The same with more asked of them.
MORE = [
    (
        "predict",
        ["{0}/test.csv", "--model", "{0}/records.model", "--pairs", "{1}/p.csv", "--out", "{1}/g.csv"],
    ),
    (
        "predict",
        ["{1}/b.csv", "--model", "{0}/records.model", "--existing", "{1}/known.csv", "--out", "{1}/n.csv"],
    ),
    ("fit", ["{0}/train.csv", *TABLE, "--start", "{0}/records.model", "--model", "{1}/on.model"]),
]
# What tells of the work, not of its result.
NOTES = ("written to", "drawn to", "new items", "added")


@pytest.fixture
def there(folder, tmp_path):
    """Two tables of the test set, one with groups, and rows of numbers."""
    head, *rows = (folder / "test.csv").read_text().splitlines()
    for name, part in (("a", rows[:9]), ("b", rows[9:15]), ("known", rows[:9])):
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *part, ""]))
    (tmp_path / "rows.svm").write_text("1 1:2 2:0.1\n2 1:-2 2:0.2\n" * 4)
    return folder, tmp_path


@pytest.mark.parametrize(("name", "words"), [*((n, w) for n, (w, _) in LINES.items()), *MORE])
def test_nothing_but_results(name, words, there, command):
    code, out, err = command(name, *(word.format(*there) for word in words), "--quiet")
    assert (code, err) == (0, "")
    assert not any(note in out for note in NOTES)
    if words in [given for given, _ in LINES.values()]:
        assert bool(out) == LINES[name][1]


def test_every_command_is_among_them():
    assert set(LINES) == set(COMMANDS) - {"studio"}  # which serves until it is ended


def test_warnings_and_errors_stay(there, command):
    folder, own = there
    code, out, err = command("predict", folder / "none.csv", "--model", folder / "records.model", "--quiet")
    assert (code, out) == (1, "")
    assert err.startswith(f"clustruct: {folder}/none.csv")
    words = ["fit", folder / "train.csv", *TABLE, "--start", folder / "records.model", "--C", "7"]
    code, _, err = command(*words, "--model", own / "m", "--quiet")
    assert code == 0
    assert err.startswith("clustruct: warning: --C not used")


def test_what_is_asked_for_is_told(there, command):
    folder, own = there
    store = own / "s.db"
    assert command("store", store, "--create", "--items", own / "known.csv", "--quiet")[1] == ""
    assert "items" in command("store", store, "--quiet")[1]
    words = ["predict", own / "b.csv", "--model", folder / "records.model", "--existing", store, "--quiet"]
    code, _, err = command(*words, "--dry-run")
    assert code == 0
    assert "nothing was written (--dry-run)" in err


@pytest.mark.parametrize("quiet", [True, False])
def test_matplotlib_speaks_of_its_fonts_only_where_notes_are_wanted(quiet, command, monkeypatch, caplog):
    """On a machine that has not drawn before it says so after five seconds."""
    said = "building the font cache"
    log = logging.getLogger("matplotlib.font_manager")
    monkeypatch.setattr("clustruct.cli.demo.run", lambda args: log.warning(said))
    command("demo", *(["--quiet"] if quiet else []))
    assert (said in caplog.text) is not quiet
    assert log.isEnabledFor(logging.WARNING)
