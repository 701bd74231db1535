"""Products: long texts, written anew by each shop, and families that differ in a number or a word."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables.errors import chosen, put, slips
from benchmarks.tables.table import Table, entity_of_rows
from benchmarks.tables.words import Numbers, Texts, invented, joined, numerals, zipf

FIELDS = ("title", "brand", "description", "price")
Words = NDArray[np.int64]  # (n, k) numbers of words
TITLE, BODY = 6, 24
VOCABULARY = 20_000


@dataclass(frozen=True)
class Products:
    """A shape of tables of products.

    family : share of products that are a variant of the one before: another model number, two other words
    told : share of the product's words that a row keeps; noise : share of a row's words that are its own
    """

    rows_per_product: float = 1.8
    family: float = 0.5
    told: float = 0.75
    noise: float = 0.15
    slip: float = 0.1
    missing: float = 0.08

    def make(self, n_rows: int, seed: int) -> Table:
        """So many rows, in random order."""
        rng = np.random.default_rng(seed)
        entity = entity_of_rows(rng, n_rows, self.rows_per_product)
        return Table(entity, _Range(self, rng, int(entity.max()) + 1).rows(entity)).shuffled(rng)


class _Range:
    """What is sold, and how rows tell of it."""

    def __init__(self, shape: Products, rng: np.random.Generator, n: int) -> None:
        self.shape, self.rng = shape, rng
        self.words = invented(rng, VOCABULARY, (1, 2, 3))
        self.brands = invented(rng, 800)
        variant = chosen(rng, shape.family, n)
        variant[:1] = False
        first = np.maximum.accumulate(np.where(variant, 0, np.arange(n)))
        self.brand = zipf(rng, n, 800, 0.9, 3)[first]
        self.title, self.body = (self._family(first, variant, width) for width in (TITLE, BODY))
        self.letters = rng.integers(0, 26, (2, n))[:, first]
        self.number = rng.integers(100, 10_000, n)
        near = self.number[first] + 10 * rng.integers(1, 9, n)
        self.number = np.where(variant, near, self.number)
        self.price = np.exp(rng.normal(4, 1, n))[first] * np.where(variant, rng.uniform(0.9, 1.1, n), 1.0)

    def _family(self, first: Numbers, variant: NDArray[np.bool_], width: int) -> Words:
        """The words of each product: variants differ from the first of the family in two."""
        own = self._draw((len(first), width))
        found = own[first]
        for k in self.rng.choice(width, 2, replace=False):
            found[variant, k] = own[variant, k]
        return found

    def _draw(self, size: tuple[int, int]) -> Words:
        return zipf(self.rng, size[0] * size[1], VOCABULARY, 0.9, 10).reshape(size)

    def rows(self, e: Numbers) -> dict[str, Texts]:
        """The columns of the rows of these products."""
        rng, n = self.rng, len(e)
        price = self.price[e] * np.exp(rng.normal(0, 0.05, n))
        brand = self.brands[self.brand[e]]
        named = np.where(chosen(rng, 0.7, n), joined(b" ", brand), b"")
        columns = {
            "title": np.strings.lstrip(joined(named, self._model(e), self._text(self.title[e]))),
            "brand": self._slipped(brand),
            "description": np.strings.lstrip(self._text(self.body[e])),
            "price": joined(numerals(price.astype(int)), b".", numerals((100 * price).astype(int) % 100, 2)),
        }
        empty = {name: chosen(rng, self.shape.missing * (name != "title"), n) for name in columns}
        return {name: np.where(empty[name], b"", column) for name, column in columns.items()}

    def _model(self, e: Numbers) -> Texts:
        """Letters and a number, with a dash between them or without, or not told."""
        rng, n = self.rng, len(e)
        a, b = (np.array([bytes([97 + k]) for k in range(26)])[self.letters[k][e]] for k in (0, 1))
        dash = np.where(chosen(rng, 0.4, n), b"-", b"")
        return np.where(chosen(rng, 0.6, n), joined(b" ", a, b, dash, numerals(self.number[e])), b"")

    def _text(self, numbers: Words) -> Texts:
        """Most of the words, some others, some misspelt, some two of them in another order."""
        n, width = numbers.shape
        numbers = np.where(self.rng.random((n, width)) < self.shape.noise, self._draw((n, width)), numbers)
        order = np.argsort(np.arange(width) + self.rng.normal(0, 1.0, (n, width)), axis=1)
        numbers = np.take_along_axis(numbers, order, axis=1)
        kept = self.rng.random((n, width)) < self.shape.told
        parts = [
            np.where(kept[:, k], joined(b" ", self._slipped(self.words[numbers[:, k]])), b"")
            for k in range(width)
        ]
        return joined(*parts)

    def _slipped(self, words: Texts) -> Texts:
        hit = chosen(self.rng, self.shape.slip / 2, len(words))
        return put(words, hit, slips(words[hit], self.rng))


SHAPES = {"products": Products()}
