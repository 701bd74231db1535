"""The tables of the docs are those of the kept figures."""

import json

import pytest

from benchmarks.rendered import FIGURES, PAGES, ROOT
from studies.rendering import put


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_the_table_of_the_kept_figures(name):
    page, made = PAGES[name]
    text = (ROOT / "docs" / page).read_text()
    kept = json.loads((FIGURES / f"{name}.json").read_text())
    assert f"<!-- table figures/{name} -->" in text
    assert put(text, f"figures/{name}", made(kept)) == text
