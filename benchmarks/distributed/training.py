"""Training on two workers beside one process: the same objective, bytes of a round, speed.

Speed is told by CPU seconds, since the machine is shared: the time that two free cores would take is that of
the client plus that of the worker that took longer.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from clustruct import ssvm
from clustruct.datasets import make_records
from clustruct.distributed import DaskExecutor, connected
from clustruct.features import PairFeatures, guess_blocks
from clustruct.problems import ClusteringProblem

Row = dict[str, Any]


class Traffic:
    """Bytes that the client has written to and read from its connections."""

    sent = received = 0


@contextmanager
def counted() -> Iterator[Traffic]:
    """Count what goes over the connections of this process."""
    from distributed.comm import tcp

    traffic, write, read = Traffic(), tcp.TCP.write, tcp.read_bytes_rw

    async def writing(self: Any, *given: Any, **more: Any) -> Any:
        n = await write(self, *given, **more)
        traffic.sent += n or 0
        return n

    async def reading(stream: Any, n: int) -> Any:
        traffic.received += n
        return await read(stream, n)

    tcp.TCP.write, tcp.read_bytes_rw = writing, reading
    try:
        yield traffic
    finally:
        tcp.TCP.write, tcp.read_bytes_rw = write, read


@contextmanager
def apart() -> Iterator[Any]:
    """A client of two workers and a scheduler in processes of their own: traffic is the client's alone."""
    from distributed import Client
    from distributed.deploy.subprocess import SubprocessCluster

    with SubprocessCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
        yield client


def collection(n_sets: int, n_people: int) -> tuple[Any, Any]:
    """Sets of pair features of made-up people, and their labels."""
    raws = make_records(n_sets=n_sets, n_people=n_people, random_state=0)
    return PairFeatures(guess_blocks(raws)).fit(raws).transform(raws), [list(raw.labels) for raw in raws]


class Watched:
    """An executor that counts rounds, and the numbers that a round must carry: w, and planes back."""

    def __init__(self, executor: DaskExecutor, traffic: Traffic) -> None:
        self.executor, self.traffic = executor, traffic
        self.rounds, self.needed, self.moved = 0, 0.0, 0.0

    def open(self, problem: Any) -> Any:
        from distributed import wait

        session = self.executor.open(problem)
        size = problem.n_features
        shards = len(session._shards)
        wait(session._shards._data)  # the examples are sent once, which is no part of a round
        ask = session._shards.ask

        def asking(questions: Any) -> Any:
            before = self.traffic.sent + self.traffic.received
            found = ask(questions)
            kinds = {question.kind for question in questions.values()}
            if kinds != {"keep"}:
                self.rounds += 1
                self.moved += self.traffic.sent + self.traffic.received - before
                self.needed += 8.0 * (size * min(shards, len(questions)) + _numbers(found, size))
            return found

        session._shards.ask = asking
        return session


def _numbers(found: dict[int, Any], size: int) -> float:
    """How many numbers the planes of an answer have."""
    every = [answer for answers in found.values() for answer in answers]
    return float((size + 1) * sum(len(getattr(answer, "losses", [0])) for answer in every))


def bytes_of_rounds(formulation: str, n_sets: int = 2000, max_iter: int = 6) -> Row:
    """Training on many small sets: the objective of one process, and what a round moves."""
    sets, labels = collection(n_sets, 3)
    options: Row = {"C": 50.0, "formulation": formulation, "rtol": 0.01, "max_iter": max_iter}
    here = ssvm.fit(ClusteringProblem(sets, labels, oracle="local_search"), **options)
    with apart() as client, counted() as traffic:
        watched = Watched(DaskExecutor(client), traffic)
        there = ssvm.fit(ClusteringProblem(sets, labels, oracle="local_search"), executor=watched, **options)
    return {
        "formulation": formulation,
        "sets": n_sets,
        "features": sets[0].n_features,
        "rounds asked": watched.rounds,
        "objective here": here.objective,
        "objective there": there.objective,
        "same w, bit for bit": bool(np.array_equal(here.w, there.w)),
        "bytes of a round": watched.moved / watched.rounds,
        "w and planes": watched.needed / watched.rounds,
        "ratio": watched.moved / watched.needed,
    }


def speed(n_sets: int = 48, n_people: int = 60, max_iter: int = 10) -> Row:
    """Training with oracles of 10 ms and more: CPU seconds here, and on the longest way of two workers."""
    sets, labels = collection(n_sets, n_people)

    def problem() -> ClusteringProblem:
        return ClusteringProblem(sets, labels, "pairwise_f", oracle="local_search")

    C = problem().natural_C()
    options: Row = {"C": C, "formulation": "one_slack", "rtol": 1e-4, "max_iter": max_iter}

    own_sets = problem()
    ssvm.fit(own_sets, **{**options, "max_iter": 1})  # compiled before it is measured
    cpu, wall = time.process_time(), time.perf_counter()
    here = ssvm.fit(own_sets, **options)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    with connected("local", n_workers=2) as client:
        executor = DaskExecutor(client)
        warm = problem()
        ssvm.fit(warm, executor=executor, **{**options, "max_iter": 1})
        before, own, began = client.run(time.process_time), time.process_time(), time.perf_counter()
        there = ssvm.fit(warm, executor=executor, **options)  # whose sets are on the workers
        wall_there, own = time.perf_counter() - began, time.process_time() - own
        after = client.run(time.process_time)
    workers = sorted(after[name] - before[name] for name in before)
    return {
        "sets": n_sets,
        "items": float(np.mean([x.n_items for x in sets])),
        "ms of an oracle call": 1000.0 * here.oracle_seconds / here.oracle_calls * cpu / wall,
        "same w, bit for bit": bool(np.array_equal(here.w, there.w)),
        "CPU s here": cpu,
        "CPU s of the client": own,
        "CPU s of the workers": workers,
        "speed by CPU": cpu / (own + workers[-1]),
        "wall s here": wall,
        "wall s there": wall_there,
        "speed by wall": wall / wall_there,
    }
