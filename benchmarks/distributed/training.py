"""Training on two workers beside one and beside one process: the same objective, bytes of a round, speed.

Speed is told by the clock, and by CPU seconds of the longest way where the machine has other work: what free
cores would take is the client's own time and, summed over rounds, that of the worker that took longest. The
scheduler has a process of its own, and what it and the workers take for idling is no part of that.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from clustruct import ssvm
from clustruct.data.datasets import make_records
from clustruct.distributed import DaskExecutor, dask_executor
from clustruct.distributed.shards import step
from clustruct.features import PairFeatures, guess_blocks
from clustruct.learning.problems import ClusteringProblem
from studies.raw_data import PATHS, item_sets

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
def apart(n_workers: int = 2) -> Iterator[Any]:
    """A client of workers and a scheduler in processes of their own: traffic is the client's alone."""
    from distributed import Client
    from distributed.deploy.subprocess import SubprocessCluster

    os.environ.setdefault("PYTHONPATH", os.getcwd())  # workers import the steps that are timed
    with SubprocessCluster(n_workers=n_workers, threads_per_worker=1) as cluster, Client(cluster) as client:
        client.wait_for_workers(n_workers, timeout=300)
        yield client


def collection(n_sets: int, n_people: int) -> tuple[Any, Any]:
    """Sets of pair features of made-up people, and their labels."""
    tables = make_records(n_sets=n_sets, n_people=n_people, random_state=0)
    return PairFeatures(guess_blocks(tables)).fit(tables).transform(tables), [
        list(table.labels) for table in tables
    ]


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


# What the steps of this worker took: the number of the question, CPU seconds.
SPENT: list[tuple[int, float]] = []


def timed_step(shard: Any, before: Any, question: Any) -> Any:
    """A step on a worker, whose time is noted."""
    from distributed.worker import thread_state

    began = time.thread_time()
    made = step(shard, before, question)
    SPENT.append((int(thread_state.key.split("-")[-2]), time.thread_time() - began))
    return made


def spent() -> list[tuple[int, float]]:
    """What was noted on this worker since it was last asked."""
    noted = list(SPENT)
    SPENT.clear()
    return noted


@contextmanager
def timing() -> Iterator[None]:
    """Steps are timed."""
    dask_executor.step = timed_step
    try:
        yield
    finally:
        dask_executor.step = step


def longest_way(noted: Iterable[list[tuple[int, float]]]) -> tuple[float, float]:
    """CPU seconds of all steps, and of the worker that took longest, question by question.

    >>> longest_way([[(1, 2.0), (2, 1.0)], [(1, 1.0), (1, 0.5), (2, 4.0)]])
    (8.5, 6.0)
    """
    by_question: dict[int, list[float]] = {}
    for worker in noted:
        own: dict[int, float] = {}
        for question, seconds in worker:
            own[question] = own.get(question, 0.0) + seconds
        for question, seconds in own.items():
            by_question.setdefault(question, []).append(seconds)
    return sum(map(sum, by_question.values())), sum(map(max, by_question.values()))


def on_workers(n_workers: int, problem: ClusteringProblem, options: Row) -> tuple[Any, Row]:
    """A training on so many workers, on which the sets are already, and what it took."""
    with apart(n_workers) as client, timing():
        executor = DaskExecutor(client)
        ssvm.fit(problem, executor=executor, **{**options, "max_iter": 1})  # sent and compiled
        client.run(spent)
        own, began = time.process_time(), time.perf_counter()
        found = ssvm.fit(problem, executor=executor, **options)
        wall, own = time.perf_counter() - began, time.process_time() - own
        steps, longest = longest_way(client.run(spent).values())
    row = {"wall s": wall, "client CPU s": own, "steps CPU s": steps, "longest steps CPU s": longest}
    return found, {**row, "longest way CPU s": own + longest}


def speed(n_sets: int = 300, n_people: int = 7, max_iter: int = 10) -> Row:
    """Training with oracles of 10 ms and more (linear programmes): one process, one worker, two workers."""
    sets, labels = collection(n_sets, n_people)

    def problem() -> ClusteringProblem:
        return ClusteringProblem(sets, labels, oracle="lp")

    options: Row = {"C": 50.0, "formulation": "one_slack", "rtol": 0.01, "max_iter": max_iter}
    load = os.getloadavg()[0]
    own_sets = problem()
    ssvm.fit(own_sets, **{**options, "max_iter": 1})  # compiled before it is measured
    cpu, wall = time.process_time(), time.perf_counter()
    here = ssvm.fit(own_sets, **options)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    one, two = (on_workers(n, problem(), options) for n in (1, 2))
    return {
        "sets": n_sets,
        "items": float(np.mean([x.n_items for x in sets])),
        "rounds": here.n_iter,
        "ms of an oracle call": 1000.0 * cpu / here.oracle_calls * here.oracle_seconds / wall,
        "share of the oracle": here.oracle_seconds / wall,
        "same w, bit for bit": bool(np.array_equal(here.w, one[0].w) and np.array_equal(here.w, two[0].w)),
        "load of the machine": load,
        "one process": {"wall s": wall, "CPU s": cpu},
        "one worker": one[1],
        "two workers": two[1],
        "two over one, by the longest way": one[1]["longest way CPU s"] / two[1]["longest way CPU s"],
        "two over one, by the clock": one[1]["wall s"] / two[1]["wall s"],
        "two over a process, by the longest way": cpu / two[1]["longest way CPU s"],
        "two over a process, by the clock": wall / two[1]["wall s"],
    }


def on_data(name: str = "author_names", largest: int = 60) -> Row:
    """Training on the smaller sets of a collection of CLUSTRUCT_DATA: one process, and two workers."""
    tables = [table for table in item_sets(PATHS[name]) if len(table) <= largest]
    features = PairFeatures(guess_blocks(tables)).fit(tables)
    sets, labels = features.transform(tables), [list(table.labels or ()) for table in tables]
    C = ClusteringProblem(sets, labels).natural_C()
    options: Row = {"C": C, "rtol": 0.01, "max_iter": 30}
    found: Row = {"data": name, "sets": len(sets), "items": sum(map(len, tables))}
    same_objective = same_w = True
    with apart() as client:
        for formulation in ("n_slack", "one_slack"):
            problem = partial(ClusteringProblem, sets, labels, oracle="local_search")
            here = ssvm.fit(problem(), formulation=formulation, **options)
            executor = DaskExecutor(client)
            there = ssvm.fit(problem(), formulation=formulation, executor=executor, **options)
            found[formulation] = {
                "objective here": here.objective,
                "objective there": there.objective,
                "norm of w": float(np.linalg.norm(here.w)),
                "rounds": here.n_iter,
            }
            same_objective &= abs(here.objective - there.objective) <= 1e-9 * abs(here.objective)
            same_w &= bool(np.array_equal(here.w, there.w))
    return {**found, "same objective": same_objective, "same w, bit for bit": same_w}
