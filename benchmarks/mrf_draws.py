"""What the draw of Synth1 does to Table 5.2's exact row: `python -m benchmarks.mrf_draws [--draws 20]`.

Each draw has its own training and test set of the dissertation's sizes. The test loss is printed for three C,
and for the best of these on the test set, which no protocol may use: it shows what is within reach.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.mrf_tables import FINAL, loss_of, train
from clustruct.datasets import make_multilabel_chain
from clustruct.problems import MultiLabelProblem

GRID = (300.0, 1000.0, 3000.0)
PUBLISHED = 6.86


def losses(seed: int) -> list[float]:
    """The test loss of exact training and prediction at each C, for one draw."""
    fit, test = (make_multilabel_chain(n, random_state=[seed, n]) for n in (471, 5045))
    problem = MultiLabelProblem(*fit, oracle="exact")
    found, result = [], None
    for C in GRID:
        result = train(problem, C, FINAL, result)
        found.append(float(loss_of(problem, *test, result.w, "exact").mean()))
    return found


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    table = np.array([losses(seed) for seed in range(parser.parse_args().draws)])
    columns = {f"C = {C:g}": table[:, i] for i, C in enumerate(GRID)} | {"best": table.min(axis=1)}
    for name, column in columns.items():
        below = f"{np.mean(column <= PUBLISHED):.0%} at or below {PUBLISHED}"
        spread = f"{column.min():.2f} to {column.max():.2f}"
        print(f"{name:>10}: mean {column.mean():.2f}, deviation {column.std(ddof=1):.2f}, {spread}, {below}")


if __name__ == "__main__":
    main()
