"""What README, the first pages and the tutorials say to paste into a shell runs there, as it stands."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from clustruct.cli.main import main
from examples import make_data

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs/start").glob("*.md")),
    *sorted((ROOT / "docs/tutorials").glob("*.md")),
    *sorted((ROOT / "docs/guide").glob("*.md")),
]
# Lines that install or build, or that open a page and wait: checked elsewhere.
NOT_RUN = ("make ", "pip install ", "python -m venv ", "source ", "clustruct studio ", "cd ", "git clone ")


def commands(page):
    """The lines of the blocks marked ``sh``."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A folder that has what a clone has, to run commands in."""
    shutil.copytree(ROOT / "examples/data", tmp_path / "examples/data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_run_as_they_stand(page, repository, capsys):
    for line in commands(page):
        words = shlex.split(line, comments=True)
        if line.startswith(NOT_RUN):
            continue
        assert words[0] == "clustruct", line
        assert main(words[1:]) in (None, 0), f"{line}\n{capsys.readouterr().err}"


def test_the_pages_have_commands():
    assert len(commands(ROOT / "README.md")) > 8
    assert sum(bool(commands(page)) for page in PAGES) >= 5


def test_no_shell_block_escapes_the_test():
    """A block without a language is output, or a file; one that begins with a command should be marked."""
    for page in PAGES:
        bare = re.findall(r"^```\n(?:\$ )?(clustruct .*)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert bare == [], page


def test_the_example_data_is_what_its_script_makes(tmp_path):
    make_data.make(tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_bytes() for path in (ROOT / "examples/data").iterdir()}
    assert made == kept


def test_links_of_the_readme_lead_to_files():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert [link for link in links if not (ROOT / link).exists()] == []
