"""Rows as Markdown, and their place in a page."""

import pytest

from studies.rendering import END, beside, markdown, names_in, put


def test_rows_may_lack_columns():
    text = markdown([{"a": 1, "b": 0.125}, {"a": "x", "c": None}], digits={"b": 1})
    assert text == "| a | b | c |\n| --- | --- | --- |\n| 1 | 0.1 |  |\n| x |  |  |"


@pytest.mark.parametrize(
    ("ours", "published", "text"),
    [
        (2.0, None, "2.00"),
        (2.0, 3.0, "2.00 (3.00)"),
        (3.001, 3.0, "3.00 (3.00)"),
        (3.01, 3.0, "3.01 (3.00) ↑"),
    ],
)
def test_ours_beside_the_published(ours, published, text):
    assert beside(ours, published) == text


def test_a_table_is_replaced_where_it_stands():
    page = put(put("# Page\n\nWords.\n", "s/one", "first", "One"), "s/two", "second", "Two")
    assert names_in(page) == ["s/one", "s/two"]
    changed = put(page, "s/one", r"third \1", "One")
    assert changed == page.replace("first", r"third \1")
    assert put(changed, "s/one", "first") == page


def test_a_place_without_end_is_refused():
    with pytest.raises(ValueError, match="is not followed by"):
        put("<!-- table s/one -->\n", "s/one", "body")
    assert END in put("", "s/one", "body")
