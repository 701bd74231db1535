"""How far data walk: modules, functions and packages entered, and the deepest stack, on toy data.

    python -m tests.walks [--json] [--src other/checkout/src]

Each walk is made twice and the second one is counted, so that imports and compilation are left out. A package
is what lies directly beneath clustruct, a folder or a module. Kernels are counted apart from modules and
functions, which include comprehensions and lambdas. Numbers of calls vary a little with PYTHONHASHSEED.

Calls that go up lead from a module of a lower layer to one of a higher layer. What a lower layer is meant to
call (the hooks of a structured problem, the callback of a round) is left out, and so is the pulling of values
from a generator that was handed down; both are counted apart. Of the last walk, which chooses C, the
steps between estimator, choice of C and scaling are recorded in their order.
"""

from __future__ import annotations

import argparse
import inspect
import io
import json
import os
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

# What may be renamed. Homes are tried from left to right: new ones go first, old ones stay.

HOMES = {
    "main": ("clustruct.cli.main:main",),
    "learn": ("clustruct.cli.learn:main",),
    "make_records": ("clustruct.datasets:make_records",),
    "write_sets": ("clustruct.io:write_sets",),
    "ItemSet": ("clustruct:ItemSet", "clustruct.itemsets:ItemSet"),
    "fit": ("clustruct.ssvm:fit",),
    "CorrelationProblem": (
        "clustruct.problems:ClusteringProblem",
        "clustruct.problems:CorrelationProblem",
    ),
    "MultiLabelMRF": ("clustruct:MultiLabelMRF", "clustruct.estimators:MultiLabelMRF"),
    "UniversumClustering": ("clustruct:UniversumClustering", "clustruct.estimators:UniversumClustering"),
}
READ = ("--set", "set", "--id", "id", "--cluster", "cluster")
FIT = ("fit", "people.csv", *READ, "--model", "people.model", "--C")
PREDICT = ("predict", "people.csv", *READ, "--model", "people.model", "--out", "groups.csv")
HOOKS = "binary"  # of examples/hooks
LEARN = ("--m", HOOKS, "-c", "10", "train.dat", "hooks.model")

# Layers from the highest to the lowest; a module belongs to the longest name that fits.
LAYERS = (
    ("cli",),
    ("report",),
    ("plot",),
    ("recipe",),
    ("model_files", "explain"),
    ("baselines",),
    ("estimators",),
    ("estimators._learning",),
    ("model_selection", "estimators.choice"),
    ("problems", "estimators.scaling", "estimators.kmeans_scaling"),
    ("estimators.scoring", "estimators._input", "estimators._scoring"),
    ("estimators.watching", "estimators.pair_selection"),
    ("universum", "features", "metrics", "datasets", "hooks", "io"),
    ("oracles",),
    ("ssvm", "inference"),
    ("itemsets", "pair_scores", "records", "rawsets", "itemset_checks", "pair_algebra", "losses"),
    ("storage", "slack_rule", "callbacks", "partitions", "exceptions", "text"),
    ("_random", "_typing", "__init__"),
)
STEPS = {
    "estimator": (
        *("estimators.correlation", "estimators.kmeans", "estimators.base"),
        *("estimators.similarity_learning", "estimators._learning"),
    ),
    "choice": ("model_selection.choose_c", "estimators.choice"),
    "scaling": ("problems.clustering", "problems.units", "estimators.scaling", "estimators.kmeans_scaling"),
}
# Functions that lower layers are meant to call, by where they live.
PROTOCOL = {
    "problems": (
        *("n_examples", "n_features", "oracle_kind", "truth", "joint_feature", "loss", "separate", "predict"),
        *("separate_batch", "supports", "oracle_rho", "truth_scores", "preferred_formulation"),
        *("soften", "separate_smoothed"),
        *("losses", "margins", "combine", "rows"),  # of the constraints a vectorised problem answers with
    ),
    "hooks.problem": ("separate_batch",),  # a BatchProblem
    "hooks.learning": ("__call__",),  # a callback
    "universum.cccp": ("cut", "step"),  # of its Risk
    "estimators.watching": ("tell",),
    "cli.progress": ("__call__", "on_begin", "on_iteration", "on_step"),
    # Registered classes: their states, and what makes objects of these.
    "recipe": ("pipeline_state", "pipeline_from_state"),
    "features": (
        *("state", "from_state", "__post_init__"),
        *("check_parameters", "check_fitted", "get_feature_names_out"),
    ),
    "estimators": ("state", "from_state", "check_parameters", "check_fitted", "__init__"),
}


def find(name: str) -> Any:
    """The object, from the first of its homes that exists."""
    for home in HOMES[name]:
        module, _, attribute = home.partition(":")
        try:
            return getattr(import_module(module), attribute)
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


