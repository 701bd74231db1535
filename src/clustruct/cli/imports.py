"""``--import MODULE``: modules of users, which register losses, imported before options are read."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import clustruct

from .output import UsageError

# Those of `clustruct.losses`, which is not imported before it is needed.
LOSSES = (
    "b_cubed",
    "ceaf_entity",
    "ceaf_mention",
    "lea",
    "mitre",
    "normalised",
    "pairwise",
    "pairwise_f",
    "purity",
    "variation_of_information",
)


class _Import(argparse.Action):
    """Imports the module when the option is met; once, however often it is met."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        import_one(str(values))


def add_import(parser: argparse.ArgumentParser) -> None:
    """The option, which may be given several times."""
    text = "import this module first (my_losses or my_losses.py), e.g. for losses that it registers"
    parser.add_argument("--import", action=_Import, metavar="MODULE", dest=argparse.SUPPRESS, help=text)


def import_modules(words: Sequence[str]) -> list[str]:
    """Import what ``--import`` names, wherever it stands; the words from the command on, without it."""
    parser = argparse.ArgumentParser("clustruct", add_help=False, allow_abbrev=False, exit_on_error=False)
    add_import(parser)
    try:
        return parser.parse_known_args(list(words))[1]
    except argparse.ArgumentError:  # --import without a name: the parser of the command says so
        return list(words)


def import_one(name: str) -> ModuleType:
    """A module by its name, also one of the current folder, or by the path of its file.

    >>> import_one("json").__name__
    'json'
    """
    is_file = name.endswith(".py") or os.sep in name
    try:
        return _of_file(Path(name)) if is_file else _of_name(name)
    except UsageError:
        raise
    except (Exception, SystemExit) as error:  # a module may fail with anything
        raise UsageError(f"--import {name}: {_place(error)}{_fault_text(error)}") from error


def _of_name(name: str) -> ModuleType:
    _find_in(Path.cwd())
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or f"{name}.".startswith(f"{error.name}."):
            text = f"there is no module {name!r}, neither in this folder nor where Python looks"
            raise UsageError(f"--import {name}: {text}") from None
        raise


def _of_file(path: Path) -> ModuleType:
    name, held = path.stem, sys.modules.get(path.stem)
    if not path.is_file():
        raise UsageError(f"--import {path}: there is no such file")
    if held is not None and getattr(held, "__file__", None) == str(path.resolve()):
        return held
    spec = spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise UsageError(f"--import {path}: no file of Python")
    if held is not None:
        raise UsageError(f"--import {path}: there is a module {name!r} already; rename the file")
    _find_in(path.resolve().parent)
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _find_in(folder: Path) -> None:
    """Other processes, and modules beside this one, are to find it; nothing else is to be found first."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _place(error: BaseException) -> str:
    """The line that failed: of the code that was imported, not of what imports."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{Path(error.filename).name}, line {error.lineno}: "
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
    own = [f for f in frames if not f.filename.startswith("<") and "importlib" not in f.filename]
    return f"{Path(own[0].filename).name}, line {own[0].lineno}: " if own else ""


def _fault_text(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def loss_name(text: str) -> str:
    """A loss that is registered."""
    if text not in clustruct.losses.names():
        more = "--import MODULE imports a module that registers more"
        raise UsageError(f"unknown loss {text!r}; known are {KnownLosses()} ({more})")
    return text


def loss_names(text: str) -> list[str]:
    """Losses that are registered, between commas, each once."""
    return [loss_name(name) for name in dict.fromkeys(text.split(","))]


class KnownLosses:
    """The names of losses as text, with those that modules have registered."""

    def __str__(self) -> str:
        loaded = sys.modules.get("clustruct.losses")
        return ", ".join(LOSSES if loaded is None else loaded.names())
