"""The tables of docs/figures.md are those of the figures that are kept."""

from pathlib import Path

from benchmarks.tables import render
from studies.rendering import names_in

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_holds_the_kept_figures(tmp_path):
    text = (ROOT / "docs" / "figures.md").read_text("utf-8")
    names = [name.removeprefix("tables/") for name in names_in(text) if name.startswith("tables/")]
    assert names
    page = tmp_path / "figures.md"
    page.write_text(text, "utf-8")
    render.write([ROOT / "benchmarks" / "tables" / "figures" / f"{name}.json" for name in names], page)
    assert page.read_text("utf-8") == text
