"""Training on a cluster comes to the result of one process."""

import os
import pickle
import signal

import numpy as np
import pytest

from clustruct import ssvm
from clustruct.core.exceptions import ClusterError
from clustruct.data.datasets import make_records
from clustruct.distributed import DaskExecutor
from clustruct.distributed.dask_executor import shard_bounds
from clustruct.distributed.shards import Shard
from clustruct.features import PairFeatures, guess_blocks
from clustruct.learning.problems import ClusteringProblem, MulticlassProblem
from clustruct.losses.slack_rule import SlackRule


@pytest.fixture(scope="module")
def sets():
    raws = make_records(n_sets=40, n_people=4, random_state=3)
    features = PairFeatures(guess_blocks(raws)).fit(raws)
    return features.transform(raws), [list(raw.labels) for raw in raws]


def problem_of(sets, oracle="local_search"):
    return ClusteringProblem(*sets, oracle=oracle)


def trained(problem, formulation, executor=None, **more):
    return ssvm.fit(problem, C=50.0, formulation=formulation, rtol=0.01, executor=executor, **more)


@pytest.mark.parametrize(("oracle", "formulation"), [("greedy", "n_slack"), ("local_search", "one_slack")])
def test_result_is_that_of_one_process_bit_for_bit(client, sets, oracle, formulation):
    here = trained(problem_of(sets, oracle), formulation)
    there = trained(problem_of(sets, oracle), formulation, DaskExecutor(client))
    assert there.converged
    assert np.array_equal(here.w, there.w)
    assert (here.objective, here.dual, here.oracle_calls) == (there.objective, there.dual, there.oracle_calls)


def test_a_second_training_goes_on_from_what_the_oracle_remembers(client, sets):
    one, other, executor = problem_of(sets), problem_of(sets), DaskExecutor(client)
    for C in (5.0, 50.0):
        here = ssvm.fit(one, C=C, formulation="one_slack")
        there = ssvm.fit(other, C=C, formulation="one_slack", executor=executor)
        assert np.array_equal(here.w, there.w)


def test_weights_that_leave_examples_out(client, sets):
    weight = np.arange(40) % 3
    here = trained(problem_of(sets), "one_slack", sample_weight=weight)
    there = trained(problem_of(sets), "one_slack", DaskExecutor(client), sample_weight=weight)
    assert there.objective == pytest.approx(here.objective, rel=1e-9)
    assert there.w == pytest.approx(here.w, rel=1e-6, abs=1e-9)


def test_a_vectorised_problem(client):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2500, 6)), rng.integers(0, 3, 2500)
    X[np.arange(2500), y] += 1.0
    here = ssvm.fit(MulticlassProblem(X, y), C=10.0)
    there = ssvm.fit(MulticlassProblem(X, y), C=10.0, executor=DaskExecutor(client))
    assert there.objective == pytest.approx(here.objective, rel=1e-6)


def test_a_worker_killed_in_training(cluster, client, sets):
    here = trained(problem_of(sets), "one_slack")
    nannies = list(cluster.workers.values())
    killed = []

    def kill(iteration):
        if iteration.iteration == 3:
            pid = nannies[0].process.pid
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    there = trained(problem_of(sets), "one_slack", DaskExecutor(client), callback=kill)
    assert killed
    assert np.array_equal(here.w, there.w)
    client.wait_for_workers(2, timeout=30)


def test_a_cluster_that_goes_away_and_a_checkpoint(sets, tmp_path, monkeypatch):
    from distributed import Client, LocalCluster

    monkeypatch.setattr("clustruct.ssvm.checkpoint.Checkpoint.every", 0.0)
    here = trained(problem_of(sets), "one_slack")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "processes": False}
    with LocalCluster(**options) as own, Client(own) as client:

        def leave(iteration):
            if iteration.iteration == 3:
                own.close()

        with pytest.raises(ClusterError, match=r"training: question \d+: the scheduler at .* is gone"):
            trained(
                problem_of(sets),
                "one_slack",
                DaskExecutor(client),
                callback=leave,
                checkpoint=tmp_path / "kept",
            )
    there = trained(problem_of(sets), "one_slack", checkpoint=tmp_path / "kept")
    assert there.converged
    assert there.n_iter > 3
    assert there.history[0].oracle_calls == here.history[0].oracle_calls
    assert there.objective == pytest.approx(here.objective, rel=0.02)  # both within rtol of the optimum


class Negative(ssvm.Problem):
    """A problem of one feature with a loss below zero for one example."""

    n_examples, n_features, oracle_kind = 20, 1, "exact"

    def truth(self, i):
        return 0

    def joint_feature(self, i, y):
        return np.array([float(y)])

    def loss(self, i, y):
        return -1.0 if i == 17 and y else float(y)

    def separate(self, i, w, rule):
        return 1


def test_workers_that_stay_paused_for_want_of_memory_are_told(sets, monkeypatch):
    """Dask pauses a worker that is nearly full and waits: without this the training would never end."""
    import dask

    from distributed import Client, LocalCluster

    monkeypatch.setattr("clustruct.distributed.cluster.LOOK", 0.5)
    monkeypatch.setattr("clustruct.distributed.cluster.MOST_PAUSED", 1.0)
    full_at_once = {"distributed.worker.memory.pause": 0.01, "distributed.worker.memory.terminate": False}
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": "2GB"}
    told = pytest.raises(ClusterError, match="training: question 1: all workers are paused")
    with dask.config.set(full_at_once), LocalCluster(**options) as paused, Client(paused) as client, told:
        ssvm.fit(ClusteringProblem(*sets), C=1.0, executor=DaskExecutor(client))


def test_a_shard_tells_its_size_and_comes_back_from_disk_with_aligned_arrays(sets):
    """Dask spills by size; products of arrays that are not aligned round differently."""
    from dask.sizeof import sizeof

    shard, buffers = Shard(ClusteringProblem(*sets), None), []
    assert sizeof(shard) > sum(x.pairs.nbytes for x in sets[0])
    plain = pickle.dumps(shard, protocol=5, buffer_callback=buffers.append)
    crooked = [memoryview(b"x" + bytes(buffer.raw()))[1:] for buffer in buffers]
    back = pickle.loads(plain, buffers=crooked)
    assert all(x.pairs.flags.aligned and x.pairs.ctypes.data % 16 == 0 for x in back.problem.sets)
    w = np.linspace(-1.0, 1.0, shard.problem.n_features)
    given = np.arange(shard.problem.n_examples), w, SlackRule()
    answers = [one.batch.separate_batch(*given) for one in (shard, back)]
    assert np.array_equal(answers[0].losses, answers[1].losses)


def test_an_answer_that_cannot_be_names_its_example(client):
    with pytest.raises(ValueError, match="example 17: the loss is negative"):
        trained(Negative(), "one_slack", DaskExecutor(client))


@pytest.mark.parametrize("n", [1, 7, 40])
@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 50])
def test_every_example_has_one_shard(n, count):
    shards = shard_bounds(n, count)
    assert np.array_equal(np.sort(np.concatenate(shards)), np.arange(n))
    assert len(shards) == min(n, count)
    if count <= 8:  # whole pieces, which are those of a round
        pieces = [set(one.tolist()) for one in np.array_split(np.arange(n), min(8, n))]
        assert all(piece <= set(one.tolist()) or piece.isdisjoint(one) for piece in pieces for one in shards)


def test_shards_of_examples_that_become_ever_larger_are_even():
    for count in (2, 4, 20):
        sizes = [float(one.sum()) for one in shard_bounds(800, count)]
        assert max(sizes) < 1.02 * np.mean(sizes)
