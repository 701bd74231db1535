"""How far data walk: files, packages and functions entered, calls that go up, deepest stack; on toy data.

    python -m tests.walks [--against other/src] [--src src] [--short] [--list] [--json]

Each walk is made twice and the second one is counted, so that imports and compilation are left out. A package
is what lies directly beneath clustruct, a folder or a module. Files are those of kernels as well; a kernel's
function is not counted, since it is compiled. Numbers of calls vary a little with PYTHONHASHSEED.

Calls that go up lead from a module of a lower layer to one of a higher layer; the layers are those of the
import contract in pyproject.toml of the checkout walked. What a lower layer is meant to call (the methods of
a structured problem, the callback of a round) is left out, and so is the pulling of values from a generator
that was handed down; both are counted apart.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

# What is called, by its present home first. Homes of older checkouts are named without "clustruct.", so that
# whatever renames modules leaves them alone.
HOMES = {
    "main": ("clustruct.cli.main:main",),
    "learn_hooks": ("clustruct.cli.learn:main",),
    "make_records": ("clustruct.data.datasets:make_records", "datasets:make_records"),
    "write_sets": ("clustruct.data.io:write_sets", "io:write_sets"),
    "ItemSet": ("clustruct:ItemSet", "itemsets:ItemSet"),
    "fit": ("clustruct.ssvm:fit",),
    "CorrelationProblem": ("clustruct.learning.problems:ClusteringProblem", "problems:ClusteringProblem"),
    "MultiLabelMRF": ("clustruct:MultiLabelMRF", "estimators:MultiLabelMRF"),
    "UniversumClustering": ("clustruct:UniversumClustering", "estimators:UniversumClustering"),
    "Store": ("clustruct.groups:Store", "incremental:Store"),
    "Decision": ("clustruct.groups:Decision", "incremental:Decision"),
    "decide": ("clustruct.studio.project:decide", "studio.deciding:decide"),
    "learn": ("clustruct.studio.learning:learn", "studio.learning:learn"),
    "Progress": ("clustruct.studio.learning:LearningProgress", "studio.learning:Progress"),
    "next_questions": ("clustruct.studio.reviewing:next_questions", "studio.reviewing:next_questions"),
    "Engine": ("clustruct.studio.engine:Engine", "studio.engine:Engine"),
    "begin": ("clustruct.studio.folder:begin", "studio.data:begin"),
    "Folder": ("clustruct.studio.folder:Folder", "studio.data:Folder"),
}
READ = ("--set", "set", "--id", "id", "--cluster", "cluster")
FIT = ("fit", "people.csv", *READ, "--model", "people.model", "--C")
PREDICT = ("predict", "people.csv", *READ, "--model", "people.model", "--out", "groups.csv")
EXISTING = ("predict", "new.csv", "--id", "id", "--model", "people.model", "--existing", "people.db")
SEEN_LATER = 8  # items of the project in Studio that nobody has sorted yet
HOOKS = "binary"  # of examples/hooks
LEARN = ("--m", HOOKS, "-c", "10", "train.dat", "hooks.model")
# Functions that lower layers are meant to call, on objects that were given to them.
PROTOCOL = {
    # A structured problem, its constraints, and what optional abilities it has.
    *("n_examples", "n_features", "oracle_kind", "truth", "joint_feature", "loss", "separate", "predict"),
    *("separate_batch", "supports", "oracle_rho", "truth_scores", "preferred_formulation", "soften"),
    *("separate_smoothly", "losses", "margins", "combine", "rows", "violation_bound", "kind_for", "is_quick"),
    # Callbacks and progress.
    *("__call__", "on_begin", "on_iteration", "on_step", "on_open", "on_close", "on_compile", "tell"),
    # A Risk of the Universum.
    *("cut", "step"),
    # Registered classes: their states, and what makes objects of these.
    *("state", "from_state", "pipeline_state", "pipeline_from_state", "__init__", "__post_init__"),
    *("check_parameters", "check_attributes", "get_feature_names_out"),
}

# What stands round a method and calls it: the call goes from whoever called the wrapper.
WRAPPERS = ("core.blas",)


def find(name: str) -> Any:
    """The object, from the first of its homes that exists."""
    for home in HOMES[name]:
        module, _, attribute = home.partition(":")
        try:
            inside = module == "clustruct" or module.startswith("clustruct.")
            return getattr(import_module(module if inside else f"clustruct.{module}"), attribute)
        except (ImportError, AttributeError):
            continue
    raise ImportError(f"{name} is in none of {', '.join(HOMES[name])}: add its home to HOMES")


def package_folder() -> Path:
    return Path(str(import_module("clustruct").__file__)).resolve().parent


# Counting


def is_kernel(module: str) -> bool:
    return any(part.endswith(("_kernels", "_numba")) for part in module.split("."))


def covers(prefix: str, module: str) -> bool:
    return module == prefix or module.startswith(prefix + ".")


def layers_of(contracts: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Modules beneath clustruct, their floors, 0 the highest, and their places on these, from the settings of
    import-linter: one contract is exhaustive, others order the packages of one floor.
    """
    found: dict[str, tuple[int, int]] = {"__init__": (0, 0)}
    layered = [c for c in contracts["contracts"] if c.get("containers") == [contracts["root_package"]]]
    for contract in sorted(layered, key=lambda c: not c.get("exhaustive")):
        for n, line in enumerate(contract.get("layers", ())):
            for name in (part.strip(" ()") for part in re.split(r"[|:]", line)):
                found[name] = (found[name][0], n) if name in found else (n, 0)
    lowest = max(floor for floor, _ in found.values())
    return found | {"__init__": (lowest, 0)}  # beneath all others: whoever is imported imports it


