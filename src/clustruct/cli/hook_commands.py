"""What the two commands share: errors and warnings as plain sentences, and exit codes."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from clustruct.hooks import HookError, Hooks, importable, load_hooks

from .hook_options import DEFAULT_MODULE, CommandLine, Option, UsageError, read_command_line

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


def run_command(
    name: str,
    argv: list[str] | None,
    options: Mapping[str, Option],
    help_text: str,
    help_hook: str,
    body: Callable[[CommandLine, Hooks], int],
) -> int:
    """Read the command line, load the module, run the body; faults become messages and exit codes."""
    try:
        words = sys.argv[1:] if argv is None else argv
        if not words:
            raise UsageError("a hook module (--m) and file names are wanted")
        line = read_command_line(words, options)
        if line.wants_help:
            return _show_help(line, help_text, help_hook)
        hooks = _load(line)
        with warnings.catch_warnings(), importable(Path(str(hooks.module.__file__)).parent):
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            return body(line, hooks)
    except UsageError as error:
        print(f"{name}: {error}\nTry {name} --help.", file=sys.stderr)
        return MISUSED
    except BrokenPipeError:
        # Whoever read the output has stopped; Python's own last flush must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (HookError, ValueError, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return INTERRUPTED


def _load(line: CommandLine) -> Hooks:
    try:
        return load_hooks(line.module)
    except HookError as error:
        if line.module == DEFAULT_MODULE:
            raise HookError(f"{error}. Name the hook module with --m.") from None
        raise


def _show_help(line: CommandLine, help_text: str, help_hook: str) -> int:
    print(help_text)
    if line.module != DEFAULT_MODULE:
        hooks = _load(line)
        if help_hook in hooks.own:
            print(f"\nOptions of {line.module}:", flush=True)
            with importable(Path(str(hooks.module.__file__)).parent):
                getattr(hooks, help_hook)()
    return 0


def _show_warning(message: Any, category: Any, *rest: Any, **more: Any) -> None:
    print(f"warning: {message}", file=sys.stderr)
