"""Logistic regression inside a table: ``python -m benchmarks.tables.by_logistic TABLE GROUPS``.

The features and likely pairs are those of clustruct, for the whole table. A pair that touches a labelled row
is known, since labelled clusters are complete; these pairs train. Of the labelled clusters a third is held
out in turn: the threshold is the one whose clusters of the whole table have the best pairwise F over the
pairs that touch a row held out. Then all known pairs train, and local search clusters.
"""

from __future__ import annotations

import json
import sys
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.tables.files import read_labels, read_records, write_groups
from benchmarks.tables.scores import Labels, PairCounts, known_labels, touching
from clustruct import ItemSet
from clustruct.data import Table
from clustruct.features import Blocking, PairFeatures, guess_blocks
from clustruct.search import correlation

FOLDS = 3
LOG_ODDS = np.arange(-4.0, 4.5, 0.5)
NEIGHBOURS, MOST_NEIGHBOURS = 10, 100
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


def read_set(table: Path) -> Table:
    """The table as one set without labels."""
    return Table([{k: v or "" for k, v in row.items()} for row in read_records(table)])


def item_set(table: Table, largest: int) -> ItemSet:
    """Features of likely pairs; each row has as many neighbours as the largest labelled cluster needs."""
    neighbours = max(NEIGHBOURS, min(largest - 1, MOST_NEIGHBOURS))
    features = PairFeatures(guess_blocks([table]), blocking=Blocking(n_neighbors=neighbours, from_size=0))
    return features.fit([table]).transform([table])[0]


class Pairs:
    """Pairs of a table, their features, and what is known of them."""

    def __init__(self, x: ItemSet, entity: Labels, labelled: Flags) -> None:
        assert x.pair_index is not None
        self.m, self.index, self.labelled = x.n_items, x.pair_index, labelled
        self.features = _dense(x)
        self.known = known_labels(entity, labelled)
        self.together = self.known[self.index[:, 0]] == self.known[self.index[:, 1]]

    def scores(self, learned_from: Flags, hidden: Flags) -> Floats:
        """Log odds of all pairs, learned from the pairs that touch some rows and none that is hidden."""
        a, b = self.index.T
        used = (learned_from[a] | learned_from[b]) & ~(hidden[a] | hidden[b])
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
        return model.fit(self.features[used], self.together[used]).decision_function(self.features)

    def clusters(self, scores: Floats) -> Labels:
        """Of the whole table."""
        graph = sparse.coo_array((scores, self.index.T), shape=(self.m, self.m))
        return correlation.local_search(sparse.csr_array(graph))


def _dense(x: ItemSet) -> Floats:
    return x.pairs.toarray() if sparse.issparse(x.pairs) else np.asarray(x.pairs)


def held_out_parts(known: Labels, labelled: Flags) -> list[Flags]:
    """The rows of a third of the labelled clusters, and of the next third, and of the last."""
    names = np.random.default_rng(0).permutation(np.unique(known[labelled]))
    return [labelled & np.isin(known, part) for part in np.array_split(names, FOLDS)]


def best_threshold(pairs: Pairs) -> float:
    """The log odds from which on a pair counts as together."""
    counts: dict[float, list[PairCounts]] = {float(t): [] for t in LOG_ODDS}
    for part in held_out_parts(pairs.known, pairs.labelled):
        scores = pairs.scores(pairs.labelled & ~part, part)
        for t, found in counts.items():
            found.append(touching(pairs.known, pairs.clusters(scores - t), part))
    return max(counts, key=lambda t: reduce(add, counts[t]).f1)


def main() -> None:
    table, groups = (Path(p) for p in sys.argv[1:])
    entity, labelled = read_labels(table)
    largest = int(np.unique(entity[labelled], return_counts=True)[1].max())
    pairs = Pairs(item_set(read_set(table), largest), entity, labelled)
    threshold = best_threshold(pairs)
    nothing = np.zeros(pairs.m, bool)
    write_groups(groups, pairs.clusters(pairs.scores(labelled, nothing) - threshold))
    groups.with_suffix(".json").write_text(json.dumps({"threshold": threshold}))


if __name__ == "__main__":
    main()
