"""What went wrong in a hook module, told by the module's own lines."""

from __future__ import annotations

import linecache
import os
import traceback
from pathlib import Path

from .python2 import OldForm, hint_for

_HERE = str(Path(__file__).resolve().parents[2])


class HookError(Exception):
    """A fault of the hook module or of how it is used. The message is meant for its author."""


def old_module_error(path: str, forms: list[OldForm]) -> HookError:
    """A module written for Python 2: every line to change, with the change."""
    lines = [f"{path} is written for Python 2. To change:"]
    for form in forms:
        lines += [f"  line {form.line}: {linecache.getline(path, form.line).strip()}", f"      {form.advice}"]
    return HookError("\n".join(lines))


def failed_hook(name: str, error: BaseException) -> HookError:
    """An exception inside a hook: where the module was, innermost line last."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_ours(f.filename)]
    lines = [f"{name} failed: {type(error).__name__}: {error}"]
    for frame in frames:
        lines.append(
            f"  {os.path.relpath(frame.filename)}, line {frame.lineno}, in {frame.name}: {frame.line}"
        )
    hint = hint_for(error)
    if hint is not None:
        lines.append(f"  {hint}")
    return HookError("\n".join(lines))


def _is_ours(filename: str) -> bool:
    return os.path.abspath(filename).startswith(_HERE + os.sep)
