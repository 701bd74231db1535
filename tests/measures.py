"""Measures of the source: modules, lines, classes and the names that break the rules of `tests.naming`.

    python -m tests.measures [--against other/src/clustruct] [--names] [--all] [--list] [--json]

Without an option it prints the table by which one architecture is compared with another; ``--names`` lists
what breaks the rules for names, ``--all`` prints all measures, ``--list`` their places as well.

How it counts:

- Lines of code are physical lines that are not blank, do not begin with "#" and are no part of a docstring.
- A function's body is the lines of code from its first statement to its last, nested functions included.
- Parameters are all but self, cls, ``*args`` and ``**kwargs``. One "is Any" where the annotation is Any and
  nothing else, and "contains Any" where the name occurs anywhere in it.
- A package is what lies directly beneath the root, a folder or a module. A private read is ``obj._name`` (or
  getattr with such a string), obj not self, cls or super(), where nothing in the reader's own package
  defines ``_name``; or an import of a private name or module of another package or library.
- Class and module names that stand twice are counted once each, and so are lines with private language.
- Late imports are statements inside functions. Those of kernels and of extras are meant to be there.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from tests import naming

LONG_BODY, LONG_FILE = 40, 350
KERNEL_ENDINGS = ("_kernels", "_numba")
SHARED_PRIVATE = ("_typing",)
TUPLE_METHODS = ("_replace", "_asdict", "_fields", "_make", "_field_defaults")
CORE = ("numpy", "scipy", "sklearn", "numba", "joblib", "piqp", "highspy")
EXTRAS = (
    *("matplotlib", "mpl_toolkits", "pyarrow", "pandas", "rapidfuzz", "snowballstemmer", "tqdm", "jinja2"),
    *("dimod", "dwave"),
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Place(NamedTuple):
    """Where something was found."""

    file: str
    line: int
    what: str


class Import(NamedTuple):
    """One import statement: module, names taken from it (none for a plain import), line."""

    module: str
    names: tuple[str, ...]
    line: int


@dataclass
class Source:
    """One file, read and parsed."""

    name: str  # relative to the root, with slashes
    root: str  # name of the root package
    lines: list[str]
    tree: ast.Module
    code: set[int]  # numbers of the lines of code

    @property
    def package(self) -> str:
        return self.name.split("/")[0].removesuffix(".py")

    @property
    def folder(self) -> list[str]:
        """The dotted name of the folder, as a list: where relative imports start."""
        return [self.root, *self.name.split("/")[:-1]]


def read_sources(root: Path) -> list[Source]:
    return [read_source(path, root) for path in sorted(root.rglob("*.py"))]


def read_source(path: Path, root: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    lines, tree = text.splitlines(), ast.parse(text)
    written = {n for n, line in enumerate(lines, 1) if line.strip() and line.lstrip()[0] != "#"}
    name = path.relative_to(root).as_posix()
    return Source(name, root.resolve().name, lines, tree, written - docstring_lines(tree))


def docstring_lines(tree: ast.Module) -> set[int]:
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None:
                found.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return found


def functions(source: Source) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(source.tree) if isinstance(node, FUNCTIONS))


# Lengths


def percentile(values: list[int], share: float) -> int:
    """The value that ``share`` of them do not exceed (0 of none)."""
    ordered = sorted(values) or [0]
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]


def body_length(source: Source, node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    last = node.body[-1]
    return len(source.code.intersection(range(node.body[0].lineno, (last.end_lineno or last.lineno) + 1)))


def file_measures(sources: list[Source]) -> dict[str, Any]:
    lengths = [len(source.lines) for source in sources]
    longest = sorted(((len(s.lines), len(s.code), s.name) for s in sources), reverse=True)
    return {
        "files": len(sources),
        "lines_of_code": sum(len(source.code) for source in sources),
        "lines": sum(lengths),
        "file_median": median(lengths or [0]),
        "file_p90": percentile(lengths, 0.9),
        "file_max": max(lengths, default=0),
        "files_under_60": sum(length < 60 for length in lengths),
        "longest_files": [{"file": name, "lines": n, "code": code} for n, code, name in longest[:10]],
        "long_files": [Place(name, n, f"{code} of code") for n, code, name in longest if n > LONG_FILE],
    }


def body_measures(sources: list[Source]) -> dict[str, Any]:
    found = [(body_length(s, node), s.name, node.lineno, node.name) for s in sources for node in functions(s)]
    lengths = [length for length, *_ in found]
    long = [Place(file, line, f"{name}: {n}") for n, file, line, name in sorted(found)[::-1] if n > LONG_BODY]
    return {
        "functions": len(found),
        "body_median": median(lengths or [0]),
        "body_p90": percentile(lengths, 0.9),
        "body_p99": percentile(lengths, 0.99),
        "body_max": max(lengths, default=0),
        "long_bodies": long,
    }


# What a newcomer has to hold in mind


def shape_measures(sources: list[Source]) -> dict[str, Any]:
    codes = [len(source.code) for source in sources]
    return {
        "packages": len({source.package for source in sources if "/" in source.name}),
        "docstring_lines": sum(len(docstring_lines(source.tree)) for source in sources),
        "code_median": median(codes or [0]),
        "code_p95": percentile(codes, 0.95),
        "classes": sum(1 for source in sources for _ in naming.classes(source.tree)),
        "protocols": sum(naming.is_protocol(c) for source in sources for c in naming.classes(source.tree)),
    }


def name_measures(sources: list[Source]) -> dict[str, Any]:
    twice = {
        "class_names_twice": naming.class_names((s.name, s.tree) for s in sources),
        "module_names_twice": naming.module_names(s.name for s in sources),
    }
    faults: dict[str, list[naming.Name]] = {
        "participles": [one for s in sources for one in naming.names_by_participle(s.name, s.tree)],
        "private_language": [
            one for s in sources for one in naming.private_language(s.name, "\n".join(s.lines) + "\n")
        ],
    }
    places = {name: naming.standing_twice(names) for name, names in twice.items()}
    counts = {name: len(found) for name, found in (places | faults).items()}
    listed = {name: [one for group in found.values() for one in group] for name, found in places.items()}
    return counts | {"name_places": listed | faults}


# Any


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    given = node.args
    listed = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return [p for p in listed if p.arg not in ("self", "cls")]


def mentions_any(annotation: ast.expr | None) -> bool:
    return annotation is not None and any(
        isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(annotation)
    )


def any_measures(sources: list[Source]) -> dict[str, Any]:
    found = [(s.name, p.annotation) for s in sources for node in functions(s) for p in parameters(node)]
    by_file = Counter(name for name, wanted in found if isinstance(wanted, ast.Name) and wanted.id == "Any")
    total, bare = len(found), by_file.total()
    containing = sum(mentions_any(wanted) for _, wanted in found)
    return {
        "parameters": total,
        "parameters_any": bare,
        "parameters_any_percent": round(100 * bare / max(total, 1), 1),
        "parameters_containing_any": containing,
        "any_worst_files": dict(by_file.most_common(15)),
    }


# Imports


def import_of(source: Source, node: ast.Import | ast.ImportFrom) -> list[Import]:
    if isinstance(node, ast.Import):
        return [Import(alias.name, (), node.lineno) for alias in node.names]
    base = source.folder[: len(source.folder) - node.level + 1] if node.level else []
    module = ".".join([*base, *([node.module] if node.module else [])])
    return [Import(module, tuple(alias.name for alias in node.names), node.lineno)]


def imports_in(source: Source, tree: ast.AST) -> list[Import]:
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return [one for node in nodes for one in import_of(source, node)]


def late_imports(source: Source) -> list[Import]:
    """Every import inside a function, and modules loaded by a string there, once each."""
    found = {one for function in functions(source) for one in imports_in(source, function)}
    for function in functions(source):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "import_module":
                found.add(Import("", (ast.unparse(node),), node.lineno))
    return sorted(found, key=lambda one: one.line)


def is_kernel(name: str) -> bool:
    return any(part.endswith(KERNEL_ENDINGS) for part in name.split("."))


def import_kind(one: Import, root: str) -> str:
    top = one.module.split(".")[0]
    if one.module == "":
        return "by_string"
    if top == root:
        taken = [f"{one.module}.{name}" for name in one.names] or [one.module]
        return "kernel" if all(is_kernel(name) for name in taken) else "internal_other"
    if top in EXTRAS:
        return "extra"
    return "core" if top in CORE else "standard" if top in sys.stdlib_module_names else "unknown"


def shown(one: Import) -> str:
    if not one.names:
        return f"import {one.module}"
    return f"from {one.module} import {', '.join(one.names)}" if one.module else one.names[0]


def late_measures(sources: list[Source]) -> dict[str, Any]:
    kinds = ("kernel", "extra", "internal_other", "by_string", "core", "standard", "unknown")
    places: dict[str, list[Place]] = {kind: [] for kind in kinds}
    for source in sources:
        for one in late_imports(source):
            places[import_kind(one, source.root)].append(Place(source.name, one.line, shown(one)))
    hidden = [
        Place(source.name, one.line, shown(one))
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for one in imports_in(source, node)
        if one.module.split(".")[0] == source.root
    ]
    return {
        "late_imports": {kind: len(found) for kind, found in places.items()},
        "late_places": places,
        "type_checking_imports": hidden,
    }


# Private reads


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_"


def defined_names(source: Source) -> set[str]:
    """Private names this file gives a meaning to: functions, classes, variables, attributes it sets."""
    names: set[str] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node.value):
            names.add(node.attr)
    return {name for name in names if is_private(name)} | set(source.name.removesuffix(".py").split("/"))


def is_own(value: ast.expr) -> bool:
    text = ast.unparse(value)
    return text in ("self", "cls") or text.startswith("super(")


def attribute_reads(source: Source) -> Iterator[tuple[str, int, str]]:
    """(private name, line, expression) of every read from something that is not self."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and not is_own(node.value):
            yield node.attr, node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr", "setattr"):
            name = str(getattr(node.args[1], "value", "")) if len(node.args) > 1 else ""
            if is_private(name) and not is_own(node.args[0]):
                yield name, node.lineno, ast.unparse(node)


