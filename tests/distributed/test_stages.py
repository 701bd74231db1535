"""The stages of a prediction come to the labels of one process, however a table is cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from clustruct.core.partitions import canonical_labels
from clustruct.data import Table
from clustruct.distributed.components import stars
from clustruct.distributed.predicting import begin, group_table
from tests.distributed.table import grouped_here, people, read_groups, trained, write_files
from tests.reference.one_process_engine import OneProcessEngine


@pytest.fixture(scope="module")
def known():
    table, labels = people(n_people=150)
    return table, trained(table, labels)


def by_stages(table, model, folder, partitions):
    files = write_files(table, folder / "data")
    work = begin(files, model, folder / "work", "nr", partitions)
    found = group_table(files, OneProcessEngine(work), folder / "out")
    ids, labels = read_groups(folder / "out")
    assert ids.tolist() == table["nr"].to_pylist()
    assert found.clusters == labels.max() + 1
    return labels


@pytest.mark.parametrize("partitions", [1, 7, 40])
def test_labels_are_those_of_one_process(known, tmp_path, partitions):
    table, model = known
    here = grouped_here(table, model)
    assert 2 < here.max() + 1 < len(table)
    assert np.array_equal(by_stages(table, model, tmp_path, partitions), here)


def test_frequencies_told_to_each_part_alone(known, tmp_path, monkeypatch):
    table, model = known
    monkeypatch.setattr("clustruct.distributed.frequencies.MOST_COMMON", 0)
    assert np.array_equal(by_stages(table, model, tmp_path, 6), grouped_here(table, model))
    assert (tmp_path / "work" / "counts" / "part-00000.parquet").exists()


def test_any_order_of_rows(known, tmp_path):
    table, model = known
    here = grouped_here(table, model)
    order = np.random.default_rng(1).permutation(len(table))
    there = by_stages(table.take(order), model, tmp_path, 7)
    assert np.array_equal(there, canonical_labels(here[order]))


OFF = [
    {"margin_from_size": 10**6},
    {"n_neighbors_by_field": 0},
    {"rare": 0},
    {"common": 0},
    {"common": 10**6, "common_share": 1.0},
]


@pytest.mark.parametrize("off", OFF, ids=str)
def test_with_each_optimisation_switched_off(known, tmp_path, monkeypatch, off):
    table, model = known
    if off == {"common": 0}:  # on a cluster items are found by their words alone
        none = np.zeros(0, np.int64)
        monkeypatch.setattr("clustruct.features.sorted_neighbours.sorted_neighbours", lambda *_: none)
        # One process counts how rare words are among different rows, a cluster among all.
        table = table.take(model[0].equal_rows(Table.from_frame(table, id="nr")).first)
    blocking = model[0].blocking_
    before = {name: getattr(blocking, name) for name in off}
    try:
        for name, value in off.items():
            setattr(blocking, name, value)
        assert np.array_equal(by_stages(table, model, tmp_path, 5), grouped_here(table, model))
    finally:
        for name, value in before.items():
            setattr(blocking, name, value)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=40))
def test_stars_lead_to_the_smallest_of_a_component(edges):
    pairs = np.array([(a, b) for a, b in edges if a != b], np.int64).reshape(-1, 2)
    item, root = stars(pairs[:, 0], pairs[:, 1])
    graph = sparse.coo_array((np.ones(len(pairs)), pairs.T), shape=(31, 31))
    label = sparse.csgraph.connected_components(graph, directed=False)[1]
    smallest = {int(c): int(np.flatnonzero(label == c)[0]) for c in label}
    wanted = {a: smallest[int(label[a])] for a in np.unique(pairs).tolist()}
    assert dict(zip(item.tolist(), root.tolist(), strict=True)) == {a: r for a, r in wanted.items() if a != r}


def test_equal_rows_are_one_group_however_many(known, tmp_path):
    table, model = known
    order = np.random.default_rng(2).permutation(len(table) + 400)
    many = table.take(np.where(order < len(table), order, 0))
    copies = (order == 0) | (order >= len(table))
    assert len(set(by_stages(many, model, tmp_path, 5)[copies].tolist())) == 1
    assert len(set(grouped_here(many, model)[copies].tolist())) == 1
