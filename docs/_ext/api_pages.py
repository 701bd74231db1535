"""The pages below ``api/generated``, one for each public module and name, written before the build."""

from __future__ import annotations

import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any

from public_names import SECTIONS, kind, names_of, public
from sphinx.application import Sphinx

HEADINGS = {
    "class": "Classes",
    "exception": "Exceptions and warnings",
    "function": "Functions",
    "data": "Data",
}
DIRECTIVES = {
    "class": "autoclass",
    "exception": "autoexception",
    "function": "autofunction",
}


def title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n"


def indented(lines: list[str]) -> str:
    return "".join(f"   {line}\n" for line in lines)


def page_name(module: str, name: str) -> str:
    """The page of a name; functions apart from classes, since some disks take Links and links for one."""
    end = "-function" if kind(getattr(import_module(module), name)) == "function" else ""
    return f"{module}.{name}{end}"


def summary(names: list[str]) -> str:
    """The table of names of one kind."""
    return f".. autosummary::\n\n{indented(names)}\n"


def module_page(module: str, names: list[str]) -> str:
    """What the module says of itself, tables of its names, and the pages of these."""
    home = import_module(module)
    by_kind = {k: [name for name in names if kind(getattr(home, name)) == k] for k in HEADINGS}
    tables = [f".. rubric:: {HEADINGS[k]}\n\n{summary(found)}" for k, found in by_kind.items() if found]
    pages = f".. toctree::\n   :hidden:\n\n{indented([page_name(module, name) for name in names])}"
    head = f"{title(module)}\n.. automodule:: {module}\n\n.. currentmodule:: {module}\n\n"
    return f"{head}{''.join(tables)}\n{pages}"


def name_page(module: str, name: str) -> str:
    what = kind(getattr(import_module(module), name))
    if what == "data":
        return data_page(module, name)
    options = "   :members:\n" if what == "class" else ""
    if what == "class" and is_elsewhere(module, name):
        options += "   :no-index:\n"
    return f"{title(name)}\n.. currentmodule:: {module}\n\n.. {DIRECTIVES[what]}:: {name}\n{options}"


def is_elsewhere(module: str, name: str) -> bool:
    """Whether another public package lists this class, too, and is the one that defines it."""
    home = getattr(import_module(module), name).__module__
    others = [other for other, names in public().items() if name in names and other != module]
    return not f"{home}.".startswith(f"{module}.") and any(f"{home}.".startswith(f"{o}.") for o in others)


def data_page(module: str, name: str) -> str:
    """A constant or an alias of types: its value says what it is."""
    value = textwrap.shorten(repr(getattr(import_module(module), name)).replace("`", "'"), 300)
    return f"{title(name)}\n.. py:data:: {module}.{name}\n\n   ``{value}``\n"


def documented(name: str) -> str:
    """Where the pages have a name that ``clustruct`` itself offers."""
    modules = [module for module, names in public().items() if name in names]
    thing = getattr(import_module("clustruct"), name)
    return next(f"{m}.{name}" for m in modules if getattr(import_module(m), name) is thing)


def first_names() -> str:
    """What ``from clustruct import ...`` offers, before the modules."""
    names = [name for name in names_of(import_module("clustruct")) if not name.startswith("_")]
    heading = "from clustruct import ..."
    told = "What most programs need; the modules below hold the rest (``from clustruct import losses``).\n\n"
    return f"\n{heading}\n{'-' * len(heading)}\n\n{told}{summary([f'~{documented(name)}' for name in names])}"


def index_page() -> str:
    """What the package itself offers, then the modules by what they are for."""
    parts = [title("API"), first_names()]
    for heading, names in SECTIONS.items():
        modules = [f"clustruct.{name}" for name in names]
        pages = indented([f"{name}" for name in modules])
        table = f".. autosummary::\n\n{indented(modules)}"
        parts.append(f"\n{heading}\n{'-' * len(heading)}\n\n{table}\n.. toctree::\n   :hidden:\n\n{pages}")
    return "".join(parts)


def pages() -> dict[str, str]:
    """The text of every page by its name."""
    found = {"index": index_page()}
    for module, names in public().items():
        found[module] = module_page(module, names)
        found.update({page_name(module, name): name_page(module, name) for name in names})
    return found


def write(app: Sphinx) -> None:
    """Write what changed, so that Sphinx reads no page twice, and remove what is gone."""
    folder = Path(app.srcdir) / "api" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    texts = {folder / f"{name}.rst": text for name, text in pages().items()}
    for path in set(folder.glob("*.rst")) - set(texts):
        path.unlink()
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
