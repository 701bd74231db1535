"""The structural SVM engine beside its peers: digits, growth with n, oracle calls, the small QP.

``python -m benchmarks.engine`` prints tables. All times are CPU seconds of one process; read the ratios.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import LinearSVC

from benchmarks.printing import command
from clustruct import ssvm
from clustruct.learning.problems import MulticlassProblem

warnings.filterwarnings("ignore", category=FutureWarning)


def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


def objective(W: np.ndarray, X: np.ndarray, y: np.ndarray, C: float) -> float:
    """1/2 |w|^2 + C mean hinge, one function for all solvers."""
    scores = X @ W.T
    row = np.arange(len(y))
    costs = scores + (np.arange(len(W)) != y[:, None])
    return 0.5 * float(np.sum(W**2)) + C * float(np.mean(costs.max(axis=1) - scores[row, y]))


def crammer_singer(X: np.ndarray, y: np.ndarray, C: float, tol: float) -> np.ndarray:
    model = LinearSVC(
        multi_class="crammer_singer", C=C / len(y), tol=tol, fit_intercept=False, max_iter=10_000_000
    )
    return model.fit(X, y).coef_


def interleaved(first: Any, second: Any, times: int) -> tuple[float, float]:
    """Median CPU seconds of two jobs run in turn, so that a busy machine slows both alike."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(times):
        for job, taken in zip((first, second), seconds, strict=True):
            started = time.process_time()
            job()
            taken.append(time.process_time() - started)
    return float(np.median(seconds[0])), float(np.median(seconds[1]))


def multiclass_digits(quick: bool) -> list[dict[str, Any]]:
    """Time to 1% of the optimum against LinearSVC(tol=1e-4)."""
    X, y = digits()
    problem = MulticlassProblem(X, y)
    rows = []
    for C, times in ((10.0, 15 if quick else 41), (1000.0, 5 if quick else 15)):
        optimum = objective(crammer_singer(X, y, C, 1e-8), X, y, C)
        peer = objective(crammer_singer(X, y, C, 1e-4), X, y, C)
        for formulation in ("n_slack", "one_slack"):
            result = ssvm.fit(problem, C, rtol=0.01, formulation=formulation)
            ours, theirs = interleaved(
                lambda: ssvm.fit(problem, C, rtol=0.01, formulation=formulation),  # noqa: B023
                lambda: crammer_singer(X, y, C, 1e-4),  # noqa: B023
                times,
            )
            found = objective(result.w.reshape(10, -1), X, y, C)
            rows.append(
                {
                    "C": C,
                    "solver": formulation,
                    "seconds": ours,
                    "LinearSVC seconds": theirs,
                    "time ratio": ours / theirs,
                    "above optimum %": 100 * (found / optimum - 1),
                    "LinearSVC above %": 100 * (peer / optimum - 1),
                    "oracle passes": result.oracle_calls / len(y),
                    "rounds": result.n_iter,
                }
            )
    return rows


def growth(quick: bool) -> dict[str, Any]:
    """Seconds for n = 500 ... 50,000 synthetic examples, and the exponent in log-log."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(10, 40))
    sizes = [500, 1600, 5000, 16000] if quick else [500, 1600, 5000, 16000, 50000]
    rows = []
    for n in sizes:
        y = rng.integers(0, 10, n)
        problem = MulticlassProblem(centres[y] + 2.0 * rng.normal(size=(n, 40)), y)
        seconds = []
        for _ in range(3):
            started = time.process_time()
            result = ssvm.fit(problem, 10.0, rtol=0.01)
            seconds.append(time.process_time() - started)
        rows.append(
            {"n": n, "cpu seconds": float(np.median(seconds)), "oracle passes": result.oracle_calls / n}
        )
    logs = np.log([[r["n"], r["cpu seconds"]] for r in rows])
    return {"rows": rows, "exponent": float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])}


def oracle_calls(quick: bool = False) -> list[dict[str, Any]]:
    """Passes over digits for a costly oracle: with and without kept answers."""
    X, y = digits()
    problem = MulticlassProblem(X, y)
    rows = []
    for C in (10.0, 1000.0):
        for name, options in (
            ("n_slack", {}),
            ("one_slack", {"formulation": "one_slack", "cache_size": 0}),
            ("one-slack, 10 answers kept", {"formulation": "one_slack", "cache_size": 10}),
        ):
            result = ssvm.fit(problem, C, rtol=0.01, **options)
            rows.append(
                {"C": C, "solver": name, "oracle calls": result.oracle_calls, "objective": result.objective}
            )
    return rows


def dlib_digits(quick: bool = False) -> list[dict[str, Any]] | str:
    """dlib's Python binding on the same problem, where the peer is installed."""
    try:
        import dlib
    except ImportError:
        return "dlib is not installed"
    X, y = digits()

    class Problem:
        """dlib's protocol: dense psi, one oracle call per sample."""

        be_verbose, use_kernel = False, False
        num_samples, num_dimensions = len(y), 640
        epsilon, C = 0.01, 10.0 * 1.0

        def __init__(self, C: float, epsilon: float) -> None:
            # dlib has C times the mean loss as well.
            self.C, self.epsilon, self.calls = C, epsilon, 0

        def psi(self, i: int, c: int) -> Any:
            v = np.zeros(640)
            v[64 * c : 64 * c + 64] = X[i]
            return dlib.vector(v.tolist())

        def get_truth_joint_feature_vector(self, i: int) -> Any:
            return self.psi(i, y[i])

        def separation_oracle(self, i: int, w: Any) -> tuple[float, Any]:
            self.calls += 1
            scores = np.array(w).reshape(10, 64) @ X[i] + (np.arange(10) != y[i])
            c = int(np.argmax(scores))
            return float(c != y[i]), self.psi(i, c)

    rows = []
    for C, epsilon in ((10.0, 0.01),):
        problem = Problem(C, epsilon)
        started = time.process_time()
        w = np.array(dlib.solve_structural_svm_problem(problem))
        seconds = time.process_time() - started
        found = objective(w.reshape(10, 64), X, y, C)
        started = time.process_time()
        ssvm.fit(MulticlassProblem(X, y), C, rtol=0.01)
        ours = time.process_time() - started
        row = {
            "C": C,
            "dlib seconds": seconds,
            "ours": ours,
            "ratio": seconds / ours,
            "dlib objective": found,
        }
        rows.append({**row, "dlib calls": problem.calls})
    return rows


