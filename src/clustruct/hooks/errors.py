"""What went wrong in a hook module, with the module's own lines."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .python2 import change_for, hint_for

_HERE = str(Path(__file__).resolve().parents[2])


class HookError(Exception):
    """A fault of the hook module or of how it is used. The message is meant for its author."""


def unparsed(error: SyntaxError) -> HookError:
    """A line that does not parse; where it is a form of Python 2, with the change."""
    line = (error.text or "").strip()
    change = change_for(line)
    where = f"{_shown(error.filename or '')}, line {error.lineno}: "
    if change is None:
        return HookError(f"{where}{error.msg}\n  {line}")
    return HookError(f"{where}{line}\n  This is Python 2; {change}")


def failed_hook(name: str, error: BaseException, hook: Callable[..., Any] | None = None) -> HookError:
    """An exception inside a hook: where the module was, innermost line last."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_ours(f.filename)]
    lines = [f"{name} failed: {type(error).__name__}: {error}"]
    lines += [f"  {_shown(f.filename)}, line {f.lineno}, in {f.name}: {f.line}" for f in frames]
    code = getattr(hook, "__code__", None)
    if not frames and code is not None:
        # The call itself failed, as with a wrong number of parameters.
        lines.append(f"  {_shown(code.co_filename)}, line {code.co_firstlineno}: it is defined there")
    hint = hint_for(error)
    if hint is not None:
        lines.append(f"  {hint}")
    return HookError("\n".join(lines))


def _is_ours(filename: str) -> bool:
    return filename.startswith("<frozen") or os.path.abspath(filename).startswith(_HERE + os.sep)


def _shown(filename: str) -> str:
    """The file as the user would name it: relative where it lies below this folder."""
    relative = os.path.relpath(filename)
    return filename if relative.startswith("..") else relative
