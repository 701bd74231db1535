"""Text: cosines of tf-idf vectors of 1- to 3-grams, raw and stemmed (news, Finley and Joachims 2005)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np

from clustruct.core.storage import register
from clustruct.core.typing import Ints
from clustruct.data import Fields, Table, as_text
from clustruct.features.base import Comparison, Values
from clustruct.features.columns import Columns, TermTable
from clustruct.features.split import words
from clustruct.features.terms import TermBlock, TfIdfRows, porter_stem, quoted, word_ngrams

_SIZES = {1: "{}s", 2: "pairs of {}s", 3: "triples of {}s"}


@register("TextCosines")
@dataclass(eq=False, repr=False)
class TextCosines(TermBlock):
    """Cosines of the tf-idf vectors of a field's n-grams.

    Parameters
    ----------
    field : str
        The field with the text.
    ngrams : sequence of int, default=(1, 2, 3)
        Sizes of n-grams, of 1, 2 and 3.
    raw, stemmed : bool, default=True
        Whether words as they are, and whether Porter stems are compared.
    quotations : bool, default=False
        Compare only the passages within quotation marks.

    Examples
    --------
    >>> block = TextCosines("title", ngrams=[1], stemmed=False)
    >>> table = Table([{"title": "Dog bites man"}, {"title": "man bites dog"}, {"title": "rain"}])
    >>> block.fit([table]).get_feature_names_out()
    ['title: words']
    >>> block.transform(table, np.array([[0, 1], [0, 2]])).round(3).tolist()
    [[1.0], [0.0]]
    """

    choices: ClassVar = {"ngrams": _SIZES}
    suits: ClassVar = {"text": ("string", "text", "list")}

    field: str
    ngrams: Sequence[int] = (1, 2, 3)
    raw: bool = True
    stemmed: bool = True
    quotations: bool = False

    @classmethod
    def guess_field(cls, data: Fields, field: str) -> list[Self]:
        """The field, and the quotations in it where there are any."""
        quotes = any(map(quoted, data.known_values(field)))
        return [cls(field), cls(field, quotations=True)] if quotes else [cls(field)]

    def _regions(self) -> list[tuple[str, int]]:
        views = [view for view, wanted in (("word", self.raw), ("stem", self.stemmed)) if wanted]
        return [(view, n) for view in views for n in self.ngrams]

    @property
    def n_tables(self) -> int:
        return len(self._regions())

    def tables(self, columns: Columns) -> list[TermTable]:
        regions = self._regions()
        return list(columns.by_item(("ngrams", self.field, self.quotations, *regions), self._tables))

    def _tables(self, columns: Columns) -> tuple[TermTable, ...]:
        regions = self._regions()
        views = {view: self._tokens(columns.table, view) for view in dict(regions)}
        return tuple(
            TermTable.of([word_ngrams(t, n) for t in views[view]], columns.vocabulary(f"{n} {view}s"))
            for view, n in regions
        )

    def get_feature_names_out(self) -> list[str]:
        where = f"{self.field}, quoted" if self.quotations else self.field
        return [f"{where}: {_SIZES[n].format(view)}" for view, n in self._regions()]

    def prepare(self, columns: Columns) -> Comparison:
        return partial(_cosines, self.rows(columns))

    def _tokens(self, table: Table, view: str) -> list[list[str]]:
        texts = [as_text(value) for value in table.column(self.field)]
        if self.quotations:
            texts = [quoted(text) for text in texts]
        tokens = [words(text) for text in texts]
        return tokens if view == "word" else [porter_stem(t) for t in tokens]


def _cosines(rows: Sequence[TfIdfRows], pairs: Ints) -> Values:
    columns = [items.compare(pairs).cosine for items in rows]
    return np.column_stack(columns) if columns else np.zeros((len(pairs), 0))