def small_qp(quick: bool = False) -> list[dict[str, Any]]:
    """The dual QPs of a real one-slack run on digits, solved again by each solver."""
    from clustruct.ssvm import dual_qp

    seen: list[tuple[Any, ...]] = []
    solve = dual_qp.solve_dual

    def spy(H: Any, f: Any, groups: Any, start: Any) -> Any:
        seen.append((H.copy(), f.copy(), groups, start.copy()))
        return solve(H, f, groups, start)

    from clustruct.ssvm import planes

    planes.solve_dual = spy
    X, y = digits()
    try:
        ssvm.fit(MulticlassProblem(X, y), 1000.0, rtol=0.01, formulation="one_slack")
    finally:
        planes.solve_dual = solve
    rows = []
    for low, high in ((5, 20), (40, 60), (80, 120)):
        chosen = [q for q in seen if low <= len(q[1]) < high][:20]
        if chosen:
            rows.append({"planes": f"{low}-{high}", **_time_solvers(chosen)})
    return rows


def _time_solvers(problems: list[tuple[Any, ...]]) -> dict[str, Any]:
    from clustruct.ssvm import dual_qp

    def ascent(H: Any, f: Any, groups: Any, start: Any) -> Any:
        return dual_qp._ascend(H, f, groups, dual_qp.feasible(start, groups), 20000)[0]

    solvers = {
        "piqp": lambda H, f, groups, start: dual_qp._interior(H, f, groups),
        "piqp and polish (used)": dual_qp.solve_dual,
        "own ascent, warm": ascent,
        **_daqp(),
    }
    best = [max(_value(*q[:2], s(*q)) for s in solvers.values()) for q in problems]
    row: dict[str, Any] = {}
    for name, solver in solvers.items():
        started = time.process_time()
        answers = [solver(*q) for q in problems]
        row[f"{name} ms"] = 1000 * (time.process_time() - started) / len(problems)
        short = [1 - _value(*q[:2], a) / b for q, a, b in zip(problems, answers, best, strict=True)]
        row[f"{name} short"] = float(max(short))
    return row


def _daqp() -> dict[str, Any]:
    """daqp, cold and with the last active set, where it is installed."""
    try:
        import daqp
    except ImportError:
        return {}

    def cold(H: Any, f: Any, groups: Any, start: Any) -> Any:
        n = len(f)
        upper = np.concatenate([np.full(n, 1e30), [groups.cap[0]]])
        lower = np.concatenate([np.zeros(n), [-1e30]])
        sense = np.zeros(n + 1, np.int32)
        answer = daqp.solve(H, -f, np.ones((1, n)), upper, lower, sense, eps_prox=1e-6)
        return np.maximum(answer[0], 0.0)

    return {"daqp": cold}


def _value(H: np.ndarray, f: np.ndarray, a: np.ndarray) -> float:
    return float(f @ a - 0.5 * a @ H @ a)


PARTS = {
    "digits": multiclass_digits,
    "growth": growth,
    "oracle calls": oracle_calls,
    "dlib": dlib_digits,
    "small QP": small_qp,
}


if __name__ == "__main__":
    command(PARTS, __doc__)