@cache
def layers() -> dict[str, tuple[int, int]]:
    """The layers of the checkout walked."""
    settings = package_folder().parents[1] / "pyproject.toml"
    return layers_of(tomllib.loads(settings.read_text(encoding="utf-8"))["tool"]["importlinter"])


def layer(module: str) -> tuple[int, int] | None:
    """(0, 0) is the highest; None where no layer is known."""
    return layers().get(module.split(".")[0])


@dataclass
class Walk:
    """What one run entered. An instance is a profile function."""

    folder: str
    modules: set[str] = field(default_factory=set)
    functions: set[tuple[str, str]] = field(default_factory=set)
    kernels: set[str] = field(default_factory=set)
    deepest: int = 0
    up: Counter[str] = field(default_factory=Counter)
    pulled: Counter[str] = field(default_factory=Counter)
    protocol: Counter[str] = field(default_factory=Counter)
    names: dict[CodeType, str | None] = field(default_factory=dict)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (module := self.module(frame.f_code)) is None:
            return
        if is_kernel(module):
            self.kernels.add(module)
            return
        own = list(self.own_frames(frame))
        self.modules.add(module)
        self.functions.add((module, frame.f_code.co_qualname))
        self.deepest = max(self.deepest, len(own))
        callers = [caller for caller in own[1:] if caller not in WRAPPERS]
        if callers and module not in WRAPPERS:
            self.note_direction(callers[0], module, frame.f_code)

    def module(self, code: CodeType) -> str | None:
        """The module's name beneath the package, None for code from elsewhere."""
        if code not in self.names:
            inside = code.co_filename.startswith(self.folder + os.sep) and code.co_name != "<module>"
            name = code.co_filename[len(self.folder) + 1 :].removesuffix(".py").replace(os.sep, ".")
            self.names[code] = name.removesuffix(".__init__") if inside else None
        return self.names[code]

    def own_frames(self, frame: FrameType | None) -> Iterator[str]:
        """Modules of the package's own frames, the innermost first."""
        while frame is not None:
            module = self.module(frame.f_code)
            if module is not None and not is_kernel(module):
                yield module
            frame = frame.f_back

    def note_direction(self, caller: str, module: str, code: CodeType) -> None:
        below, above = layer(caller), layer(module)
        if below is None or above is None or above >= below:
            return
        edge = f"{caller} > {module}.{code.co_qualname}"
        if code.co_name in PROTOCOL:
            self.protocol[edge] += 1
        elif code.co_flags & inspect.CO_GENERATOR:
            self.pulled[edge] += 1
        else:
            self.up[edge] += 1

    def summary(self) -> dict[str, int]:
        return {
            "files": len(self.modules | self.kernels),
            "packages": len({module.split(".")[0] for module in self.modules | self.kernels}),
            "functions": len(self.functions),
            "deepest": self.deepest,
            "calls_up": self.up.total(),
            "places_up": len(self.up),
        }

    def lists(self) -> dict[str, Any]:
        directions = {"up": dict(self.up), "pulled": dict(self.pulled), "protocol": dict(self.protocol)}
        return {"entered": sorted(self.modules | self.kernels), **directions}


