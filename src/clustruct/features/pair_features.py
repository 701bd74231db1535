"""Blocks of pair features put together: tables in, item sets out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from operator import methodcaller
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from clustruct.core import memory
from clustruct.core.blas import LimitsBlas
from clustruct.core.callbacks import steps, working
from clustruct.core.partitions import partial_labels
from clustruct.core.storage import register
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import EqualRows, ItemSet, Pairs, PairScores, Readings, Table, all_pairs
from clustruct.data.readings import ColumnReading

from .base import (
    PAIRS_AT_ONCE,
    Block,
    Comparison,
    PairBlock,
    Unlearned,
    Values,
    check_patterns,
    multiply,
    product_columns,
    product_names,
    spans,
    stack_columns,
    stack_rows,
    weigh,
)
from .blocking import Blocking, Sources, across
from .blocks.numbers import Differences
from .columns import Columns, columns_of
from .needs import FieldNeed, check_stream, learn_needs
from .neighbours import sorted_unique
from .row_equality import MOST_COPIES, find_equal_rows
from .similarity import PairMap, SimilarityTerms

# More are not taken from a model file: a few bytes for each there would ask for gigabytes here.
MOST_BLOCKS = 2000


T = TypeVar("T")
# What was made of some pairs at a time.
Chunks: TypeAlias = Iterator[tuple[slice, T]]
# Pairs, whether they are listed, the sources that are kept apart.
Chosen: TypeAlias = tuple[Ints, bool, Ints | None]


@register("Constant")
class Constant(Unlearned):
    """1 for every pair, so that where the similarity is zero is learned, too."""

    def get_feature_names_out(self) -> list[str]:
        return ["constant"]

    def transform(self, table: Table, pairs: Ints) -> Values:
        return np.ones((len(pairs), 1))


@register("PairFeatures")
@dataclass(eq=False, repr=False)
class PairFeatures(LimitsBlas, TransformerMixin, BaseEstimator):
    """Pair features of tables, from one or more blocks, in the manner of ColumnTransformer.

    Parameters
    ----------
    blocks : sequence of Block
        The kinds of features; see `guess_blocks`.
    bias : bool
        Whether a constant feature is added at the end.
    products : pairs of name patterns, optional
        Products of features are added, for each two features whose names match (as of files: ``*``,
        ``?``).
    blocking : Blocking, optional
        Which pairs of large sets are compared; without it all pairs of every set are.
    allow_missing_fields : bool
        Whether data may lack a field that the features look at, or hold something else there. By default
        `transform` refuses it. A model file does not keep this.
    memory_limit : int or str, optional
        Sets whose pairs would take more (bytes, or words such as "8G") are refused before any work; by
        default those that take more than there is.
    sources : Sources, optional
        Only items of different sources are compared.
    readings : Readings, optional
        How columns are read (`learn_readings`), learned from the training tables by default.

    Attributes
    ----------
    needs_ : list of FieldNeed
        The fields that the blocks and the blocking look at, as they were in training.
    readings_ : Readings
        How the columns of every table are read.
    map_ : PairMap, optional
        Further columns made of the features (`with_map`).

    Examples
    --------
    >>> from clustruct.data import Table
    >>> features = PairFeatures([], bias=True)
    >>> features.fit_transform([Table([{"title": "a"}, {"title": "b"}])])
    [ItemSet(m=2, N_n=0, N_p=1)]
    """

    blocks: Sequence[Block]
    _: KW_ONLY
    bias: bool = True
    products: Sequence[tuple[str, str]] = ()
    blocking: Blocking | None = None
    allow_missing_fields: bool = False
    memory_limit: memory.Size = None
    sources: Sources | None = None
    readings: Readings | None = None

    def fit(self, X: Sequence[Table], y: object = None) -> Self:
        """Learn vocabularies, weights and ranges from the tables."""
        self.blocks_ = self._all_blocks()
        self.readings_ = self._learn_readings(X) if self.readings is None else self.readings
        columns = [*map(self.columns, columns_of(X))]
        for block in self.blocks_:
            block.fit_columns(columns)
        self.product_columns_ = product_columns(self.products, self._names())
        left_out = () if self.sources is None else (self.sources.field,)
        self.blocking_ = None if self.blocking is None else self.blocking.fit_columns(columns, left_out)
        self.needs_ = self.find_needs(X)
        self.map_: PairMap | None = None
        self.sources_ = None
        if self.sources is not None:
            compared = [need.name for need in self.needs_ if need.kind not in ("context", "vector")]
            self.sources_ = self.sources.learn(columns, compared)
        return self

    def _learn_readings(self, X: Sequence[Table]) -> Readings:
        """How the fields are read whose values blocks compare."""
        from clustruct.data import learn_readings  # which a model that is read does without

        worded = [block for block in self.blocks if block.has_words]
        used = dict.fromkeys(name for block in worded for name in block.used_fields())
        if worded and self.blocking is not None:
            chosen = self.blocking.fields
            used |= dict.fromkeys(chosen or (name for table in X for name in table.fields()))
        left_out = () if self.sources is None else (self.sources.field,)
        there = {name for table in X for name in table.fields()} - {*left_out}
        fields = [name for name in used if name in there]
        kinds = {
            b.field: b.suits["records"][0] for b in worded if isinstance(b, Differences) and b.field in there
        }
        return learn_readings(X, fields, kinds) if fields else Readings()

    def columns(self, given: Table | Columns) -> Columns:
        """The columns of a table, its values read as those of training were."""
        columns = given if isinstance(given, Columns) else Columns(given)
        return columns.read_with(self.readings_)

    def fit_summaries(self, blocks: Sequence[Any], blocking: Blocking | None, needs: list[FieldNeed]) -> Self:
        """`fit`, from merged summaries of the blocks (and the constant), a fitted blocking and needs."""
        self.blocks_ = self._all_blocks()
        for block, summary in zip(self.blocks_, blocks, strict=True):
            block.check_parameters()
            block.finish(summary)
        self.product_columns_ = product_columns(self.products, self._names())
        self.blocking_, self.needs_, self.map_, self.sources_ = blocking, needs, None, None
        self.readings_ = Readings() if self.readings is None else self.readings
        return self

    def _all_blocks(self) -> list[Block]:
        return [*self.blocks, Constant()] if self.bias else list(self.blocks)

    def transform(
        self,
        X: Iterable[Table],
        touching: Sequence[Bools | None] | None = None,
        *,
        most_copies: int | None = None,
    ) -> list[ItemSet]:
        """One item set per table; `DataError` where these tables lack what the features need.

        ``touching`` may have a mask of items for each table: only pairs with one of these are compared. Of
        equal rows so many are compared with the first of them (``most_copies``; None: all).
        """
        sets = list(X)
        trusting = self.check_tables(sets)
        masks = [None] * len(sets) if touching is None else touching
        made = zip(sets, masks, strict=True)
        return [trusting._item_set(table, mask, most_copies) for table, mask in made]

    def transform_with_rest(self, table: Table, touching: Bools) -> tuple[ItemSet, UncomparedPairs]:
        """The item set of pairs with one of these items, of a table that was checked, and the other pairs,
        which are not compared yet.
        """
        columns = self.columns(table)
        pairs, _, apart = self._choose_pairs(columns)
        own = touching[pairs].any(axis=1)
        rest = UncomparedPairs(len(table), pairs[~own], apart, features=self, table=table)
        return self.item_set(columns, pairs[own], True, apart), rest

    def with_map(self, made: PairMap | None) -> Self:
        """Set a fitted map, whose columns these features have from now on."""
        if made is not None and made.n_features_in_ != len(names := self.get_feature_names_out()):
            raise ValueError(f"a map of {made.n_features_in_} features does not fit {len(names)}")
        self.map_ = made
        return self

    def scores(self, given: Table | Columns, w: Floats, intercept: float = 0.0) -> PairScores:
        """<w, psi_ab> + intercept of the compared pairs of a table that was checked.

        The features are made chunk by chunk and not kept, as a large table needs it.
        """
        columns = self.columns(given)
        table = columns.table
        pairs, listed, apart = self._choose_pairs(columns)
        with working("features") as work:
            values = self.scores_of(columns, pairs, w, intercept, show_progress=listed)
            work.keep(items=len(table), pairs=len(pairs))
        if listed:
            return PairScores(len(table), index=pairs, values=values, sources=apart)
        matrix = squareform(values) if len(table) > 1 else np.zeros((1, 1))
        return PairScores(len(table), matrix=matrix)

    def scores_of(
        self, columns: Columns, pairs: Ints, w: Floats, intercept: float = 0.0, *, show_progress: bool = True
    ) -> Floats:
        """<w, psi_ab> + intercept of some pairs (p x 2, the smaller item first)."""
        values = np.empty(len(pairs))
        if not self.product_columns_ and self.map_ is None:
            for span, blocks in self._block_chunks(columns, pairs, show_progress=show_progress):
                values[span] = weigh(blocks, w) + intercept
        else:
            for span, features in self._chunks(columns, pairs, show_progress=show_progress):
                values[span] = features @ w + intercept
        return values

    def pair_chunks(self, table: Table, pairs: Ints) -> Chunks[Values]:
        """The features of some pairs (p x 2, the smaller item first), some at a time."""
        return self._chunks(self.columns(table), pairs, show_progress=True)

    def compared_pairs(self, table: Table | Columns) -> Ints:
        """The pairs of a set that are compared (p x 2, the smaller item first)."""
        return self._choose_pairs(self.columns(table))[0]

    def equal_rows(self, table: Table | Columns) -> EqualRows | None:
        """Which items of a large set are equal in all that is compared, and of one source; None where no two
        are, and where items are known by their place in the set (mentions, links).
        """
        columns = self.columns(table)
        return self._find_equal(columns) if self._lists(columns.table) else None

    def _find_equal(self, columns: Columns) -> EqualRows | None:
        if any(block.used_context() for block in self.blocks_):
            return None
        return find_equal_rows(columns, self.compared_fields(columns.table))

    def count_empty_items(self, sets: Iterable[Table]) -> int:
        """How many items of large sets have no value in a field that is compared: they are compared with
        nothing.
        """
        total = 0
        for given in filter(self._lists, sets):
            table = self.columns(given).table
            missing = [table.field_column(name).missing() for name in self.compared_fields(table)]
            total += int(np.count_nonzero(np.logical_and.reduce(missing, initial=True)))
        return total

    def compared_fields(self, table: Table) -> list[str]:
        """The fields that say which rows are equal: all of a table where a block does not name its own."""
        own = [block.used_fields() for block in self.blocks_ if not isinstance(block, Constant)]
        if not all(own):
            return table.fields()
        searched = [] if self.blocking_ is None else [self.blocking_.fields_, *self.blocking_.vectors]
        source = [] if self.sources_ is None else [self.sources_.field]
        return list(dict.fromkeys([*source, *(name for names in [*searched, *own] for name in names)]))

    def terms(self, table: Table, pairs: Ints, w: Floats) -> SimilarityTerms:
        """What adds up to <w, psi_ab> of some pairs, by feature where the map allows; all are in memory."""
        names = self._unmapped_names()
        chunks = self._unmapped_chunks(self.columns(table), pairs, show_progress=False)
        made = stack_rows((len(pairs), len(names)), chunks)
        rows = made.toarray() if isinstance(made, sparse.csr_array) else made
        if self.map_ is None:
            return SimilarityTerms.linear(rows, names, w)
        return self.map_.terms(rows, names, w)

    def check_stream(self, sets: Iterable[Table]) -> Iterator[Table]:
        """The tables as they come; `DataError` where a file as a whole lacks what the features need.

        Many more missing values than in training are a `DataWarning`.
        """
        check_is_fitted(self)
        return iter(sets) if self.allow_missing_fields else check_stream(sets, self.needs_, self.readings_)

    def check_tables(self, sets: Iterable[Table] = ()) -> PairFeatures:
        """Check these tables; the features for them, of which single ones may lack fields."""
        for _ in self.check_stream(sets):
            pass
        trusting = copy(self)
        trusting.allow_missing_fields = True
        return trusting

    def find_needs(self, sets: Sequence[Table]) -> list[FieldNeed]:
        """The fields and context that are needed of data, as these tables have them."""
        fields = [name for block in self.blocks_ for name in block.used_fields()]
        context = [name for block in self.blocks_ for name in block.used_context()]
        searched = [] if self.blocking_ is None else self.blocking_.fields_
        chosen = [] if self.blocking_ is None else self.blocking_.fields or ()
        own = [] if self.sources is None else [self.sources.field]
        wanted = [*fields, *chosen, *own]
        return learn_needs(sets, wanted, context, searched, self.readings_) if sets else []

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The names of the features, in order."""
        check_is_fitted(self)
        names = self._unmapped_names()
        return np.array(names if self.map_ is None else self.map_.all_names(names), dtype=object)

    def _unmapped_names(self) -> list[str]:
        names = self._names()
        return names + product_names(self.product_columns_, names)

    def _names(self) -> list[str]:
        return [name for block in self.blocks_ for name in block.get_feature_names_out()]

    def check_memory(self, X: Iterable[Table]) -> None:
        """Refuse tables whose pairs would take more memory than there is (or than the limit)."""
        sizes = [len(table) for table in X if not self._lists(table)]
        n_pairs = sum(m * (m - 1) // 2 for m in sizes)
        of = f"{max(sizes, default=0):,} items" if len(sizes) == 1 else f"{len(sizes):,} sets"
        self._require(n_pairs, f"features of all {n_pairs:,} pairs of {of}")

    def _require(self, n_pairs: int, what: str) -> None:
        # The table, the pairs, and twice the columns of one chunk.
        n_columns = len(self.get_feature_names_out())
        n_bytes = 8.0 * n_pairs * (n_columns + 4) + 16.0 * min(n_pairs, PAIRS_AT_ONCE) * n_columns
        advice = "train with --block N (Recipe(block=N)), which compares likely pairs of large sets only"
        memory.require(n_bytes, what, advice, self.memory_limit)

    def _lists(self, table: Table) -> bool:
        return self.blocking_ is not None and self.blocking_.lists(table)

    def _choose_pairs(
        self, columns: Columns, touching: Bools | None = None, most_copies: int | None = MOST_COPIES
    ) -> Chosen:
        """The pairs that are compared, whether they are listed (not if they are all), sources kept apart."""
        table, sources, apart = columns.table, None, None
        if self.sources_ is not None:
            sources = self.sources_.codes(columns)
            apart = self.sources_.apart(sources)
        if self._lists(table):
            with working("blocking") as work:
                pairs = _select(self._likely_pairs(columns, sources, most_copies), touching)
                work.keep(pairs=len(pairs))
            return pairs, True, apart
        self.check_memory([table])
        pairs = all_pairs(len(table)) if sources is None else across(all_pairs(len(table)), sources)
        return _select(pairs, touching), sources is not None or touching is not None, apart

    def _likely_pairs(self, columns: Columns, sources: Ints | None, most_copies: int | None) -> Ints:
        """The pairs of a large set that are compared: those of different rows, found among the first items of
        these, and the first item of each row with some equal ones.

        Where items are labelled, equal ones with other labels are looked for by themselves: what is learned
        of them must not depend on which of them comes first.
        """
        assert self.blocking_ is not None
        equal = self.equal_rows(columns)
        if equal is None:
            return self.blocking_.pairs(columns, sources=sources)
        labels = columns.table.labels
        sought = equal if labels is None else equal.split_by(partial_labels(labels))
        rows, own = columns.take(sought.first), None if sources is None else sources[sought.first]
        if len(rows) >= self.blocking_.from_size:
            pairs = self.blocking_.pairs(rows, sources=own)
        else:
            pairs = all_pairs(len(rows)) if own is None else across(all_pairs(len(rows)), own)
        if sources is not None:
            return sought.first[pairs]
        m, leaders = len(columns), equal.first[equal.row[sought.first]]
        other = leaders != sought.first
        others = np.column_stack([leaders, sought.first])[other]
        keys = np.concatenate([sought.first[pairs], sought.pairs(most_copies), others]) @ [m, 1]
        return np.column_stack(np.divmod(sorted_unique(keys), m))

    def _with_few_copies(self, columns: Columns, pairs: Ints) -> tuple[Columns, Ints]:
        """The columns by which features are made, and the places of pairs in them: of equal rows these have
        few, so that how rare a term is does not depend on how often a row was copied.
        """
        equal = self.equal_rows(columns)
        if equal is None or int(equal.counts.max()) <= MOST_COPIES:
            return columns, pairs
        kept = equal.first_copies(MOST_COPIES)
        few = columns.once(("counted", id(equal)), lambda: columns.take(np.flatnonzero(kept)))
        # Another copy stands for each that is left out: the second of the row, or beside that one the first.
        first = (np.cumsum(kept) - 1)[equal.first[equal.row]]
        place = np.where(kept, np.cumsum(kept) - 1, first)
        second = np.flatnonzero(equal.place == 1)
        of_row = np.zeros(len(equal.counts), np.int64)
        of_row[equal.row[second]] = place[second]
        place = np.where(kept, place, of_row[equal.row])
        a, b = pairs.T
        return few, np.sort(
            np.column_stack([np.where(place[a] == place[b], first[a], place[a]), place[b]]), axis=1
        )

    def _chunks(self, columns: Columns, pairs: Ints, *, show_progress: bool) -> Chunks[Values]:
        for span, made in self._unmapped_chunks(columns, pairs, show_progress=show_progress):
            yield span, made if self.map_ is None else self.map_.values(made)

    def _unmapped_chunks(self, columns: Columns, pairs: Ints, *, show_progress: bool) -> Chunks[Values]:
        for span, blocks in self._block_chunks(columns, pairs, show_progress=show_progress):
            yield span, multiply(stack_columns(list(blocks), pairs[span]), self.product_columns_)

    def _block_chunks(
        self, columns: Columns, pairs: Ints, *, show_progress: bool
    ) -> Chunks[Iterator[Values]]:
        """The same by block, without products and map."""
        columns, pairs = self._with_few_copies(columns, pairs)
        compare, chunks = self.comparisons(columns), spans(len(pairs))
        for span in steps(chunks, "comparing pairs") if show_progress else chunks:
            some = pairs[span]
            yield span, (block(some) for block in compare)

    def comparisons(self, columns: Columns) -> list[Comparison]:
        """What compares pairs of these columns, made once for them."""
        blocks = tuple(self.blocks_)  # kept with what they made, so that their ids are theirs

        def make() -> tuple[object, list[Comparison]]:
            return blocks, list(map(methodcaller("prepare", columns), blocks))

        return columns.once(("prepared", *map(id, blocks)), make)[1]

    def _item_set(self, table: Table, touching: Bools | None, most_copies: int | None) -> ItemSet:
        columns = self.columns(table)
        return self.item_set(columns, *self._choose_pairs(columns, touching, most_copies))

    def item_set(
        self, columns: Columns, pairs: Ints, listed: bool = True, apart: Ints | None = None
    ) -> ItemSet:
        """The item set of some pairs; ``listed``: not all of them."""
        table, names = columns.table, self.get_feature_names_out()
        if listed:
            self._require(len(pairs), f"features of {len(pairs):,} pairs of {len(table):,} items")
        return ItemSet(
            pairs=stack_rows((len(pairs), len(names)), self._chunks(columns, pairs, show_progress=listed)),
            pair_index=pairs if listed else None,
            ids=table.ids,
            feature_names=list(names),
            n_items=len(table),
            sources=apart,
            equal_rows=self._find_equal(columns),
        )

    def state(self) -> dict[str, Any]:
        """All that a model file keeps: JSON values and arrays."""
        check_is_fitted(self)
        products = [list(pair) for pair in self.products]
        parts = {"blocks": self.blocks_, "products": products, "blocking": self.blocking_}
        parts["readings"] = list(self.readings_.columns)
        return {**parts, "needs": self.needs_, "sources": self.sources_, "map": self.map_}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> PairFeatures:
        """The fitted features of a state; ValueError where it is not one."""
        blocks, needs, readings = state["blocks"], state.get("needs", []), state.get("readings", [])
        for name, listed, of in (
            ("blocks", blocks, PairBlock),
            ("needs", needs, FieldNeed),
            ("readings", readings, ColumnReading),
        ):
            if not isinstance(listed, list) or not all(isinstance(one, of) for one in listed):
                raise ValueError(f"the state of the features has no list of {name}")
        if len(blocks) > MOST_BLOCKS:
            raise ValueError(f"{len(blocks)} blocks of features cannot be meant")
        for name, kind in (("blocking", Blocking), ("sources", Sources), ("map", PairMap)):
            if not isinstance(value := state.get(name), kind | None):
                raise ValueError(f"{name} must be {kind.__name__}, not {type(value).__name__}")
        products, sources = check_patterns(state["products"]), state.get("sources")
        features = cls(blocks, bias=False, products=products, blocking=state["blocking"], sources=sources)
        features.blocks_, features.blocking_, features.needs_ = blocks, state["blocking"], needs
        features.sources_, features.map_ = sources, None
        features.readings_ = Readings(readings)
        features.product_columns_ = product_columns(products, features._names())
        return features.with_map(state.get("map"))


def _select(pairs: Ints, touching: Bools | None) -> Ints:
    return pairs if touching is None else pairs[touching[pairs].any(axis=1)]


@dataclass(frozen=True, eq=False, kw_only=True)
class UncomparedPairs(Pairs):
    """Pairs of a table that are compared only when their scores are asked for."""

    features: PairFeatures
    table: Table

    def scores(self, pairs: Ints, W: Floats) -> Floats:
        """<w, psi_ab> of some pairs for each column w of W; a chunk of features at a time is in memory."""
        found = np.empty((len(pairs), W.shape[1]))
        for span, part in self._chunks(pairs):
            found[span] = part @ W
        return found

    def values(self, pairs: Ints) -> Values:
        """The features of some pairs."""
        return stack_rows((len(pairs), len(self.features.get_feature_names_out())), self._chunks(pairs))

    def _chunks(self, pairs: Ints) -> Chunks[Values]:
        items, place = np.unique(pairs, return_inverse=True)
        if not len(pairs):
            return iter(())
        own = self.features.columns(self.table.take(items))
        return self.features._chunks(own, place.reshape(pairs.shape), show_progress=False)


def check_tables(pipeline: Pipeline, sets: Iterable[Table] = ()) -> Pipeline:
    """The pipeline for tables that are checked together: single ones of them may then lack fields.

    `DataError` where all tables of a file lack what its features need.

    Parameters
    ----------
    pipeline : Pipeline
        A fitted pipeline that begins with `PairFeatures`.
    sets : iterable of Table, default=()
        The tables of one file.

    Returns
    -------
    Pipeline
        The pipeline, which does not check single tables again.
    """
    tables, steps = list(sets), pipeline.steps
    return Pipeline([(n, s.check_tables(tables) if isinstance(s, PairFeatures) else s) for n, s in steps])
