"""
Clustering with a Universum
===========================

You want groups of some documents, and have others that belong to none of them. Told that these lie on no
side, the border turns to run through them. Two dimensions, to be seen; the gain is for text.
"""

import matplotlib.pyplot as plt
import numpy as np

from clustruct import UniversumClustering
from clustruct.evaluate.metrics import matched_accuracy

# %%
# Two long groups side by side. The widest gap is across them, so a clustering without further knowledge
# cuts off an end of each. Points of the Universum lie along the gap.

rng = np.random.default_rng(0)
y = np.repeat([0, 1], 40)
along = rng.uniform(-2.5, 2.5, size=80) + np.where(y == 0, -1.2, 1.2)
across = 0.25 * rng.normal(size=80) + np.where(y == 0, 0.8, -0.8)
X = np.column_stack([along, across])
U = np.column_stack([rng.uniform(-4.0, 4.0, size=25), 0.15 * rng.normal(size=25)])
U, X = U - X.mean(axis=0), X - X.mean(axis=0)  # borders run through the origin

models = {
    "without Universum": UniversumClustering(2, random_state=0).fit(X),
    "with Universum (x)": UniversumClustering(2, random_state=0).fit(X, universum=U),
}

# %%
# Colour is the group found, shape the true group, the line the border.

figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
for ax, (title, model) in zip(axes, models.items(), strict=True):
    for group, marker in enumerate("os"):
        mine = y == group
        ax.scatter(*X[mine].T, c=model.labels_[mine], cmap="coolwarm", vmin=0, vmax=1, marker=marker, s=16)
    if title.startswith("with "):
        ax.scatter(*U.T, color="0.2", marker="x", s=16, linewidths=0.8)
    normal = model.coef_[0] - model.coef_[1]
    ends = np.array([X[:, 0].min(), X[:, 0].max()])
    ax.plot(ends, -normal[0] / normal[1] * ends, color="0.3", lw=1)
    ax.set_ylim(X[:, 1].min() - 0.4, X[:, 1].max() + 0.4)
    ax.set(title=f"{title}: accuracy {matched_accuracy(y, model.labels_):.2f}", xticks=[], yticks=[])
plt.show()

# %%
# The objective never rises from one CCCP step to the next: the Universum term is kept whole, not
# linearised.

for title, model in models.items():
    steps = [f"{step.objective:.3f}" for step in model.result_.history]
    print(f"{title}: {' > '.join(steps)}")
