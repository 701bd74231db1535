"""Text for people: counts, durations, sizes, names on one line, tables for notebooks."""

import pytest

from clustruct.core.formatting import count, duration, harmless, html_table, short
from clustruct.core.memory import in_words, parse_size


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ([count(1, "set"), count(2000, "item")], ["1 set", "2,000 items"]),
        ([duration(s) for s in (0.4, 42, 200, 9000)], ["1 s", "42 s", "3 min", "2.5 h"]),
        (
            [short("one\n two"), short("abcdefghij", 7), short("a\x1b")],
            ["one two", "abc\u2026hij", "a\ufffd"],
        ),
        (harmless("a\x1b[31m"), "a\\x1b[31m"),
        ([in_words(n) for n in (3 * 2**30, 5e6, 12)], ["3.0 GB", "4.8 MB", "12 bytes"]),
        ([parse_size(s) for s in ("8G", "1.5 kB", 7, None)], [8 * 2**30, 1536, 7, None]),
    ],
)
def test_words_for_numbers_and_names(made, expected):
    assert made == expected


def test_tables_of_notebooks_show_texts_as_text():
    made = html_table("two", ["a"], [["<b>"], [0.25]], 5)
    assert made.startswith("<table><caption>two</caption><tr><th>a</th></tr><tr><td>&lt;b&gt;</td></tr>")
    assert made.endswith('<tr><td>0.25</td></tr><tr><td colspan="1">\u2026 and 3 more</td></tr></table>')
