"""
Choosing C, and how sure the choice is
======================================

C weighs training errors against simplicity. By default it is chosen by holding out whole groups of sets.
With few groups the curve is flat and noisy, and the default then stays near the usual value unless most
groups are better off elsewhere.
"""

import matplotlib.pyplot as plt
import numpy as np

from clustruct import SupervisedCorrelationClustering
from clustruct.papers.toy_marbles import make_marbles

GRID = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]
COLOURS = ["red", "yellow", "green", "cyan", "blue", "magenta"]

# %%
# The same task with four sets and with sixteen. Beside the held-out loss of the choice stands the loss
# on fifty new sets, which nobody has in practice.

new = make_marbles(50, 25, COLOURS, noise=1.5, random_state=99)
new_sets, new_labels = [m.item_set() for m in new], [m.labels for m in new]


def curves(n_sets):
    sets = make_marbles(n_sets, 25, COLOURS, noise=1.5, random_state=3)
    X, y = [m.item_set() for m in sets], [m.labels for m in sets]
    chosen = SupervisedCorrelationClustering("cv", C_grid=GRID).fit(X, y)
    true = [
        SupervisedCorrelationClustering(C).fit(X, y).set_losses(new_sets, new_labels).mean() for C in GRID
    ]
    return chosen, np.array(true)


figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
for ax, n_sets in zip(axes, (4, 16), strict=True):
    chosen, true = curves(n_sets)
    tried = chosen.cv_results_
    spread = tried["losses"].std(axis=1, ddof=1) / np.sqrt(n_sets)
    ax.errorbar(
        tried["C"], tried["mean_loss"], spread, marker="o", capsize=3, label="held out, standard error"
    )
    ax.plot(GRID, true, marker="s", ms=4, color="0.5", label="fifty new sets")
    ax.axvline(chosen.C_, color="tab:orange", lw=1, label=f"chosen: {chosen.C_:g}")
    ax.set(xscale="log", xlabel="C", title=f"{n_sets} sets")
    ax.legend(frameon=False, fontsize="small")
axes[0].set_ylabel("loss: % of pairs wrong")
plt.show()

# %%
# C is measured in a unit taken from the data, so that C = 1 is a fair choice everywhere; ``cv_results_``
# has what each value gave.

for C, loss, f1 in zip(tried["C"], tried["mean_loss"], tried["pairwise_f"], strict=True):
    print(f"C = {C:<6g} held-out loss {loss:.2f}, pairwise F {100 * f1:.1f} %")
