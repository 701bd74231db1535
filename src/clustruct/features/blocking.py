"""The pairs of a table that are compared: likely ones of a large table, and those across sources."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from clustruct.core.exceptions import DataError
from clustruct.core.partitions import canonical_labels, partial_labels
from clustruct.core.storage import DataclassState, EstimatorState, register
from clustruct.core.typing import Bools, Floats, Ints, Labels
from clustruct.data import EqualRows, Table

from .base import check_distinct, check_names, compare_in_chunks
from .columns import Columns, TermTable, columns_of
from .neighbours import TermNeighbours, keys_of, nearest_vectors, sorted_unique
from .term_weights import TermCounts, TermWeights, TfIdfRows

# However large the clusters seen in training are, an item gets no more neighbours for it.
MOST_NEIGHBOURS = 100
SMALL = 2000  # items of a set in which `common` is taken as it is
# Of items that belong together: how many others of each are compared, how many pairs are enough, and
# the share of pairs that may be less alike than what is learned.
MATES, FEWEST_MATES, ODD = 5, 50, 0.005
# Items with common words and fewer candidates than this are also paired with those beside them.
FEW = 4
# Parameters that are whole numbers.
COUNTS = ("n_neighbors", "n_neighbors_by_field", "rare", "common", "from_size", "margin_from_size")
_VIEWS = {"words": ("words", "codes"), "letters": ("letters",)}


@dataclass(frozen=True)
class FieldTerms:
    """Of some items: counts of terms, how many terms they have together, and how many items have any."""

    counts: TermCounts
    n_terms: int
    n_having: int

    @classmethod
    def of(cls, tables: Sequence[TermTable]) -> FieldTerms:
        having = sum(int(np.count_nonzero(t.sizes)) for t in tables)
        return cls(TermCounts.of(*tables), sum(_n_terms(t) for t in tables), having)

    def __add__(self, other: FieldTerms) -> FieldTerms:
        both = self.n_terms + other.n_terms, self.n_having + other.n_having
        return FieldTerms(self.counts + other.counts, *both)

    @property
    def is_worded(self) -> bool:
        """Whether items have two terms each, or more, in the mean."""
        return self.n_terms >= 2 * self.n_having > 0


Summary: TypeAlias = dict[str, FieldTerms]


@register("Blocking")
@dataclass(eq=False, repr=False)
class Blocking(EstimatorState, BaseEstimator):
    """Pairs of a large table that share a rare term or are near by tf-idf, or whose vectors are near.

    The rest are taken as apart. Of a very large table candidates are dropped that are less alike, letter by
    letter, than nearly all items that belong together in training: that halves the cost of features. In
    smaller ones all stay, since learning needs pairs that are apart (a table of 91 items lost 10 points of F
    without them).

    Parameters
    ----------
    fields : sequence of str, optional
        Fields whose words are compared, all together (None: all fields of the items).
    n_neighbors : int, default=10
        Each item is paired with so many others whose tf-idf vectors are nearest (by cosine); with as many
        as the largest cluster has, up to 100, where training sets with labels have larger ones.
    n_neighbors_by_field : int, default=5
        And with so many whose vectors of one field are nearest, for fields of two words and more.
    rare : int, default=3
        Items that share a term of at most so many items are paired.
    common : int, default=200
        Terms of more items are looked at in pairs (a common surname and a common town). That bounds the
        cost: items times terms of an item times `common`. In tables of more than 2,000 items it is lower,
        falling with the root of their number.
    common_share : float, default=0.05
        Terms of more than this share of the items are looked at only if that is `common` at most.
    margin : float, default=0.3
        Candidates are dropped that are less than so many times as alike as items of one cluster are in
        training (all but 0.5 % of them); 0 keeps all candidates.
    margin_from_size : int, default=20000
        Tables of fewer items keep all candidates.
    view : {"words", "letters"}, default="words"
        Words (and codes such as model numbers), or letter triples, for misspelt names; slower.
    from_size : int, default=1000
        Tables of fewer items get all pairs.
    vectors : sequence of sequence of str, default=()
        Vectors that are compared beside the words: for each its field, or the fields of its numbers.

    Examples
    --------
    >>> table = Table([{"t": "red x-100"}, {"t": "x100 tv red"}, {"t": "blue tv"}, {"t": "red car"}])
    >>> Blocking(n_neighbors=1, rare=2).fit([table]).pairs(table).tolist()
    [[0, 1], [0, 3], [1, 2]]
    """

    fitted: ClassVar = {"fields_": list, "weights_": dict, "n_neighbors_": int, "least_likeness_": float}

    fields: Sequence[str] | None = None
    n_neighbors: int = 10
    n_neighbors_by_field: int = 5
    rare: int = 3
    common: int = 200
    common_share: float = 0.05
    margin: float = 0.3
    margin_from_size: int = 20_000
    view: str = "words"
    from_size: int = 1000
    vectors: Sequence[Sequence[str]] = ()

    def check_parameters(self) -> None:
        """ValueError for a parameter that is not what it must be."""
        if not isinstance(self.vectors, list | tuple):
            raise ValueError(f"vectors must be a list of lists of names of fields, not {self.vectors!r:.100}")
        for names in self.vectors:
            check_names(names, "vectors")
        if self.fields is not None and (self.fields or not self.vectors):
            check_names(self.fields, "fields")
        for name in COUNTS:
            _check_count(getattr(self, name), name)
        for name in ("common_share", "margin"):
            share = getattr(self, name)
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
                raise ValueError(f"{name} must be in 0..1, not {share!r}")
        if not isinstance(self.view, str) or self.view not in _VIEWS:
            raise ValueError(f"view must be one of {', '.join(_VIEWS)}, not {self.view!r}")

    def fit(self, sets: Sequence[Table], y: object = None) -> Self:
        """Learn how rare terms are."""
        return self.fit_columns(columns_of(sets))

    def fit_columns(self, columns: Sequence[Columns], left_out: Collection[str] = ()) -> Self:
        """`fit`, from columns that others share; some fields are left out."""
        self.check_parameters()
        sets = [c.table for c in columns]
        every = dict.fromkeys(f for table in sets for f in table.fields())
        fields = [name for name in (every if self.fields is None else self.fields) if name not in left_out]
        self.take(fields, self.summarise(columns, fields))
        clusters = [partial_labels(table.labels) for table in sets if table.labels is not None]
        sizes = [int(np.bincount(y[y >= 0], minlength=1).max()) for y in clusters]
        self.set_largest_cluster(max(sizes, default=1))
        self.set_least_likeness([self.likeness(c, mates) for c, mates in self.mates(columns)])
        return self

    def summarise(self, columns: Sequence[Columns], fields: Sequence[str]) -> Summary:
        """The terms of these sets, of all fields together ("") and by field."""
        alone = fields if len(fields) > 1 and self.n_neighbors_by_field else ()
        wanted = {"": list(fields), **{field: [field] for field in alone}}
        tables = {name: [self._terms(c, some) for c in columns] for name, some in wanted.items()}
        return {name: FieldTerms.of(some or [TermTable.of([])]) for name, some in tables.items()}

    def merge(self, first: Summary, second: Summary) -> Summary:
        """The summary of the sets of both."""
        return {name: first[name] + second[name] for name in first}

    def take(self, fields: Sequence[str], summary: Summary) -> None:
        """Learn how rare terms are from a summary; fields of one word each are not used alone."""
        worded = {name: terms for name, terms in summary.items() if not name or terms.is_worded}
        self.weights_ = {name: TermWeights.of(terms.counts) for name, terms in worded.items()}
        self.fields_ = list(fields)

    def set_largest_cluster(self, size: int) -> None:
        """Set the number of neighbours by the size of the largest cluster in training."""
        wanted = max(self.n_neighbors, min(size - 1, MOST_NEIGHBOURS))
        self.n_neighbors_ = wanted if self.n_neighbors else 0

    def mates(self, columns: Sequence[Columns]) -> list[tuple[Columns, Ints]]:
        """Of labelled tables, pairs of items of one cluster, a few for each item."""
        labelled = [(c, c.table.labels) for c in columns] if self.margin else []
        return [(c, _mates(partial_labels(labels))) for c, labels in labelled if labels is not None]

    def set_least_likeness(self, likeness: Sequence[Floats]) -> None:
        """Set how alike nearly all items of a cluster are in training; 0 where too few are known."""
        known = np.concatenate([np.zeros(0), *likeness])
        enough = len(known) >= FEWEST_MATES
        self.least_likeness_ = self.margin * float(np.quantile(known, ODD)) if enough else 0.0

    def _terms(self, columns: Columns, fields: Sequence[str]) -> TermTable:
        return columns.terms(fields, _VIEWS[self.view])

    def lists(self, table: Table) -> bool:
        """Whether the set is large enough for a list of pairs."""
        return len(table) >= self.from_size

    def pairs(self, table: Table | Columns, since: int = 0, sources: Ints | None = None) -> Ints:
        """The pairs a < b, sorted; those alone in which b is item ``since`` or later, at the cost of these.

        Where ``sources`` of the items are given, pairs are of two sources.
        """
        columns = table if isinstance(table, Columns) else Columns(table)
        found, limits, m = [], self.limits(columns.population), len(columns)
        short = np.zeros((2, m), np.bool_)
        for field in self.weights_:
            near = TermNeighbours.of(self.rows(columns, field), *limits, sources, since)
            found.append(self.neighbour_pairs(field, near))
            short = short if field else np.stack([near.has_terms, near.has_common_terms])
        for names in self.vectors:
            from .blocks.vectors import vectors_of  # which models of records do without

            found.append(keys_of(nearest_vectors(vectors_of(columns, names)[0], self.n_neighbors_, sources)))
        keys = sorted_unique(np.concatenate(found))
        degree = np.bincount(np.concatenate(np.divmod(keys, m)), minlength=m)
        # Of items that no rare word finds, or few, those beside them in the order of texts.
        asked = (short[0] & (degree == 0)) | (short[1] & (degree < FEW))
        if (lone := np.flatnonzero(asked[since:]) + since).size and self.n_neighbors_ and m > 1:
            from .sorted_neighbours import sorted_neighbours  # which most tables do without

            keys = sorted_unique(
                np.concatenate([keys, sorted_neighbours(columns, self.fields_, lone, sources)])
            )
        pairs = np.column_stack(np.divmod(keys, m))
        pairs = pairs[pairs[:, 1] >= since] if since else pairs
        return pairs[self.are_alike(columns, pairs)]

    def rows(self, columns: Columns, field: str) -> TfIdfRows:
        """The rows of one field's words, or of all (""), by which items are found."""
        return self.weights_[field].rows(self.terms(columns, field))

    def terms(self, columns: Columns, field: str) -> TermTable:
        """The terms of one field, or of all (""), by which items are found."""
        return self._terms(columns, [field] if field else self.fields_)

    def limits(self, m: int) -> tuple[int, int]:
        """Of m items: terms of more are looked at in pairs, and terms of more than that not at all."""
        # Lower for large tables, but not below what clusters need.
        lower = int(self.common / np.sqrt(max(m / SMALL, 1.0)))
        return max(lower, min(3 * self.n_neighbors_, self.common)), int(self.common_share * m)

    def neighbour_pairs(self, field: str, near: TermNeighbours) -> Ints:
        """The pairs a m + b that are nearest by one field's words, or by all ("") and by rare ones."""
        n = self.n_neighbors_by_field if field else self.n_neighbors_
        keys = keys_of(near.nearest(n), near.asked.start, len(near))
        return keys if field else np.concatenate([keys, near.sharing(self.rare)])

    def drops(self, m: int) -> bool:
        """Whether candidates of m items are dropped that are not alike enough."""
        return m >= self.margin_from_size and self.least_likeness_ > 0.0

    def are_alike(self, columns: Columns, pairs: Ints) -> Bools:
        """Which pairs are alike enough."""
        if not self.drops(columns.population):
            return np.ones(len(pairs), np.bool_)
        likeness = self.likeness(columns, pairs)
        alike = likeness >= self.least_likeness_
        # What all items keep is the one most like them, so that each is compared with something.
        kept = np.zeros(len(columns), np.bool_)
        kept[pairs[alike].ravel()] = True
        left = np.flatnonzero(~alike)
        left = left[~kept[pairs[left]].all(axis=1)]
        best = np.full(len(columns), -1.0)
        for side in pairs[left].T:
            np.maximum.at(best, side, likeness[left])
        best[kept] = np.inf
        alike[left] = (likeness[left][:, None] == best[pairs[left]]).any(axis=1)
        return np.asarray(alike)

    def likeness(self, columns: Columns, pairs: Ints) -> Floats:
        """Cosines of the letters of all fields together, weighted as they are in this set."""
        rows = self.letters(columns)
        return np.asarray(compare_in_chunks(lambda some: rows.compare(some).cosine, pairs))

    def letters(self, columns: Columns) -> TfIdfRows:
        """The rows of letters by which candidates are dropped."""
        return TermWeights([], np.zeros(0), 0).rows(columns.terms(self.fields_, ["letters"]))

    def check_attributes(self) -> None:
        check_distinct(self.fields_, "fields")
        _check_count(self.n_neighbors_, "n_neighbors")
        if not 0.0 <= self.least_likeness_ <= 1.0:
            raise ValueError("least_likeness_ must be in 0..1")
        tables = all(isinstance(table, TermWeights) for table in self.weights_.values())
        if not tables or not {""} <= set(self.weights_) <= {"", *self.fields_}:
            raise ValueError("the tables of the blocking are not those of their fields")


