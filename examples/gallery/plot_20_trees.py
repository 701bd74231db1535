"""
Similarities that are not linear
================================

A weighted sum of features cannot say "near one half". Trees can: the mean logit of a forest and of boosted
trees that tell pairs takes the place of the features, and the structural SVM decides where its zero is for
whole groups. Kernels are another way.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

from clustruct import ItemSet, SupervisedCorrelationClustering
from clustruct.features.similarity import NystroemMap, TreeColumn

# %%
# Two features of a pair; items belong together where the point lies on a ring.


def make_set(rng, m=18):
    y = rng.integers(0, 4, m)
    a, b = np.triu_indices(m, 1)
    angle = 2 * np.pi * rng.random(len(a))
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.2 * rng.normal(size=(len(a), 2))
    other = rng.uniform(-2, 2, (len(a), 2))
    point = np.where((y[a] == y[b])[:, None], ring, other)
    return ItemSet(pairs=np.column_stack([point, np.ones(len(a))]), feature_names=["u", "v", "constant"]), y


rng = np.random.default_rng(0)
train, new = [make_set(rng) for _ in range(8)], [make_set(rng) for _ in range(8)]
models = {
    "linear": make_pipeline(SupervisedCorrelationClustering(1.0)),
    "trees": make_pipeline(TreeColumn(), SupervisedCorrelationClustering(1.0)),
    "Nystroem map": make_pipeline(NystroemMap(), SupervisedCorrelationClustering(1.0)),
}
for model in models.values():
    model.fit(*zip(*train, strict=True))

# %%
# The similarity as a function of the two features: blue speaks for together.

side = np.linspace(-2, 2, 61)
u, v = (grid.ravel() for grid in np.meshgrid(side, side))
n = 87  # a set of 87 items has 3,741 pairs: the 3,721 points of the grid are the first of them
probe = np.zeros((n * (n - 1) // 2, 3))
probe[: len(u)] = np.column_stack([u, v, np.ones(len(u))])
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    x = model[:-1].transform([ItemSet(pairs=probe)])[0] if len(model) > 1 else ItemSet(pairs=probe)
    K = model[-1].decision_function(x)[np.triu_indices(n, 1)][: len(u)].reshape(61, 61)
    high = np.abs(K).max() or 1.0
    ax.imshow(K, extent=(-2, 2, -2, 2), origin="lower", cmap="RdBu", vmin=-high, vmax=high)
    wrong = 100 * (1 - model.score(*zip(*new, strict=True)))
    ax.set(title=f"{name}: {wrong:.1f} % of pairs wrong", xlabel="u", ylabel="v")
plt.show()
