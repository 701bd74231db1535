"""The classical SVM as a structured problem, with weights that must not be negative."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from clustruct import ssvm
from clustruct.learning.problems import BinaryProblem


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    train, test = np.arange(len(y)) % 3 != 0, np.arange(len(y)) % 3 == 0
    problem = BinaryProblem(-X[train], y[train])
    for name, constraints in (("free", None), ("not negative", "nonnegative")):
        result = ssvm.fit(problem, C=10.0, constraints=constraints)
        errors = np.mean(problem.predict(-X[test], result.w) != y[test])
        print(f"weights {name:<13} least {result.w.min():6.3f}  test errors {100 * errors:.1f} %")


if __name__ == "__main__":
    main()
