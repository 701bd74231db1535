"""Numbers, codes and dates as other people write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date

from .registry import Change, add, in_all, in_some

NUMBERS = ("number", "vector")


def grouped(cell: str, mark: str, point: str) -> str:
    """A number with thousands marks.

    >>> grouped("1234567.5", ".", ",")
    '1.234.567,5'
    """
    whole, dot, rest = cell.partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    return sign + f"{int(digits):,}".replace(",", mark) + (point + rest if dot else "")


def _large(change: Callable[[str], str]) -> Change:
    """Of numbers that are a thousand times as large, so that there is something to mark."""

    def one(cell: str) -> str:
        digits = len(cell.partition(".")[2])
        return change(f"{float(cell) * 1000:.{digits}f}")

    return in_all("number", change=one)


add("decimal comma", "numbers", "undoable", in_all(*NUMBERS, change=lambda c: c.replace(".", ",")), NUMBERS)
add("thousands comma", "numbers", "undoable", _large(lambda c: grouped(c, ",", ".")), ["number"])
add("thousands point", "numbers", "undoable", _large(lambda c: grouped(c, ".", ",")), ["number"])
add("thousands apostrophe", "numbers", "undoable", _large(lambda c: grouped(c, "'", ".")), ["number"])
add("thousands space", "numbers", "undoable", _large(lambda c: grouped(c, "\u202f", ",")), ["number"])
add(
    "thousands in places",
    "numbers",
    "undoable",
    in_some("number", change=lambda c, rng: grouped(c, ",", ".")),
    ["number"],
)
for name, form in {
    "dollar before": "${}",
    "euro behind": "{} €",
    "EUR before": "EUR {}",
    "pound before": "£{}",
    "yen before": "¥{}",
    "rupee before": "₹{}",
    "percent": "{}%",
    "kg behind": "{} kg",
    "plus sign": "+{}",
    "blanks around": "  {} ",
    "apostrophe before": "'{}",
}.items():
    add(f"number: {name}", "numbers", "undoable", in_all("number", change=form.format), ["number"])
add("euro with comma", "numbers", "undoable", _large(lambda c: grouped(c, ".", ",") + " €"), ["number"])
add("dollar in places", "numbers", "undoable", in_some("number", change=lambda c, rng: f"${c}"), ["number"])
add("exponents", "numbers", "undoable", in_all(*NUMBERS, change=lambda c: f"{float(c):.9e}"), NUMBERS)
add(
    "exponents in places",
    "numbers",
    "undoable",
    in_some(*NUMBERS, change=lambda c, rng: f"{float(c):.9E}"),
    NUMBERS,
)
minus = in_all(*NUMBERS, change=lambda c: c.replace("-", "\u2212"))
add("typographic minus", "numbers", "undoable", minus, ["vector"])
add(
    "trailing zeros in places",
    "numbers",
    "undoable",
    in_some(*NUMBERS, change=lambda c, rng: f"{c}000" if "." in c else f"{c}.0"),
    NUMBERS,
)
for word in ("inf", "-inf", "1e999", "#DIV/0!", "1.797e308", "9" * 400):
    broken = in_some(*NUMBERS, change=lambda c, rng, word=word: word, share=0.02, loses=True)
    add(f"number: {word[:9]}", "numbers", "loses", broken, NUMBERS)

add(
    "codes like exponents",
    "numbers",
    "loses",
    in_some("code", change=lambda c, rng: c[0] + "e" + c[2:], share=0.03, loses=True),
    ["code"],
)
add("codes as floats", "numbers", "undoable", in_all("code", change=lambda c: f"{c}.0"), ["code"])
add(
    "codes as floats in places",
    "numbers",
    "undoable",
    in_some("code", change=lambda c, rng: f"{c}.0"),
    ["code"],
)
lost_zeros = in_some("code", change=lambda c, rng: c.lstrip("0") or "0", share=0.3, loses=True)
add("leading zeros lost", "numbers", "loses", lost_zeros, ["code"])
by_sheet = in_some("code", change=lambda c, rng: f"{int(c):.2E}", share=0.1, loses=True)
add("codes rounded by a spreadsheet", "numbers", "loses", by_sheet, ["code"])
add(
    "huge whole numbers",
    "numbers",
    "undoable",
    in_all("code", change=lambda c: "98765432109876543210" + c),
    ["code"],
)
add(
    "codes in pairs",
    "numbers",
    "undoable",
    in_some("code", change=lambda c, rng: " ".join(c[a : a + 2] for a in range(0, len(c), 2))),
    ["code"],
)
add("codes with a plus", "numbers", "undoable", in_all("code", change=lambda c: "+49" + c), ["code"])
add("codes quoted by =", "numbers", "undoable", in_all("code", change=lambda c: f'="{c}"'), ["code"])


def _date(form: str) -> Callable[[str], str]:
    def change(cell: str) -> str:
        day = date.fromisoformat(cell)
        names = {"d": day.day, "m": day.month, "y": day.year, "yy": day.year % 100}
        words = {"month": day.strftime("%B"), "mon": day.strftime("%b"), "weekday": day.strftime("%a")}
        serial = {"serial": (day - date(1899, 12, 30)).days, "seconds": (day - date(1970, 1, 1)).days * 86400}
        return form.format(**names, **words, **serial)

    return change


for name, form in {
    "day first, points": "{d:02d}.{m:02d}.{y}",
    "day first, slashes": "{d:02d}/{m:02d}/{y}",
    "day first, short": "{d}/{m}/{y}",
    "month first": "{m:02d}/{d:02d}/{y}",
    "month first, short": "{m}/{d}/{y}",
    "year first, slashes": "{y}/{m:02d}/{d:02d}",
    "no marks": "{y}{m:02d}{d:02d}",
    "midnight": "{y}-{m:02d}-{d:02d} 00:00:00",
    "T and seconds": "{y}-{m:02d}-{d:02d}T12:00:00",
    "Z": "{y}-{m:02d}-{d:02d}T00:00:00Z",
    "offset": "{y}-{m:02d}-{d:02d}T12:00:00+02:00",
    "fractions": "{y}-{m:02d}-{d:02d}T12:00:00.000",
    "month name": "{d} {month} {y}",
    "American month name": "{mon} {d}, {y}",
    "hyphenated month name": "{d:02d}-{mon}-{y}",
    "weekday": "{weekday}, {d:02d} {mon} {y}",
    "serial": "{serial}",
    "seconds since 1970": "{seconds}",
}.items():
    add(f"date: {name}", "dates", "undoable", in_all("date", change=_date(form)), ["date"])
add(
    "date: two-digit years",
    "dates",
    "undoable",
    in_all("date", change=_date("{d:02d}.{m:02d}.{yy:02d}")),
    ["date"],
    only=["products", "events"],
)
mixed = in_some("date", change=lambda c, rng: _date("{d:02d}.{m:02d}.{y}")(c), share=0.4)
add("date: two ways in one column", "dates", "undoable", mixed, ["date"])
late = in_some("date", change=lambda c, rng: f"{c}T00:00:00", share=0.4)
add("date: time in places", "dates", "undoable", late, ["date"])
impossible = in_some("date", change=lambda c, rng: f"{c[:4]}-02-31", share=0.05, loses=True)
add("date: 31 February", "dates", "loses", impossible, ["date"])
yearly = in_some("date", change=lambda c, rng: c[:4], share=0.2, loses=True)
add("date: year alone in places", "dates", "loses", yearly, ["date"])
wordy = in_some("date", change=lambda c, rng: "about " + c[:4], share=0.05, loses=True)
add("date: words in places", "dates", "loses", wordy, ["date"])


def _ids(change: Callable[[int], str]) -> Change:
    return lambda sheet, rng: replace(sheet, ids=[change(a + 1) for a in range(len(sheet))])


add("ids as floats", "numbers", "undoable", _ids(lambda a: f"{a}.0"))
add("ids with leading zeros", "numbers", "undoable", _ids(lambda a: f"{a:06d}"))
add("ids with blanks", "numbers", "undoable", _ids(lambda a: f" item {a} "))
add("ids of forty digits", "numbers", "undoable", _ids(lambda a: f"{10**39 + a}"))
add("ids in emoji", "numbers", "undoable", _ids(lambda a: f"🔑{a}"))
add(
    "ids that count down",
    "numbers",
    "undoable",
    lambda sheet, rng: replace(sheet, ids=[str(len(sheet) - a) for a in range(len(sheet))]),
)
