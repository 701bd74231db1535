"""Terms that two items share, rare ones counting more: entries of lists, words, letters and codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np

from clustruct.core.storage import register
from clustruct.core.typing import Bools, Ints
from clustruct.data import Fields, as_text, fold, is_missing
from clustruct.features.base import Block, Comparison, Values, missing
from clustruct.features.columns import Columns, TermTable
from clustruct.features.term_weights import TermBlock, TfIdfRows
from clustruct.features.vocabulary import VIEWS, split_codes, split_words

_KINDS = (
    *("missing in one", "missing in both", "shared entries", "share of the shorter list"),
    *("shared entries that are rare here", "same list"),
)


@register("Lists")
@dataclass(eq=False, repr=False)
class Lists(TermBlock):
    """Entries that two lists share.

    "rare here" weighs an entry by log(m / items of this set that have it): 0 for one that all items have.
    Strings are cut at ``separator``; without one only lists are compared.

    Examples
    --------
    >>> from clustruct.data import Table
    >>> table = Table([{"by": ["Li", "Wu"]}, {"by": ["Li", "wu"]}, {"by": ["Li"]}])
    >>> block = Lists("by").fit([table])
    >>> block.get_feature_names_out()  # doctest: +NORMALIZE_WHITESPACE
    ['by: missing in one', 'by: missing in both', 'by: shared entries', 'by: share of the shorter list',
     'by: shared entries that are rare here', 'by: same list']
    """

    suits: ClassVar = {"records": ("list",)}

    field: str
    separator: str | None = None

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.separator is not None and (not isinstance(self.separator, str) or not self.separator):
            raise ValueError(f"separator must be a string, not {self.separator!r}")

    @classmethod
    def guess_field(cls, data: Fields, field: str) -> list[Self]:
        return [cls(field)]

    def tables(self, columns: Columns) -> list[TermTable]:
        return [self._entries(columns)[0]]

    def _entries(self, columns: Columns) -> tuple[TermTable, Ints]:
        return columns.by_item(("entries", self.field, self.separator), self._read_all)

    def _read_all(self, columns: Columns) -> tuple[TermTable, Ints]:
        entries = [self._read(value) for value in columns.table.column(self.field)]
        table = TermTable.of(entries, columns.vocabulary(("entries", self.field)))
        whole = ["\0".join(sorted(set(entry))) for entry in entries]
        return table, columns.vocabulary(("lists", self.field)).number_words(whole).astype(np.int64)

    def get_feature_names_out(self) -> list[str]:
        return [f"{self.field}: {kind}" for kind in _KINDS]

    def prepare(self, columns: Columns) -> Comparison:
        (rows,) = self.rows(columns)
        return partial(_compare, rows, self._entries(columns)[1])

    def _read(self, value: object) -> list[str]:
        if is_missing(value):
            return []
        if isinstance(value, list | tuple | set | frozenset):
            parts = [as_text(v) for v in value]
        else:
            parts = as_text(value).split(self.separator) if self.separator else [as_text(value)]
        return [t for t in map(fold, parts) if t]


def _compare(rows: TfIdfRows, code: Ints, pairs: Ints) -> Values:
    found, rare = rows.compare(pairs), rows.shared_rare(pairs)
    there = rows.table.sizes > 0
    same = (code[pairs[:, 0]] == code[pairs[:, 1]]) & there[pairs[:, 0]]
    return np.column_stack([*missing(there, pairs), found.cosine, found.contained, rare, same])


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

    Several fields are taken as one text, called ``name`` in feature names.

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
        coded = kind != "list" and _mean(data.texts(field), lambda text: bool(split_codes(fold(text)))) > SOME
        views = ["words", "letters", *(["codes"] if coded else [])]
        return [cls([field], views, missing_values=kind == "text")]

    @classmethod
    def guess_record(cls, data: Fields, found: Sequence[Block]) -> list[Self]:
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


# A field of a few words which so many of the records lack, more or less.
MOST_WORDS = 5.0
OFTEN_MISSING = 0.2


@register("Elsewhere")
@dataclass(eq=False, repr=False)
class Elsewhere(TermBlock):
    """How much of a field's words stands in other fields of the other item, rare words counting more.

    Of the two directions the larger share; 0 where neither item has the field. What one source has in a
    column of its own, another may have in its title.

    Parameters
    ----------
    field : str
        The field, of a few words.
    fields : sequence of str
        The fields of the other item that are searched for its words.

    Examples
    --------
    >>> from clustruct.data import Table
    >>> table = Table([{"maker": "Acme", "title": "anvil"}, {"title": "acme anvil"}, {"title": "rocket"}])
    >>> block = Elsewhere("maker", ["title"]).fit([table])
    >>> block.get_feature_names_out()
    ['maker: found elsewhere in the other']
    >>> block.transform(table, np.array([[0, 1], [0, 2]])).tolist()
    [[1.0], [0.0]]
    """

    suits: ClassVar = {"records": ("string",)}

    field: str
    fields: Sequence[str]

    @classmethod
    def guess_field(cls, data: Fields, field: str) -> list[Self]:
        few = _mean(data.texts(field), lambda text: len(split_words(fold(text)))) < MOST_WORDS
        others = [name for name in data.holding() if name != field and data.kinds[name] in ("string", "text")]
        return [cls(field, others)] if few and others and data.missing_share(field) > OFTEN_MISSING else []

    def tables(self, columns: Columns) -> list[TermTable]:
        return [columns.terms([self.field], ["words"])]

    def get_feature_names_out(self) -> list[str]:
        return [f"{self.field}: found elsewhere in the other"]

    def prepare(self, columns: Columns) -> Comparison:
        own, elsewhere = self.rows(columns)[0], columns.terms(self.fields, ["words"])
        return partial(self._compare, own, elsewhere)

    def _compare(self, own: TfIdfRows, elsewhere: TermTable, pairs: Ints) -> Values:
        from clustruct.features._kernels import found_weights

        table, shares = own.table, []
        for a, b in (pairs.T, pairs.T[::-1]):
            rows = a if table.codes is None else table.codes[a]
            others = b if elsewhere.codes is None else elsewhere.codes[b]
            found = found_weights(
                table.indptr, table.indices, elsewhere.indptr, elsewhere.indices, own.idf, rows, others
            )
            total = own.totals(rows)
            shares.append(found / np.where(total > 0.0, total, 1.0))
        return np.minimum(np.maximum(*shares), 1.0)[:, None]


def _mean(texts: Sequence[tuple[str, float]], count: Callable[[str], float]) -> float:
    """The mean over rows of what is counted in their texts."""
    rows = sum(n for _, n in texts)
    return sum(n * count(text) for text, n in texts) / rows if rows else 0.0
