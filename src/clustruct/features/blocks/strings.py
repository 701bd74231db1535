"""Short strings of records: how alike two spellings are (rapidfuzz)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from operator import attrgetter
from typing import ClassVar, Self

import numpy as np

from clustruct.core.storage import register
from clustruct.core.typing import Floats, Ints
from clustruct.data import Fields
from clustruct.features.base import Comparison, PreparedBlock, Unlearned, Values
from clustruct.features.columns import Columns
from clustruct.features.term_weights import distinct_pairs
from clustruct.features.vocabulary import FoldedTexts

# What is measured, rapidfuzz's name for it, and its value for the same. All are 0 for nothing in common.
_MEASURES = {
    "spelling": ("distance.Levenshtein.normalized_similarity", 1.0),
    "spelling of the beginning": ("distance.JaroWinkler.normalized_similarity", 1.0),
    "words in any order": ("fuzz.token_sort_ratio", 100.0),
    "words of the shorter": ("fuzz.token_set_ratio", 100.0),
}
MEASURES = tuple(_MEASURES)
SORT, SET = MEASURES[2:]
# Likenesses cost the product of two lengths: they are taken of so many letters at most.
LONGEST = 2000


@cache
def _scorer(measure: str) -> tuple[Callable[..., Floats], object, float]:
    try:
        import rapidfuzz
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "likeness of strings needs the package rapidfuzz: pip install 'clustruct[records]'"
        ) from error
    path, most = _MEASURES[measure]
    return rapidfuzz.process.cpdist, attrgetter(path)(rapidfuzz), most


@register("Strings")
@dataclass(eq=False, repr=False)
class Strings(PreparedBlock[None], Unlearned):
    """A short string field: equal or not, missing or not, and likenesses of the spellings.

    Strings are compared in lower case without accents; likenesses are those of the first 2,000 letters. A
    value that is missing is like nothing, and the features "missing in one" and "missing in both" say so.

    Parameters
    ----------
    field : str
        The field.
    measures : sequence of str
        Which likenesses, of "spelling" (Levenshtein), "spelling of the beginning" (Jaro-Winkler), "words
        in any order" and "words of the shorter" (token sort and token set ratio).

    Examples
    --------
    >>> from clustruct.data import Table
    >>> block = Strings("name", measures=["spelling"])
    >>> table = Table([{"name": "Ann"}, {"name": "anna"}, {"name": None}])
    >>> block.fit([table]).get_feature_names_out()
    ['name: same', 'name: missing in one', 'name: missing in both', 'name: spelling']
    >>> block.transform(table, np.array([[0, 1], [0, 2]])).tolist()
    [[0.0, 0.0, 0.0, 0.75], [0.0, 1.0, 0.0, 0.0]]
    """

    choices: ClassVar = {"measures": MEASURES}
    suits: ClassVar = {"records": ("string", "number", "date", "code", "category")}

    field: str
    measures: Sequence[str] = MEASURES

    @classmethod
    def guess_field(cls, data: Fields, field: str) -> list[Self]:
        if data.is_category(field):
            return [cls(field, measures=())]
        return [cls(field) if data.kinds[field] == "string" else cls(field, measures=MEASURES[:2])]

    def get_feature_names_out(self) -> list[str]:
        kinds = ["same", "missing in one", "missing in both", *self.measures]
        return [f"{self.field}: {kind}" for kind in kinds]

    def prepare(self, columns: Columns) -> Comparison:
        return partial(self._compare, columns.texts(self.field))

    def _compare(self, texts: FoldedTexts, pairs: Ints) -> Values:
        one, other = texts.present[pairs.T]
        code = texts.codes[pairs]
        both, same = one & other, code[:, 0] == code[:, 1]
        columns = np.zeros((len(pairs), 3 + len(self.measures)))
        for k, column in enumerate((both & same, one ^ other, ~(one | other))):
            columns[:, k] = column
        columns[both & same, 3:] = 1.0
        compared = np.flatnonzero(both & ~same)
        if len(compared) and self.measures:
            columns[compared, 3:] = likenesses(texts, code[compared], self.measures)
        return columns


def likenesses(texts: FoldedTexts, pairs: Ints, measures: Sequence[str]) -> Floats:
    """A column for each measure of pairs of different texts. Each two texts are compared once."""
    found, back = distinct_pairs(pairs, len(texts.values))
    first, second = (_strings(texts, side) for side in found.T)
    out = np.empty((len(found), len(measures)))
    for column, measure in enumerate(measures):
        if measure == SET and SORT in measures[:column]:
            out[:, column] = _by_sets(first, second, out[:, measures.index(SORT)])
        else:
            out[:, column] = _measure(measure, first, second)
    return out[back]


def _strings(texts: FoldedTexts, some: Ints) -> list[str]:
    found = [*map(texts.values.__getitem__, some.tolist())]
    return found if texts.longest <= LONGEST else [text[:LONGEST] for text in found]


def _measure(measure: str, first: Sequence[str], second: Sequence[str]) -> Floats:
    compare, scorer, most = _scorer(measure)
    return np.asarray(compare(first, second, scorer=scorer, dtype=np.float64) / most)


def _by_sets(first: Sequence[str], second: Sequence[str], in_order: Floats) -> Floats:
    """Token set ratios: where both have one word, another one, they are the token sort ratios (rounded as
    rapidfuzz does it).
    """
    sizes = np.array([*map(len, first)], np.float64) + np.array([*map(len, second)], np.float64)
    out = (100.0 - 100.0 * np.rint(sizes * (1.0 - in_order)) / sizes) / 100.0
    both = enumerate(zip(first, second, strict=True))
    several = [k for k, (a, b) in both if " " in a or " " in b]
    if several:
        out[several] = _measure(SET, [first[k] for k in several], [second[k] for k in several])
    return np.asarray(out)