def private_imports(source: Source) -> Iterator[Place]:
    for one in imports_in(source, source.tree):
        parts = [*one.module.split("."), *one.names]
        same = parts[0] == source.root and (len(parts) < 2 or parts[1] == source.package)
        private = [part for part in parts if is_private(part) and part not in SHARED_PRIVATE]
        if private and not same:
            yield Place(source.name, one.line, shown(one))


def private_measures(sources: list[Source]) -> dict[str, Any]:
    defined: dict[str, set[str]] = {}
    for source in sources:
        defined.setdefault(source.package, set()).update(defined_names(source))
    reads = [
        Place(source.name, line, text)
        for source in sources
        for name, line, text in attribute_reads(source)
        if name not in defined[source.package] and name not in TUPLE_METHODS
    ]
    imports = [place for source in sources for place in private_imports(source)]
    return {
        "private_reads": len(reads),
        "private_imports": len(imports),
        "private_places": sorted(reads + imports),
    }


def measure(root: Path) -> dict[str, Any]:
    """All measures of the package in the folder ``root``."""
    sources = read_sources(root)
    parts = (
        file_measures,
        shape_measures,
        body_measures,
        name_measures,
        any_measures,
        private_measures,
        late_measures,
    )
    return {name: value for part in parts for name, value in part(sources).items()}