def _check_count(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= 2**53:
        raise ValueError(f"{name} must be a whole number from 0 on, not {value!r}")


def _mates(y: Labels) -> Ints:
    order = np.argsort(y, kind="stable")
    near = [np.column_stack([order[:-gap], order[gap:]]) for gap in range(1, min(MATES, len(y) - 1) + 1)]
    pairs = np.concatenate([np.zeros((0, 2), np.int64), *near])
    first, second = y[pairs].T
    return pairs[(first == second) & (first >= 0)]


def _n_terms(table: TermTable) -> int:
    per_row = np.add.reduceat(np.append(table.counts, 0).astype(np.int64), table.indptr[:-1])
    per_row[np.diff(table.indptr) == 0] = 0
    return int((per_row if table.codes is None else per_row[table.codes]).sum())


def pair_recall(table: Table, pairs: Ints, equal: EqualRows | None = None) -> float:
    """The share of the pairs that belong together which are listed, as blocking finds them.

    Parameters
    ----------
    table : Table
        A labelled set.
    pairs : array of int
        The pairs that are compared, one row each.
    equal : EqualRows, optional
        Which items are equal: what is listed of one of them holds for all, and they are compared themselves.

    Returns
    -------
    float
        A share from 0 to 1.

    Examples
    --------
    >>> pair_recall(Table([{}, {}, {}], labels=[1, 1, 1]), np.array([[0, 1], [0, 2]]))
    0.6666666666666666
    """
    if table.labels is None:
        raise ValueError(f"{table.title}: recall needs labels")
    y = canonical_labels(table.labels)
    sizes = np.bincount(y)
    together = float((sizes * (sizes - 1) // 2).sum())
    if not together:
        return 1.0
    if equal is None:
        return float(np.count_nonzero(y[pairs[:, 0]] == y[pairs[:, 1]])) / together
    counts = sparse.csr_array((np.ones(len(y)), (equal.row, y)), shape=(len(equal.counts), len(sizes)))
    rows = np.sort(equal.row[pairs], axis=1)
    a, b = np.unique(rows[rows[:, 0] != rows[:, 1]], axis=0).T
    between = float((counts[a] * counts[b]).sum()) if len(a) else 0.0
    return (between + float((counts.data * (counts.data - 1.0) / 2.0).sum())) / together


Within: TypeAlias = Literal["apart", "uncompared"]


@register("Sources")
@dataclass(frozen=True)
class Sources(DataclassState):
    """The field that names the source of an item: two linked tables are one set with such a field.

    Items of one source are not compared: weights are learned from pairs across sources, and the mates of an
    item are looked for in the other sources.

    Attributes
    ----------
    field : str
        Of the items; every item must have a value there.
    within : Within, default="uncompared"
        What is known of two items of one source. "uncompared": nothing; they are not compared, but both
        may belong to an item of another source, and are then in one cluster. "apart": that they never
        belong together, since no source has duplicates.
    lacking : tuple of str, default=()
        Fields that a whole source lacked in training.

    Examples
    --------
    >>> from clustruct.data import Table
    >>> table = Table([{"shop": "Abt"}, {"shop": "buy"}, {"shop": "abt "}])
    >>> Sources("shop").codes(Columns(table)).tolist()
    [0, 1, 0]
    """

    field: str
    within: Within = "uncompared"
    lacking: tuple[str, ...] = ()

    def learn(self, columns: Sequence[Columns], names: Iterable[str]) -> Sources:
        """The same, with those of the fields that a source of these sets has no value of."""
        return replace(self, lacking=tuple(name for name in names if self._lacks(columns, name)))

    def _lacks(self, columns: Sequence[Columns], name: str) -> bool:
        there: dict[str, bool] = {}
        for c in columns:
            source, known = c.texts(self.field), c.table.factorize(name).codes >= 0
            count = np.bincount(source.codes, weights=known, minlength=len(source.values))
            for value, n in zip(source.values, count.tolist(), strict=True):
                there[value] = there.get(value, False) or n > 0
        return any(there.values()) and not all(there.values())

    def codes(self, columns: Columns) -> Ints:
        """The number of each item's source; `DataError` where an item has none."""
        texts = columns.texts(self.field)
        if not texts.present.all():
            item = columns.table.item_title(int(np.argmin(texts.present)))
            raise DataError(f"{item} has no source (the field {self.field!r} is empty)")
        return texts.codes

    def apart(self, codes: Ints) -> Ints | None:
        """The sources that clusters have one item of at most, as searches take them."""
        return codes if self.within == "apart" else None


def across(pairs: Ints, codes: Ints) -> Ints:
    return pairs[codes[pairs[:, 0]] != codes[pairs[:, 1]]]
