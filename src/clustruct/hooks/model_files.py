"""Model files: a JSON header and arrays in one file. No code, unless the user asks for pickle."""

from __future__ import annotations

import json
import os
import pickle
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from clustruct.ssvm import VectorSum

from .errors import HookError
from .models import KernelParm, Model, Sparm, StructModel
from .vectors import Document, Sparse

FORMAT = "clustruct hook model 1"
PLAIN = (bool, int, float, str, type(None))
CONTAINERS: dict[str, Any] = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}


class Unstorable(Exception):
    """A value that JSON and arrays cannot hold."""


class Writer:
    """Turns values into JSON, putting arrays (and pickles, where allowed) aside under a key."""

    def __init__(self, allow_pickle: bool = False) -> None:
        self.allow_pickle = allow_pickle
        self.arrays: dict[str, Any] = {}

    def encode(self, value: Any) -> Any:
        """Plain values as they are; all others as [kind, content]."""
        if type(value) in PLAIN:
            return value
        name = type(value).__name__
        if type(value) is CONTAINERS.get(name):
            return [name, [self.encode(v) for v in value]]
        if type(value) is dict:
            return ["dict", [[self.encode(k), self.encode(v)] for k, v in value.items()]]
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcSU":
            kind = "array" if isinstance(value, np.ndarray) else "scalar"
            return [kind, self._aside(np.asarray(value))]
        if isinstance(value, Sparse):
            key, values = self._aside(value.indices), self._aside(value.values)
            return ["Sparse", [key, values, value.userdefined, value.factor, value.kernel_id]]
        if isinstance(value, Document):
            whole = [value.docnum, value.slackid, value.queryid, value.costfactor]
            return ["Document", [[self.encode(s) for s in value], *whole]]
        if sparse.issparse(value):
            rows = sparse.csr_array(value)
            keys = [self._aside(a) for a in (rows.data, rows.indices, rows.indptr)]
            return ["csr", [*keys, list(rows.shape)]]
        return self._pickled(value)

    def _aside(self, array: Any) -> str:
        key = f"a{len(self.arrays)}"
        self.arrays[key] = array
        return key

    def _pickled(self, value: Any) -> Any:
        if not self.allow_pickle:
            raise Unstorable(f"a {type(value).__module__}.{type(value).__qualname__}")
        try:
            data = pickle.dumps(value)
        except Exception as error:
            raise Unstorable(f"a {type(value).__qualname__}, which cannot be pickled ({error})") from error
        return ["pickle", self._aside(np.frombuffer(data, np.uint8))]


class Reader:
    """The inverse of `Writer`. Pickles are opened only where allowed, whatever the file says of itself."""

    def __init__(self, arrays: dict[str, Any], allow_pickle: bool = False) -> None:
        self.arrays, self.allow_pickle = arrays, allow_pickle

    def decode(self, value: Any) -> Any:
        """A value from its JSON."""
        if not isinstance(value, list):
            return value
        kind, content = value
        arrays, decode = self.arrays, self.decode
        if kind in CONTAINERS:
            return CONTAINERS[kind](decode(v) for v in content)
        if kind == "dict":
            return {decode(k): decode(v) for k, v in content}
        if kind == "array":
            return arrays[content]
        if kind == "scalar":
            return arrays[content][()]
        if kind == "Sparse":
            words = zip(arrays[content[0]], arrays[content[1]], strict=True)
            return Sparse(words, *content[2:])
        if kind == "Document":
            return Document([decode(s) for s in content[0]], *content[1:])
        if kind == "csr":
            parts = tuple(arrays[key] for key in content[:3])
            return sparse.csr_array(parts, shape=tuple(content[3]))
        if kind == "pickle" and self.allow_pickle:
            return pickle.loads(arrays[content].tobytes())
        if kind == "pickle":
            raise HookError("the model file holds pickled objects: say --allow-pickle if you trust it")
        raise HookError(f"the model file holds an unknown kind of value, {kind!r}")


