"""Hook modules: found, run and called, and what went wrong in them, with their own lines."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import linecache
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from clustruct.core.exceptions import ModelFileError

from . import glpk, svmapi

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


def parse_error(error: SyntaxError) -> HookError:
    """A line that does not parse; where it is a form of Python 2, with the change."""
    line = (error.text or "").strip()
    change = change_for(line)
    where = f"{_display_path(error.filename or '')}, line {error.lineno}: "
    if change is None:
        return HookError(f"{where}{error.msg}\n  {line}")
    return HookError(f"{where}{line}\n  This is Python 2; {change}")


def failed_hook(name: str, error: BaseException, hook: Callable[..., Any] | None = None) -> HookError:
    """An exception inside a hook: where the module was, innermost line last."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_ours(f.filename)]
    lines = [f"{_signature(name, hook)} failed: {type(error).__name__}: {error}"]
    lines += [f"  {_display_path(f.filename)}, line {f.lineno}, in {f.name}: {f.line}" for f in frames]
    code = getattr(hook, "__code__", None)
    if not frames and code is not None:
        # The call itself failed, as with a wrong number of parameters.
        lines.append(f"  {_display_path(code.co_filename)}, line {code.co_firstlineno}: it is defined there")
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


def _display_path(filename: str) -> str:
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


REQUIRED = ("read_examples", "init_model", "psi", "classify_example")
ORACLES = (
    "find_most_violated_constraint",
    "find_most_violated_constraint_margin",
    "find_most_violated_constraint_slack",
)
# Marks modules that were loaded here, so that loading one again may replace it.
_MARK = "__clustruct_hook_module__"


def default_loss(y: Any, ybar: Any, sparm: object) -> float:
    """0 where the two are equal, else 1.

    >>> default_loss("a", "a", None), default_loss([1, 2], [1, 3], None)
    (0.0, 1.0)
    """
    if isinstance(y, np.ndarray) or isinstance(ybar, np.ndarray):
        return 0.0 if np.array_equal(y, ybar) else 1.0
    return 0.0 if y == ybar else 1.0


def nothing(*args: object) -> None:
    """The hooks that print, those that read options, and those that give constraints: nothing."""


# What happens where a module leaves an optional hook out.
DEFAULTS: dict[str, Callable[..., Any]] = {
    "loss": default_loss,
    "init_constraints": nothing,
    "eval_prediction": lambda *args: args[-1],  # the statistics so far
    "write_label": lambda file, y: file.write(f"{y}\n"),
    **dict.fromkeys(("parse_parameters", "parse_parameters_classify"), nothing),
    **dict.fromkeys(("print_iteration_stats", "print_learning_stats", "print_testing_stats"), nothing),
    **dict.fromkeys(("print_help", "print_help_classify"), nothing),
    # Those two are in model_files; the commands ask `Hooks.own` whether the module has its own.
    **dict.fromkeys(("write_model", "read_model"), nothing),
}


class Hooks:
    """The functions of a hook module, defaults in place of optional ones that it lacks.

    ``hooks.psi(x, y, sm, sparm)`` calls the module's ``psi``; an exception comes out as a `HookError`
    that names the module's own line.
    """

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.name = module.__name__
        self.own = frozenset(
            n for n in (*REQUIRED, *ORACLES, *DEFAULTS) if callable(getattr(module, n, None))
        )
        missing = [name for name in REQUIRED if name not in self.own]
        if missing:
            raise HookError(
                f"{module.__file__} lacks the required {_list_names(missing)}. "
                f"Every module needs {', '.join(REQUIRED)}."
            )
        guarded = {name: _guard(name, getattr(module, name)) for name in self.own}
        vars(self).update(DEFAULTS | guarded)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        # Reached only for names that __init__ did not set.
        raise AttributeError(f"{self.name} has no hook {name!r}")

    @property
    def source(self) -> str:
        """The text of the module; its name where it has no file."""
        try:
            return inspect.getsource(self.module)
        except (OSError, TypeError):
            return self.name

    def loss_of(self, i: int, y: object, ybar: object, sparm: svmapi.Sparm) -> float:
        """The module's loss for example i, as a number."""
        value = self.loss(y, ybar, sparm)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise HookError(f"example {i}: loss must return a number, not {value!r}") from None

    def oracle(self, scaling: str) -> tuple[str, Callable[..., Any]]:
        """The separation oracle for a scaling: the special one, the general one, or the predictor.

        With its name, and without the guard: put the calls inside ``with hook_errors(name, oracle)``.
        """
        for name in (f"find_most_violated_constraint_{scaling}", "find_most_violated_constraint"):
            if name in self.own:
                return name, getattr(self.module, name)
        classify = self.module.classify_example
        return "classify_example", lambda x, y, sm, sparm: classify(x, sm, sparm)


