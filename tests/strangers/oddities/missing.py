"""Words and values that stand for a cell that is missing."""

from __future__ import annotations

from ..sheets import Sheet
from .registry import Change, Rng, add, one_of, some

ANYWHERE = (
    *(
        "NA",
        "N/A",
        "n/a",
        "#N/A",
        "null",
        "NULL",
        "None",
        "nan",
        "NaN",
        "-",
        "--",
        "?",
        ".",
        "unknown",
        "Unknown",
    ),
    *("not available", "k.A.", "(blank)", "missing", "   ", "\\N", "<NA>", "tbd", "xxx"),
)
OF_KIND = {
    "1900-01-01": ("date",),
    "9999-12-31": ("date",),
    "0000-00-00": ("date",),
    "00000": ("code",),
    "99999": ("code",),
    "-1": ("number",),
    "999": ("number",),
}


def _placed(word: str, *kinds: str) -> Change:
    """In one column of these kinds the blanks and a sixth of the other cells read so."""

    def change(sheet: Sheet, rng: Rng) -> Sheet:
        k = one_of(sheet, rng, *kinds)
        rows = some(rng, len(sheet), 1 / 6)
        cells = [cell or word for cell in sheet.columns[k].cells]
        sheet = sheet.losing(k, rows)
        for a in rows:
            cells[a] = word
        return sheet.with_cells(k, cells)

    return change


def _every_blank(word: str) -> Change:
    """All blanks of all columns read so: nothing is lost."""

    def change(sheet: Sheet, rng: Rng) -> Sheet:
        for k in range(len(sheet.columns)):
            sheet = sheet.with_cells(k, [cell or word for cell in sheet.columns[k].cells])
        return sheet

    return change


ANY = ("text", "category", "number", "date", "code")
for word in ANYWHERE:
    add(f"missing: {word.strip() or 'blanks'}", "missing", "loses", _placed(word, *ANY), ANY)
for word, kinds in OF_KIND.items():
    add(f"missing: {word}", "missing", "loses", _placed(word, *kinds), kinds)
for word in ("NA", "null", "-", "unknown", "   "):
    add(f"every blank: {word.strip() or 'blanks'}", "missing", "undoable", _every_blank(word))
