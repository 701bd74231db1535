"""Hook modules beside native problems: the same data, the same options, time and objective.

    python -m benchmarks.hooks

2,000 examples with 500 features, 25 of them set in each; binary and multiclass with 5 classes. "native" is
the vectorised problem, "one by one" the same task written for the engine without a batch oracle. Times are
processor seconds of the training, the best of three in one process with the kernels compiled before. Then
come the costs of `Sparse`.
"""

from __future__ import annotations

import time
import timeit
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.printing import command
from clustruct import ssvm
from clustruct.learning.problems import BinaryProblem, MulticlassProblem
from clustruct.papers.hooks import importable, load_hooks, start_model, train
from clustruct.papers.hooks.svmapi import KernelParm, Model, Sparm, Sparse

MODULES = Path(__file__).resolve().parents[1] / "examples" / "hooks"
REPEATS = 3


def make_data(n_classes, n=2000, d=500, nonzero=25, seed=0):
    """Sparse rows, and the class that a random linear model with some noise gives them."""
    rng = np.random.default_rng(seed)
    columns = np.stack([np.sort(rng.choice(d, nonzero, replace=False)) for _ in range(n)])
    values = rng.normal(size=(n, nonzero))
    pointers = np.arange(0, n * nonzero + 1, nonzero)
    X = sparse.csr_array((values.ravel(), columns.ravel(), pointers), shape=(n, d))
    scores = X @ rng.normal(size=(d, n_classes))
    return X, np.argmax(scores + rng.normal(size=scores.shape), axis=1)


class OneByOneBinary(ssvm.Problem):
    """`BinaryProblem` without its batch form: what a user would write for the engine."""

    oracle_kind = "exact"

    def __init__(self, X, y):
        self.X, self.sign = [X[[i]] for i in range(X.shape[0])], 2 * y - 1
        self.n_examples, self.n_features = X.shape

    def truth(self, i):
        return self.sign[i]

    def joint_feature(self, i, y):
        return self.X[i] * (0.5 * y)

    def loss(self, i, y):
        return float(y != self.sign[i])

    def separate(self, i, w, rule):
        y = self.sign[i]
        return -y if y * (self.X[i] @ w)[0] < 1 else y


def hook_fit(name, X, y, **options):
    """Seconds and result of training a module, from examples in memory."""
    hooks = load_hooks(str(MODULES / f"{name}.py"))
    sparm = Sparm(**options)
    with importable(MODULES):
        hooks.parse_parameters(sparm)
        labels = (2 * y - 1 if name == "binary" else y).tolist()
        sample = [(Sparse(X[[i]]), label) for i, label in enumerate(labels)]
        started = time.process_time()
        sm = start_model(hooks, sample, sparm, KernelParm())
        result, _ = train(hooks, sample, sm, sparm)
        return time.process_time() - started, result


def native_fit(problem, sparm):
    """Seconds and result of the engine on a problem, with the same options."""
    started = time.process_time()
    result = ssvm.fit(
        problem,
        sparm.c,
        epsilon=sparm.epsilon,
        rtol=0.0,
        formulation="n_slack" if sparm.alg_type < 2 else "one_slack",
        cache_size=sparm.ccache_size if sparm.alg_type == 4 else 0,
        max_iter=100_000,
    )
    return time.process_time() - started, result


def best(function, *args, repeats=REPEATS, **options):
    """The fastest of the repeats: seconds, objective, oracle calls."""
    runs = [function(*args, **options) for _ in range(repeats)]
    seconds, result = min(runs, key=lambda run: run[0])
    return {"seconds": seconds, "objective": result.objective, "calls": result.oracle_calls}


def compare(name, n_classes, C, algorithm, epsilon=0.01):
    """One row of the comparison."""
    X, y = make_data(n_classes)
    options = {"c": C, "epsilon": epsilon, "alg_type": algorithm}
    problem = (BinaryProblem if name == "binary" else MulticlassProblem)(X, y)
    hooks = best(hook_fit, name, X, y, **options)
    native = best(native_fit, problem, Sparm(**options))
    row = {
        "task": name,
        "-w": algorithm,
        "-c": C,
        "hooks s": hooks["seconds"],
        "native s": native["seconds"],
        "ratio": hooks["seconds"] / native["seconds"],
        "calls": hooks["calls"],
        "objective, relative": hooks["objective"] / native["objective"],
    }
    if name == "binary" and C == 100.0:
        single = best(native_fit, OneByOneBinary(X, y), Sparm(**options), repeats=1)
        row["one by one s"] = single["seconds"]
    return row


def learning(quick):
    """Modules beside native problems."""
    # The first fit compiles.
    compare("binary", 2, 1.0, 0)
    costs = (100.0,) if quick else (1.0, 100.0, 1000.0)
    return [
        compare(name, n_classes, C, algorithm)
        for name, n_classes in (("binary", 2), ("multiclass", 5))
        for algorithm in (0, 3, 4)
        for C in costs
    ]


def sparse_costs(quick):
    """Microseconds of what modules do with a `Sparse` of 25 words."""
    X, _ = make_data(2, n=1)
    v = Sparse(X)
    names = {
        "Sparse": Sparse,
        "pairs": list(v),
        "values": X.toarray()[0],
        "v": v,
        "model": Model(lin_weights=np.ones(500)),
        "w": np.ones(500).tolist(),
    }
    statements = {
        "make from pairs": "Sparse(pairs)",
        "make from an array": "Sparse(values)",
        "make from a Sparse": "Sparse(v, factor=-1.0)",
        "shift": "v.shifted(500)",
        "iterate": "for k, x in v: pass",
        "score by classify": "model.classify(v)",
        "score by a loop over pairs": "sum(w[k] * x for k, x in pairs)",
    }
    cost = {
        name: min(timeit.repeat(code, globals=names, number=2000, repeat=5)) / 2000 * 1e6
        for name, code in statements.items()
    }
    return [{"what": name, "microseconds": value} for name, value in cost.items()]


PARTS = {"learning": learning, "Sparse": sparse_costs}


if __name__ == "__main__":
    command(PARTS, __doc__)
