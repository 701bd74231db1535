"""Rows on their way between pieces; what numbers and orders them; what a worker that is too small says."""

import os

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.core.callbacks import Callback, training_callback
from clustruct.core.exceptions import ClusterError
from clustruct.data import Table
from clustruct.distributed import predict
from clustruct.distributed.candidates import home
from clustruct.distributed.stage_runner import StageRunner
from clustruct.distributed.workdir import WorkDirectory, arrays, read_rows, rows_to, write_rows
from clustruct.features.columns import Columns
from clustruct.features.vocabulary import number_keys, stable_order
from tests.distributed.table import grouped_here, people, read_groups, trained, write_files


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), max_size=12), min_size=1, max_size=4))
def test_rows_come_to_their_pieces_in_order(tmp_path_factory, sent):
    work = WorkDirectory(str(tmp_path_factory.mktemp("work")), "x")
    for j, to in enumerate(sent):
        name = pa.array([None if k % 5 == 4 else f"{j} {k}" for k in range(len(to))], pa.string())
        write_rows(work, "stage", j, rows_to(to, {"place": np.arange(len(to)), "name": name}), 4)
    for k in range(4):
        table = read_rows(work, "stage", k, len(sent))
        wanted = [(j, place) for j, to in enumerate(sent) for place, t in enumerate(to) if t == k]
        assert arrays(table)["place"].tolist() == [place for _, place in wanted]
        assert table["name"].to_pylist() == [None if p % 5 == 4 else f"{j} {p}" for j, p in wanted]


@settings(deadline=None)
@given(st.lists(st.integers(0, 6), max_size=40))
def test_numbers_and_orders_are_those_of_numpy(values):
    keys = np.array(values, np.uint64) * np.uint64(2**61 - 1)
    distinct, number = number_keys(keys)
    known, inverse = np.unique(keys, return_inverse=True)
    assert np.array_equal(distinct, known)
    assert np.array_equal(number, inverse)
    assert np.array_equal(stable_order(number, 7), np.argsort(number, kind="stable"))


@pytest.mark.parametrize("n", [1, 2, 5, 8, 9])
def test_two_parts_have_one_home_and_parts_are_homes_of_as_many(n):
    first, second = np.triu_indices(n, 1)
    found = home(first, second, n, first % 2 == 0)
    assert ((found == first) | (found == second)).all()
    load = np.bincount(found, minlength=n)
    assert load.max() - load.min() <= 2
    assert np.array_equal(home(np.arange(n), np.arange(n), n, np.ones(n, bool)), np.arange(n))


def test_columns_that_are_copied_grow_by_themselves():
    first, more = Table([{"t": "red car"}, {"t": "red"}]), Table([{"t": "blue car"}])
    both = Table([*first.items, *more.items])
    columns = Columns(first)
    before = columns.terms(["t"], ["words"])
    grown = columns.copy().extend(more, both)
    assert columns.texts("t").values == ["red car", "red"]
    assert len(before.vocabulary) == 2
    fresh = Columns(both).terms(["t"], ["words"])
    assert np.array_equal(grown.terms(["t"], ["words"]).indices, fresh.indices)
    assert (
        grown.terms(["t"], ["words"]).document_frequency().tolist()
        == fresh.document_frequency().tolist()
        == [2.0, 2.0, 1.0]
    )


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    table, labels = people(n_people=80)
    model = trained(table, labels)
    return write_files(table, tmp_path_factory.mktemp("table")), model, grouped_here(table, model)


def test_many_pieces_exchange_rows_by_the_shuffle_of_dask(client, known, tmp_path, monkeypatch):
    files, model, here = known
    monkeypatch.setattr("clustruct.distributed.stage_runner.MOST_FILES", 1)
    found = predict(files, model, tmp_path / "out", client=client, id="nr", partitions=2)
    assert np.array_equal(read_groups(tmp_path / "out")[1], here)
    assert sum(one["rows"] for one in found.exchanged["records"]) > 0


class AtStep(Callback):
    """Stops when so many pieces of a stage are done."""

    def __init__(self, stage, done):
        self.wanted = stage, done

    def on_step(self, stage, done, total):
        if (stage, done) == self.wanted:
            raise KeyboardInterrupt


def test_rows_that_are_written_are_not_made_again(client, known, tmp_path):
    files, model, here = known
    run = {"client": client, "id": "nr", "partitions": 2}
    with pytest.raises(KeyboardInterrupt), training_callback(AtStep("keys", 2)):
        predict(files, model, tmp_path / "out", **run)
    written = sorted((tmp_path / "out.work" / "keys.made").iterdir())
    assert {path.suffix for path in written} == {".arrow", ".json"}
    before = {path: path.stat().st_mtime_ns for path in written}
    seen = {}

    class Look(Callback):
        def on_close(self, cost):
            if cost.stage == "keys":
                seen.update({path: path.stat().st_mtime_ns for path in written if path.suffix == ".json"})

    with training_callback(Look()):
        predict(files, model, tmp_path / "out", **run)
    assert seen == {path: time for path, time in before.items() if path.suffix == ".json"}
    assert np.array_equal(read_groups(tmp_path / "out")[1], here)


def hungry(work, k):
    """Takes more than any worker here may have, page by page, as columns of a partition would."""
    held = []
    while len(held) < 400:
        held.append(np.ones(10_000_000 // 8))
    return {"held": len(held)}


def test_a_worker_that_is_too_small_is_told_with_stage_and_partition(tmp_path):
    import dask

    from distributed import Client, LocalCluster

    work = WorkDirectory(str(tmp_path), "0123456789")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": "700MB"}
    told = r"scores: workers died again .* \(partition 0\), for want of memory"
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(**options, silence_logs=50) as own,
        Client(own) as client,
        pytest.raises(ClusterError, match=told),
    ):
        StageRunner(client, work).each("scores", hungry, 1)
    assert not os.listdir(tmp_path)


def test_pieces_of_two_runs_have_names_of_their_own(tmp_path):
    names = {
        StageRunner(None, WorkDirectory(str(tmp_path), token * 8))._task("scores", 3, hungry).key
        for token in "ab"
    }
    assert names == {"scores-aaaaaaaa-3", "scores-bbbbbbbb-3"}
