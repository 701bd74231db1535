"""
How training ends: bounds that meet
===================================

Every round of a structural SVM gives two numbers: the best objective over the constraints found so far,
which no solution can be below, and the objective of the present weights, which the optimum cannot be
above. Their distance is the duality gap. Training ends when it is small, and the certificate says what
is then certain.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from clustruct import ssvm
from clustruct.evaluate.plot import ConvergenceDisplay
from clustruct.learning.problems import MulticlassProblem

# %%
# A multiclass SVM written as a structured problem. Its oracle looks at all classes, so it is exact.

X, y = make_classification(600, 20, n_informative=8, n_classes=5, n_clusters_per_class=1, random_state=0)
problem = MulticlassProblem(X, y)
results = {
    name: ssvm.fit(problem, C=10.0, formulation=name, rtol=1e-3, random_state=0)
    for name in ("n_slack", "one_slack")
}
ConvergenceDisplay.from_predictions(results["one_slack"], against="rounds")
plt.gcf().set_layout_engine("constrained")
plt.show()

# %%
# Two ways to write the same problem: one slack for each example, or one for all of them together. They
# have the same optimum (Theorem 5 of the dissertation) and get there differently. Drawn is how far the
# lower bound is still below the best objective that was found.

best = min(result.objective for result in results.values())
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for name, result in results.items():
    short = np.maximum(1.0 - np.array([entry.dual for entry in result.history]) / best, 1e-5)
    axes[0].semilogy([entry.iteration for entry in result.history], short, marker=".", label=name)
    axes[1].semilogy([entry.oracle_calls for entry in result.history], short, marker=".", label=name)
axes[0].set(xlabel="rounds", ylabel="lower bound short by")
axes[1].set(xlabel="oracle calls")
axes[0].legend(frameon=False)
plt.show()

# %%
# What is certain at the end:

for name, result in results.items():
    print(f"{name}: {result.stop_reason}, {result.n_iter} rounds, {result.oracle_calls} oracle calls")
    print(f"  {result.certificate}".replace("\n", "\n  "))