@contextmanager
def quietly() -> Iterator[None]:
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def traced(run: Callable[[], object]) -> Walk:
    """The second of two runs."""
    walk = Walk(str(package_folder()))
    with quietly():
        run()
        sys.setprofile(walk)
        try:
            run()
        finally:
            sys.setprofile(None)
    return walk


# The walks. Each makes its toy data in the current folder and gives the function to be traced.


def command(name: str, *words: str) -> Callable[[], None]:
    main = find(name)

    def run() -> None:
        if (code := main(list(words))) != 0:
            raise RuntimeError(f"{' '.join(words)}: exit code {code}")

    return run


def fit_people(C: str) -> Callable[[], None]:
    find("write_sets")("people.csv", find("make_records")(n_sets=4, n_people=6, most=3))
    return command("main", *FIT, C)


def predict_people() -> Callable[[], None]:
    with quietly():
        fit_people("1")()
    return command("main", *PREDICT)


def write_people(path: str, rows: list[tuple[str, Any, Mapping[str, Any]]], cluster: bool) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        fields = list(rows[0][2])
        writer.writerow(["id", *["cluster"] * cluster, *fields])
        writer.writerows([[name, *[group] * cluster, *map(item.get, fields)] for name, group, item in rows])


def people() -> list[tuple[str, Any, Mapping[str, Any]]]:
    """Ids, groups and fields of one set."""
    (raw,) = find("make_records")(n_sets=1, n_people=24, most=3)
    return [(f"p{n}", group, item) for n, (group, item) in enumerate(zip(raw.labels, raw.items, strict=True))]


def predict_existing() -> Callable[[], None]:
    rows = people()
    write_people("known.csv", rows[: len(rows) // 2], True)
    write_people("new.csv", rows[len(rows) // 2 :], False)
    with quietly():
        fit_people("1")()
        command("main", "store", "first.db", "--create", "--items", "known.csv")()
    predict = command("main", *EXISTING)

    def run() -> None:
        shutil.copy("first.db", "people.db")
        predict()

    return run


def studio_decision() -> Callable[[], object]:
    """A pair is decided, the project learns from all answers, and the next questions are asked."""
    rows = people()
    write_people("people.csv", rows, False)
    with quietly():
        folder, fields = find("Folder")(Path.cwd()), list(rows[0][2])
        path = find("begin")(folder, "people.csv", id="id", fields=fields, kind="auto")
        decision = find("Decision")
        piles: dict[Any, list[str]] = {}
        for name, group, _ in rows[:-SEEN_LATER]:
            piles.setdefault(group, []).append(name)
        with find("Store")(path) as store:
            store.decide(decision("sort", piles=tuple(map(tuple, piles.values()))))
    others = (name for name, *_ in rows[-SEEN_LATER:])

    def run() -> object:
        with find("Store")(path) as store:
            find("decide")(store, decision("different", ("p0", next(others))))
        engine = find("Engine")(path)
        find("learn")(engine, find("Progress")(lambda message: None))
        return find("next_questions")(engine)

    return run


def engine() -> Callable[[], object]:
    rng = np.random.default_rng(0)
    sets, labels = [], []
    for _ in range(4):
        y = rng.integers(0, 3, 10)
        a, b = np.triu_indices(10, 1)
        alike = (y[a] == y[b]) + 0.5 * rng.normal(size=len(a))
        sets.append(find("ItemSet")(pairs=np.column_stack([alike, np.ones(len(a))])))
        labels.append(y)
    fit, problem = find("fit"), find("CorrelationProblem")
    return lambda: fit(problem(sets, labels), C=1.0)


def multilabel() -> Callable[[], object]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5))
    Y = (X @ rng.normal(size=(5, 4)) + 0.3 * rng.normal(size=(30, 4)) > 0).astype(int)
    kind = find("MultiLabelMRF")
    return lambda: kind(C=1.0).fit(X, Y)


def universum() -> Callable[[], object]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) + np.repeat([[2.0, 0.0, 0.0], [-2.0, 0.0, 0.0]], 20, axis=0)
    nothing = 0.2 * rng.normal(size=(10, 3))
    kind = find("UniversumClustering")
    return lambda: kind(2, random_state=0).fit(X, universum=nothing)


def hooks() -> Callable[[], None]:
    homes = (package_folder().parents[1], Path(__file__).resolve().parents[1])
    shutil.copy(next(p for h in homes if (p := h / "examples" / "hooks" / f"{HOOKS}.py").exists()), ".")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4)).round(3)
    rows = [f"{1 if x[0] > 0 else -1} " + " ".join(f"{k}:{v:g}" for k, v in enumerate(x, 1)) for x in X]
    Path("train.dat").write_text("\n".join(rows) + "\n")
    return command("learn_hooks", *LEARN)


