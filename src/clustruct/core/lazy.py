"""Packages whose names load on first use, so that who wants one of them does not load the modules of all."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any


def lazy_modules(package: str, *names: str) -> Callable[[str], ModuleType]:
    """A ``__getattr__`` for the front of a package."""

    def load(name: str) -> ModuleType:
        if name in names:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load


def lazy_names(package: str, *modules: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package, for the names that it imports under TYPE_CHECKING.

    These imports are what type checkers and readers see; here they are read from the source, so that no name
    stands in a second table. A name must not be that of a module of the package, which would take its place.
    """

    @cache
    def homes() -> dict[str, str]:
        return dict(_homes(Path(str(sys.modules[package].__file__)), package))

    def load(name: str) -> Any:
        if name in modules:
            return import_module(f"{package}.{name}")
        if name.startswith("__") or name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(homes()[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    return load, lambda: sorted({*vars(sys.modules[package]), *homes()})


def _homes(path: Path, package: str) -> Iterator[tuple[str, str]]:
    """Names and the modules that they are imported from under TYPE_CHECKING."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                if isinstance(line, ast.ImportFrom):
                    home = resolve_name("." * line.level + (line.module or ""), package)
                    yield from ((alias.asname or alias.name, home) for alias in line.names)
