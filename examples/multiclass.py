"""Handwritten digits as a structured problem, with the optimum of scikit-learn's Crammer-Singer SVM."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from clustruct import ssvm
from clustruct.learning.problems import MulticlassProblem


def main() -> None:
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    train, test = np.arange(len(y)) % 3 != 0, np.arange(len(y)) % 3 == 0
    problem = MulticlassProblem(X[train], y[train])
    for C in (0.1, 10.0, 1000.0):
        result = ssvm.fit(problem, C)
        errors = np.mean(problem.predict(X[test], result.w) != y[test])
        print(f"C = {C:<6g} objective {result.objective:9.3f}  gap {result.gap:.1e}", end="  ")
        print(f"test errors {100 * errors:.1f} %")


if __name__ == "__main__":
    main()
