"""Docstrings of users' names have the sections of numpydoc; all name only files that there are."""

import dataclasses
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path

import numpydoc.docscrape
import numpydoc.validate
import pytest

import clustruct

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs/_ext"))
from public_names import MODULES, kind, public  # noqa: E402

# Docstrings there are, sections in their order; parameters with type and text; what is returned or yielded.
CHECKS = {"GL06", "GL07", "GL08", "SS01", "PR01", "PR02", "PR04", "PR07", "PR10", "RT01", "RT03", "YD01"}
# Packages whose names are reached through those listed, or that hold no names.
REACHED_OTHERWISE = {f"clustruct.{name}" for name in ("core", "evaluate", "papers", "search")}
PUBLIC = public()
NAMES = [(module, name) for module, names in PUBLIC.items() for name in names]
FRONTS = {f"clustruct.{name}" for name in clustruct._PACKAGES}
PAGES = [path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]]
SHOWN = set(re.findall(r"\w+", "\n".join(PAGES)))


def is_for_users(path):
    """Whether users call a name: one of clustruct itself, or of a package's front that a page shows."""
    module, _, name = path.rpartition(".")
    return name in clustruct.__all__ or (module in FRONTS and name in SHOWN)


def things(*kinds):
    """The public things of these kinds, each once, by the first name that they have."""
    found = {}
    for module, name in NAMES:
        thing = getattr(import_module(module), name)
        if kind(thing) in kinds:
            found.setdefault(id(thing), (f"{module}.{name}", thing))
    return dict(found.values())


USERS = {
    path: thing for path, thing in things("class", "function", "exception").items() if is_for_users(path)
}


def is_record(thing):
    return dataclasses.is_dataclass(thing) or hasattr(thing, "_fields")


def is_explained(code, message, path, thing):
    """Where fields stand under Attributes, a protocol has no parameters, or one entry is for several.

    Records that functions return are not made by users: the types of their fields are enough.
    """
    if code == "PR01" and inspect.isclass(thing):
        if is_record(thing) and thing.__name__ not in clustruct.__all__:
            return True
        doc = numpydoc.docscrape.ClassDoc(thing)
        listed = {name for entry in doc["Attributes"] for name in entry.name.split(", ")}
        missing = set(re.findall(r"'(\*{0,2}\w+)'", message))
        hidden = {name for name in missing if name.startswith("_")}
        return getattr(thing, "_is_protocol", False) or (is_record(thing) and missing - hidden <= listed)
    if code == "PR04":
        (name,) = re.findall(r'Parameter "(\w+)"', message)
        return re.search(rf"^ *(\w+, )*{name}(, \w+)*$", thing.__doc__, re.MULTILINE)
    return False


def faults(path, thing):
    found = numpydoc.validate.validate(path)["errors"]
    return [
        f"{path}: {code} {message}"
        for code, message in found
        if code in CHECKS and not is_explained(code, message, path, thing)
    ]


def test_every_package_is_on_a_page_of_the_api():
    packages = {f"clustruct.{name}" for name in clustruct._PACKAGES}
    assert packages - set(MODULES) - REACHED_OTHERWISE == set()


@pytest.mark.parametrize("module", sorted({path.rpartition(".")[0] for path in USERS}))
def test_names_of_users_have_the_sections_of_numpydoc(module):
    found = things("class", "function", "exception").items()
    here = [
        (path, thing) for path, thing in found if path.rpartition(".")[0] == module and is_for_users(path)
    ]
    assert [fault for path, thing in here for fault in faults(path, thing)] == []


def test_public_methods_have_docstrings_of_their_own_or_of_their_base():
    missing = [
        f"{path}.{name}"
        for path, thing in things("class").items()
        for name, member in vars(thing).items()
        if not name.startswith("_")
        and (inspect.isroutine(member) or isinstance(member, property | classmethod | staticmethod))
        and not inspect.getdoc(getattr(thing, name))
    ]
    assert missing == []


def test_examples_stand_under_their_heading():
    bare = [
        path
        for path, thing in things("class", "function").items()
        if is_for_users(path)
        and ">>>" in (thing.__doc__ or "")
        and not re.search(r"Examples\n\s*-----", thing.__doc__)
    ]
    assert bare == []


def test_modules_say_what_they_are_for():
    assert [name for name in MODULES if not import_module(name).__doc__] == []


FILE = re.compile(
    r"\b((?:docs|examples|studies|tests|benchmarks|release)/[\w./-]*\w|[\w-]+\.(?:md|toml|cff))\b"
)


def test_docstrings_and_comments_name_only_files_that_there_are():
    named = [
        (str(path.relative_to(ROOT)), found)
        for path in sorted((ROOT / "src").rglob("*.py"))
        for found in FILE.findall(path.read_text(encoding="utf-8"))
    ]
    assert named, "the pattern finds nothing"
    there = [ROOT / found for _, found in named]
    assert [n for n, path in zip(named, there, strict=True) if not path.exists()] == []
