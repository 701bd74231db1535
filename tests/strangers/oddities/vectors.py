"""Vectors in odd units, and with dimensions that say nothing."""

from __future__ import annotations

from dataclasses import replace

from ..sheets import Sheet, SheetColumn
from .registry import Change, Rng, add, in_all, in_some

ONLY = ("vectors",)


def _times(factor: float) -> Change:
    return in_all("vector", change=lambda cell: repr(float(cell) * factor))


def _one_scaled(sheet: Sheet, rng: Rng) -> Sheet:
    k = int(rng.choice(sheet.of_kind("vector")))
    return sheet.mapped(k, lambda cell: repr(float(cell) * 1e6))


def _with(make_cells: str) -> Change:
    def change(sheet: Sheet, rng: Rng) -> Sheet:
        n = len(sheet)
        cells = {
            "constant": ["1.5"] * n,
            "twice": sheet.columns[0].cells,
            "empty": [""] * n,
            "noise": [f"{v:.5f}" for v in rng.normal(size=n)],
        }[make_cells]
        return replace(sheet, columns=[*sheet.columns, SheetColumn("further", "noise", list(cells))])

    return change


add("vectors: times 1e6", "vectors", "undoable", _times(1e6), only=ONLY)
add("vectors: times 1e-9", "vectors", "undoable", _times(1e-9), only=ONLY)
add("vectors: times 1e30", "vectors", "undoable", _times(1e30), only=ONLY)
add(
    "vectors: shifted",
    "vectors",
    "undoable",
    in_all("vector", change=lambda c: f"{float(c) + 1000:.5f}"),
    only=ONLY,
)
add("vectors: one dimension times 1e6", "vectors", "undoable", _one_scaled, only=ONLY)
add("vectors: constant dimension", "vectors", "undoable", _with("constant"), only=ONLY)
add("vectors: dimension twice", "vectors", "undoable", _with("twice"), only=ONLY)
add("vectors: empty dimension", "vectors", "undoable", _with("empty"), only=ONLY)
add("vectors: noise dimension", "vectors", "changes", _with("noise"), only=ONLY)
nan = in_some("vector", change=lambda c, rng: "nan", share=0.02, loses=True)
add("vectors: NaN in places", "vectors", "loses", nan, only=ONLY)
add(
    "vectors: one decimal",
    "vectors",
    "changes",
    in_all("vector", change=lambda c: f"{float(c):.1f}"),
    only=ONLY,
)
