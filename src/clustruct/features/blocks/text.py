"""Text: cosines of tf-idf vectors of words, word pairs and word triples, raw and stemmed (SPEC 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from clustruct._typing import Ints
from clustruct.features import checks
from clustruct.features.base import PairBlock, State, Values, register
from clustruct.features.stems import porter_stem
from clustruct.features.term_weights import TermWeights
from clustruct.features.words import as_text, quoted, word_ngrams, words
from clustruct.records import RawSet

_SIZES = {1: "{}s", 2: "pairs of {}s", 3: "triples of {}s"}


@register
class TextCosines(PairBlock):
    """Cosines of the tf-idf vectors of a field's n-grams.

    Parameters
    ----------
    field : the field with the text
    ngrams : sizes of n-grams, of 1, 2 and 3
    raw, stemmed : whether words as they are, and whether Porter stems are compared
    quotations : compare only the passages within quotation marks

    >>> block = TextCosines("title", ngrams=[1], stemmed=False)
    >>> raw = RawSet([{"title": "Dog bites man"}, {"title": "man bites dog"}, {"title": "rain"}])
    >>> block.fit([raw]).names(), block.values(raw, np.array([[0, 1], [0, 2]])).round(3).tolist()
    (['title: words'], [[1.0], [0.0]])
    """

    kind = "text"

    def __init__(
        self,
        field: str,
        ngrams: Sequence[int] = (1, 2, 3),
        raw: bool = True,
        stemmed: bool = True,
        quotations: bool = False,
    ) -> None:
        self.field = field
        self.ngrams = ngrams
        self.raw = raw
        self.stemmed = stemmed
        self.quotations = quotations

    def _regions(self) -> list[tuple[str, int]]:
        checks.name_of_field(self.field)
        if not isinstance(self.ngrams, list | tuple) or any(n not in _SIZES for n in self.ngrams):
            raise ValueError(f"ngrams must be sizes 1, 2 or 3, not {self.ngrams!r}")
        views = [view for view, wanted in (("word", self.raw), ("stem", self.stemmed)) if wanted]
        return [(view, n) for view in views for n in self.ngrams]

    def fit(self, sets: Sequence[RawSet]) -> Self:
        regions = self._regions()
        views = {view: [t for raw in sets for t in self._tokens(raw, view)] for view in dict(regions)}
        self.weights_ = [
            TermWeights().fit(word_ngrams(tokens, n) for tokens in views[view]) for view, n in regions
        ]
        return self

    def names(self) -> list[str]:
        where = f"{self.field}, quoted" if self.quotations else self.field
        return [f"{where}: {_SIZES[n].format(view)}" for view, n in self._regions()]

    def values(self, raw: RawSet, pairs: Ints) -> Values:
        regions = self._regions()
        views = {view: self._tokens(raw, view) for view in dict(regions)}
        columns = [
            weights.compare([word_ngrams(tokens, n) for tokens in views[view]], pairs).cosine
            for weights, (view, n) in zip(self.weights_, regions, strict=True)
        ]
        return np.column_stack(columns) if columns else np.zeros((len(pairs), 0))

    def _tokens(self, raw: RawSet, view: str) -> list[list[str]]:
        texts = [as_text(value) for value in raw.column(self.field)]
        if self.quotations:
            texts = [quoted(text) for text in texts]
        tokens = [words(text) for text in texts]
        return tokens if view == "word" else [porter_stem(t) for t in tokens]

    def learned(self) -> State:
        return {"weights": [weights.learned() for weights in self.weights_]}

    def restore(self, learned: Mapping[str, Any]) -> None:
        given, regions = checks.part(learned, "weights"), self._regions()
        if not isinstance(given, list) or len(given) != len(regions):
            raise ValueError(f"weights must be a list of {len(regions)} tables")
        self.weights_ = [TermWeights.restored(table) for table in given]
