"""Studio: group a few things in the browser, let a model learn, correct it, until it is good enough.

serve    open it for a data file, a project, or a folder

In: requests of one browser on this machine. Out: pages, and a store of groups. Nothing here writes elsewhere.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["Running", "serve"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("clustruct.studio.server"), name)
    raise AttributeError(f"module 'clustruct.studio' has no attribute {name!r}")
