"""What runs on the workers in training: some of the examples, asked round by round.

A step is a function of the examples, of what was remembered of the step before, and of a question. So an
engine that has lost a worker makes the same steps again elsewhere, and comes to the same answers.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from clustruct.core.typing import Floats, Indices
from clustruct.losses.slack_rule import SlackRule
from clustruct.ssvm import Constraints, Problem
from clustruct.ssvm.separation import KeptAnswers, PieceCut, Separation, batch_form, check_answers, check_size


class Shard:
    """Some of the examples of a problem, where their oracle runs; ``examples`` has their numbers in the whole
    problem, None where ``problem`` is the whole.
    """

    def __init__(self, problem: Problem, examples: Indices | None) -> None:
        # Arrays that came over a wire lie anywhere; products round as in one process where they are aligned.
        self.problem, self.examples = deepcopy(problem), examples
        self.batch = batch_form(self.problem)
        self._size = held_bytes(self.problem)

    def __reduce__(self) -> Any:
        """From a wire or a disk it comes back by way of ``__init__``, with arrays that are aligned."""
        return Shard, (self.problem, self.examples)

    def __sizeof__(self) -> int:
        """Dask puts values on disk by their size, and would take this one for that of an empty object."""
        return self._size

    def numbers(self, local: Indices) -> Indices:
        """The numbers of examples in the whole problem."""
        return local if self.examples is None else self.examples[local]


def held_bytes(thing: Any) -> int:
    """How much memory a value takes with all that it holds.

    >>> held_bytes([np.zeros(1000), np.zeros(500)]) // 1000
    12
    """
    arrays = list[pickle.PickleBuffer]()
    rest = pickle.dumps(thing, protocol=5, buffer_callback=arrays.append)
    return len(rest) + sum(array.raw().nbytes for array in arrays)


@dataclass(frozen=True)
class Keeping:
    """Which pieces of a shard's examples are asked in one-slack training, and how many answers are kept."""

    pieces: Sequence[Indices]
    weights: Floats
    rule: SlackRule
    size: int
    C: float


@dataclass(frozen=True, slots=True)  # sent every round: with slots no names of fields go with it
class ShardQuestion:
    """What a step is asked. ``pieces`` are local numbers of examples.

    "separate": constraints of each piece; "smooth": answers of each example; "keep": nothing, but answers are
    kept from now on; "ask": all pieces that are kept, and what they add to the joint constraint at w; "join":
    the same from kept answers alone.
    """

    kind: Literal["separate", "smooth", "keep", "ask", "join"]
    w: Any = None
    pieces: Sequence[Indices] = ()
    rule: SlackRule | None = None
    thorough: bool = False
    mu: float = 0.0
    keeping: Keeping | None = None


class Memory(NamedTuple):
    """What a shard knows after a step: the oracle's own memory, what is kept, and kept rounds."""

    oracle: Any = None
    keeping: Keeping | None = None
    rounds: tuple[Sequence[Separation[Any]], ...] = ()


class Step(NamedTuple):
    """What a shard knows after a question, and its answer."""

    memory: Memory
    answer: Any


def step(shard: Shard, before: Step | None, question: ShardQuestion) -> Step:
    """Answer a question, from what is remembered of the step before."""
    memory = Memory() if before is None else before.memory
    if memory.oracle is not None:
        shard.problem.remember(memory.oracle)
    memory, answer = _answer(shard, memory, question)
    return Step(memory._replace(oracle=shard.problem.memory()), answer)


def answer_of(made: Step) -> Any:
    """What goes back to who asked."""
    return made.answer


def _answer(shard: Shard, memory: Memory, question: ShardQuestion) -> tuple[Memory, Any]:
    if question.kind == "separate":
        return memory, [_separate(shard, piece, question) for piece in question.pieces]
    if question.kind == "smooth":
        (local,) = question.pieces
        return memory, [shard.batch.separate_smoothly(int(i), question.w, question.mu) for i in local]
    if question.kind == "keep":
        return memory._replace(keeping=question.keeping, rounds=()), None
    return _join(shard, memory, question)


def _separate(shard: Shard, piece: Indices, question: ShardQuestion) -> Constraints:
    assert question.rule is not None
    ask = shard.batch.separate_batch_thoroughly if question.thorough else shard.batch.separate_batch
    return plain(ask(piece, question.w, question.rule))


def _join(shard: Shard, memory: Memory, question: ShardQuestion) -> tuple[Memory, Any]:
    keeping = memory.keeping
    assert keeping is not None
    kept = KeptAnswers[Any](keeping.weights, keeping.rule, keeping.size)
    kept.rounds = deque(memory.rounds, maxlen=kept.rounds.maxlen)
    if question.kind == "ask":
        asked, found = replace(question, rule=keeping.rule), []
        for piece in keeping.pieces:
            batch = _separate(shard, piece, asked)
            if not memory.rounds:
                check_size(batch, keeping.C, keeping.rule)
            found.append(check_answers(shard.numbers(piece), batch, question.w, keeping.rule))
        kept.rounds.append(found)
    return memory._replace(rounds=tuple(kept.rounds)), pack_cuts(kept.joint(question.w), len(question.w))


def pack_cuts(cuts: Sequence[PieceCut], size: int) -> Floats:
    """Cuts as rows of one array, which is sent with less around it: whether there is a vector, b, risk,
    vector.
    """
    rows = np.zeros((len(cuts), 3 + size))
    for row, cut in zip(rows, cuts, strict=True):
        row[:3] = cut.vector is not None, cut.b, cut.risk
        row[3:] = 0.0 if cut.vector is None else cut.vector
    return rows


def unpack_cut(row: Floats) -> PieceCut:
    """The cut of a row.

    >>> unpack_cut(pack_cuts([PieceCut(np.array([1.0, 2.0]), 3.0, 4.0)], 2)[0])
    PieceCut(vector=array([1., 2.]), b=3.0, risk=4.0)
    """
    return PieceCut(row[3:] if row[0] else None, float(row[1]), float(row[2]))


def plain(batch: Any) -> Constraints:
    """Constraints that can be sent: losses and rows, without what they were made from."""
    if isinstance(batch, Constraints):
        return batch
    rows = batch.rows(np.arange(len(batch.losses)))
    rows = rows if sparse.issparse(rows) or isinstance(rows, np.ndarray) else rows.tocsr()
    return Constraints(np.asarray(batch.losses, float), rows)
