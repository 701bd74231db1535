"""Training on a cluster: examples stay on the workers, each round sends w and gets planes back."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4
from weakref import ref

import numpy as np
from scipy import sparse

from clustruct.core.blas import call_with_blas_limit
from clustruct.core.typing import Floats, Indices
from clustruct.losses.slack_rule import SlackRule
from clustruct.ssvm import BatchProblem, Constraints, Executor, Problem, Session
from clustruct.ssvm.separation import MOST_PIECES, OneByOne, PieceCut

from .cluster import Client, answering, as_completed
from .shards import Keeping, Shard, ShardQuestion, answer_of, step, unpack_cut

# Of so many problems the shards stay on the workers: the choice of C comes back to them.
MOST_PROBLEMS = 16


class DaskExecutor(Executor):
    """Oracle calls on the workers of a Dask cluster, for ``ssvm.fit(executor=...)`` and `ssvm.executing`.

    The examples of a problem with `part` are cut into shards, one for each thread of the workers; each shard
    is sent once and stays, and so do its oracle's last answers and the answers kept for one-slack training. A
    round sends w and gets constraints back; in one-slack training sums of them, one for each piece. Any other
    problem is sent to every worker as a whole.

    The result is that of one process. A worker that is lost takes nothing with it: the steps of its shards
    are made again elsewhere, from their beginning.

    Parameters
    ----------
    client : Client
        A ``distributed.Client``.
    n_shards : int, optional
        By default the number of threads of all workers.
    """

    def __init__(self, client: Client, n_shards: int | None = None) -> None:
        self.client = client
        self.n_shards = n_shards
        self._sent: list[tuple[Any, Shards]] = []

    def open(self, problem: BatchProblem) -> Session:
        """Send the problem to the workers, if it is not there."""
        own = problem.one_by_one if isinstance(problem, OneByOne) else problem
        self._sent = [(held, shards) for held, shards in self._sent if held() is not None]
        for held, shards in self._sent:
            if held() is own:
                return DaskSession(self.client, shards)
        shards = Shards(self.client, own, self.n_shards)
        self._sent = [*self._sent, (ref(own), shards)][-MOST_PROBLEMS:]
        return DaskSession(self.client, shards)


class Shards:
    """The examples of a problem on the workers, and the last step of each shard."""

    def __init__(self, client: Client, problem: Problem, n_shards: int | None = None) -> None:
        # Keys go to and fro a dozen times a round, so they are short.
        self.client, self.name, self._turn = client, uuid4().hex[:6], 0
        self.vectorised = isinstance(problem, BatchProblem)
        count = n_shards or max(1, sum(client.nthreads().values()))
        self.examples = shard_bounds(problem.n_examples, count)
        parts = [None if self.vectorised else problem.part(one) for one in self.examples]
        divided = all(part is not None for part in parts)
        self._owner, self._place = np.empty((2, problem.n_examples), np.intp)
        for k, one in enumerate(self.examples):
            self._owner[one], self._place[one] = k, np.arange(len(one)) if divided else one
        with answering(client, "training: sending the examples"), warnings.catch_warnings():
            # The scheduler is to have the examples: lost shards are made from there.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            if divided:
                self._data = [
                    self._submit(Shard, "shard", k, *part)
                    for k, part in enumerate(zip(parts, self.examples, strict=True))
                ]
            else:
                self._data = [self._submit(Shard, "problem", 0, problem, None)] * len(self.examples)
        self._last: list[Any] = [None] * len(self.examples)

    def __len__(self) -> int:
        return len(self.examples)

    def owner(self, examples: Indices) -> Indices:
        """The shard of each example."""
        return np.asarray(self._owner[examples])

    def local(self, examples: Indices) -> Indices:
        """The numbers that examples have within their shards."""
        return np.asarray(self._place[examples])

    def ask(self, questions: dict[int, ShardQuestion]) -> dict[int, Any]:
        """The answers of some shards."""
        self._turn += 1
        with answering(self.client, f"training: question {self._turn}"):
            answers = self._send_questions(questions)
            for _ in as_completed(self.client, answers):
                pass
            found = self.client.gather(answers)
        return dict(zip(questions, found, strict=True))

    def _send_questions(self, questions: dict[int, ShardQuestion]) -> list[Any]:
        """The answers of shards, as they come; all questions go in one message."""
        import dask

        made, answers = dict[int, Any](), []
        for k, question in questions.items():
            name = f"{self.name}-{self._turn}-{k}"
            asked = dask.delayed(call_with_blas_limit, pure=False)(
                step, self._data[k], self._last[k], question, dask_key_name=f"step-{name}"
            )
            made[k] = asked
            answers.append(dask.delayed(answer_of, pure=False)(asked, dask_key_name=f"answer-{name}"))
        futures = self.client.compute([*made.values(), *answers], optimize_graph=False)
        self._last = [
            dict(zip(made, futures, strict=False)).get(k, last) for k, last in enumerate(self._last)
        ]
        return list(futures[len(made) :])

    def _submit(self, call: Callable[..., Any], what: str, k: int, *given: Any) -> Any:
        return self.client.submit(
            call_with_blas_limit, call, *given, key=f"{what}-{self.name}-{k}", pure=False
        )


def shard_bounds(n: int, count: int) -> list[Indices]:
    """The examples of each shard: whole pieces of a round where there are no more shards than pieces, so that
    sums over pieces are made as one process makes them.

    Pieces are dealt out to and fro: where examples become ever larger, shards do not.

    >>> [one.tolist() for one in shard_bounds(10, 3)]
    [[0, 1, 7, 8], [2, 3, 6, 9], [4, 5]]
    """
    pieces = np.array_split(np.arange(n), min(MOST_PIECES if count <= MOST_PIECES else 2 * count, n))
    count = min(count, len(pieces))
    turn, place = np.divmod(np.arange(len(pieces)), count)
    owner = np.where(turn % 2 == 0, place, count - 1 - place)
    return [np.concatenate([pieces[k] for k in np.flatnonzero(owner == shard)]) for shard in range(count)]


class DaskSession(Session):
    """A training whose oracle runs on the workers; answers of one-slack training are kept there."""

    keeps_answers = True

    def __init__(self, client: Client, shards: Shards) -> None:
        self._client, self._shards = client, shards
        self._order: list[tuple[int, int]] = []

    def separate(self, pieces: Sequence[Indices], w: Any, rule: SlackRule) -> list[Any]:
        return self._separate(pieces, ShardQuestion("separate", w, rule=rule))

    def separate_thoroughly(self, pieces: Sequence[Indices], w: Any, rule: SlackRule) -> list[Any]:
        return self._separate(pieces, ShardQuestion("separate", w, rule=rule, thorough=True))

    def _separate(self, pieces: Sequence[Indices], question: ShardQuestion) -> list[Constraints]:
        if self._shards.vectorised:
            return self._by_piece(pieces, question)
        asked = np.concatenate(pieces)
        where, found = self._by_shard(asked, question)
        whole = _stack_constraints([found[k][0] for k in where], [where[k] for k in where], len(asked))
        ends = np.cumsum([len(piece) for piece in pieces])
        spans = [slice(end - len(piece), end) for end, piece in zip(ends, pieces, strict=True)]
        return [Constraints(whole.losses[span], whole.differences[span]) for span in spans]

    def _by_piece(self, pieces: Sequence[Indices], question: ShardQuestion) -> list[Constraints]:
        """A vectorised oracle is asked for whole pieces: it rounds differently for others."""
        n = len(self._shards)
        numbers = [list(range(k, len(pieces), n)) for k in range(min(n, len(pieces)))]
        found = self._shards.ask(
            {k: _with(question, [pieces[j] for j in own]) for k, own in enumerate(numbers)}
        )
        by_number = {
            j: batch for k, own in enumerate(numbers) for j, batch in zip(own, found[k], strict=True)
        }
        return [by_number[j] for j in range(len(pieces))]

    def _by_shard(self, asked: Indices, question: ShardQuestion) -> tuple[dict[int, Indices], dict[int, Any]]:
        """Where the examples of each shard are among those asked, and its answers in that order."""
        owner = self._shards.owner(asked)
        where = {int(k): np.flatnonzero(owner == k) for k in np.unique(owner)}
        questions = {k: _with(question, [self._shards.local(asked[at])]) for k, at in where.items()}
        return where, self._shards.ask(questions)

    def separate_smoothly(self, indices: Indices, w: Floats, mu: float) -> list[Any]:
        where, found = self._by_shard(indices, ShardQuestion("smooth", w, mu=mu))
        out: list[Any] = [None] * len(indices)
        for k, at in where.items():
            for place, answer in zip(at.tolist(), found[k], strict=True):
                out[place] = answer
        return out

    def keep_answers(
        self, pieces: Sequence[Indices], weights: Floats, rule: SlackRule, size: int, C: float
    ) -> None:
        own: dict[int, list[Indices]] = {}
        order: list[tuple[int, int, int]] = []
        for number, piece in enumerate(pieces):
            owner = self._shards.owner(piece)
            for k in np.unique(owner).tolist():
                mine = own.setdefault(k, [])
                order.append((number, k, len(mine)))
                mine.append(self._shards.local(piece[owner == k]))
        self._order = [(k, place) for _, k, place in sorted(order)]
        keepings = {k: Keeping(local, weights, rule, size, C) for k, local in own.items()}
        self._shards.ask({k: ShardQuestion("keep", keeping=keeping) for k, keeping in keepings.items()})

    def ask_and_join(self, w: Any, *, thorough: bool) -> list[PieceCut]:
        return self._cuts(ShardQuestion("ask", w, thorough=thorough))

    def join(self, w: Any) -> list[PieceCut]:
        return self._cuts(ShardQuestion("join", w))

    def _cuts(self, question: ShardQuestion) -> list[PieceCut]:
        found = self._shards.ask(dict.fromkeys([k for k, _ in self._order], question))
        return [unpack_cut(found[k][place]) for k, place in self._order]

    def close(self) -> None:
        """The shards stay for the next training of the same problem, as long as it is there."""


def _with(question: ShardQuestion, pieces: Sequence[Indices]) -> ShardQuestion:
    return replace(question, pieces=pieces)


def _stack_constraints(parts: Sequence[Constraints], places: Sequence[Indices], n: int) -> Constraints:
    """The constraints of n examples from those of some of them, and where these are."""
    order = np.empty(n, np.intp)
    order[np.concatenate(places)] = np.arange(n)
    losses = np.concatenate([part.losses for part in parts])[order]
    if any(sparse.issparse(part.differences) for part in parts):
        rows = sparse.vstack([sparse.csr_array(part.differences) for part in parts], format="csr")
        return Constraints(losses, sparse.csr_array(rows)[order])
    return Constraints(losses, np.concatenate([part.differences for part in parts])[order])
