"""A multiclass SVM on digits by engines for structural SVMs: ``python -m benchmarks.compare.engines``.

P(w) = 1/2 |w|^2 + C mean xi, C = 10, 0/1 loss, tolerance 0.01 on the mean slack. clustruct is run here.
PyStruct and SVM^python do not install on a Python of today; their figures are those of an earlier run on a
machine of the same kind: PyStruct on Python 3.8 with numpy 1.23 and its extensions made anew, SVM^python on
Python 2.7 with an oracle of plain Python (its time is that of the whole process).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

import clustruct
from benchmarks.engine import digits, objective
from benchmarks.hooks import hook_fit
from benchmarks.printing import FIGURES
from clustruct import ssvm
from clustruct.learning.problems import MulticlassProblem

C, EPSILON, REPEATS = 10.0, 0.01, 3
HERE, EARLIER = "this version", "an earlier run"
PEERS = (
    ("PyStruct 0.3.2", "OneSlackSSVM, vectorised oracle", 0.138, 91_647, 6.524),
    ("PyStruct 0.3.2", "OneSlackSSVM, inference_cache=10", 1.83, 17_970, 6.521),
    ("PyStruct 0.3.2", "FrankWolfeSSVM", 0.825, 25_158, 6.485),
    ("SVM^python 2.0.4", "-w 4", 0.869, 14_376, 6.521),
    ("SVM^python 2.0.4", "-w 3", 3.83, 86_256, 6.539),
)


def native(formulation: str) -> tuple[float, ssvm.FitResult]:
    """The vectorised problem."""
    problem = MulticlassProblem(*digits())
    started = time.process_time()
    result = ssvm.fit(problem, C, epsilon=EPSILON, rtol=0.0, formulation=formulation, max_iter=10_000)
    return time.process_time() - started, result


def module() -> tuple[float, ssvm.FitResult]:
    """examples/hooks/multiclass.py, as SVM^python would run it."""
    X, y = digits()
    seconds, result = hook_fit("multiclass", sparse.csr_array(X), y, c=C, epsilon=EPSILON, alg_type=4)
    return float(seconds), result


def row(way: str, work: Callable[[], tuple[float, ssvm.FitResult]]) -> dict[str, Any]:
    """The fastest of three, its calls, and P recomputed."""
    seconds, result = min((work() for _ in range(REPEATS)), key=lambda run: run[0])
    X, y = digits()
    P = objective(np.asarray(result.w).reshape(10, -1), X, y, C)
    found = {"tool": f"clustruct {clustruct.__version__}", "how": way, "CPU s": seconds}
    return {**found, "oracle calls": result.oracle_calls, "P": P, "measured": HERE}


def main() -> None:
    rows = [row(name, lambda name=name: native(name)) for name in ("n_slack", "one_slack")]  # type: ignore[misc]
    rows.append(row("a hook module, -w 4", module))
    for tool, way, seconds, calls, P in PEERS:
        rows.append({"tool": tool, "how": way, "CPU s": seconds, "oracle calls": calls, "P": P})
        rows[-1]["measured"] = EARLIER
    (FIGURES / "compare_engines.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
