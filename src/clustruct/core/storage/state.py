"""The state of an object: the fields of a dataclass, or what an estimator was given and has learned.

Whatever comes from a file is checked against a hint before an object is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustruct.core.blas import LimitsBlas
from clustruct.core.exceptions import ModelFileError

from .encoding import entry_of

Sizes = dict[str, int]
NUMBERS: Mapping[object, tuple[type, ...]] = {
    int: (int, np.integer),
    float: (int, float, np.integer, np.floating),
}


@dataclass(frozen=True)
class Shape:
    """A hint for arrays: finite numbers of one kind, in this shape.

    A word stands for one size wherever it appears in the hints of an object; None stands for any size.
    """

    sizes: tuple[int | str | None, ...]
    of: type[Any] = np.floating

    def admits(self, value: object, known: Sizes) -> bool:
        """Whether the array fits the sizes known so far; those it is the first to name are noted."""
        if not isinstance(value, np.ndarray) or value.ndim != len(self.sizes):
            return False
        for size, wanted in zip(value.shape, self.sizes, strict=True):
            if (known.setdefault(wanted, size) if isinstance(wanted, str) else wanted) not in (None, size):
                return False
        return _holds(value, self.of)


def fits(value: object, hint: object, known: Sizes | None = None) -> bool:
    """Whether the value is what the hint says: floats may be integers, arrays have no NaN and no infinity.

    A tuple of hints names alternatives, as a union of types does. A string is the name by which files know a
    class, which need not have been imported.

    >>> fits(1, float), fits(True, int), fits((1, 2.5), tuple[float, ...]), fits("a", Literal["a"] | None)
    (True, False, True, True)
    """
    hint = resolve_hint(hint)
    if isinstance(hint, Shape):
        return hint.admits(value, {} if known is None else known)
    if isinstance(hint, tuple):
        return any(fits(value, one, known) for one in hint)
    if isinstance(hint, str):
        entry = entry_of(type(value))
        return entry is not None and entry.name == hint
    if hint is Any:
        return True
    if hint in (None, NoneType):
        return value is None
    if hint in NUMBERS:
        return isinstance(value, NUMBERS[hint]) and not isinstance(value, bool) and _is_usual(value)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, one, known) for one in inner)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in inner)
    if origin is tuple:
        return isinstance(value, tuple) and _members_fit(value, inner)
    if origin in (list, dict):
        return isinstance(value, origin) and _held_fit(value, inner)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _holds(value, get_args(inner[1])[0])
    wanted = origin or hint
    return isinstance(wanted, type) and isinstance(value, wanted)


def resolve_hint(hint: object) -> object:
    """What an alias made by ``type`` (Python 3.12) stands for: NumPy's NDArray is one from 2.5 on."""
    origin: Any = get_origin(hint)
    if hasattr(origin, "__value__"):
        return origin.__value__[get_args(hint)]
    return getattr(hint, "__value__", hint)


def _is_usual(value: object) -> bool:
    """Not a whole number that no array could hold: JSON has them of any length."""
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def _members_fit(value: tuple[object, ...], inner: tuple[object, ...]) -> bool:
    if inner[-1] is Ellipsis:
        return all(fits(v, inner[0]) for v in value)
    return len(value) == len(inner) and all(fits(v, h) for v, h in zip(value, inner, strict=True))


def _held_fit(value: list[object] | dict[object, object], inner: tuple[object, ...]) -> bool:
    if isinstance(value, list):
        return all(fits(v, inner[0]) for v in value)
    return all(fits(k, inner[0]) and fits(v, inner[1]) for k, v in value.items())


def _holds(value: NDArray[Any], of: type[Any]) -> bool:
    if of is np.object_:
        return value.dtype == object and all(isinstance(v, str) for v in value.ravel())
    return np.issubdtype(value.dtype, of) and (value.dtype.kind not in "fc" or bool(np.isfinite(value).all()))


def is_matrix(value: object, rows: int) -> bool:
    """Whether the value is a matrix of so many rows of finite floats, dense or CSR."""
    if isinstance(value, sparse.csr_array):
        return value.shape[0] == rows and _holds(value.data, np.floating)
    return Shape((rows, None)).admits(value, {})