def _list_names(names: list[str]) -> str:
    return f"hook {names[0]}" if len(names) == 1 else "hooks " + ", ".join(names)


def _guard(name: str, hook: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: object) -> Any:
        try:
            return hook(*args)
        except Exception as error:
            raise failed_hook(name, error, hook) from error

    return call


@contextmanager
def hook_errors(name: str, hook: Callable[..., Any]) -> Iterator[None]:
    """Many calls of a hook: an exception comes out as a `HookError`, at no cost per call."""
    try:
        yield
    except Exception as error:
        raise failed_hook(name, error, hook) from error


@contextmanager
def importable(folder: str | Path | None = None) -> Iterator[None]:
    """While inside, ``import svmapi`` works, and so do imports from the folder; where there is no module of
    that name, ``import glpk`` gives `clustruct.papers.hooks.glpk`.
    """
    path = list(sys.path)
    if folder is not None:
        sys.path.insert(0, str(folder))
    ours: dict[str, ModuleType] = {"svmapi": svmapi}
    if "glpk" not in sys.modules and importlib.util.find_spec("glpk") is None:
        ours["glpk"] = glpk
    before = {name: sys.modules.get(name) for name in ours}
    sys.modules.update(ours)
    try:
        yield
    finally:
        sys.path[:] = path
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module


def load_hooks(name: str) -> Hooks:
    """Load a module by file name ("tasks/tagger.py") or by module name ("tagger", "package.tagger").

    A line that only Python 2 takes is named, with what to write instead.
    """
    path = find_module(name)
    # Errors show lines of the file as it is now.
    linecache.checkcache(str(path))
    try:
        if _is_file_name(name) or Path(f"{name}.py").is_file():
            return Hooks(_run_file(path))
        with importable(Path.cwd()):
            return Hooks(importlib.import_module(name))
    except HookError:
        raise
    except SystemExit as error:
        raise HookError(f"{path} calls exit({error.code!r}) while it is imported") from None
    except Exception as error:
        raise _failed_import(path, error) from error


def _run_file(path: Path) -> ModuleType:
    """The module of a file that is no part of a package."""
    name = _free_name(path.stem)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise HookError(f"{path} cannot be loaded as a module")
    module = importlib.util.module_from_spec(spec)
    setattr(module, _MARK, True)
    # Pickled objects of the module's own classes look for it here.
    sys.modules[name] = module
    try:
        with importable(path.parent):
            spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _is_file_name(name: str) -> bool:
    return name.endswith(".py") or "/" in name or os.sep in name


def find_module(name: str) -> Path:
    """The source file of a module: in this folder first, then wherever Python looks."""
    if _is_file_name(name):
        path = Path(name if name.endswith(".py") else f"{name}.py")
        if path.is_file():
            return path.resolve()
        raise HookError(f"there is no file {path}")
    here = Path(*name.split(".")).with_suffix(".py")
    # Python remembers what a folder held; the module may have been written a moment ago.
    importlib.invalidate_caches()
    if here.is_file():
        return here.resolve()
    try:
        with importable(Path.cwd()):
            spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        spec = None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise HookError(f"no module {name!r}: neither {here} in this folder nor an installed module")
    return Path(spec.origin)


def _free_name(stem: str) -> str:
    held = sys.modules.get(stem)
    taken = held is not None and not hasattr(held, _MARK)
    return f"hook_module_{stem}" if taken or stem in sys.stdlib_module_names or stem == "svmapi" else stem


def _failed_import(path: Path, error: Exception) -> HookError:
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return parse_error(error)
    if isinstance(error, SyntaxError | UnicodeDecodeError):
        return HookError(f"{path} cannot be read as text: {error}")
    return failed_hook(f"loading {path.name}", error)
