"""Text: cosines of tf-idf vectors of 1- to 3-grams, raw and stemmed (news, Finley and Joachims 2005)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import ClassVar, Self

import numpy as np

from clustruct.core.storage import register
from clustruct.core.typing import Ints
from clustruct.data import Fields, Table, as_text, fold
from clustruct.features.base import Comparison, Values
from clustruct.features.columns import Columns, TermTable
from clustruct.features.term_weights import TermBlock, TfIdfRows
from clustruct.features.vocabulary import split_words

# Words of letters, an apostrophe inside dropped with what follows it: "don't" counts as "don".
_LETTERS = re.compile(r"[^\W\d_]{2,}")
# Straight, curly, low and angle marks, and the `` '' of tokenised text. An apostrophe opens no quotation.
_QUOTED = re.compile(
    '"([^"]+)"|\u201c([^\u201c\u201d]+)\u201d|\u201e([^\u201e\u201c\u201d]+)[\u201c\u201d]'
    "|\u00ab([^\u00ab\u00bb]+)\u00bb|``((?:(?!'').)+)''",
    re.DOTALL,
)


def word_ngrams(tokens: Sequence[str], n: int) -> list[str]:
    return [" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def quoted_passages(text: str) -> str:
    """The passages within quotation marks, one per line.

    >>> quoted_passages('He said "yes, now" and \u201cgo\u201d; it\\'s Ann\\'s.')
    'yes, now\\ngo'
    """
    return "\n".join("".join(found).strip() for found in _QUOTED.findall(text))


@cache
def _stemmer() -> Callable[[str], str]:
    try:
        import snowballstemmer
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Porter stems need the package snowballstemmer: pip install 'clustruct[text]'"
        ) from error
    return snowballstemmer.stemmer("porter").stemWord


# A stem takes 26 microseconds; a word met before takes 0.1. 20 Newsgroups has 110,000 words.
@lru_cache(maxsize=500_000)
def _stem(word: str) -> str:
    return _stemmer()(word)


def porter_stem(words: Iterable[str]) -> list[str]:
    """The stem of each word, in lower case."""
    return [_stem(word.lower()) for word in words]


def stem_tokens(text: str, stop_words: Iterable[str] = ()) -> list[str]:
    """Words of two letters and more, without the stop words (compared before stemming), as stems."""
    stopped = stop_words if isinstance(stop_words, set | frozenset) else frozenset(stop_words)
    return [_stem(word) for word in _LETTERS.findall(text.lower()) if word not in stopped]


def spellings(texts: Iterable[str], stems: Iterable[str]) -> list[str]:
    """The word that each stem most often stands for, to be shown to people; of several the first one."""
    counts = Counter(word for text in texts for word in _LETTERS.findall(text.lower()))
    shown: dict[str, str] = {}
    for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        shown.setdefault(_stem(word), word)
    return [shown.get(stem, stem) for stem in stems]


_SIZES = {1: "{}s", 2: "pairs of {}s", 3: "triples of {}s"}


@register("TextCosines")
@dataclass(eq=False, repr=False)
class TextCosines(TermBlock):
    """Cosines of the tf-idf vectors of a field's n-grams.

    ``ngrams`` are sizes from 1 to 3. ``raw`` compares words as they are, ``stemmed`` Porter stems; with
    ``quotations`` only passages within quotation marks are compared.

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
        quotes = any(quoted_passages(text) for text, _ in data.texts(field))
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
            texts = [quoted_passages(text) for text in texts]
        tokens = [split_words(fold(text)) for text in texts]
        return tokens if view == "word" else [porter_stem(t) for t in tokens]


def _cosines(rows: Sequence[TfIdfRows], pairs: Ints) -> Values:
    columns = [items.compare(pairs).cosine for items in rows]
    return np.column_stack(columns) if columns else np.zeros((len(pairs), 0))
