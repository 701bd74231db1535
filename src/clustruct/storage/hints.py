"""Whether a value from a file is of the kind that a type hint names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

__all__ = ["Shape", "fits"]

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

    A tuple of hints names alternatives, as a union of types does.

    >>> fits(1, float), fits(True, int), fits((1, 2.5), tuple[float, ...]), fits("a", Literal["a"] | None)
    (True, False, True, True)
    """
    if isinstance(hint, Shape):
        return hint.admits(value, {} if known is None else known)
    if isinstance(hint, tuple):
        return any(fits(value, one, known) for one in hint)
    if hint is Any:
        return True
    if hint in (None, NoneType):
        return value is None
    if hint in NUMBERS:
        return isinstance(value, NUMBERS[hint]) and not isinstance(value, bool)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, one, known) for one in inner)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in inner)
    if origin is tuple:
        return isinstance(value, tuple) and _members_fit(value, inner)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _holds(value, get_args(inner[1])[0])
    wanted = origin or hint
    return isinstance(wanted, type) and isinstance(value, wanted)


def _members_fit(value: tuple[object, ...], inner: tuple[object, ...]) -> bool:
    if inner[-1] is Ellipsis:
        return all(fits(v, inner[0]) for v in value)
    return len(value) == len(inner) and all(fits(v, h) for v, h in zip(value, inner, strict=True))


def _holds(value: NDArray[Any], of: type[Any]) -> bool:
    if of is np.object_:
        return value.dtype == object and all(isinstance(v, str) for v in value.ravel())
    return np.issubdtype(value.dtype, of) and (value.dtype.kind not in "fc" or bool(np.isfinite(value).all()))
