"""Short strings of records: how alike two spellings are (rapidfuzz)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Self

import numpy as np

from clustruct._typing import Bools, Floats, Ints
from clustruct.features import checks
from clustruct.features.base import Unlearned, Values, missing
from clustruct.features.fields import Fields
from clustruct.features.words import as_text, fold
from clustruct.records import RawSet
from clustruct.storage import register

# What is measured, and rapidfuzz's name for it. All are 0 for nothing in common and 1 for the same.
_MEASURES = {
    "spelling": ("distance", "Levenshtein", "normalized_similarity", 1.0),
    "spelling of the beginning": ("distance", "JaroWinkler", "normalized_similarity", 1.0),
    "words in any order": ("fuzz", None, "token_sort_ratio", 100.0),
    "words of the shorter": ("fuzz", None, "token_set_ratio", 100.0),
}
MEASURES = tuple(_MEASURES)


@cache
def _scorer(measure: str) -> tuple[Callable[..., Floats], object, float]:
    try:
        import rapidfuzz
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "likeness of strings needs the package rapidfuzz: pip install 'clustruct[records]'"
        ) from error
    module, owner, name, most = _MEASURES[measure]
    place = getattr(rapidfuzz, module)
    return rapidfuzz.process.cpdist, getattr(place if owner is None else getattr(place, owner), name), most


@register("Strings")
@dataclass(eq=False, repr=False)
class Strings(Unlearned):
    """A short string field: equal or not, missing or not, and likenesses of the spellings.

    Strings are compared in lower case without accents. A value that is missing is like nothing, and the
    features "missing in one" and "missing in both" say so.

    Parameters
    ----------
    field : the field
    measures : which likenesses, of "spelling" (Levenshtein), "spelling of the beginning" (Jaro-Winkler),
        "words in any order" and "words of the shorter" (token sort and token set ratio)

    >>> block = Strings("name", measures=["spelling"])
    >>> raw = RawSet([{"name": "Ann"}, {"name": "anna"}, {"name": None}])
    >>> block.fit([raw]).get_feature_names_out()
    ['name: same', 'name: missing in one', 'name: missing in both', 'name: spelling']
    >>> block.transform(raw, np.array([[0, 1], [0, 2]])).tolist()
    [[0.0, 0.0, 0.0, 0.75], [0.0, 1.0, 0.0, 0.0]]
    """

    suits: ClassVar = {"records": ("string", "number", "date")}

    field: str
    measures: Sequence[str] = MEASURES

    def check_parameters(self) -> None:
        checks.name_of_field(self.field)
        checks.some_of(self.measures, MEASURES, "measures")

    @classmethod
    def guess_field(cls, data: Fields, field: str) -> list[Self]:
        return [cls(field) if data.kinds[field] == "string" else cls(field, measures=MEASURES[:2])]

    def get_feature_names_out(self) -> list[str]:
        kinds = ["same", "missing in one", "missing in both", *self.measures]
        return [f"{self.field}: {kind}" for kind in kinds]

    def transform(self, raw: RawSet, pairs: Ints) -> Values:
        text = [fold(as_text(value)) for value in raw.column(self.field)]
        present = np.array([t != "" for t in text])
        distinct = list(dict.fromkeys(text))
        place = {t: i for i, t in enumerate(distinct)}
        code = np.array([place[t] for t in text], dtype=np.int64)
        a, b = code[pairs[:, 0]], code[pairs[:, 1]]
        both = present[pairs[:, 0]] & present[pairs[:, 1]]
        columns = [both & (a == b), *missing(present, pairs)]
        columns += likenesses(distinct, a, b, both, self.measures)
        return np.column_stack([np.asarray(c, np.float64) for c in columns])


def likenesses(
    distinct: Sequence[str], a: Ints, b: Ints, wanted: Bools, measures: Sequence[str]
) -> list[Floats]:
    """Each measure of the strings number a and b where wanted, else 0. Each two strings are compared once."""
    low, high = np.minimum(a, b)[wanted], np.maximum(a, b)[wanted]
    keys, back = np.unique(low * len(distinct) + high, return_inverse=True)
    first = [distinct[i] for i in keys // len(distinct)]
    second = [distinct[i] for i in keys % len(distinct)]
    columns = []
    for measure in measures:
        compare, scorer, most = _scorer(measure)
        column = np.zeros(len(a))
        if len(keys):
            column[wanted] = compare(first, second, scorer=scorer, dtype=np.float64)[back] / most
        columns.append(column)
    return columns
