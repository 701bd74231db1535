"""What two records have in common: words, letters and codes, rare ones counting more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from clustruct._typing import Ints
from clustruct.features.base import Block, Values, missing
from clustruct.features.terms import TermBlock, TermLists, codes, letter_ngrams, words
from clustruct.records import Fields, RawSet, as_text
from clustruct.storage import register

_VIEWS: dict[str, Callable[[str], list[str]]] = {"words": words, "letters": letter_ngrams, "codes": codes}
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
    fields : one field, or several that are taken as one text
    views : of "words", "letters", "codes"
    name : how the fields are called together in feature names
    missing_values : whether "missing in one" and "missing in both" are features

    >>> block = Terms(["title"], views=["codes"])
    >>> raw = RawSet([{"title": "TV X-100"}, {"title": "tv x100 black"}, {"title": "tv y200"}])
    >>> block.fit([raw]).get_feature_names_out()  # doctest: +NORMALIZE_WHITESPACE
    ['title: codes', 'title: codes of the shorter that are shared', 'title: rarest shared code',
     'title: other codes']
    >>> block.transform(raw, np.array([[0, 1], [0, 2]])).round(2).tolist()
    [[1.0, 1.0, 0.76, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """

    choices: ClassVar = {"views": _VIEWS}
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
        coded = kind != "list" and np.mean([bool(codes(text)) for text in data.known(field)]) > SOME
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

    def terms(self, raw: RawSet) -> list[TermLists]:
        texts = self._texts(raw)
        return [[_VIEWS[view](text) for text in texts] for view in self.views]

    def get_feature_names_out(self) -> list[str]:
        title = self.name or " and ".join(self.fields)
        kinds = ["missing in one", "missing in both"] if self.missing_values else []
        return [f"{title}: {kind}" for kind in kinds + [n for view in self.views for n in _NAMES[view]]]

    def transform(self, raw: RawSet, pairs: Ints) -> Values:
        texts = self._texts(raw)
        columns = missing(np.array([t != "" for t in texts]), pairs) if self.missing_values else []
        for view, weights, terms in zip(self.views, self.weights_, self.terms(raw), strict=True):
            found = weights.rows(terms).compare(pairs)
            columns += [*found][: 2 if view == "letters" else 3]
            if view == "codes":
                has = np.array([len(t) > 0 for t in terms])
                columns.append((has[pairs].all(axis=1) & (found.contained == 0.0)).astype(np.float64))
        return np.column_stack(columns) if columns else np.zeros((len(pairs), 0))

    def _texts(self, raw: RawSet) -> list[str]:
        columns = [[as_text(v) for v in raw.column(field)] for field in self.fields]
        return [" \n ".join(t for t in row if t) for row in zip(*columns, strict=True)]
