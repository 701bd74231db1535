"""What stands in texts: marks, lines, pages, letters in the wrong case, cells in the wrong column."""

from __future__ import annotations

from ..sheets import Sheet
from .registry import Rng, add, in_all, in_some, some

WRITTEN = ("text", "category")


def _lines(cell: str, rng: Rng) -> str:
    return cell.replace(" ", "\n")


def _tags(cell: str, rng: Rng) -> str:
    return f"<b>{cell}</b>"


def _swapped(sheet: Sheet, rng: Rng) -> Sheet:
    """In one row of twenty two cells stand in each other's column."""
    i, j = (int(k) for k in rng.choice(sheet.of_kind("text", "category", "code"), 2, replace=False))
    rows = some(rng, len(sheet), 0.05)
    sheet = sheet.losing(i, rows).losing(j, rows)
    left, right = list(sheet.columns[i].cells), list(sheet.columns[j].cells)
    for a in rows:
        left[a], right[a] = right[a], left[a]
    return sheet.with_cells(i, left).with_cells(j, right)


def _long(cell: str, rng: Rng) -> str:
    return (
        cell
        + " "
        + " ".join(["lorem", "ipsum", "dolor", "sit", "amet"][int(w)] for w in rng.integers(0, 5, 3000))
    )


for word, form in {
    "quotes": '"{}"',
    "single quotes": "'{}'",
    "points behind": "{}.",
    "blanks around": "   {}  ",
    "tab before": "\t{}",
    "backslash": "\\{}\\",
    "semicolons": "{};",
    "line break behind": "{}\n",
    "brackets": "({})",
}.items():
    around = in_some(*WRITTEN, change=lambda cell, rng, form=form: form.format(cell))
    add(f"text: {word}", "texts", "undoable", around, ["text"])
for word, form in {
    "formulas": "={}",
    "name of the column": "value: {}",
    "terminal codes": "\x1b[31m{}\x1b[0m",
    "Mr": "Mr {}",
}.items():
    add(f"every text: {word}", "texts", "undoable", in_all("text", change=form.format), ["text"])
add("text: lines", "texts", "undoable", in_some("text", change=_lines), ["text"])
add(
    "text: blanks doubled",
    "texts",
    "undoable",
    in_some("text", change=lambda c, rng: c.replace(" ", "   ")),
    ["text"],
)
add("text: tags", "texts", "undoable", in_some("text", change=_tags), ["text"])
add(
    "text: upper case",
    "texts",
    "undoable",
    in_some(*WRITTEN, change=lambda c, rng: c.upper(), share=0.5),
    ["text"],
)
add("text: lower case", "texts", "undoable", in_all(*WRITTEN, change=str.lower), ["text"])
add(
    "text: control characters",
    "texts",
    "undoable",
    in_some("text", change=lambda c, rng: f"\x01{c}\x07"),
    ["text"],
)
add("text: NUL", "texts", "undoable", in_some("text", change=lambda c, rng: f"{c}\0", share=0.05), ["text"])
add(
    "text: entities",
    "texts",
    "undoable",
    in_some("text", change=lambda c, rng: c.replace(" ", "&nbsp;"), share=0.1),
    ["text"],
)
add("text: very long", "texts", "loses", in_some("text", change=_long, share=0.02, loses=True), ["text"])
add(
    "text: cut short",
    "texts",
    "loses",
    in_some("text", change=lambda c, rng: c[:4], share=0.1, loses=True),
    ["text"],
)
add(
    "text: swapped cells",
    "texts",
    "loses",
    _swapped,
    only=["persons", "products", "papers", "places", "events"],
)
add(
    "text: percent codes",
    "texts",
    "loses",
    in_some("text", change=lambda c, rng: c.replace(" ", "%20"), share=0.1, loses=True),
    ["text"],
)
add(
    "text: only marks",
    "texts",
    "loses",
    in_some("text", change=lambda c, rng: "***", share=0.1, loses=True),
    ["text"],
)
