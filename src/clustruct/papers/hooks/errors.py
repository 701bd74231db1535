"""What went wrong in a hook module, with the module's own lines, and what to change where it is Python 2."""

from __future__ import annotations

import inspect
import os
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clustruct.core.exceptions import ModelFileError

_HERE = str(Path(__file__).resolve().parents[3])
# Names of Python 2, and the change.
NAMES = {
    "file": "use open(...)",
    "xrange": "use range(...)",
    "raw_input": "use input(...)",
    "unicode": "use str",
    "basestring": "use str",
    "long": "use int",
    "reduce": "add: from functools import reduce",
    "cmp": "compare with <, == and >, or (a > b) - (a < b)",
    "cPickle": "use pickle",
    "StringIO": "use io",
    "cStringIO": "use io",
    "sets": "use the built-in set",
    "has_key": "use: key in d",
    "iteritems": "use .items()",
    "itervalues": "use .values()",
    "iterkeys": "use .keys()",
    "next": "use next(iterator)",
}
# What a line that does not parse looks like, and the change.
STATEMENTS = {
    r"\bprint\s*>>\s*([^,]+),\s*(.+)": r"print is a function: write print(\2, file=\1)",
    r"\bprint\s+(.*),\s*$": r'print is a function: write print(\1, end=" ")',
    r"\bprint\s+(.+)": r"print is a function: write print(\1)",
    r"\bexec\s+(.+)": r"exec is a function: write exec(\1)",
    r"\bexcept\s+([^,(]+),\s*(\w+)\s*:": r"write: except \1 as \2:",
    r"\braise\s+([\w.]+)\s*,\s*(.+)": r"write: raise \1(\2)",
    r"\blambda\s*\(": "a lambda takes no tuple: use one name and index it",
    r"\bdef\s+(\w+)\(.*\((\w+(?:,\s*\w+)+)\)": (
        r"\1 takes no parameter apart in its head: write one name, say example, in place of (\2), and begin "
        r"the body with \2 = example"
    ),
    r"`(.+)`": r"backquotes are gone: use repr(\1)",
    r"<>": "<> is gone: use !=",
    r"\b(\d+)[lL]\b": r"long integers are gone: write \1",
}


class HookError(Exception):
    """A fault of the hook module or of how it is used. The message is meant for its author."""


class HookModelError(HookError, ModelFileError):
    """A model file that is not one of ``clustruct-learn``, or damaged."""


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
    lines = [f"{_signature(name, hook)} failed: {type(error).__name__}: {error}"]
    lines += [f"  {_shown(f.filename)}, line {f.lineno}, in {f.name}: {f.line}" for f in frames]
    code = getattr(hook, "__code__", None)
    if not frames and code is not None:
        # The call itself failed, as with a wrong number of parameters.
        lines.append(f"  {_shown(code.co_filename)}, line {code.co_firstlineno}: it is defined there")
    hint = hint_for(error)
    if hint is not None:
        lines.append(f"  {hint}")
    return HookError("\n".join(lines))


def _signature(name: str, hook: Callable[..., Any] | None) -> str:
    try:
        return name if hook is None else f"{name}{inspect.signature(hook)}"
    except (TypeError, ValueError):
        return name


def _is_ours(filename: str) -> bool:
    return filename.startswith("<frozen") or os.path.abspath(filename).startswith(_HERE + os.sep)


def _shown(filename: str) -> str:
    """The file as the user would name it: relative where it lies below this folder."""
    relative = os.path.relpath(filename)
    return filename if relative.startswith("..") else relative


def change_for(line: str) -> str | None:
    """What to change in a line that Python 3 cannot parse; None where it is no old form.

    >>> change_for("if x: print y, z  # why")
    'print is a function: write print(y, z)'
    """
    bare = re.sub(r"\s*#[^'\"]*$", "", line.strip())
    found = ((re.search(form, bare), change) for form, change in STATEMENTS.items())
    return next((match.expand(change) for match, change in found if match), None)


def hint_for(error: BaseException) -> str | None:
    """What to change where a name, module or method of Python 2 was missed at run time only."""
    name = getattr(error, "name", None)
    if not isinstance(error, NameError | AttributeError | ModuleNotFoundError) or name not in NAMES:
        return None
    return f"{'.' if isinstance(error, AttributeError) else ''}{name} belongs to Python 2: {NAMES[name]}"
