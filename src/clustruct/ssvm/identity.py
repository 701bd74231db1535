"""Which training a checkpoint belongs to: its settings, and digests of its data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np

from clustruct.core.storage import DataclassState, digest, register

from .problem import BatchProblem
from .separation import Session
from .solvers.base import Solver, Task


@register("Identity")
@dataclass(frozen=True)
class Identity(DataclassState):
    """Settings as they are, and of what is too large to be shown a digest, by name.

    Attributes
    ----------
    settings : dict
        Settings by name.
    digests : dict
        Digests of data by name.
    """

    settings: dict[str, Any]
    digests: dict[str, str]

    def differences(self, here: Identity) -> str:
        """What is not the same here, in words; empty where all is."""
        said = [
            f"its {name} is {_shown(self.settings, name)}, here it is {_shown(here.settings, name)}"
            for name in _unequal(self.settings, here.settings)
        ]
        others = _unequal(self.digests, here.digests)
        return "; ".join(said + ([f"not the same {', '.join(others)}"] if others else []))


def _unequal(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    both = dict.fromkeys([*other, *one])
    return [n for n in both if n not in one or n not in other or not _same(one[n], other[n])]


def _same(one: object, other: object) -> bool:
    """Of another kind: not the same, whatever its own comparison says."""
    return type(one) is type(other) and bool(one == other)


def _shown(settings: Mapping[str, Any], name: str) -> str:
    return f"{settings[name]!s:.60}" if name in settings else "not known"


def identity_of(task: Task, solver: Solver, session: Session) -> Identity:
    """What a checkpoint of this training says of it.

    How long it may run, in how many processes, and what it is started from are left out: a run may be
    taken up with more time.
    """
    settings = {
        "n_examples": len(task.weights),
        "n_features": len(task.conditions.prior),
        "C": task.C,
        "epsilon": task.epsilon,
        "rtol": task.rtol,
        "formulation": solver.name,
        "solver": repr(solver) if is_dataclass(solver) else solver.name,
        "scaling": task.rule.scaling,
        "slack_norm": task.rule.norm,
        "cache_size": task.cache_size,
    }
    held = task.conditions
    digests = {
        "sample_weight": digest(task.weights),
        "constraints": digest(held.low, held.high, held.A, held.lower),
        "prior": digest(held.prior),
        "random_state": digest(task.rng.bit_generator.state),
    }
    return Identity(settings, dict(_of_problem(task, session)) | digests)


def _of_problem(task: Task, session: Session) -> Mapping[str, str]:
    """What the problem says of itself, or else its truths and what its oracle answers at the start."""
    problem = task.problem
    if (own := problem.identity()) is not None:
        return own
    found = {}
    if not isinstance(problem, BatchProblem):
        truths = [problem.joint_feature(i, problem.truth(i)) for i in range(problem.n_examples)]
        found["truths"] = digest(*(_plain(psi) for psi in truths))
    (batch,) = session.separate([task.examples], task.conditions.clip(task.conditions.prior), task.rule)
    rows = batch.rows(np.arange(len(task.examples)))
    rows = rows.tocsr() if hasattr(rows, "tocsr") else np.asarray(rows)
    found["first answers"] = digest(np.asarray(batch.losses, float), rows)
    return found


def _plain(psi: Any) -> Any:
    """A joint feature vector as digests take it."""
    return psi if hasattr(psi, "tocsr") else np.asarray(psi, float)
