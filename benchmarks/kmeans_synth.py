"""Synth under noise, like Table 4.3: `python -m benchmarks.kmeans_synth [--noise 0.2] [--seeds 5]`."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks.nested_cv import ProtocolRow, nested_leave_one_out
from benchmarks.study import as_dict, save, show
from clustruct.baselines import PairKMeans, UntrainedKMeans
from clustruct.datasets import make_synth
from clustruct.estimators import SupervisedKMeans

METHODS: dict[str, tuple[Any, list[float] | None]] = {
    "Iterative": (SupervisedKMeans(oracle="iterative"), [0.01, 0.1, 1.0]),
    "Spectral": (SupervisedKMeans(oracle="spectral", max_iter=200), [0.01, 0.1, 1.0]),
    "Centred": (SupervisedKMeans(oracle="centred", max_iter=200), [0.01, 0.1, 1.0]),
    "Pair": (PairKMeans(), [1e-4, 1e-3, 1e-2]),
    "None": (UntrainedKMeans(), None),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", type=float, nargs="+", default=[0.2, 0.6, 0.8])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    given = parser.parse_args()
    for noise in given.noise:
        columns: dict[str, list[ProtocolRow]] = {}
        names: list[str] = []
        for seed in range(given.seeds):
            X, y = make_synth(noise=noise, random_state=seed)
            names += [f"{seed}.{i}" for i in range(len(X))]
            for name in given.methods:
                estimator, grid = METHODS[name]
                columns.setdefault(name, []).extend(nested_leave_one_out(estimator, X, y, C_grid=grid))
            save(f"synth-{noise}", {c: [as_dict(r) for r in rows] for c, rows in columns.items()})
        show(f"Synth, noise {noise}", names, columns)
        for name, rows in columns.items():
            by = {p: round(float(np.mean([r.outer[p] for r in rows])), 1) for p in rows[0].outer}
            print(f"  {name}: mean test loss by predictor {by}", flush=True)


if __name__ == "__main__":
    main()
