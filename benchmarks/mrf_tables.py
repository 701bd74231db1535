"""Tables 5.2 to 5.5 of the dissertation again: what approximate inference does to learning.

    python -m benchmarks.mrf_tables [--sets scene yeast ...] [--folds 10] [--rho-folds 0]

C is chosen from 10^-2, 3*10^-2, ..., 3*10^4 by cross-validation, once per set and separation oracle, scored
with the predictor of the same name; then one model is trained on all training data and tested with every
predictor. Every finished fold and model is kept under out/mrf_tables, so that a run that was ended is
taken up again. Writes results.json and tables.md there; sets of earlier runs stay in
them. The real sets need CLUSTRUCT_DATA.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks import mrf_render
from benchmarks.mrf_data import NAMES, Split, available, load, mean_and_error
from benchmarks.mrf_published import PREDICTORS, RHOS
from clustruct import ssvm
from clustruct.problems import MultiLabelProblem

OUT = Path("out/mrf_tables")
GRID = [a * 10.0**b for b in range(-2, 5) for a in (1, 3)]
ORACLES = ("greedy", "loopy_bp", "combine", "exact", "graph_cut")
# While choosing C a gap of 1% is enough; models that are reported are trained to 0.1%.
CHOOSING, FINAL = 1e-2, 1e-3
LIMIT = 120.0


def loss_of(problem: MultiLabelProblem, X: Any, Y: Any, w: Any, predictor: str) -> Any:
    """Loss per example on the scale of 0 to 100; undecided labels count one half, or are tossed."""
    if predictor == "relaxed":
        found: Any = problem.predict_relaxed(X, w).nodes
    elif predictor == "cut_random":
        found = problem.predict_relaxed(X, w).at_random(0)
    else:
        found = problem.predict(X, w, predictor)
    return 100.0 * np.abs(found - Y).mean(axis=1)


def own_predictor(oracle: str) -> str:
    return "relaxed" if oracle == "graph_cut" else "exact" if oracle.startswith("rho") else oracle


def settings(method: str) -> dict[str, Any]:
    """A method's name as the problem's arguments: an oracle, "baseline", or "rho_below:0.9"."""
    if method == "baseline":
        return {"oracle": "exact", "edges": "none"}
    oracle, _, rho = method.partition(":")
    return {"oracle": oracle, **({"rho": float(rho)} if rho else {})}


def train(problem: MultiLabelProblem, C: float, rtol: float, earlier: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return ssvm.fit(problem, C, rtol=rtol, w0=earlier, time_limit=LIMIT)


def grid_losses(data: Split, method: str, fold: int, folds: int) -> list[float]:
    """Held-out loss of one fold for every C, each fit started from the one before."""
    X, Y = data.train
    held = np.random.default_rng(0).permutation(len(Y)) % folds == fold
    problem = MultiLabelProblem(X[~held], Y[~held], **settings(method))
    result, losses = None, []
    for C in GRID:
        result = train(problem, C, CHOOSING, result)
        losses.append(
            float(loss_of(problem, X[held], Y[held], result.w, own_predictor(problem.oracle)).mean())
        )
    return losses


def final_model(data: Split, method: str, C: float) -> dict[str, Any]:
    """Train on everything and test with every predictor."""
    X, Y = data.train
    problem = MultiLabelProblem(X, Y, **settings(method))
    result = train(problem, C, FINAL, None)
    test = {
        name: mean_and_error(loss_of(problem, *data.test, result.w, name))
        for name in (*PREDICTORS, "cut_random")
    }
    return {
        "C": C,
        "test": test,
        "train": float(loss_of(problem, X, Y, result.w, own_predictor(problem.oracle)).mean()),
        "train_exact": float(loss_of(problem, X, Y, result.w, "exact").mean()),
        "undecided": problem.predict_relaxed(data.test.X, result.w).undecided_share,
        "objective": result.objective,
        "gap": result.gap,
        "stop_reason": result.stop_reason,
        "seconds": result.seconds,
        "slack": result.mean_slack,
        "certificate": [result.certificate.lower, result.certificate.upper],
    }


class Store:
    """Results by key, one small file each: a run that was ended finds them again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, key: str, make: Any) -> Any:
        path = self.folder / f"{key.replace(':', '_')}.json"
        if not path.exists():
            started = time.perf_counter()
            made = make()
            part = path.with_suffix(".part")
            part.write_text(json.dumps({"value": made, "seconds": time.perf_counter() - started}))
            part.rename(path)
            print(f"{key}: {time.perf_counter() - started:.1f} s", flush=True)
        return json.loads(path.read_text())["value"]


