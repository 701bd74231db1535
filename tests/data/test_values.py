"""Single values as texts, numbers and dates, and what the fields of tables hold."""

import random
import re
from datetime import datetime

import numpy as np
import pytest

from clustruct.data import Table, field_kinds
from clustruct.data.readings import holds
from clustruct.data.values import as_day, as_text, fold, is_missing

_FORMS = ("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%m/%d/%Y", "%d %B %Y", "%B %d, %Y")


@pytest.mark.parametrize("form", _FORMS)
def test_dates_are_read_as_the_library_of_python_reads_them(form):
    rng = random.Random(0)
    for _ in range(300):
        day = datetime(
            rng.randint(1000, 2100),
            rng.randint(1, 12),
            rng.randint(1, 31 if form == "%Y%m%d" else 28) % 28 + 1,
        )
        text = day.strftime(form)
        if rng.random() < 0.5:
            text = re.sub(r"\b0(?=\d[^\d])", "", text)
        assert as_day(text) == datetime.strptime(text, form).toordinal(), text


def test_what_is_nearly_a_date_is_one_of_the_calendar_or_none():
    rng, found = random.Random(0), 0
    for _ in range(4000):
        text = datetime(rng.randint(1000, 2100), rng.randint(1, 12), rng.randint(1, 28)).strftime(
            rng.choice(_FORMS)
        )
        at = rng.randrange(len(text))
        day = as_day(text[:at] + rng.choice("0123 ./-aB,") + text[at + rng.choice([0, 1]) :])
        assert np.isnan(day) or 1 <= day <= datetime.max.toordinal() + 1
        found += np.isfinite(day)
    assert 500 < found < 4000


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            [is_missing(v) for v in (None, float("nan"), " ", 0, "a", [])],
            [True, True, True, False, False, False],
        ),
        ([as_text(v) for v in (["A", None, "B"], None, 1.0, 7)], ["A ; B", "", "1", "7"]),
        (as_day("2014-03-11T12:00:00") - as_day("20140310"), 1.5),
        (as_day("someday"), np.nan),
        (fold("  Caf\u00e9  \ufb01x STRASSE "), "cafe fix strasse"),
        ([holds("number", "7.5"), holds("number", "x"), holds("string", [1.5, 2.5])], [True, False, False]),
    ],
)
def test_single_values(made, expected):
    np.testing.assert_equal(made, expected)


def test_many_sets_are_looked_at_in_part():
    """A hundred thousand sets cost what a thousand do, and their end is looked at, too."""
    words = [Table([{"n": "7", "id": str(i)}, {"n": "seven", "id": "x"}]) for i in range(2000)]
    numbers = [Table([{"n": str(i), "id": "x"}, {"n": "7", "id": "y"}]) for i in range(60_000)]
    assert field_kinds(words + numbers) == {"n": "number", "id": "id"}
    assert field_kinds(numbers[:2000] + words * 2) == {"n": "string", "id": "id"}
    looked = []

    class Watched(Table):
        def some(self, field, part):
            looked.append(field)
            return super().some(field, part)

    field_kinds([Watched(table.items) for table in numbers], ["n"])
    assert len(looked) <= 1000


def test_ids_are_told_from_all_values_of_a_set():
    names = [str(i) for i in range(5000)]
    assert field_kinds([Table.from_columns({"id": names, "t": names})])["id"] == "id"
    assert field_kinds([Table.from_columns({"id": [*names[:-1], "0"], "t": names})])["id"] == "number"
    assert field_kinds([Table([{"id": 1}, {"id": "1"}, {"id": "x"}])])["id"] == "string"
