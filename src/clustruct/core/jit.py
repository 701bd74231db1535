"""How kernels are compiled: once for a machine where the code can be kept, else once for each start.

Numba keeps compiled code beside the source, in the user's cache folder, or where the environment variable
NUMBA_CACHE_DIR says. Where none of these can be written to (a read-only installation, a user without a home)
numba refuses to define the function at all; and a kept file that is damaged, or one that a full disk does
not take, ends the call of the kernel. None of this is a reason not to compute.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import cache
from typing import Any, TypeVar

from numba import njit
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache

from .callbacks import compiling

F = TypeVar("F", bound=Callable[..., Any])


class Compilations(event.Listener):
    """Reports compilations: the first start on a machine spends most of its time on them.

    Numba compiles under a lock, so that there is one compilation at a time, and those within it.
    """

    depth = 0
    outermost: AbstractContextManager[None]

    def on_start(self, event: event.Event) -> None:
        """A function is about to be compiled."""
        self.depth += 1
        if self.depth == 1:
            self.outermost = compiling()
            self.outermost.__enter__()

    def on_end(self, event: event.Event) -> None:
        """It is compiled, or could not be."""
        self.depth -= 1
        if self.depth == 0:
            self.outermost.__exit__(None, None, None)


event.register("numba:compile", Compilations())


class Places(CompileResultCacheImpl):
    """Where numba looks for compiled code, without the cache folder of a user who has no home.

    For such a user numba makes a folder of the name ~ wherever the program was started.
    """

    if not os.environ.get("XDG_CACHE_HOME") and not os.path.isabs(os.path.expanduser("~")):
        _locator_classes = [
            locator
            for locator in CompileResultCacheImpl._locator_classes
            if not locator.__name__.lstrip("_").startswith(("UserWide", "Zip"))
        ]


class KeptCode(FunctionCache):
    """Compiled code in files; what cannot be read is compiled again, what cannot be written is not kept."""

    _impl_class = Places

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # Numba looks at the file of the function alone. What the function calls is compiled into it, too.
        self.stamp = frozenset((self._cache_file._source_stamp, *_compiled_in(function)))
        self._cache_file._source_stamp = sorted(self.stamp, key=repr)

    def load_overload(self, sig: object, target_context: object) -> object:
        """The compiled form for the types of a call; None where there is none that can be read."""
        # A damaged file is a pickle of anything: whatever it upsets, the source is there.
        with suppress(Exception):
            return super().load_overload(sig, target_context)
        return None

    def save_overload(self, sig: object, data: object) -> None:
        """Keep a compiled form, where that is possible."""
        with suppress(Exception):
            super().save_overload(sig, data)


def _compiled_in(function: Callable[..., Any]) -> Iterator[object]:
    """What goes into the code of a function beside its own file: kernels that it calls, constants."""
    for name in sorted(set(function.__code__.co_names) & set(function.__globals__)):
        value = function.__globals__[name]
        if isinstance(value, int | float | str | tuple):
            yield f"{name} = {value!r}"
        yield from getattr(getattr(value, "_cache", None), "stamp", ())


def kernel(fastmath: bool | set[str] = False) -> Callable[[F], F]:
    """Decorator: compile the function when it is first called, to code that lets go of Python's lock."""

    def decorate(function: F) -> F:
        dispatcher: Any = njit(nogil=True, fastmath=fastmath)(function)
        try:
            dispatcher._cache = KeptCode(function)
        except RuntimeError:  # numba finds no folder that can be written to
            _warn()
        return dispatcher

    return decorate


@cache
def _warn() -> None:
    warnings.warn(
        "compiled code cannot be kept, no folder for it can be written to: every start compiles anew. "
        "Set NUMBA_CACHE_DIR to a folder that can be",
        UserWarning,
        stacklevel=4,
    )