def layer(module: str) -> int | None:
    """0 is the highest; None where no layer is known."""
    fitting = [(len(name), n) for n, names in enumerate(LAYERS) for name in names if covers(name, module)]
    return max(fitting)[1] if fitting else None


def step(module: str) -> str | None:
    return next((name for name, homes in STEPS.items() if any(covers(h, module) for h in homes)), None)


def in_protocol(module: str, function: str) -> bool:
    return any(covers(home, module) and function in names for home, names in PROTOCOL.items())


@dataclass
class Walk:
    """What one run entered. An instance is a profile function."""

    folder: str
    modules: set[str] = field(default_factory=set)
    functions: set[tuple[str, str]] = field(default_factory=set)
    kernels: set[str] = field(default_factory=set)
    calls: int = 0
    deepest: int = 0
    steps: list[str] = field(default_factory=list)
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
        self.calls += 1
        self.modules.add(module)
        self.functions.add((module, frame.f_code.co_qualname))
        self.deepest = max(self.deepest, len(own))
        if len(own) > 1:
            self.note_step(own)
            self.note_direction(own[1], module, frame.f_code)

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

    def note_step(self, own: list[str]) -> None:
        here = step(own[0])
        before = next((name for name in map(step, own[1:]) if name is not None), None)
        if here is not None and before is not None and here != before:
            self.steps.append(f"{before} > {here}")

    def note_direction(self, caller: str, module: str, code: CodeType) -> None:
        below, above = layer(caller), layer(module)
        if below is None or above is None or above >= below:
            return
        edge = f"{caller} > {module}.{code.co_qualname}"
        if in_protocol(module, code.co_name):
            self.protocol[edge] += 1
        elif code.co_flags & inspect.CO_GENERATOR:
            self.pulled[edge] += 1
        else:
            self.up[edge] += 1

    def summary(self) -> dict[str, Any]:
        named = [name for _, name in self.functions if "<" not in name.rpartition(".")[2]]
        return {
            "modules": len(self.modules),
            "kernels": len(self.kernels),
            "functions": len(self.functions),
            "named_functions": len(named),
            "packages": len({module.split(".")[0] for module in self.modules}),
            "deepest": self.deepest,
            "calls": self.calls,
            "upward": self.up.total(),
            "upward_places": len(self.up),
        }

    def lists(self) -> dict[str, Any]:
        directions = {"up": dict(self.up), "pulled": dict(self.pulled), "protocol": dict(self.protocol)}
        return {"entered": sorted(self.modules), **directions}


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
    return command("learn", *LEARN)


WALKS: dict[str, Callable[[], Callable[[], object]]] = {
    "a fit, C given": lambda: fit_people("1"),
    "b predict": predict_people,
    "c engine": engine,
    "d multi-label": multilabel,
    "e universum": universum,
    "f hooks": hooks,
    "g fit, C chosen": lambda: fit_people("cv"),
}


def walk_all() -> dict[str, Any]:
    found: dict[str, Any] = {"walks": {}}
    unlisted: set[str] = set()
    for name, prepare in WALKS.items():
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            walk = traced(prepare())
        found["walks"][name] = walk.summary() | {"lists": walk.lists()}
        unlisted |= {module for module in walk.modules if layer(module) is None}
    found |= {"steps": dict(Counter(walk.steps)), "step_sequence": walk.steps}
    return found | {"in_no_layer": sorted(unlisted)}


def print_counts(title: str, counts: dict[str, int]) -> None:
    print(f"\n{title}: {sum(counts.values())}")
    for what, n in sorted(counts.items(), key=lambda item: -item[1]):
        print(f"{n:6}  {what}")


def print_walks(found: dict[str, Any]) -> None:
    columns = list(next(iter(found["walks"].values())))[:-1]
    print(f"{'walk':18}" + "".join(f"{name:>16}" for name in columns))
    for name, row in found["walks"].items():
        print(f"{name:18}" + "".join(f"{row[column]:16}" for column in columns))
    for name, row in found["walks"].items():
        for kind in ("up", "pulled", "protocol"):
            print_counts(f"{kind}, {name}", row["lists"][kind])
    print_counts("steps between estimator, choice and scaling", found["steps"])
    print("\nfirst steps: " + "; ".join(found["step_sequence"][:12]))
    print("in no layer: " + (", ".join(found["in_no_layer"]) or "none"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Modules entered on the way through clustruct.")
    parser.add_argument("--json", action="store_true", help="print one JSON object, modules included")
    parser.add_argument("--src", type=Path, help="take clustruct from this folder")
    args = parser.parse_args()
    if args.src is not None:
        sys.path.insert(0, str(args.src.resolve()))
    found = walk_all()
    print(json.dumps(found, indent=1)) if args.json else print_walks(found)


if __name__ == "__main__":
    main()
