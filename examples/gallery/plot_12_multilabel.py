"""
Several labels, and what a relaxation can prove
===============================================

A row has several labels, and labels go together or exclude each other. `MultiLabelMRF` learns a weight
vector for each label and a weight for each pair. The best labelling is hard to find in general; the
graph cut decides a part of the labels, and what it decides is right.
"""

import matplotlib.pyplot as plt
import numpy as np

from clustruct import MultiLabelMRF
from clustruct.papers.multilabel import label_set_scores, make_multilabel_count

X, Y = make_multilabel_count(900, n_labels=8, random_state=0)
train, new = slice(0, 400), slice(400, 900)

# %%
# Three ways to train: every label alone, pairs with an exact search (all 2^8 labellings), pairs with the
# graph cut, a relaxation.

settings = {
    "labels alone": MultiLabelMRF(C=30000.0, edges="none", rtol=0.01),
    "exact": MultiLabelMRF(C=30000.0, oracle="exact", rtol=0.01),
    "graph cut": MultiLabelMRF(C=30000.0, oracle="graph_cut", rtol=0.01),
}
for name, model in settings.items():
    model.fit(X[train], Y[train])
    loss = label_set_scores(Y[new], model.predict(X[new]))["hamming_loss"]
    print(f"{name:<13} wrong labels {loss:5.2f} %, undecided on new rows {model.undecided_share(X[new]):.1%}")
    print(f"{'':<13} {model.result_.certificate}".replace("\n", "\n" + " " * 14))

# %%
# Pair weights: blue labels go together, red ones exclude each other. Trained with the relaxation, a
# model learns weights that leave few labels undecided (Table 5.4 of the dissertation).

figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for ax, name in zip(axes, ("exact", "graph cut"), strict=True):
    W = settings[name].edge_weights_
    shown = ax.imshow(W, cmap="RdBu", vmin=-np.abs(W).max(), vmax=np.abs(W).max())
    ax.set(title=f"pair weights, {name}", xlabel="label", ylabel="label")
    figure.colorbar(shown, ax=ax, shrink=0.8)
plt.show()

# %%
# Persistence: where the relaxation says 0 or 1, an exact search says the same.

exact, cut = settings["exact"], settings["exact"].predict_relaxed(X[new])
decided = cut.nodes != 0.5
agree = exact.predict(X[new])[decided] == cut.nodes[decided]
print(f"{decided.mean():.1%} of the labels decided, {agree.mean():.1%} of these as the exact search has them")
