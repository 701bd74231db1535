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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustruct._typing import Floats
from clustruct.exceptions import ModelFileError
from clustruct.ssvm import VectorSum
from clustruct.storage import DataclassState, read, register, save
from clustruct.storage.values import Unstorable, encode, register_foreign

from .errors import HookError
from .svmapi import Document, KernelParm, Model, Sparm, Sparse, StructModel

Attributes = dict[str, Any]


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
        """The model, without the attributes that are pickled."""
        sm = StructModel(KernelParm(**self.kernel))
        sm.size_psi = self.size_psi
        sm.svm_model = Model(sm.svm_model.kernel_parm, self.w, self.kernel_ids, self.support)
        vars(sm).update(self.attributes)
        return sm


def _sparse_state(vector: Sparse) -> Attributes:
    whole = {name: getattr(vector, name) for name in ("userdefined", "factor", "kernel_id")}
    return {"indices": vector.indices, "values": vector.values, **whole}


def _sparse(state: Mapping[str, Any]) -> Sparse:
    words = list(zip(state["indices"].tolist(), state["values"].tolist(), strict=True))
    return Sparse(words, state["userdefined"], state["factor"], state["kernel_id"])


register_foreign("hook vector", Sparse, _sparse_state, _sparse)
register_foreign("hook document", Document, lambda document: dict(vars(document)), lambda s: Document(**s))


def unstorable(values: Mapping[str, Any], allow_pickle: bool) -> dict[str, str]:
    """The values that a model file cannot hold, each with what it is."""
    found = {}
    for name, value in values.items():
        try:
            encode(value, [])
        except Unstorable as error:
            why = _not_pickled(value) if allow_pickle else ""
            if why is not None:
                found[name] = error.what + why
    return found


def _not_pickled(value: object) -> str | None:
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
        raise HookError(f"{path} is not a model file of clustruct-learn ({reason})") from error
    if held.pickled and not allow_pickle:
        names = ", ".join(f"sm.{name}" for name in held.pickled)
        raise HookError(
            f"{path} holds pickled objects ({names}), and reading these can run any code. "
            "If you trust where the file comes from, say --allow-pickle."
        )
    for name, data in held.pickled.items():
        try:
            setattr(sm, name, pickle.loads(data.tobytes()))
        except (AttributeError, ImportError, pickle.UnpicklingError) as error:
            raise HookError(f"{path}: sm.{name} cannot be read: {error}") from error
    vars(sparm).update(held.sparm)
    return sm, held.left_out
