"""Hook modules beside native problems: the same data, the same options, time and objective.

    python -m benchmarks.hooks

2,000 examples with 500 features, 25 of them set in each example; binary and multiclass. "one by one" is
the native problem written without a batch oracle, "native" the vectorised one. Times are the best of five
in one process, kernels compiled before.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from clustruct import ssvm
from clustruct.problems import BinaryProblem, MulticlassProblem
from clustruct.problems.hooks import importable, load_hooks, start_model, train
from clustruct.problems.hooks.svmapi import KernelParm, Sparm, Sparse

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "hooks"
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


class OneByOneBinary:
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
    """Seconds and objective of training a module, from examples in memory."""
    hooks = load_hooks(str(EXAMPLES / f"{name}.py"))
    sparm = Sparm(**options)
    with importable(EXAMPLES):
        hooks.parse_parameters(sparm)
        rows = [Sparse(X[[i]]) for i in range(X.shape[0])]
        labels = (2 * y - 1 if name == "binary" else y).tolist()
        sample = list(zip(rows, labels, strict=True))
        sm = start_model(hooks, sample, sparm, KernelParm())
        started = time.process_time()
        result = train(hooks, sample, sm, sparm).result
        return time.process_time() - started, result


def native_fit(problem, sparm):
    started = time.process_time()
    result = ssvm.fit(
        problem,
        sparm.c,
        epsilon=sparm.epsilon,
        rtol=0.0,
        formulation="n-slack" if sparm.alg_type < 2 else "one-slack",
        cache_size=sparm.ccache_size if sparm.alg_type == 4 else 0,
        max_iter=100_000,
    )
    return time.process_time() - started, result


def best(function, *args, **options):
    """The fastest of the repeats: seconds, objective, oracle calls."""
    runs = [function(*args, **options) for _ in range(REPEATS)]
    seconds, result = min(runs, key=lambda run: run[0])
    return {"seconds": round(seconds, 4), "objective": result.objective, "calls": result.oracle_calls}


def compare(name, n_classes, C, algorithm, epsilon=0.01):
    X, y = make_data(n_classes)
    options = {"c": C, "epsilon": epsilon, "alg_type": algorithm}
    native = (BinaryProblem if name == "binary" else MulticlassProblem)(X, y)
    row = {
        "task": name,
        **options,
        "hooks": best(hook_fit, name, X, y, **options),
        "native": best(native_fit, native, Sparm(**options)),
    }
    if name == "binary":
        row["one by one"] = best(native_fit, OneByOneBinary(X, y), Sparm(**options))
    row["ratio"] = round(row["hooks"]["seconds"] / row["native"]["seconds"], 2)
    return row


def main():
    for name, n_classes in (("binary", 2), ("multiclass", 5)):
        for algorithm in (0, 3, 4):
            for C in (1.0, 100.0):
                print(json.dumps(compare(name, n_classes, C, algorithm)), flush=True)


if __name__ == "__main__":
    main()
