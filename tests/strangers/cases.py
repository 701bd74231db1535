"""A case by its word: a plain table and the oddities that are put on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from .oddities import ODDITIES, Oddity
from .sheets import Sheet
from .tables import KINDS, make_sheet

# What reads the cells comes before what hides them; files last.
ORDER = (
    *("vectors", "numbers", "dates", "texts", "script", "missing", "sources"),
    *("rows", "columns", "labels", "files"),
)
DRAWS = 3


@dataclass(frozen=True)
class Case:
    """Oddities of a table of a kind; ``draw`` is the random state of both."""

    kind: str
    draw: int
    oddities: tuple[str, ...]
    n_groups: int = 70

    @property
    def word(self) -> str:
        return f"{self.kind}/{self.draw} {' & '.join(self.oddities)}"

    @classmethod
    def of_word(cls, word: str) -> Case:
        """
        >>> Case.of_word("papers/3 bom & text: tags").oddities
        ('bom', 'text: tags')
        """
        table, _, names = word.partition(" ")
        kind, _, draw = table.partition("/")
        return cls(kind, int(draw), tuple(names.split(" & ")))

    @property
    def parts(self) -> list[Oddity]:
        """The oddities in the order in which they are put on."""
        return sorted((ODDITIES[name] for name in self.oddities), key=lambda o: ORDER.index(o.family))

    @property
    def compares(self) -> bool:
        """Whether its groups can be compared with those of the plain table."""
        return all(oddity.effect != "changes" for oddity in self.parts)

    @property
    def refusals(self) -> tuple[str, ...]:
        """Words of which one stands in a refusal, where a refusal is right."""
        return tuple(word for oddity in self.parts for word in oddity.refusals)

    def plain(self) -> Sheet:
        return make_sheet(self.kind, self.draw, self.n_groups)

    def odd(self) -> Sheet:
        sheet = self.plain()
        for k, oddity in enumerate(self.parts):
            sheet = oddity.change(sheet, np.random.default_rng([self.draw, k, KINDS.index(self.kind)]))
        return sheet

    def again(self, n: int) -> Case:
        """The same oddities on another table."""
        return replace(self, draw=self.draw + 1_000_003 * n)


def singles(seed: int) -> list[Case]:
    """Every oddity alone, on a table of a kind that it suits."""
    rng = np.random.default_rng([seed, 1])
    return [_drawn(rng, seed, [oddity]) for oddity in ODDITIES.values()]


def triples(seed: int, n: int = 500) -> list[Case]:
    """Three oddities of three families on one table."""
    rng = np.random.default_rng([seed, 3])
    found: dict[Case, None] = {}
    listed = list(ODDITIES.values())
    while len(found) < n:
        chosen = [listed[k] for k in rng.choice(len(listed), 3, replace=False)]
        if len({oddity.family for oddity in chosen}) == 3 and _suiting(chosen):
            found[_drawn(rng, seed, chosen)] = None
    return list(found)


def _suiting(oddities: list[Oddity]) -> list[str]:
    return [kind for kind in KINDS if all(kind in suited_kinds(oddity) for oddity in oddities)]


@cache
def suited_kinds(oddity: Oddity) -> frozenset[str]:
    """The kinds of tables that have what the oddity changes."""
    return frozenset(kind for kind in KINDS if oddity.suits(make_sheet(kind, 0)))


def _drawn(rng: np.random.Generator, seed: int, oddities: list[Oddity]) -> Case:
    kind = str(rng.choice(_suiting(oddities)))
    return Case(kind, seed * DRAWS + int(rng.integers(DRAWS)), tuple(o.name for o in oddities))
