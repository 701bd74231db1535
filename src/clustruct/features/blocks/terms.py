"""What two records have in common: words, letters and codes, rare ones counting more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from clustruct._typing import Ints
from clustruct.features import checks
from clustruct.features.base import PairBlock, State, Values, register
from clustruct.features.term_weights import Likeness, TermWeights
from clustruct.features.words import as_text, codes, letter_ngrams, words
from clustruct.records import RawSet

from .strings import missing

_VIEWS: dict[str, Callable[[str], list[str]]] = {"words": words, "letters": letter_ngrams, "codes": codes}
_NAMES = {
    "words": ["words", "words of the shorter that are shared", "rarest shared word"],
    "letters": ["letters", "letters of the shorter that are shared"],
    "codes": ["codes", "codes of the shorter that are shared", "rarest shared code", "other codes"],
}


@register
class Terms(PairBlock):
    """Words, letter triples and codes (words with digits) that the items share, rare ones counting more.

    Parameters
    ----------
    fields : one field, or several that are taken as one text
    views : of "words", "letters", "codes"
    name : how the fields are called together in feature names
    missing_values : whether "missing in one" and "missing in both" are features

    >>> block = Terms(["title"], views=["codes"])
    >>> raw = RawSet([{"title": "TV X-100"}, {"title": "tv x100 black"}, {"title": "tv y200"}])
    >>> block.fit([raw]).names()  # doctest: +NORMALIZE_WHITESPACE
    ['title: codes', 'title: codes of the shorter that are shared', 'title: rarest shared code',
     'title: other codes']
    >>> block.values(raw, np.array([[0, 1], [0, 2]])).round(2).tolist()
    [[1.0, 1.0, 0.76, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """

    kind = "terms"

    def __init__(
        self,
        fields: Sequence[str],
        views: Sequence[str] = ("words", "letters", "codes"),
        name: str = "",
        missing_values: bool = False,
    ) -> None:
        self.fields = fields
        self.views = views
        self.name = name
        self.missing_values = missing_values

    def _check(self) -> None:
        checks.names_of_fields(self.fields)
        if not isinstance(self.views, list | tuple) or any(v not in _VIEWS for v in self.views):
            raise ValueError(f"views must be some of {', '.join(_VIEWS)}, not {self.views!r}")
        if not isinstance(self.name, str):
            raise ValueError(f"name must be a string, not {self.name!r}")

    def fit(self, sets: Sequence[RawSet]) -> Self:
        self._check()
        texts = [text for raw in sets for text in self._texts(raw)]
        self.weights_ = [TermWeights().fit(map(_VIEWS[view], texts)) for view in self.views]
        return self

    def names(self) -> list[str]:
        title = self.name or " and ".join(self.fields)
        kinds = ["missing in one", "missing in both"] if self.missing_values else []
        return [f"{title}: {kind}" for kind in kinds + [n for view in self.views for n in _NAMES[view]]]

    def values(self, raw: RawSet, pairs: Ints) -> Values:
        texts = self._texts(raw)
        columns = missing(np.array([t != "" for t in texts]), pairs) if self.missing_values else []
        for view, weights in zip(self.views, self.weights_, strict=True):
            terms = [_VIEWS[view](text) for text in texts]
            found = weights.compare(terms, pairs)
            columns += [*found][: 2 if view == "letters" else 3]
            if view == "codes":
                columns.append(_other(terms, pairs, found))
        return np.column_stack(columns) if columns else np.zeros((len(pairs), 0))

    def _texts(self, raw: RawSet) -> list[str]:
        columns = [[as_text(v) for v in raw.column(field)] for field in self.fields]
        return [" \n ".join(t for t in row if t) for row in zip(*columns, strict=True)]

    def learned(self) -> State:
        return {"weights": [weights.learned() for weights in self.weights_]}

    def restore(self, learned: Mapping[str, Any]) -> None:
        self._check()
        given = checks.part(learned, "weights")
        if not isinstance(given, list) or len(given) != len(self.views):
            raise ValueError(f"weights must be a list of {len(self.views)} tables")
        self.weights_ = [TermWeights.restored(table) for table in given]


def _other(terms: Sequence[Sequence[str]], pairs: Ints, found: Likeness) -> Any:
    """1 where both items have codes and share none."""
    has = np.array([len(t) > 0 for t in terms])
    return (has[pairs].all(axis=1) & (found.contained == 0.0)).astype(np.float64)
