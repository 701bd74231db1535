"""Plain values of cases: made, written, compared."""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy import linalg

FILE = Path(__file__).with_name("golden.json")
# The cases that a mended defect changed, as they are since.
MENDED = Path(__file__).with_name("mended.json")
WIDTH = 110
CASES = {}


def case(function):
    """Note a function as a case, under its name."""
    CASES[function.__name__] = function
    return function


def plain(value):
    """JSON values only; what is not finite becomes a word."""
    if hasattr(value, "toarray"):
        value = value.toarray()
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [plain(held) for held in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def computed(name):
    """The values of a case as they are today."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return plain(CASES[name]())


def written(file=FILE):
    """The values of all cases as they were."""
    return json.loads(file.read_text())["cases"]


def write(values, file=FILE):
    """Keep the values of all cases, and what they were made with."""
    parts = [f"{json.dumps(name)}: {text_of(values[name], 2)}" for name in CASES if name in values]
    cases = ",\n".join(f"  {part}" for part in parts)
    file.write_text(f'{{\n "made_with": {text_of(made_with(), 1)},\n "cases": {{\n{cases}\n }}\n}}\n')


def made_with():
    """The versions of the libraries, and a fingerprint of how sums are rounded here."""
    rng = np.random.default_rng(0)
    bits = hashlib.sha256()
    for m in (3, 5, 12, 18, 40, 91):
        A = rng.normal(size=(m, m))
        S = A + A.T
        values = [A @ A, A @ A[0], A[0] @ A[1], S.sum(axis=0), np.exp(A), np.linalg.solve(A, S)]
        values += [*linalg.eigh(S), linalg.cholesky(A @ A.T + m * np.eye(m)), linalg.blas.ddot(A[0], A[1])]
        for value in values:
            bits.update(np.ascontiguousarray(value).tobytes())
    libraries = ("numpy", "scipy", "scikit-learn", "numba", "piqp", "highspy")
    return {"rounding": bits.hexdigest()[:16], **{name: version(name) for name in libraries}}


def same_arithmetic():
    """Whether numbers are rounded here as they were for the record."""
    # From Python 3.12 on `sum` rounds once, not at every step as in the Python of the record.
    return json.loads(FILE.read_text())["made_with"] == made_with() and sum([0.1] * 10) != 1.0


def text_of(value, indent=0):
    """JSON with short values on one line, and long lists of numbers filled like text."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= WIDTH or not isinstance(value, dict | list):
        return flat
    inner = " " * (indent + 1)
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {text_of(held, indent + 1)}" for key, held in value.items()]
        return "{\n" + ",\n".join(inner + part for part in parts) + "\n" + " " * indent + "}"
    parts = [text_of(held, indent + 1) for held in value]
    lines = [""]
    for number, part in enumerate(parts):
        part += "," if number < len(parts) - 1 else ""
        if lines[-1] and len(lines[-1]) + len(part) + indent + 2 > WIDTH:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + part
    return "[\n" + "\n".join(inner + line for line in lines) + "\n" + " " * indent + "]"


def differences(old, new, tol, where=""):
    """(where, how much, what) of each value that differs; how much is infinite for what is no number."""
    if _number(old) and _number(new):
        size = abs(old - new) / max(1.0, abs(old), abs(new))
        return [(where, size, f"{old!r} is now {new!r}")] if size > tol else []
    if type(old) is not type(new):
        return [(where, math.inf, f"{_short(old)} is now {_short(new)}")]
    if isinstance(old, dict):
        found = [(f"{where}/{key}", math.inf, "is gone") for key in old if key not in new]
        found += [(f"{where}/{key}", math.inf, "is new") for key in new if key not in old]
        for key in old:
            if key in new:
                found += differences(old[key], new[key], tol, f"{where}/{key}")
        return found
    if isinstance(old, list):
        if len(old) != len(new):
            return [(where, math.inf, f"{len(old)} entries are now {len(new)}")]
        pairs = enumerate(zip(old, new, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, tol, f"{where}[{i}]")]
    return [] if old == new else [(where, math.inf, f"{_short(old)} is now {_short(new)}")]


def largest(old, new):
    """The largest relative difference of two numbers in the same place."""
    sizes = [size for _, size, _ in differences(old, new, 0.0)]
    return max(sizes, default=0.0)


def _number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(value):
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
