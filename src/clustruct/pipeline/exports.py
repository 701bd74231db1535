"""What a prediction found, as tables: scored pairs, groups, items with all their fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from clustruct.data import Grouping, PairScores, Table
from clustruct.data.io import GraphFile

Columns = dict[str, Any]
# Of pairs that are not together, those are edges that are as likely together as this.
LIKELY = 0.5
EDGES_AT_ONCE = 50_000
# What a table of pairs has beside a column for each feature.
OF_PAIRS = ("set", "id_1", "id_2", "together", "probability", "score")


def scored_pairs(pipeline: Pipeline, table: Table, found: Grouping) -> Iterator[Columns]:
    """The compared pairs of a set, chunk by chunk: both ids, whether they are together, the probability that
    they belong together (where the model has probabilities), the score, and what each feature adds to it.

    A score is that of the model as it was trained, whatever threshold was asked for: the sum of the
    contributions.
    """
    features, model = pipeline[0], pipeline[-1]
    linear = model.linear_similarity()
    if linear is None:
        raise ValueError(f"{type(model).__name__} has no weights of pair features to export")
    w, intercept = linear
    shift = getattr(model, "threshold_", None) or 0.0
    listed = _trained_scores(model, found)
    assert listed.index is not None
    assert listed.values is not None
    names = [f"{n} (feature)" if n in OF_PAIRS else n for n in map(str, features.get_feature_names_out())]
    if intercept + shift != 0.0:
        names.append("intercept")
    ids = np.array([str(name) for name in table.item_ids], dtype=object)
    y, sure = found.labels, _probability(found)
    if not len(listed.index):  # a file without rows has its header still
        texts = dict.fromkeys([*(["set"] if table.name else []), "id_1", "id_2"], np.zeros(0, "U1"))
        numbers = dict.fromkeys([*sure, "score", *names], np.zeros(0))
        yield {**texts, "together": np.zeros(0, np.int64), **numbers}
    for span, values in features.pair_chunks(table, listed.index):
        a, b = listed.index[span].T
        columns: Columns = {} if not table.name else {"set": [table.name] * len(a)}
        columns |= {"id_1": ids[a].tolist(), "id_2": ids[b].tolist(), "together": (y[a] == y[b]).astype(int)}
        columns |= {name: column[span] for name, column in sure.items()} | {"score": listed.values[span]}
        dense = values.toarray() if sparse.issparse(values) else np.asarray(values)
        added = list((dense * w + 0.0).T) + [np.full(len(a), intercept + shift)]
        yield columns | dict(zip(names, added[: len(names)], strict=True))


def _probability(found: Grouping) -> Columns:
    return {} if found.pair_probabilities is None else {"probability": found.pair_probabilities}


def _confidence(found: Grouping) -> Columns:
    """The column of the confidence in items, where that is a probability."""
    return {"confidence": found.confidence} if found.is_probability and found.confidence is not None else {}


def _trained_scores(model: Any, found: Grouping) -> PairScores:
    """The listed scores of the model as it was trained."""
    if found.scores is None:
        raise ValueError("the scores of pairs were not asked for: group with pairs=True")
    return found.scores.above(-(getattr(model, "threshold_", None) or 0.0)).list_pairs()


def group_table(table: Table, found: Grouping) -> Columns:
    """One row for each group: its number, how many items it has, and the share of them that is expected to
    be in the right place, where the confidence of items was asked for and is a probability.
    """
    numbers, sizes = np.unique(found.labels, return_counts=True)
    columns: Columns = {"set": [table.name] * len(numbers)} if table.name else {}
    columns |= {"cluster": numbers, "items": sizes}
    if found.group_confidence is not None:
        columns["confidence"] = found.group_confidence
    return columns


def wide_table(table: Table, found: Grouping, id: str = "id") -> Columns:
    """The rows of a set with all their fields, the group of each, and the confidence in it.

    A field that is called as one of the others, such as labels in a column "cluster", is "cluster (field)".
    """
    more = _confidence(found)
    columns: Columns = {"set": [table.name] * len(table)} if table.name else {}
    taken = {"set", id, "cluster", *more}
    columns |= {id: [str(name) for name in table.item_ids], "cluster": found.labels, **more}
    for name in table.fields():
        columns[f"{name} (field)" if name in taken else name] = table.column(name)
    return columns


def add_to_graph(graph: GraphFile, model: Any, table: Table, found: Grouping) -> None:
    """The items of a set as nodes; as edges the pairs that are together, and those that are likely to be.

    Without probabilities these are the pairs of positive score.
    """
    n, first, y = len(table), graph.n_nodes, found.labels
    held: Columns = {"id": [str(name) for name in table.item_ids]}
    held |= {"set": [table.name] * n} if table.name else {}
    graph.add_nodes(held | {"cluster": y} | _confidence(found))
    listed = _trained_scores(model, found)
    assert listed.index is not None
    assert listed.values is not None
    every = _probability(found)
    for start in range(0, len(listed.values), EDGES_AT_ONCE):
        span = slice(start, start + EDGES_AT_ONCE)
        s, pairs = listed.values[span], listed.index[span]
        sure = {name: column[span] for name, column in every.items()}
        likely = sure["probability"] >= LIKELY if sure else s > 0.0
        kept = (y[pairs[:, 0]] == y[pairs[:, 1]]) | likely
        a, b = (pairs[kept] + first).T
        values = {"score": s[kept], **{name: column[kept] for name, column in sure.items()}}
        graph.add_edges(a.tolist(), b.tolist(), values)
