"""Model files of hook modules: no code, unless the user asks for pickle.

A file holds the weights or support vectors, the kernel, the parameters of the training, and what the module
has set on ``sm``: numbers, strings, lists, tuples, sets, dicts, arrays, `Sparse` and `Document`. Other
attributes are pickled, each as a whole, where that is allowed, and left out where it is not.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_type_hints

import numpy as np
from numpy.typing import NDArray

from clustruct.core.exceptions import ModelFileError
from clustruct.core.storage import DataclassState, Shape, fits, read, register, save
from clustruct.core.storage.encoding import Unstorable, encode, register_foreign
from clustruct.core.typing import Floats
from clustruct.ssvm import VectorSum

from .modules import HookError, HookModelError
from .svmapi import Document, KernelParm, Model, Sparm, Sparse, StructModel

Attributes = dict[str, Any]
# What a file says, and of which kind it must be. A module may add what it likes to sparm.
TRAINING = dict.fromkeys(("c", "epsilon", "loss_type", "slack_norm", "alg_type", "ccache_size"), float)
KERNEL = {**get_type_hints(KernelParm), "kernel_type": Literal[0, 1, 2, 3]}
VECTOR = {
    "indices": Shape((None,), np.integer),
    "values": Shape((None,)),
    "userdefined": str,
    "factor": float,
    "kernel_id": int,
}
DOCUMENT = {
    "sparses": list[Sparse],
    "docnum": int,
    "slackid": int | None,
    "queryid": int,
    "costfactor": float,
}
# No number of a model is as large.
HUGE = 1e300


@register("hook model")
@dataclass(frozen=True)
class HookModel(DataclassState):
    """What a model file of ``clustruct-learn`` holds. Pickles stay closed."""

    size_psi: int | None
    attributes: Attributes
    pickled: dict[str, NDArray[np.uint8]]
    left_out: list[str]
    sparm: Attributes
    kernel: Attributes
    kernel_ids: tuple[int, ...]
    w: Floats | None
    support: VectorSum | None

    def __post_init__(self) -> None:
        taken = {*self.attributes, *self.pickled} & set(dir(StructModel()))
        if taken:
            raise ValueError(f"sm.{min(taken)} is not an attribute that a module may set")

    def model(self) -> StructModel:
        """The model, without the attributes that are pickled; ValueError where it is none."""
        self._check()
        sm = StructModel(KernelParm(**self.kernel))
        sm.size_psi = self.size_psi
        sm.svm_model = Model(sm.svm_model.kernel_parm, self.w, self.kernel_ids, self.support)
        vars(sm).update(self.attributes)
        return sm

    def _check(self) -> None:
        # When a file is read, not when it is written: a module may have set anything, and has been trained.
        if self.size_psi is not None and not 1 <= self.size_psi < 2**63:
            raise ValueError(f"size_psi cannot be {self.size_psi!r:.60}")
        if (self.w is None) == (self.support is None):
            raise ValueError("it has neither weights nor support vectors, or both")
        blocks = len(set(self.kernel_ids))
        if blocks != len(self.kernel_ids) or not blocks:
            raise ValueError("kernel_ids must be numbers, each once")
        if self.w is not None and (self.w.ndim != 1 or len(self.w) % blocks):
            raise ValueError("w must have as many weights for each of kernel_ids")
        _check(self.kernel, KERNEL, "kernel")
        _check(self.sparm, TRAINING, "sparm")


def _check(held: Mapping[str, Any], hints: Mapping[str, Any], what: str) -> None:
    """ValueError where a value is missing, of another kind, or not finite."""
    for name, hint in hints.items():
        value: Any = held.get(name)
        number = isinstance(value, int | float | np.number)
        if not fits(value, hint) or (number and not -HUGE < value < HUGE):
            raise ValueError(f"{name} of {what} cannot be {value!r:.60}")


def _sparse_state(vector: Sparse) -> Attributes:
    return {name: getattr(vector, name) for name in VECTOR}


def _sparse(state: Mapping[str, Any]) -> Sparse:
    _check(state, VECTOR, "a vector")
    words = list(zip(state["indices"].tolist(), state["values"].tolist(), strict=True))
    return Sparse(words, state["userdefined"], state["factor"], state["kernel_id"])


def _document(state: Mapping[str, Any]) -> Document:
    _check(state, DOCUMENT, "a document")
    return Document(**state)


register_foreign("hook vector", Sparse, _sparse_state, _sparse)
register_foreign("hook document", Document, lambda document: dict(vars(document)), _document)


def unstorable(values: Mapping[str, Any], allow_pickle: bool) -> dict[str, str]:
    """The values that a model file cannot hold, each with what it is."""
    found = {}
    for name, value in values.items():
        try:
            encode(value, [])
        except Unstorable as error:
            why = _why_no_pickle(value) if allow_pickle else ""
            if why is not None:
                found[name] = error.what + why
    return found


def _why_no_pickle(value: object) -> str | None:
    """Why the value cannot be pickled; None where it can."""
    try:
        pickle.dumps(value)
    except Exception as error:
        return f", which cannot be pickled ({error})"
    return None


def write_model_file(
    path: str | Path, sm: StructModel, sparm: Sparm, allow_pickle: bool = False
) -> list[str]:
    """Write the model; the names of attributes of ``sm`` that had to be left out.

    Attributes of ``sparm`` are a convenience for the predictor: those that cannot be stored are
    left out silently.
    """
    own, model = sm.own_attributes(), sm.svm_model
    foreign, left_out = unstorable(own, False), sorted(unstorable(own, allow_pickle))
    opened = set(foreign) - set(left_out)
    held = HookModel(
        size_psi=sm.size_psi,
        attributes={name: value for name, value in own.items() if name not in foreign},
        pickled={name: np.frombuffer(pickle.dumps(own[name]), np.uint8) for name in sorted(opened)},
        left_out=left_out,
        sparm={name: value for name, value in vars(sparm).items() if not unstorable({name: value}, False)},
        kernel=dict(vars(model.kernel_parm)),
        kernel_ids=model.kernel_ids,
        w=model.lin_weights,
        support=model.support,
    )
    save(path, held)
    return left_out


def read_model_file(
    path: str | Path, sparm: Sparm, allow_pickle: bool = False
) -> tuple[StructModel, list[str]]:
    """Read a model and the names left out of it. ``sparm`` gets the parameters of the training."""
    if not Path(path).is_file():
        raise HookError(f"there is no model file {path}")
    try:
        held = read(path, HookModel).object
        sm = held.model()
    except (ModelFileError, TypeError, ValueError) as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise HookModelError(f"{path} is not a model file of clustruct-learn ({reason})") from error
    if held.pickled and not allow_pickle:
        names = ", ".join(f"sm.{name}" for name in held.pickled)
        raise HookError(
            f"{path} holds pickled objects ({names}), and reading these can run any code. "
            "If you trust where the file comes from, say --allow-pickle."
        )
    for name, data in held.pickled.items():
        try:
            setattr(sm, name, pickle.loads(data.tobytes()))
        except Exception as error:  # what a damaged pickle upsets can be anything
            raise HookModelError(f"{path}: sm.{name} cannot be read: {error}") from error
    vars(sparm).update(held.sparm)
    return sm, held.left_out
