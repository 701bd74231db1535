"""BLAS threads: one while a call of this package runs.

The matrices are small, and a second thread waits longer for the first than it works: a dot product of 100,000
numbers takes 0.03 ms with one thread and up to 8 with two. Nor may results depend on the machine's cores.
CLUSTRUCT_BLAS_THREADS sets another number; what is no whole number from 1 on is a ValueError.

To enter costs 1.3 microseconds inside of another call and some 15 else. The libraries, which take half a
millisecond to find, are looked for again where a module was imported since: an import may have loaded one.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import isfunction, isgeneratorfunction
from typing import Any, ClassVar, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
VARIABLE = "CLUSTRUCT_BLAS_THREADS"


class _Limit:
    """The limit of this process: set by the first call that enters, lifted by the last that leaves."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls, self._modules, self._threads = 0, 0, 1
        self._found: list[Any] = []
        self._before: dict[str, tuple[Any, int]] = {}

    def enter(self) -> None:
        with self._lock:
            first = not self._calls
            if first:
                self._threads = _thread_count()
            if self._modules != len(sys.modules):
                self._find()
                first = True
            if first:
                self._set()
            self._calls += 1

    def leave(self) -> None:
        with self._lock:
            self._calls -= 1
            if not self._calls:
                for library, threads in self._before.values():
                    _set_threads(library, threads)
                self._before = {}

    def _find(self) -> None:
        from threadpoolctl import ThreadpoolController

        self._found = ThreadpoolController().select(user_api="blas").lib_controllers
        self._modules = len(sys.modules)

    def _set(self) -> None:
        """Limit every library that is not limited yet."""
        for library in self._found:
            if library.filepath not in self._before:
                self._before[library.filepath] = library, library.get_num_threads()
                _set_threads(library, self._threads)


def _set_threads(library: Any, threads: int) -> None:
    """Set a library's threads. threadpoolctl obeys only the first thread that does so, until it is asked to
    forget that one; whose turn it is the lock of the limit says.
    """
    forget = getattr(library, "clear_controlling_thread", None)
    if forget is not None:
        forget(force=True)
    library.set_num_threads(threads)
    if forget is not None:
        forget(force=True)


def _thread_count() -> int:
    given = os.environ.get(VARIABLE, "1")
    if not given.isdecimal() or int(given) < 1:
        raise ValueError(f"{VARIABLE} must be a whole number from 1 on, not {given!r:.40}")
    return int(given)


_LIMIT = _Limit()


@contextmanager
def limit_blas() -> Iterator[None]:
    """Hold BLAS to one thread, in all threads of the process, until the last of such calls has ended."""
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


def call_with_blas_limit(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """A call with BLAS held to one thread; for other processes, which need a function to begin with."""
    with limit_blas():
        return call(*args, **kwargs)


class LimitsBlas:
    """Public methods of the subclasses hold BLAS to one thread while they run."""

    _limited: ClassVar = frozenset(
        {"fit", "predict", "transform", "fit_transform", "score", "scores", "group"}
        | {"decision_function", "pair_probabilities", "item_probability", "relax"}
        | {"predict_relaxed", "pair_scores"}
    )

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name in cls._limited & vars(cls).keys():
            method = vars(cls)[name]
            if isfunction(method) and not isgeneratorfunction(method):
                setattr(cls, name, _limit_method(method))


def _limit_method(method: Callable[P, T]) -> Callable[P, T]:
    if getattr(method, "__isabstractmethod__", False):
        return method

    @wraps(method)
    def with_limit(*args: P.args, **kwargs: P.kwargs) -> T:
        _LIMIT.enter()
        try:
            return method(*args, **kwargs)
        finally:
            _LIMIT.leave()

    return with_limit
