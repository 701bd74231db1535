"""What the code at e028f13 wrote is read, and answers as it did."""

import json
import math

import pytest

from tests.old_files import ask
from tests.test_golden import TOLERANCE

PRINTED = 1.5e-6  # the last of six digits may be rounded otherwise

ANSWERS = json.loads((ask.FILES / "answers.json").read_text(encoding="utf-8"))


def number(value):
    """The number that a cell is, if it is one with a fraction."""
    if isinstance(value, str) and "." in value:
        try:
            return float(value)
        except ValueError:
            return None
    return value if isinstance(value, float) else None


def differences(before, now, where=""):
    """Places where two answers differ; numbers are compared as numbers."""
    if isinstance(before, dict) and isinstance(now, dict):
        if before.keys() - now.keys():  # more may be said today
            yield f"{where}: {sorted(before)} before, {sorted(now)} now"
        for key in before.keys() & now.keys():
            yield from differences(before[key], now[key], f"{where}/{key}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for k, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from differences(one, other, f"{where}/{k}")
    elif number(before) is not None and number(now) is not None:
        if not math.isclose(number(before), number(now), rel_tol=TOLERANCE, abs_tol=max(TOLERANCE, PRINTED)):
            yield f"{where}: {before} before, {now} now"
    elif before != now:
        yield f"{where}: {before!r} before, {now!r} now"


def test_every_file_is_asked():
    assert set(ANSWERS) == set(ask.QUESTIONS) - {"no kept features"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ANSWERS)
def test_old_files_answer_as_they_did(name):
    before = ANSWERS[name]
    if name == "kept features":  # what is learned anew is of sorted rows today; the file must not change it
        before = ask.answer("no kept features")
    found = list(differences(before, ask.answer(name)))
    assert not found, "\n".join(found[:10])
