"""How many small faults the tests find: the same lines changed in this checkout and in another one.

    python -m tests.mutants OTHER [--count 60] [--seed 0] [--only here|there] [--json FILE]

Lines of code that stand once in each checkout and are equal are drawn by the seed; one operator or number of
each is changed, the same in both, and the tests of its package are run until one fails. A mutant counts as
killed where a test fails or the tests do not end in time.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path("src/clustruct")
LONGEST = 240  # seconds of tests
SWAPS: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: (" is ", " is not "),
    ast.In: (" in ", " not in "),
    ast.Add: (" + ", " - "),
    ast.Sub: (" - ", " + "),
    ast.Mult: (" * ", " / "),
    ast.Div: (" / ", " * "),
    ast.And: (" and ", " or "),
    ast.Or: (" or ", " and "),
    ast.Not: ("not ", ""),
}


class Mutant(NamedTuple):
    """A line and what it becomes, both without the blanks before them."""

    line: str
    changed: str


class Line(NamedTuple):
    """Where a line stands."""

    file: Path
    number: int


def lines_of(root: Path) -> dict[str, Line]:
    """The lines of function bodies that stand once."""
    places: dict[str, list[Line]] = {}
    for file in sorted((root / SOURCE).rglob("*.py")):
        text = file.read_text("utf-8").splitlines()
        for number in sorted(body_lines(ast.parse("\n".join(text)))):
            places.setdefault(text[number - 1].strip(), []).append(Line(file.relative_to(root), number))
    return {line: found[0] for line, found in places.items() if len(found) == 1}


def body_lines(tree: ast.AST) -> set[int]:
    """Numbers of lines on which a statement of a function begins and ends."""
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    inner = (n for function in functions for part in function.body for n in ast.walk(part))
    kinds = (ast.Assign, ast.AugAssign, ast.Return, ast.Expr, ast.If, ast.While, ast.Assert)
    return {n.lineno for n in inner if isinstance(n, kinds) and not is_text(n)}


def is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def changes(line: str) -> Iterator[str]:
    """What a line may become."""
    try:
        tree = ast.parse(line + (" pass" if line.endswith(":") else ""))
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if type(node) in SWAPS and line.count(SWAPS[type(node)][0]) == 1:
            yield line.replace(*SWAPS[type(node)])
        elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
            other = not node.value if isinstance(node.value, bool) else node.value + 1
            yield line[: node.col_offset] + repr(other) + line[node.end_col_offset :]


def draw(here: Path, there: Path, count: int, seed: int) -> list[Mutant]:
    """Mutants of lines that are equal in both."""
    mine, other = lines_of(here), lines_of(there)
    rng = random.Random(seed)
    able = [(line, found) for line in sorted(other) if (found := list(changes(line)))]
    rng.shuffle(able)
    chosen = [Mutant(line, rng.choice(found)) for line, found in able]
    return [one for one in chosen if one.line in mine][:count]


def tests_of(root: Path, file: Path) -> list[str]:
    """The folder of tests that mirrors a source file as far down as there is one, and its own examples."""
    parts = file.relative_to(SOURCE).with_suffix("").parts
    for k in range(len(parts), 0, -1):
        folder = "/".join(("tests", *parts[:k]))
        name = f"{'/'.join(('tests', *parts[: k - 1]))}/test_{parts[k - 1]}.py"
        if (root / name).exists():
            return [file.as_posix(), *dict.fromkeys([name, *package_tests(root, parts[0])])]
        if (root / folder).is_dir():
            return [file.as_posix(), *dict.fromkeys([folder, *package_tests(root, parts[0])])]
    return [file.as_posix(), "tests/test_golden.py"]


def package_tests(root: Path, package: str) -> list[str]:
    return [f"tests/{package}"] if (root / "tests" / package).is_dir() else []


def is_killed(root: Path, place: Line, mutant: Mutant) -> bool:
    """Whether a test fails with the mutant in place, which is taken out after it."""
    path = root / place.file
    text = path.read_text("utf-8")
    lines = text.splitlines(keepends=True)
    lines[place.number - 1] = lines[place.number - 1].replace(mutant.line, mutant.changed)
    wanted = tests_of(root, place.file)
    red = failures(root, tuple(wanted))
    try:
        path.write_text("".join(lines), "utf-8")
        done = run_tests(root, ["-x", *wanted, *(f"--deselect={name}" for name in red)], LONGEST)
    except subprocess.TimeoutExpired:
        return True
    finally:
        path.write_text(text, "utf-8")
    return done.returncode != 0


def run_tests(root: Path, words: list[str], limit: int | None = None) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    here = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    return subprocess.run(line, cwd=root, env=here, capture_output=True, text=True, timeout=limit)


@cache
def failures(root: Path, wanted: tuple[str, ...]) -> list[str]:
    """The tests that fail without a mutant."""
    found = run_tests(root, list(wanted)).stdout
    return re.findall(r"^(?:FAILED|ERROR) (\S+)", found, re.MULTILINE)


def run(root: Path, mutants: list[Mutant]) -> list[bool]:
    places = lines_of(root)
    found = []
    for n, mutant in enumerate(mutants, 1):
        found.append(is_killed(root, places[mutant.line], mutant))
        word = "killed" if found[-1] else "LIVES"
        print(f"{n:3} {word:6} {places[mutant.line].file}: {mutant.changed}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="How many small faults the tests find.")
    parser.add_argument("other", type=Path, help="another checkout")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("here", "there"))
    parser.add_argument("--json", type=Path, help="a file for what was found")
    args = parser.parse_args()
    mutants = draw(ROOT, args.other, args.count, args.seed)
    roots = {"here": ROOT, "there": args.other.resolve()}
    chosen = {name: root for name, root in roots.items() if args.only in (None, name)}
    with ThreadPoolExecutor(len(chosen)) as pool:
        found = dict(zip(chosen, pool.map(lambda root: run(root, mutants), chosen.values()), strict=True))
    for name, killed in found.items():
        print(f"{name}: {sum(killed)} of {len(killed)} killed")
    if args.json:
        listed = [{"line": m.line, "changed": m.changed} for m in mutants]
        args.json.write_text(json.dumps({"mutants": listed, **found}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
