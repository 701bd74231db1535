"""Small data and a model for the tests of the command."""

import pytest

from clustruct.cli import progress
from clustruct.cli.main import main
from clustruct.data.datasets import make_news, make_records
from clustruct.data.io import write_sets


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """train.csv, test.csv, news.jsonl, and records.model learned from the first."""
    there = tmp_path_factory.mktemp("cli")
    sets = make_records(n_sets=6, n_people=6)
    write_sets(there / "train.csv", sets[:4])
    write_sets(there / "test.csv", sets[4:])
    write_sets(there / "news.jsonl", make_news(n_sets=6, n_stories=3, most=4))
    words = ["fit", there / "train.csv", "--set", "set", "--cluster", "cluster", "--C", "1", "--quiet"]
    assert main([*map(str, words), "--model", str(there / "records.model")]) == 0
    return there


@pytest.fixture
def command(capsys, monkeypatch):
    """Run a command: (exit code, stdout, stderr), which says nothing of its progress: a busy machine takes
    seconds where another takes none.
    """
    monkeypatch.setattr(progress, "PATIENCE", 3600.0)

    def run(*words):
        capsys.readouterr()
        code = main([str(w) for w in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run