def study(store: Store, name: str, data: Split, method: str, folds: int) -> dict[str, Any]:
    """Choose C by cross-validation, then the model on all training data."""
    curves = [
        store.get(f"{name}-{method}-fold{f}of{folds}", lambda f=f: grid_losses(data, method, f, folds))
        for f in range(folds)
    ]
    mean = np.mean(curves, axis=0)
    C = GRID[int(np.argmin(mean))]
    model = store.get(f"{name}-{method}-final{folds}", lambda: final_model(data, method, C))
    return {**model, "cv": [list(pair) for pair in zip(GRID, mean.tolist(), strict=True)], "folds": folds}


def default_loss(data: Split) -> float:
    """The labeling that does best on the training set, for every test example."""
    constant = data.train.Y.mean(axis=0) > 0.5
    return float(100.0 * np.abs(data.test.Y - constant).mean())


def rho_study(
    store: Store, name: str, data: Split, kind: str, exact_C: float, folds: int
) -> list[dict[str, Any]]:
    """Table 5.5. Without folds C is the one chosen for the exact oracle."""
    rows = []
    for rho in RHOS:
        method = f"{kind}:{rho}"
        if folds:
            rows.append({"rho": rho, **study(store, name, data, method, folds)})
        else:
            make = lambda method=method: final_model(data, method, exact_C)  # noqa: E731
            rows.append({"rho": rho, **store.get(f"{name}-{method}-exactC", make)})
    return rows


def fixed(store: Store, name: str, data: Split, C: float) -> dict[str, Any]:
    """Every oracle at one C, inside the grid or beyond it."""
    rows = {
        m: store.get(f"{name}-{m}-at{C:g}", lambda m=m: final_model(data, m, C))
        for m in (*ORACLES, "baseline")
    }
    return {"default": default_loss(data), "rows": rows, "rho": {}}


def write(out: Path, results: dict[str, Any]) -> None:
    (out / "results.json").write_text(json.dumps(results, indent=1))
    (out / "tables.md").write_text(mrf_render.tables(results))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=[name for name in NAMES if available(name)])
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--rho-folds", type=int, default=0, help="0: C as chosen for the exact oracle")
    parser.add_argument("--rho-kinds", nargs="*", default=["rho_below", "rho_above"])
    parser.add_argument("--fixed-C", type=float, help="no choice of C: all oracles at this one, no rho table")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    store, earlier = Store(options.out / "parts"), options.out / "results.json"
    results = json.loads(earlier.read_text()) if earlier.exists() else {}
    for name in options.sets:
        data = load(name)
        if options.fixed_C:
            results[f"{name}-at-{options.fixed_C:g}"] = fixed(store, name, data, options.fixed_C)
            continue
        rows = {m: study(store, name, data, m, options.folds) for m in (*ORACLES, "baseline")}
        C = rows["exact"]["C"]
        rho = {
            k: rho_study(store, name, data, k, C, options.rho_folds if k == "rho_below" else 0)
            for k in options.rho_kinds
        }
        results[name] = {"default": default_loss(data), "rows": rows, "rho": rho}
        write(options.out, results)
    write(options.out, results)
    print(mrf_render.tables(results))


if __name__ == "__main__":
    main()
