"""Speed of multi-label training and prediction, as ratios measured side by side in one process.

    python -m benchmarks.mrf_speed [--quick]

Training: Synth2 (1000 x 40, 10 labels, complete graph, one-slack) with the graph-cut, exact and LP oracles.
Prediction: 10,000 examples with 14 labels, every predictor. Inference: microseconds per problem in batches,
and roof duality on one complete graph beside dwave-preprocessing. CPU seconds, compilation excluded.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.printing import command
from clustruct import ssvm
from clustruct.papers.multilabel import MultiLabelProblem, make_multilabel_count, mrf
from clustruct.papers.multilabel.multilabel_problem import SEARCHES
from tests.reference.mrf import dwave


def cpu_seconds(call: Any, repeats: int) -> tuple[float, Any]:
    """Median CPU time of some calls, and the last answer."""
    times, answer = [], None
    for _ in range(repeats):
        started = time.process_time()
        answer = call()
        times.append(time.process_time() - started)
    return float(np.median(times)), answer


def training(C: float, rtol: float, repeats: int, constant: bool) -> list[dict[str, Any]]:
    """One-slack training with three oracles. Equal objectives: graph cut and LP."""
    X, Y = make_multilabel_count(1000, random_state=1)
    if constant:
        X = np.hstack([X, np.ones((1000, 1))])
    found = {}
    for oracle in ("graph_cut", "exact", "linear_program"):
        problem = MultiLabelProblem(X, Y, oracle)
        runs = 1 if oracle == "linear_program" else repeats
        seconds, result = cpu_seconds(
            lambda p=problem: ssvm.fit(p, C, formulation="one_slack", rtol=rtol), runs
        )
        found[oracle] = {
            "C": C,
            "constant feature": constant,
            "oracle": oracle,
            "seconds": seconds,
            "objective": result.objective,
            "rounds": result.n_iter,
        }
    slow = found["linear_program"]["seconds"]
    return [{**row, "LP's time over it": slow / row["seconds"]} for row in found.values()]


def prediction(repeats: int, count: int = 10000, V: int = 14, d: int = 103) -> list[dict[str, Any]]:
    """10,000 examples with 14 labels; the LP on a hundredth of them, scaled up."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(count, d)), rng.integers(0, 2, (count, V))
    problem = MultiLabelProblem(X, Y)
    w = rng.normal(size=problem.n_features) / np.sqrt(d)
    w[-len(problem.edges) :] = rng.normal(size=len(problem.edges))
    found = {}
    for name in SEARCHES:
        rows = X[: count // 100] if name == "linear_program" else X
        problem.predict(rows[:2], w, name)
        seconds, _ = cpu_seconds(lambda n=name, r=rows: problem.predict(r, w, n), repeats)
        found[name] = seconds * count / len(rows)
    return [{"predictor": name, "examples": count, "seconds": seconds} for name, seconds in found.items()]


def inference(repeats: int) -> dict[str, Any]:
    """Roof duality: batches of small problems, and single problems of growing size, ours and dwave's."""
    rng = np.random.default_rng(0)
    batches, single = [], []
    for V in (6, 10, 14):
        unary, pairwise = rng.normal(size=(300, V)), np.triu(rng.normal(size=(V, V)), 1)
        own = lambda u=unary, p=pairwise: mrf.graph_cut(u, p)  # noqa: E731
        other = lambda u=unary, p=pairwise: [dwave(row, p) for row in u]  # noqa: E731
        calls = {"own": own, "dwave": other}
        times = {name: cpu_seconds(call, repeats)[0] / 300 * 1e6 for name, call in calls.items()}
        call = lambda u=unary, p=pairwise: mrf.linear_program(u, p)  # noqa: E731
        times["linear_program"] = cpu_seconds(call, 1)[0] / 300 * 1e6
        batches.append({"V": V, **times})
    for V in (20, 50, 100, 200, 500):
        unary, pairwise = rng.normal(size=V), np.triu(rng.normal(size=(V, V)), 1)
        times = {
            name: cpu_seconds(lambda s=search, u=unary, p=pairwise: s(u, p), repeats)[0] * 1e3
            for name, search in (("own", mrf.graph_cut), ("dwave", dwave))
        }
        single.append({"V": V, **times})
    return {"microseconds per problem": batches, "milliseconds, one complete graph": single}


def _trainings(quick: bool) -> list[dict[str, Any]]:
    training(1.0, 0.5, 1, False)  # compiles
    cases = (
        [(100.0, True)] if quick else [(C, constant) for C in (100.0, 1000.0) for constant in (False, True)]
    )
    return [row for C, constant in cases for row in training(C, 1e-2, 1 if quick else 3, constant)]


PARTS = {
    "prediction": lambda quick: prediction(1 if quick else 3, 1000 if quick else 10_000),
    "inference": lambda quick: inference(1 if quick else 3),
    "training": _trainings,
}

if __name__ == "__main__":
    command(PARTS, __doc__)
