"""
Learning through a spectral relaxation
======================================

The best k clusters of a similarity are hard to find; the k leading eigenvectors are not, and score at
least as much as any partition does. Training with them looks at *more* than all partitions, so that what
holds for the relaxation holds for partitions, too.
"""

import matplotlib.pyplot as plt
import numpy as np

from clustruct import SupervisedKMeans
from clustruct.data.datasets import make_synth

X, y = make_synth(n_sets=5, n_clusters=4, cluster_size=20, region_size=20, noise=0.3, random_state=1)
train, new = slice(0, 4), 4
models = {
    oracle: SupervisedKMeans(n_clusters=4, C=1.0, oracle=oracle).fit(X[train], y[train])
    for oracle in ("iterative", "spectral")
}

# %%
# The learned similarities of the new set, items ordered by their true groups. Pair features say which
# two groups a pair joins, with much noise; no single feature means "together". On the right what the
# relaxation sees: the second and third eigenvector of the similarity learned with it, each item a point,
# coloured by its true group.

order = np.argsort(y[new], kind="stable")
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=False):
    K = model.decision_function(X[new])[np.ix_(order, order)]
    high = np.abs(K).max()
    ax.imshow(K, cmap="RdBu", vmin=-high, vmax=high)
    ax.set(title=f"trained, {name} oracle", xticks=[], yticks=[])
_, vectors = np.linalg.eigh(models["spectral"].decision_function(X[new]))
axes[2].scatter(vectors[:, -2], vectors[:, -3], c=y[new], cmap="tab10", vmax=9, s=18)
axes[2].set(title="eigenvectors two and three", xticks=[], yticks=[])
plt.show()

# %%
# The certificate says what each training has proved: a search of some partitions gives a lower end of
# the optimum, a relaxation an upper one, and with it a bound on the training loss of the relaxed
# prediction.

for name, model in models.items():
    loss = model.set_losses([X[new]], [y[new]])[0]
    print(f"{name}: loss {loss:.1f} on the new set\n  {model.result_.certificate}")