# How many of them, from the first on, are those that are to stay short.
SHORT = 4
WALKS: dict[str, Callable[[], Callable[[], object]]] = {
    "fit, C given": lambda: fit_people("1"),
    "predict": predict_people,
    "predict --existing": predict_existing,
    "Studio: decide, learn": studio_decision,
    "fit, C chosen": lambda: fit_people("cv"),
    "engine alone": engine,
    "multi-label": multilabel,
    "universum": universum,
    "hooks": hooks,
}


def walk_all(most: int | None = None) -> dict[str, Any]:
    """All walks, or the first ``most``."""
    found: dict[str, Any] = {"walks": {}}
    unlisted: set[str] = set()
    for name, prepare in list(WALKS.items())[:most]:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            walk = traced(prepare())
        found["walks"][name] = walk.summary() | {"lists": walk.lists()}
        unlisted |= {module for module in walk.modules if layer(module) is None}
    return found | {"in_no_layer": sorted(unlisted)}


def walk_apart(source: Path, *options: str) -> dict[str, Any]:
    """The walks through a checkout, in a process of its own."""
    words = [sys.executable, "-m", "tests.walks", "--json", "--src", str(source.resolve()), *options]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))


def print_counts(title: str, counts: dict[str, int]) -> None:
    print(f"\n{title}: {sum(counts.values())}")
    for what, n in sorted(counts.items(), key=lambda item: -item[1]):
        print(f"{n:6}  {what}")


def table(found: dict[str, Any], before: dict[str, Any] | None = None) -> list[str]:
    """The lines of a table: a walk each; where there is a before, that number and the present one."""
    columns = [name for name in next(iter(found["walks"].values())) if name != "lists"]
    lines = [f"{'walk':22}" + "".join(f"{name:>14}" for name in columns)]
    for name, row in found["walks"].items():
        cells = [str(row[column]) for column in columns]
        if before is not None:
            old = before["walks"].get(name, {})
            cells = [f"{old.get(column, '-')} > {row[column]}" for column in columns]
        lines.append(f"{name:22}" + "".join(f"{cell:>14}" for cell in cells))
    return lines


def print_lists(found: dict[str, Any]) -> None:
    for name, row in found["walks"].items():
        print(f"\nfiles, {name}\n" + "\n".join(f"  {module}" for module in row["lists"]["entered"]))
        for kind in ("up", "pulled", "protocol"):
            print_counts(f"{kind}, {name}", row["lists"][kind])


def main() -> None:
    parser = argparse.ArgumentParser(description="Files entered on the way through clustruct.")
    parser.add_argument("--json", action="store_true", help="print one JSON object, files included")
    parser.add_argument("--list", action="store_true", help="name the files, and the calls that go up")
    parser.add_argument("--short", action="store_true", help="only the walks that are to stay short")
    parser.add_argument("--src", type=Path, help="take clustruct from this folder")
    parser.add_argument(
        "--against", type=Path, help="the src folder of another checkout, for before and after"
    )
    args = parser.parse_args()
    if args.src is not None:
        sys.path.insert(0, str(args.src.resolve()))
    found = walk_all(SHORT if args.short else None)
    if args.json:
        print(json.dumps(found, indent=1))
        return
    print("\n".join(table(found, args.against and walk_apart(args.against, *["--short"] * args.short))))
    print("in no layer: " + (", ".join(found["in_no_layer"]) or "none"))
    if args.list:
        print_lists(found)


if __name__ == "__main__":
    main()
