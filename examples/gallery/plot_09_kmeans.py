"""
k-means with a learned metric
=============================

Loud features of noise drown the two that matter. Unsupervised k-means follows the loud ones.
`SupervisedKMeans` learns from grouped sets which features count, and then k-means finds the groups.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from clustruct import SupervisedKMeans
from clustruct.evaluate.metrics import adjusted_rand_index

# %%
# Each set has four groups in its own places: what is learned is the metric, not where groups lie.
# Products of node features measure angles, so groups are directions here.


def make_set(rng, m=60, quiet=2, loud=4):
    y = np.repeat(np.arange(4), m // 4)
    turn = 2 * np.pi * (np.arange(4) / 4 + rng.random())
    signal = np.column_stack([np.cos(turn), np.sin(turn)])[y] + 0.18 * rng.normal(size=(m, quiet))
    return np.column_stack([signal, 1.5 * rng.normal(size=(m, loud))]), y


rng = np.random.default_rng(0)
train, new = [make_set(rng) for _ in range(6)], [make_set(rng) for _ in range(5)]
model = SupervisedKMeans(n_clusters=4, C=1.0, kernel_learning=True, predictor="iterative")
model.fit(*zip(*train, strict=True))
print("learned weights, two features that count and four of noise:", model.w_.round(3))

# %%
# Beside it k-means as it is, and on features scaled to unit variance.

rows = []
for X, y in new:
    scaled = X / X.std(axis=0)
    ways = [
        KMeans(4, n_init=10, random_state=0).fit_predict(X),
        KMeans(4, n_init=10, random_state=0).fit_predict(scaled),
        model.predict(X),
    ]
    rows.append([adjusted_rand_index(y, found) for found in ways])

figure, axes = plt.subplots(1, 3, figsize=(11, 3.3), layout="constrained")
X, y = new[0]
for ax, found, title in (
    (axes[0], KMeans(4, n_init=10, random_state=0).fit_predict(X), "k-means"),
    (axes[1], model.predict(X), "learned metric"),
):
    ax.scatter(X[:, 0], X[:, 1], c=found, cmap="tab10", vmax=9, s=16)
    ax.set(title=f"{title}, one new set", xlabel="first feature", ylabel="second feature", aspect="equal")
axes[2].boxplot(np.array(rows), tick_labels=["k-means", "scaled", "learned"])
axes[2].set(title="five new sets", ylabel="adjusted Rand index")
plt.show()
