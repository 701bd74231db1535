"""Tables on a cluster of two worker processes: labels of one process, whatever happens to the workers."""

import os
import signal

import numpy as np
import pytest

from clustruct import save
from clustruct.cli.main import main
from clustruct.core.callbacks import Callback, training_callback
from clustruct.core.exceptions import ClusterError, DataError
from clustruct.distributed import predict
from clustruct.distributed.predicting import check_model
from tests.distributed.table import grouped_here, people, read_groups, trained, write_files


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """Files, a model, and the labels of one process."""
    table, labels = people(n_people=110)
    model = trained(table, labels)
    files = write_files(table, tmp_path_factory.mktemp("table"), 3)
    return files, model, grouped_here(table, model), table


def test_labels_are_those_of_one_process(client, known, tmp_path):
    files, model, here, table = known
    found = predict(files, model, tmp_path / "out", client=client, id="nr", partitions=7)
    ids, labels = read_groups(tmp_path / "out")
    assert np.array_equal(labels, here)
    assert ids.tolist() == table["nr"].to_pylist()
    assert (found.items, found.clusters) == (len(here), here.max() + 1)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    again_under_the_same_name(client, table, model, tmp_path)


def again_under_the_same_name(client, table, model, folder):
    """A Dask frame of other rows, in directories of the same names: workers remember nothing of the first."""
    import dask.dataframe as dd

    os.rename(folder / "out", folder / "first")
    half = table.slice(0, len(table) // 2)
    frame = dd.from_pandas(half.to_pandas(), npartitions=2)
    predict(frame, model, folder / "out", client=client, id="nr")
    assert np.array_equal(read_groups(folder / "out")[1], grouped_here(half, model))


class At(Callback):
    """Does something when a stage begins."""

    def __init__(self, stage, act):
        self.stage, self.act = stage, act

    def on_open(self, stage, total):
        if stage == self.stage:
            self.act()


def stop():
    raise KeyboardInterrupt


def test_a_run_that_was_cut_short_goes_on(client, known, tmp_path):
    files, model, here, _ = known
    run = {"client": client, "id": "nr", "partitions": 3}
    with pytest.raises(KeyboardInterrupt), training_callback(At("groups", stop)):
        predict(files, model, tmp_path / "out", **run)
    work = tmp_path / "out.work"
    assert not (tmp_path / "out").exists()
    done = {path: path.stat().st_mtime_ns for path in work.rglob("*.json") if path.parent != work}
    assert {path.parent.name for path in done} >= {"reading", "pairs", "scores", "inside"}
    (work / "scores" / "part-00001.json").unlink()

    seen = {}

    def look():
        seen.update({path: path.stat().st_mtime_ns for path in done})

    with training_callback(At("labels", look)):
        predict(files, model, tmp_path / "out", **run)
    again = {f"{path.parent.name}/{path.stem}" for path in done if seen[path] != done[path]}
    assert again == {"scores/part-00001"}
    assert np.array_equal(read_groups(tmp_path / "out")[1], here)


def test_the_directory_of_another_run_is_refused(client, known, tmp_path):
    files, model, _, _ = known
    with pytest.raises(KeyboardInterrupt), training_callback(At("terms", stop)):
        predict(files, model, tmp_path / "out", client=client, id="nr", partitions=3)
    with pytest.raises(DataError, match="belongs to another run, not the same data"):
        predict(files, model, tmp_path / "out", client=client, id="nr", partitions=4)


def test_a_worker_killed(cluster, client, known, tmp_path):
    files, model, here, _ = known
    killed = []

    def kill():
        killed.append(next(iter(cluster.workers.values())).process.pid)
        os.kill(killed[0], signal.SIGKILL)

    with training_callback(At("neighbours", kill)):
        predict(files, model, tmp_path / "out", client=client, id="nr", partitions=3)
    assert killed
    assert np.array_equal(read_groups(tmp_path / "out")[1], here)
    client.wait_for_workers(2, timeout=60)


def test_what_is_there_is_not_written_over(client, known, tmp_path):
    files, model, _, _ = known
    (tmp_path / "out").mkdir()
    with pytest.raises(DataError, match="there is something of that name"):
        predict(files, model, tmp_path / "out", client=client)


def test_a_table_without_a_field_is_refused(client, known, tmp_path):
    _, model, _, table = known
    field = model[0].needs_[0].name
    files = write_files(table.drop_columns([field]), tmp_path / "data")
    with pytest.raises(DataError, match=f"the table: no item has the field '{field}'"):
        predict(files, model, tmp_path / "out", client=client, id="nr")


def test_models_that_need_a_whole_table_are_refused(known):
    _, model, _, _ = known
    blocking = model[0].blocking_
    try:
        model[0].blocking_ = None
        with pytest.raises(ValueError, match="cannot group on a cluster: it compares all pairs"):
            check_model(model)
    finally:
        model[0].blocking_ = blocking


def test_the_command(cluster, known, tmp_path, capsys):
    files, model, here, _ = known
    save(tmp_path / "m.model", model)
    words = [
        "predict",
        files,
        "--model",
        tmp_path / "m.model",
        "--id",
        "nr",
        "--partitions",
        "2",
        "--verbose",
    ]
    words += ["--dask", cluster.scheduler_address, "--out", tmp_path / "out"]
    assert main([*map(str, words)]) == 0
    said = capsys.readouterr()
    assert f"{len(here)} items in {here.max() + 1} clusters" in said.out.replace(",", "")
    assert "scores" in said.err + said.out
    assert np.array_equal(read_groups(tmp_path / "out")[1], here)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--dask", "tcp://127.0.0.1:9", "--out", "x"], "no scheduler answers at tcp://127.0.0.1:9"),
        (["--dask", "local"], "name it with --out DIR"),
        (["--workers", "2"], "--workers goes with --dask"),
        (["--dask", "local", "--out", "x", "--confidence"], "--confidence does not go with --dask"),
    ],
)
def test_errors_of_the_command(known, tmp_path, capsys, monkeypatch, words, told):
    monkeypatch.setattr("clustruct.distributed.cluster.PATIENCE", 0.5)
    save(tmp_path / "m.model", known[1])
    assert main(["predict", known[0], "--model", str(tmp_path / "m.model"), *words]) != 0
    assert told in capsys.readouterr().err


def test_a_cluster_that_goes_away_is_told_in_a_line(known, tmp_path):
    from distributed import Client, LocalCluster

    files, model, *_ = known
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "processes": False}
    gone = pytest.raises(ClusterError, match=r"pairs: the scheduler at .* is gone")
    with (
        LocalCluster(**options) as own,
        Client(own) as client,
        gone,
        training_callback(At("pairs", own.close)),
    ):
        predict(files, model, tmp_path / "out", client=client, id="nr", partitions=2)
    assert (tmp_path / "out.work" / "neighbours").exists()


def test_workers_that_die_again_and_again_are_told_with_stage_and_partition(client):
    from clustruct.distributed.cluster import answering
    from distributed import KilledWorker

    with (
        pytest.raises(
            ClusterError, match=r"scores: workers died again .* \(partition 3\), for want of memory"
        ),
        answering(client, "scores"),
    ):
        raise KilledWorker("scores-3", None, 4)


def test_want_of_memory_is_told_with_stage_and_partition():
    from clustruct.distributed.stage_runner import _finish_piece

    def hungry(work, k):
        raise MemoryError

    with pytest.raises(ClusterError, match="scores, partition 3: not enough memory; give workers more"):
        _finish_piece("scores", hungry, None, 3)
