"""What an oddity is, and the list of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..sheets import Sheet, SheetColumn

Rng = np.random.Generator
Change = Callable[[Sheet, Rng], Sheet]
# undoable: a reader who understands it has all that the plain table has. loses: the cells named by
# `Sheet.lost` are gone. changes: other labels or rows, whose groups cannot be compared with the plain ones.
Effect = Literal["undoable", "loses", "changes"]


@dataclass(frozen=True)
class Oddity:
    """A change of a sheet. ``refusals``: words of which one stands in a refusal, where one is right."""

    name: str
    family: str
    effect: Effect
    change: Change
    needs: tuple[str, ...]
    refusals: tuple[str, ...]
    only: tuple[str, ...]

    def suits(self, sheet: Sheet) -> bool:
        """Whether the sheet has what it changes."""
        if (self.needs and not sheet.of_kind(*self.needs)) or (self.only and sheet.kind not in self.only):
            return False
        return self.change(sheet, np.random.default_rng(0)) != sheet


ODDITIES: dict[str, Oddity] = {}


def add(
    name: str,
    family: str,
    effect: Effect,
    change: Change,
    needs: Sequence[str] = (),
    refusals: Sequence[str] = (),
    only: Sequence[str] = (),
) -> None:
    """Enter an oddity."""
    if name in ODDITIES:
        raise ValueError(f"the oddity {name!r} is there twice")
    ODDITIES[name] = Oddity(name, family, effect, change, tuple(needs), tuple(refusals), tuple(only))


def one_of(sheet: Sheet, rng: Rng, *kinds: str) -> int:
    """A column of these kinds, by number."""
    return int(rng.choice(sheet.of_kind(*kinds)))


def some(rng: Rng, n: int, share: float) -> list[int]:
    """A share of n rows, at least one."""
    return sorted(map(int, rng.choice(n, max(1, round(n * share)), replace=False)))


def in_all(*kinds: str, change: Callable[[str], str]) -> Change:
    """Every filled cell of the columns of these kinds is changed."""

    def apply(sheet: Sheet, rng: Rng) -> Sheet:
        for k in sheet.of_kind(*kinds):
            sheet = sheet.mapped(k, change)
        return sheet

    return apply


def in_some(
    *kinds: str,
    change: Callable[[str, Rng], str],
    share: float = 0.3,
    loses: bool = False,
    every: bool = True,
) -> Change:
    """A share of the filled cells is changed: of each column of these kinds, or of one."""

    def apply(sheet: Sheet, rng: Rng) -> Sheet:
        for k in sheet.of_kind(*kinds) if every else [one_of(sheet, rng, *kinds)]:
            rows = [a for a in some(rng, len(sheet), share) if sheet.columns[k].cells[a]]
            sheet = sheet.losing(k, rows) if loses else sheet
            cells = list(sheet.columns[k].cells)
            for a in rows:
                cells[a] = change(cells[a], rng)
            sheet = sheet.with_cells(k, cells)
        return sheet

    return apply


def with_columns(*added: SheetColumn, first: bool = False) -> Callable[[Sheet], Sheet]:
    """Further columns, at either end."""
    from dataclasses import replace

    def apply(sheet: Sheet) -> Sheet:
        both = [*added, *sheet.columns] if first else [*sheet.columns, *added]
        return replace(sheet, columns=both)

    return apply
