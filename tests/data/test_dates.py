"""Dates are found by their shape first; that must not lose one that a form of dates would take."""

import random
import re
from datetime import datetime

import numpy as np

from clustruct.data.values import _DATES, as_day


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
