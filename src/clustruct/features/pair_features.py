"""Blocks of pair features: guessed from the data, and put together. Raw sets in, item sets out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from fnmatch import fnmatchcase
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from clustruct import memory
from clustruct._typing import Ints
from clustruct.itemsets import ItemSet, all_pairs
from clustruct.records import Fields, ItemKind, RawSet, field_kinds
from clustruct.storage import register
from clustruct.storage.values import registered

from .base import Block, PairBlock, Unlearned, Values
from .blocking import Blocking

KINDS: tuple[str, ...] = get_args(ItemKind)
# More are not taken from a model file: a few bytes for each there would ask for gigabytes here.
MOST_BLOCKS = 2000
MOST_PRODUCTS = 20_000


@register("Constant")
class Constant(Unlearned):
    """1 for every pair: where the similarity is zero is learned, too."""

    def get_feature_names_out(self) -> list[str]:
        return ["constant"]

    def transform(self, raw: RawSet, pairs: Ints) -> Values:
        return np.ones((len(pairs), 1))


@register("PairFeatures")
@dataclass(eq=False, repr=False)
class PairFeatures(TransformerMixin, BaseEstimator):
    """Pair features of raw sets, from one or more blocks, in the manner of ColumnTransformer.

    Parameters
    ----------
    blocks : sequence of PairBlock
    bias : bool
        Whether a constant feature is added at the end.
    products : pairs of name patterns, optional
        Products of features are added, for each two features whose names match (as of files: ``*``, ``?``).
    blocking : Blocking, optional
        Which pairs of large sets are compared; without it all pairs of every set are.
    memory_limit : int or str, optional
        Sets whose pairs would take more (bytes, or words such as "8G") are refused before any work; by
        default those that take more than there is.

    Examples
    --------
    >>> from clustruct.records import RawSet
    >>> features = PairFeatures([], bias=True)
    >>> features.fit_transform([RawSet([{"title": "a"}, {"title": "b"}])])
    [ItemSet(m=2, N_n=0, N_p=1)]
    """

    blocks: Sequence[Block]
    _: KW_ONLY
    bias: bool = True
    products: Sequence[tuple[str, str]] = ()
    blocking: Blocking | None = None
    memory_limit: memory.Size = None

    def fit(self, X: Sequence[RawSet], y: object = None) -> Self:
        """Learn vocabularies, weights and ranges from the raw sets."""
        self.blocks_ = [*self.blocks, Constant()] if self.bias else list(self.blocks)
        for block in self.blocks_:
            block.fit(X)
        self.product_columns_ = product_columns(self.products, self._names())
        self.blocking_ = None if self.blocking is None else self.blocking.fit(X)
        return self

    def transform(self, X: Iterable[RawSet]) -> list[ItemSet]:
        """One item set per raw set."""
        check_is_fitted(self)
        return [self._item_set(raw) for raw in X]

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The names of the features, in order."""
        check_is_fitted(self)
        names = self._names()
        return np.array(names + product_names(self.product_columns_, names), dtype=object)

    def _names(self) -> list[str]:
        return [name for block in self.blocks_ for name in block.get_feature_names_out()]

    def check_memory(self, X: Iterable[RawSet]) -> None:
        """Refuse sets of which all pairs together would take more than there is (or than the limit)."""
        sizes = [len(raw) for raw in X if not self._lists(raw)]
        n_pairs = sum(m * (m - 1) // 2 for m in sizes)
        of = f"{max(sizes, default=0):,} items" if len(sizes) == 1 else f"{len(sizes):,} sets"
        self._require(n_pairs, f"features of all {n_pairs:,} pairs of {of}")

    def _require(self, n_pairs: int, what: str) -> None:
        # The blocks' columns are held beside the table that is made of them, and the pairs themselves.
        n_bytes = 8.0 * n_pairs * (2 * len(self.get_feature_names_out()) + 2)
        advice = "train with --block N (Recipe(block=N)), which compares likely pairs of large sets only"
        memory.require(n_bytes, what, advice, self.memory_limit)

    def _lists(self, raw: RawSet) -> bool:
        """Whether only likely pairs of the set are compared."""
        return self.blocking_ is not None and self.blocking_.lists(raw)

    def _item_set(self, raw: RawSet) -> ItemSet:
        listed = self._lists(raw)
        self.check_memory([raw])
        pairs = self.blocking_.pairs(raw) if self.blocking_ and listed else all_pairs(len(raw))
        if listed:
            self._require(len(pairs), f"features of {len(pairs):,} pairs of {len(raw):,} items")
        values = _stack([block.transform(raw, pairs) for block in self.blocks_], pairs)
        return ItemSet(
            pairs=multiply(values, self.product_columns_),
            pair_index=pairs if listed else None,
            ids=raw.ids,
            feature_names=list(self.get_feature_names_out()),
            n_items=len(raw),
        )

    def state(self) -> dict[str, Any]:
        """All that a model file keeps: JSON values and arrays."""
        check_is_fitted(self)
        products = [list(pair) for pair in self.products]
        return {"blocks": self.blocks_, "products": products, "blocking": self.blocking_}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> PairFeatures:
        """The fitted features of a state; ValueError where it is not one."""
        blocks, blocking = state["blocks"], state["blocking"]
        if not isinstance(blocks, list) or not all(isinstance(block, PairBlock) for block in blocks):
            raise ValueError("the state of the features has no list of blocks")
        if len(blocks) > MOST_BLOCKS:
            raise ValueError(f"{len(blocks)} blocks of features cannot be meant")
        if not isinstance(blocking, Blocking | None):
            raise ValueError(f"blocking must be Blocking, not {type(blocking).__name__}")
        products = check_patterns(state["products"])
        features = cls(blocks, bias=False, products=products, blocking=blocking)
        features.blocks_, features.blocking_ = blocks, blocking
        features.product_columns_ = product_columns(products, features._names())
        return features


def _stack(columns: list[Values], pairs: Ints) -> Values:
    if not columns:
        return np.zeros((len(pairs), 0))
    if any(sparse.issparse(c) for c in columns):
        return sparse.csr_array(sparse.hstack(columns, format="csr"))
    return np.hstack(columns)


def check_patterns(patterns: object) -> list[tuple[str, str]]:
    """Pairs of name patterns."""
    if isinstance(patterns, list | tuple) and all(map(_is_pair, patterns)):
        return [(str(a), str(b)) for a, b in patterns]
    raise ValueError(f"products must be a list of pairs of name patterns, not {patterns!r}")


def _is_pair(given: object) -> bool:
    return isinstance(given, list | tuple) and len(given) == 2 and all(isinstance(n, str) for n in given)


def product_columns(patterns: object, names: Sequence[str]) -> list[tuple[int, int]]:
    """The columns whose products are wanted: each i <= j with names that match the two patterns, once.

    >>> product_columns([("a*", "b")], ["a1", "a2", "b"])
    [(0, 2), (1, 2)]
    """
    found: dict[tuple[int, int], None] = {}
    for pair in check_patterns(patterns):
        left, right = ([i for i, name in enumerate(names) if fnmatchcase(name, p)] for p in pair)
        if not left or not right:
            raise ValueError(f"products: no feature is called like {pair[1 if left else 0]!r}")
        found.update(dict.fromkeys((min(i, j), max(i, j)) for i in left for j in right))
    if len(found) > MOST_PRODUCTS:
        raise ValueError(f"products: {len(found)} products, more than {MOST_PRODUCTS}")
    return list(found)


def product_names(columns: Sequence[tuple[int, int]], names: Sequence[str]) -> list[str]:
    """Read aloud: "title: words and year: same"."""
    return [f"{names[i]} and {names[j]}" if i != j else f"{names[i]}, squared" for i, j in columns]


def multiply(values: Values, columns: Sequence[tuple[int, int]]) -> Values:
    """The values with their products beside them."""
    if not columns:
        return values
    left, right = (np.array(c) for c in zip(*columns, strict=True))
    if sparse.issparse(values):
        held = sparse.csc_array(values)
        return sparse.csr_array(sparse.hstack([held, held[:, left] * held[:, right]], format="csr"))
    return np.hstack([values, values[:, left] * values[:, right]])


def guess_blocks(
    sets: Sequence[RawSet], kind: ItemKind = "auto", fields: Sequence[str] | None = None
) -> list[Block]:
    """Blocks of features that suit the sets.

    Each registered class of blocks says which fields suit it and which of its blocks to take for one
    (`PairBlock.guess_field`), or for all fields together (`PairBlock.guess_record`).

    Parameters
    ----------
    sets : raw sets
    kind : "records" (string likenesses of each field and of the whole record), "text" (n-gram cosines of
        text fields), "mentions" (noun phrases), "vectors" (lists of numbers, or numbers side by side), or
        "auto": mentions where items are places in a text, text
        where at most two fields hold anything and one is long, records otherwise
    fields : the fields to look at (all by default, without names of items)

    >>> sets = [RawSet([{"title": "Dog bites man", "year": 1990}, {"title": "Rain", "year": 1991}])]
    >>> [type(block).__name__ for block in guess_blocks(sets, "records")]
    ['Strings', 'Terms', 'Strings', 'Numbers', 'Terms']
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    data = _look(sets, kind, fields)
    classes = list(registered(PairBlock).values())  # type: ignore[type-abstract]
    found: list[Block] = []
    for field in data.compared():
        held = "category" if data.is_category(field) else data.kinds[field]
        suited = [c for c in classes if held in c.suits.get(data.items, ())]
        found += [block for c in suited for block in c.guess_field(data, field)]
    for c in classes:
        if data.items in c.suits_record:
            found += c.guess_record(data, found)
    if not found:
        held = ", ".join(f"{field} holds {kind}" for field, kind in data.kinds.items())
        raise ValueError(f"no field to compare items by: {held or 'the items have no fields'}")
    return found


def _look(sets: Sequence[RawSet], kind: ItemKind, fields: Sequence[str] | None) -> Fields:
    place = {"sent", "start", "end"}  # of a mention in a text
    mentions = all("tokens" in raw.context and place <= set(raw.items[0]) for raw in sets)
    if kind == "mentions" or (kind == "auto" and fields is None and mentions):
        return Fields(sets, "mentions", {})
    kinds = field_kinds(sets, fields)
    # Text where most that is said is said in words that are not short columns.
    holding = [k for k in kinds.values() if k not in ("id", "nothing")]
    guess: ItemKind = "text" if "text" in holding and len(holding) <= 2 else "records"
    return Fields(sets, guess if kind == "auto" else kind, kinds)