class DataclassState:
    """``state()`` and ``from_state()`` for a dataclass: the fields, checked against their annotations.

    A field that takes no part in comparisons (``compare=False``) is not kept. A field ``tuple[D, ...]`` of a
    dataclass D of numbers, a history, is kept by column.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Point(DataclassState):
    ...     x: float
    ...     name: str = ""
    >>> Point(2.0, "p").state(), Point.from_state({"x": 1.0, "name": "q"})
    ({'x': 2.0, 'name': 'p'}, Point(x=1.0, name='q'))
    >>> Point.from_state({"x": "1.0", "name": "q"})
    Traceback (most recent call last):
    ...
    ValueError: x of Point cannot be '1.0'
    """

    def state(self) -> dict[str, Any]:
        """The fields by name."""
        hints = get_type_hints(type(self))
        return {f.name: _to_columns(getattr(self, f.name), hints[f.name]) for f in _stored_fields(type(self))}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The object of a state; ValueError where it is not one."""
        names, hints = [f.name for f in _stored_fields(cls)], get_type_hints(cls)
        if set(state) != set(names):
            raise ValueError(
                f"a {cls.__name__} has {', '.join(names) or 'no fields'}, not {', '.join(state)}"
            )
        values = {name: _from_columns(state[name], hints[name]) for name in names}
        for name, value in values.items():
            if not fits(value, hints[name]):
                raise ValueError(f"{name} of {cls.__name__} cannot be {value!r:.60}")
        return cls(**values)


def _stored_fields(cls: Any) -> list[Field[Any]]:
    return [f for f in fields(cls) if f.compare]


def _row_class(hint: object) -> Any:
    """D of a hint tuple[D, ...] with a dataclass D that is no object of its own, else None."""
    inner = get_args(hint) if get_origin(hint) is tuple else ()
    rows = len(inner) == 2 and inner[1] is Ellipsis and is_dataclass(inner[0])
    return inner[0] if rows and not issubclass(inner[0], DataclassState) else None


def _to_columns(value: Any, hint: object) -> Any:
    cls = _row_class(hint)
    if cls is None:
        return value
    hints = get_type_hints(cls)
    return {
        f.name: np.array([getattr(row, f.name) for row in value], hints[f.name]) for f in _stored_fields(cls)
    }


def _from_columns(value: Any, hint: object) -> Any:
    cls = _row_class(hint)
    if cls is None:
        return value
    hints, columns = get_type_hints(cls), {f.name: value[f.name] for f in _stored_fields(cls)}
    for name, column in columns.items():
        if not isinstance(column, np.ndarray) or column.ndim != 1 or column.dtype != hints[name]:
            raise ValueError(f"{name} of the history does not fit")
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return tuple(cls(**dict(zip(columns, row, strict=True))) for row in rows)


# Searches from more starts than this are nobody's wish: a file that asks for them would stall `predict`.
MOST_STARTS = 10_000
# What every estimator knows of the features it was fitted to.
FEATURES: Mapping[str, Any] = {
    "n_features_in_": int,
    "feature_names_in_": (Shape(("n_features_in_",), np.object_), None),
}


class EstimatorState(LimitsBlas):
    """``state()`` and ``from_state()`` for what has scikit-learn's parameters and learns something.

    ``fitted`` names the attributes that `fit` sets, each with a hint: a type, or a `Shape` of finite numbers
    in which the name of an integer parameter or attribute stands for its value. An attribute may be absent
    where its hint admits None. Parameters and attributes that hang together are checked by
    `check_parameters` and `check_attributes`: a file may come from anyone.
    """

    fitted: ClassVar[Mapping[str, Any]] = {}
    # How many processes and how much memory to use, what to print and where to keep a checkpoint is a matter
    # of the machine, not of the model.
    not_stored: ClassVar[tuple[str, ...]] = ("n_jobs", "verbose", "memory_limit", "checkpoint")

    def check_parameters(self) -> None:
        """ValueError that names a parameter which is not what it must be."""

    def check_attributes(self) -> None:
        """ValueError where the learned attributes do not fit the parameters or each other."""

    def state(self) -> dict[str, Any]:
        """Parameters and what was learned: all that a file keeps."""
        held = {name: getattr(self, name) for name in self.fitted if hasattr(self, name)}
        for name, hint in self.fitted.items():
            if name not in held and not fits(None, hint):
                raise ModelFileError(f"this {type(self).__name__} is not fitted: it has no {name}")
        return {"parameters": _parameters(self), "learned": held}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The fitted object of a state; ValueError where it is not one."""
        try:
            self = cls(**state["parameters"])
            self.check_parameters()
            _check_chance(state["parameters"])
            _set(self, state["learned"])
            self.check_attributes()
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"the state of a {cls.__name__} is damaged: {error!r}") from None
        return self


def _parameters(estimator: Any) -> dict[str, Any]:
    held = estimator.get_params(deep=False)
    return {name: value for name, value in held.items() if name not in estimator.not_stored}


def _set(estimator: EstimatorState, learned: Mapping[str, Any]) -> None:
    sizes = {name: value for name, value in _parameters(estimator).items() if type(value) is int}
    for name, hint in estimator.fitted.items():
        value = learned.get(name)
        if not fits(value, hint, sizes) or (isinstance(value, float) and not np.isfinite(value)):
            raise ValueError(f"{name} of a {type(estimator).__name__} does not fit")
        if name in learned:
            setattr(estimator, name, value)
        if type(value) is int:
            sizes[name] = value


def _check_chance(parameters: Mapping[str, Any]) -> None:
    starts, seed = parameters.get("n_init", 1), parameters.get("random_state")
    chance = fits(seed, int | None) and (seed is None or seed >= 0)
    if not fits(starts, int) or starts > MOST_STARTS or not chance:
        raise ValueError(f"n_init and random_state cannot be {starts!r:.60} and {seed!r:.60}")
