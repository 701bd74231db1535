"""The tables of the docs are those of the kept figures."""

import pytest

from benchmarks.rendered import ROOT, rendered
from studies.rendering import put

TABLES = rendered()


@pytest.mark.parametrize("name", TABLES)
def test_a_page_has_the_table_of_the_kept_figures(name):
    page, table = TABLES[name]
    text = (ROOT / "docs" / page).read_text()
    assert f"<!-- table {name} -->" in text
    assert put(text, name, table) == text
