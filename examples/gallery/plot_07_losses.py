"""
Train for the score you are judged by
=====================================

What counts as an error is a parameter. Each row of the table is a model trained for one loss, each
column scores all models by one of them, on the same new sets. A small number is good.
"""

import matplotlib.pyplot as plt
import numpy as np

from clustruct import ItemSet, SupervisedCorrelationClustering, losses

LOSSES = ["pairwise", "pairwise_f", "mitre", "b_cubed", "ceaf_entity"]

# %%
# Sets with one large group, some small ones, and many single items, as mentions of persons in a text
# have. Pair features are noisy signs of "same" and "different", and a constant.


def make_set(rng, m=40):
    sizes = [12, 5, 4, 3, 2, 2]
    y = np.r_[np.repeat(np.arange(6), sizes), np.arange(6, 6 + m - sum(sizes))]
    a, b = np.triu_indices(m, 1)
    same = (y[a] == y[b]).astype(float)
    features = same[:, None] * [1.0, 0.6, 0.0] + rng.normal(size=(len(a), 3))
    return ItemSet(pairs=np.column_stack([features, np.ones(len(a))])), y


rng = np.random.default_rng(0)
train = [make_set(rng) for _ in range(8)]
new = [make_set(rng) for _ in range(12)]

# %%
# Losses that are no sums over pairs did best with slack scaling where it was measured, so they get it
# here.

table = np.zeros((len(LOSSES), len(LOSSES)))
for row, name in enumerate(LOSSES):
    scaling = "margin" if name == "pairwise" else "slack"
    model = SupervisedCorrelationClustering(C=1.0, loss=name, scaling=scaling, rtol=0.05)
    model.fit(*zip(*train, strict=True))
    answers = [model.predict(x) for x, _ in new]
    for column, judge in enumerate(LOSSES):
        delta = losses.as_loss(judge)
        pairs = zip(answers, new, strict=True)
        table[row, column] = np.mean([delta(y, answer) for answer, (_, y) in pairs])

# %%
# Columns are coloured one by one. A model need not be the best in its own column: twelve sets are few,
# the searches are not exact, and C is the same for all here (``clustruct cv --compare loss`` chooses and
# tests).

shades = (table - table.min(axis=0)) / np.ptp(table, axis=0)
figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
ax.imshow(shades, cmap="YlOrBr", vmin=0.0, vmax=1.6)
for (row, column), value in np.ndenumerate(table):
    best = value == table[:, column].min()
    ax.text(column, row, f"{value:.1f}", ha="center", va="center", weight="bold" if best else "normal")
ax.set_xticks(range(len(LOSSES)), LOSSES, rotation=20)
ax.set_yticks(range(len(LOSSES)), LOSSES)
ax.set(xlabel="scored by", ylabel="trained for", title="loss on new sets, best of a column in bold")
plt.show()
