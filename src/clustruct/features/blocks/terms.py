"""What two records have in common: words, letters and codes, rare ones counting more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np

from clustruct.core.storage import register
from clustruct.core.typing import Bools, Ints
from clustruct.data import Fields
from clustruct.features.base import Block, Comparison, Values, missing
from clustruct.features.columns import Columns, TermTable
from clustruct.features.split import VIEWS, codes
from clustruct.features.terms import TermBlock, TfIdfRows

_NAMES = {
    "words": ["words", "words of the shorter that are shared", "rarest shared word"],
    "letters": ["letters", "letters of the shorter that are shared"],
    "codes": ["codes", "codes of the shorter that are shared", "rarest shared code", "other codes"],
}
SOME = 0.1  # of the values have a code: then codes are compared


@register("Terms")
@dataclass(eq=False, repr=False)
class Terms(TermBlock):
    """Words, letter triples and codes (words with digits) that the items share, rare ones counting more.

    Parameters
    ----------
    fields : sequence of str
        One field, or several that are taken as one text.
    views : sequence of str, default=('words', 'letters', 'codes')
        Of "words", "letters", "codes".
    name : str, default=""
        How the fields are called together in feature names.
    missing_values : bool, default=False
        Whether "missing in one" and "missing in both" are features.

    Examples
    --------
    >>> from clustruct.data import Table
    >>> block = Terms(["title"], views=["codes"])
    >>> table = Table([{"title": "TV X-100"}, {"title": "tv x100 black"}, {"title": "tv y200"}])
    >>> block.fit([table]).get_feature_names_out()  # doctest: +NORMALIZE_WHITESPACE
    ['title: codes', 'title: codes of the shorter that are shared', 'title: rarest shared code',
     'title: other codes']
    >>> block.transform(table, np.array([[0, 1], [0, 2]])).round(2).tolist()
    [[1.0, 1.0, 0.76, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """

    choices: ClassVar = {"views": VIEWS}
    suits: ClassVar = {"records": ("string", "text", "list")}
    suits_record = ("records",)

    fields: Sequence[str]
    views: Sequence[str] = ("words", "letters", "codes")
    name: str = ""
    missing_values: bool = False

    @classmethod
    def guess_field(cls, data: Fields, field: str) -> list[Self]:
        """Words and letters of strings, texts and lists; codes where some of the values have them."""
        kind = data.kinds[field]
        coded = kind != "list" and np.mean([bool(codes(text)) for text in data.known_values(field)]) > SOME
        views = ["words", "letters", *(["codes"] if coded else [])]
        return [cls([field], views, missing_values=kind == "text")]

    @classmethod
    def guess_record(cls, data: Fields, found: Sequence[Block]) -> list[Self]:
        """All fields of a record as one text."""
        worded = [field for field in data.holding() if data.kinds[field] != "vector"]
        wanted = len(worded) > 1 or (worded and not found)
        return [cls(worded, name="record")] if wanted else []

    @property
    def n_tables(self) -> int:
        return len(self.views)

    def tables(self, columns: Columns) -> list[TermTable]:
        return [columns.terms(self.fields, [view]) for view in self.views]

    def get_feature_names_out(self) -> list[str]:
        title = self.name or " and ".join(self.fields)
        kinds = ["missing in one", "missing in both"] if self.missing_values else []
        return [f"{title}: {kind}" for kind in kinds + [n for view in self.views for n in _NAMES[view]]]

    def prepare(self, columns: Columns) -> Comparison:
        present = np.any([columns.texts(field).present for field in self.fields], axis=0)
        return partial(self._compare, present, self.rows(columns))

    def _compare(self, present: Bools, rows: Sequence[TfIdfRows], pairs: Ints) -> Values:
        columns = missing(present, pairs) if self.missing_values else []
        for view, items in zip(self.views, rows, strict=True):
            found = items.compare(pairs)
            columns += [*found][: 2 if view == "letters" else 3]
            if view == "codes":
                both = (items.table.sizes > 0)[pairs].all(axis=1)
                columns.append((both & (found.contained == 0.0)).astype(np.float64))
        return np.column_stack(columns) if columns else np.zeros((len(pairs), 0))