# The table: what is shown of each measure, and what it is called there.
TABLE = {
    "files": "modules",
    "packages": "packages",
    "lines_of_code": "lines of code",
    "docstring_lines": "docstring lines",
    "code_median": "median file, lines of code",
    "code_p95": "95 % of files, lines of code",
    "body_max": "longest body",
    "functions": "functions",
    "classes": "classes",
    "protocols": "protocols",
    "class_names_twice": "class names that stand twice",
    "module_names_twice": "module names that stand twice",
    "participles": "functions named by a participle",
    "private_language": "lines with private language",
}


def table(found: dict[str, Any], before: dict[str, Any] | None = None) -> list[str]:
    """The lines of the table, with the numbers of another source before those of this one."""
    columns = [found] if before is None else [before, found]
    rows = [(title, [column[name] for column in columns]) for name, title in TABLE.items()]
    return [f"{title:34}" + "".join(f"{value:>10g}" for value in values) for title, values in rows]


def print_names(found: dict[str, Any]) -> None:
    """What breaks the rules for names, with its places."""
    for kind, names in found["name_places"].items():
        print(f"\n{kind}")
        print("\n".join(f"  {one.name}  {one.file}:{one.line}" for one in names))


def print_measures(found: dict[str, Any], with_lists: bool) -> None:
    for name, value in found.items():
        if not isinstance(value, list | dict):
            print(f"{name:28}{value}")
    print(f"{'late_imports':28}" + ", ".join(f"{kind} {n}" for kind, n in found["late_imports"].items()))
    lists = {name: found[name] for name in ("long_bodies", "long_files", "type_checking_imports")}
    print("".join(f"{name:28}{len(places)}\n" for name, places in lists.items()), end="")
    if with_lists:
        lists |= {"private_places": found["private_places"]} | found["late_places"]
        for name, places in lists.items():
            print(f"\n{name}\n" + "\n".join(f"  {p.file}:{p.line}  {p.what}" for p in places))
        print("\nparameters that are Any, by file")
        print("\n".join(f"  {n:4} {file}" for file, n in found["any_worst_files"].items()))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures of the source.")
    parser.add_argument("--root", type=Path, default=Path("src/clustruct"), help="folder of the package")
    parser.add_argument("--against", type=Path, help="that folder of another checkout: before and after")
    parser.add_argument("--names", action="store_true", help="list what breaks the rules for names")
    parser.add_argument("--all", action="store_true", help="print all measures")
    parser.add_argument("--list", action="store_true", help="print all measures, and the places")
    parser.add_argument("--json", action="store_true", help="print one JSON object, lists included")
    args = parser.parse_args()
    found, before = measure(args.root), args.against and measure(args.against)
    if not found["files"] or (before and not before["files"]):
        parser.error("no Python files in such a folder")
    if args.json:
        print(json.dumps(found, indent=1))
    elif args.all or args.list:
        print_measures(found, args.list)
    else:
        print("\n".join(table(found, before)))
    if args.names:
        print_names(found)


if __name__ == "__main__":
    main()
