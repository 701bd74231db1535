"""Single values as texts, numbers and dates, and what the fields of tables hold."""

import random
import re
from datetime import datetime

import numpy as np
import pytest

from clustruct.data import Table, field_kinds
from clustruct.data.values import _DATES, as_day, as_text, fold, holds, is_missing


def _slow(text):
    for form in _DATES:
        try:
            return float(datetime.strptime(text, form).toordinal())
        except ValueError:
            continue
    return np.nan


def _spelling(rng):
    day = datetime(rng.randint(1000, 2100), rng.randint(1, 12), rng.randint(1, 28))
    text = day.strftime(rng.choice(_DATES))
    if rng.random() < 0.5:
        text = re.sub(r"\b0", "", text)
    if rng.random() < 0.5:
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice("0123 ./-aB,") + text[at + rng.choice([0, 1]) :]
    return text.strip()


def test_dates_and_what_is_nearly_one_are_read_as_when_every_form_is_tried():
    rng = random.Random(0)
    spellings = [text for text in (_spelling(rng) for _ in range(4000)) if 6 <= len(text) <= 20]
    np.testing.assert_array_equal([as_day(t) for t in spellings], [_slow(t) for t in spellings])
    assert 500 < sum(np.isfinite(as_day(t)) for t in spellings) < len(spellings)


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
