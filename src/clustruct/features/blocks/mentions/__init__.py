"""Mentions (noun phrases) of a text: about 60 pair features after Ng and Cardie (2002)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Self

import numpy as np

from clustruct.core.storage import register
from clustruct.core.typing import Ints
from clustruct.data import Fields, Table
from clustruct.features.base import Block, Comparison, Values
from clustruct.features.columns import Columns as SetColumns
from clustruct.features.columns import TermTable
from clustruct.features.terms import TermBlock, TfIdfRows

from .comparisons import GROUPS, Columns
from .mention_table import FIELDS, SENTENCE_LAYERS, TOKEN_LAYERS, MentionTable

RARE = "shared rare words"


@register("Mentions")
class Mentions(TermBlock):
    """String, head, form, agreement, distance, speech and syntax of two mentions.

    An item names its tokens by `sent`, `start`, `end` (tokens start..end-1 of that sentence) and may have
    `type`, `form` (PRON, PROP, NOM) and `head` (a token). The set's context has `tokens` (sentences) and may
    have `lemma`, `upos`, `xpos`, `feats`, `head`, `deprel` in the same shape, and `speaker` and `par` per
    sentence. What is not there is guessed from the words (English) or left at zero.

    Examples
    --------
    >>> context = {"tokens": [["Ann", "saw", "him", "."], ["She", "left", "."]]}
    >>> items = [{"sent": 0, "start": 0, "end": 1, "type": "PER"}, {"sent": 0, "start": 2, "end": 3},
    ...          {"sent": 1, "start": 0, "end": 1}]
    >>> table = Table(items, context=context)
    >>> block = Mentions().fit([table])
    >>> values = block.transform(table, np.array([[0, 2], [1, 2]]))
    >>> said = {name: row.tolist() for name, row in zip(block.get_feature_names_out(), values.T)}
    >>> said["gender clashes"], said["nearest noun that fits the pronoun"]
    ([0.0, 1.0], [1.0, 0.0])
    """

    suits_record = ("mentions",)
    has_words = False

    @classmethod
    def guess_record(cls, data: Fields, found: Sequence[Block]) -> list[Self]:
        return [cls()]

    def fields_used(self) -> list[str]:
        return list(FIELDS)

    def context_used(self) -> list[str]:
        return ["tokens", *TOKEN_LAYERS, *SENTENCE_LAYERS]

    def tables(self, columns: SetColumns) -> list[TermTable]:
        content = _table(columns).content
        return [TermTable.of([sorted(words) for words in content], columns.vocabulary("content"))]

    def get_feature_names_out(self) -> list[str]:
        return [*_names(), RARE]

    def prepare(self, columns: SetColumns) -> Comparison:
        table = _table(columns)
        plain = ~table.pronoun
        terms = [sorted(c) if p else [] for c, p in zip(table.content, plain, strict=True)]
        return partial(_values, table, self.weights_[0].rows(TermTable.of(terms)))


def _table(columns: SetColumns) -> MentionTable:
    return columns.once("mentions", lambda: MentionTable(columns.table))


def _values(table: MentionTable, rows: TfIdfRows, pairs: Ints) -> Values:
    columns = _compare(table, pairs)
    columns[RARE] = rows.compare(pairs).cosine
    return np.column_stack([np.asarray(c, np.float64) for c in columns.values()])


def _compare(table: MentionTable, pairs: Ints) -> Columns:
    """All groups of the listed pairs, the earlier mention of each pair first."""
    a, b = pairs[:, 0], pairs[:, 1]
    swap = table.order[a] > table.order[b]
    first, last = np.where(swap, b, a), np.where(swap, a, b)
    return {name: column for group in GROUPS for name, column in group(table, first, last).items()}


@cache
def _names() -> tuple[str, ...]:
    """The names do not depend on the text."""
    items = [{"sent": 0, "start": k, "end": k + 1} for k in range(2)]
    table = MentionTable(Table(items, context={"tokens": [["it", "it"]]}))
    return tuple(_compare(table, np.array([[0, 1]])))
