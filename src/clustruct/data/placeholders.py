"""Values that stand where there is none: NA, unknown, 1900-01-01, 00000."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from .dates import find_date
from .values import as_text, fold

_WORDS = """
na; n/a; n.a.; n.a; n/k; nan; nat; null; nil; none; (null); <null>; <na>; #n/a; #na; #null!; #value!; #ref!;
#name?; unknown; unkown; unk; unknwn; not known; unbekannt; inconnu; inconnue; desconocido; desconocida;
sconosciuto; onbekend; missing; not available; not applicable; not given; not provided; not specified;
not stated; not recorded; unspecified; undefined; no data; no value; no entry; no information; empty; blank;
default; keine angabe; keine angaben; k.a.; k. a.; nicht bekannt; ohne angabe; tbd; tba; tbc;
to be determined; dummy; sin datos; no disponible; non disponible; non renseigne;
\u043d\u0435\u0442; \u043d\u0435\u0438\u0437\u0432\u0435\u0441\u0442\u043d\u043e;
\u4e0d\u660e; \u672a\u77e5; \u65e0; \u306a\u3057
"""
WORDS = frozenset(fold(word) for word in _WORDS.replace("\n", " ").split(";") if word.strip())
_SIGNS_ALONE = re.compile(r"[^\w\s]+|x{2,}|[^\w\s]*\?+[^\w\s]*")
_DAYS = frozenset(
    (
        *("1900-01-01", "1899-12-30", "1899-12-31", "1970-01-01", "1901-01-01", "1753-01-01", "0001-01-01"),
        *("1111-11-11", "1800-01-01", "1600-01-01", "2099-12-31", "2999-12-31", "9999-12-31", "9999-01-01"),
        *("0000-00-00", "9999-99-99", "1900-01-00", "1904-01-01"),
    )
)
_RUNS = ("1234567890", "0123456789", "9876543210")
# A word that says that there is no value stands for one in so many rows and this share of them; a value that
# could be one (a day, a run of digits) is so much more frequent than the next one, too.
FEWEST, SHARE, TIMES = 2, 0.005, 4.0
FEWEST_VALUES, LIKELY_SHARE = 5, 0.01


def find_placeholders(frequent: Mapping[str, float], rows: float, kind: str) -> list[str]:
    """The folded values that stand for none, of the frequent ones of a column with their rows."""
    folded: dict[str, float] = {}
    for text, n in frequent.items():
        folded[fold(text)] = folded.get(fold(text), 0.0) + n
    certain = [
        text
        for text, n in folded.items()
        if n >= max(FEWEST, SHARE * rows) and (text in WORDS or _SIGNS_ALONE.fullmatch(text))
    ]
    others = {text: n for text, n in folded.items() if text not in certain}
    return sorted([*certain, *_likely(others, rows, kind)])


def _likely(frequent: Mapping[str, float], rows: float, kind: str) -> list[str]:
    """Days and runs of digits that are far more frequent than what else there is."""
    tests = {"date": _is_day, "code": _is_run}
    if kind not in tests:
        return []
    candidates = [text for text in frequent if tests[kind](text)]
    usual = max([n for text, n in frequent.items() if text not in candidates], default=1.0)
    least = max(FEWEST, LIKELY_SHARE * rows, TIMES * usual)
    return [text for text in candidates if frequent[text] >= least]


def _is_day(text: str) -> bool:
    found = find_date(text, "month first")
    return found is not None and found.canonical()[:10] in _DAYS


def _is_run(text: str) -> bool:
    """One digit again and again, or digits in their order."""
    return text.isdecimal() and (len(set(text)) == 1 or (len(text) > 3 and any(text in run for run in _RUNS)))


def outliers_of_nines(values: Mapping[str, float], numbers: np.ndarray, rows: float) -> list[str]:
    """Runs of nines, and their negatives, that stand alone beyond all other numbers: 999 among ages."""
    found = []
    for text, n in values.items():
        digits = text.lstrip("-").removesuffix(".0")
        if len(digits) < 2 or set(digits) != {"9"} or n < max(FEWEST, LIKELY_SHARE * rows):
            continue
        number, rest = float(text), numbers[np.abs(numbers) != float(digits)]
        if len(rest) >= FEWEST_VALUES and (
            number > 2 * rest.max()
            if number > 0
            else number < 2 * min(rest.min(), 0.0) - 1 and rest.min() >= 0
        ):
            found.append(fold(as_text(text)))
    return found