def unstorable(values: dict[str, Any], allow_pickle: bool) -> dict[str, str]:
    """The values that a model file cannot hold, each with what it is."""
    found = {}
    for name, value in values.items():
        try:
            Writer(allow_pickle).encode(value)
        except Unstorable as error:
            found[name] = str(error)
    return found


def write_model_file(
    path: str | Path, sm: StructModel, sparm: Sparm, allow_pickle: bool = False
) -> list[str]:
    """Write the model; the names of attributes of ``sm`` that had to be left out.

    Attributes of ``sparm`` are a convenience for the predictor: those that cannot be stored are
    left out silently.
    """
    writer = Writer(allow_pickle)
    own = sm.own_attributes()
    left_out = sorted(unstorable(own, allow_pickle))
    header = {
        "format": FORMAT,
        "size_psi": sm.size_psi,
        "attributes": {k: writer.encode(v) for k, v in own.items() if k not in left_out},
        "left_out": left_out,
        "pickled": sorted(set(unstorable(own, False)) - set(left_out)),
        "sparm": {k: writer.encode(v) for k, v in vars(sparm).items() if not unstorable({k: v}, False)},
        "kernel": asdict(sm.svm_model.kernel_parm),
        "kernel_ids": list(sm.svm_model.kernel_ids),
    }
    arrays = writer.arrays | _model_arrays(sm.svm_model)
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    path = Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(beside, "wb") as f:
            np.savez(f, header=text, **arrays)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    return left_out


def _model_arrays(model: Model) -> dict[str, Any]:
    if model.lin_weights is not None:
        return {"w": model.lin_weights}
    if model.support is None:
        return {}
    rows = sparse.csr_array(model.support.vectors)
    return {
        "alpha": model.support.coefficients,
        "parts": model.support.part_ids,
        "support_data": rows.data,
        "support_indices": rows.indices,
        "support_indptr": rows.indptr,
        "support_shape": np.array(rows.shape),
    }


def read_model_file(
    path: str | Path, sparm: Sparm, allow_pickle: bool = False
) -> tuple[StructModel, list[str]]:
    """Read a model and the names left out of it. ``sparm`` gets the parameters of the training."""
    header, arrays = _read(Path(path))
    if header["pickled"] and not allow_pickle:
        names = ", ".join(f"sm.{name}" for name in header["pickled"])
        raise HookError(
            f"{path} holds pickled objects ({names}), and reading these can run any code. "
            "If you trust where the file comes from, say --allow-pickle."
        )
    reader = Reader(arrays, allow_pickle)
    for name, value in header["sparm"].items():
        setattr(sparm, name, reader.decode(value))
    sm = StructModel(KernelParm(**header["kernel"]))
    sm.size_psi = header["size_psi"]
    sm.svm_model = _model(header, arrays, sm.svm_model.kernel_parm)
    for name, value in header["attributes"].items():
        try:
            setattr(sm, name, reader.decode(value))
        except (AttributeError, ImportError, pickle.UnpicklingError) as error:
            raise HookError(f"{path}: sm.{name} cannot be read: {error}") from error
    return sm, header["left_out"]


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    if not path.is_file():
        raise HookError(f"there is no model file {path}")
    try:
        with open(path, "rb") as f, np.load(f, allow_pickle=False) as held:
            arrays = {name: held[name] for name in held.files}
        header = json.loads(bytes(arrays.pop("header")).decode())
    except (OSError, ValueError, KeyError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise HookError(f"{path} is not a model file of clustruct-learn, or it is damaged") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise HookError(f"{path} is not a model file of clustruct-learn, or of another version")
    return header, arrays


def _model(header: dict[str, Any], arrays: dict[str, Any], parm: KernelParm) -> Model:
    if "w" in arrays:
        return Model(parm, arrays["w"], tuple(header["kernel_ids"]))
    if "alpha" not in arrays:
        return Model(parm)
    parts = tuple(arrays[f"support_{name}"] for name in ("data", "indices", "indptr"))
    vectors = sparse.csr_array(parts, shape=tuple(arrays["support_shape"].tolist()))
    return Model(parm, support=VectorSum(arrays["alpha"], vectors, arrays["parts"]))
