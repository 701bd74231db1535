"""
Marbles: learn what counts
==========================

Marbles differ in hue, size, weight and transparency. One person sorts them by colour, another by size.
The features do not say which of them is right; only examples do.

Two models see the *same* marbles, grouped in these two ways, and then group marbles of colours that they
have never seen.
"""

import colorsys

import matplotlib.pyplot as plt
import numpy as np

from clustruct import SupervisedCorrelationClustering
from clustruct.papers.toy_marbles import make_marbles

# %%
# Training sets are red, green and blue; the new set is yellow, cyan and magenta. So this is no
# classification: no group of the training comes again.


def learn(by):
    sets = make_marbles(6, 24, ["red", "green", "blue"], by=by, random_state=1)
    return SupervisedCorrelationClustering(C=1.0).fit([m.item_set() for m in sets], [m.labels for m in sets])


models = {by: learn(by) for by in ("hue", "size")}
new = make_marbles(1, 30, ["yellow", "cyan", "magenta"], random_state=7)[0]

# %%
# The pair features are differences, and a constant that says how much difference is too much. A negative
# weight says: a difference here speaks against being together.

names = new.item_set().feature_names
for by, model in models.items():
    print(f"by {by:<5}", *(f"{name} {w:+.2f}" for name, w in zip(names, model.w_, strict=True)), sep="   ")

# %%
# The groups found in the new set. Marbles are drawn in their colour and size; each row is one group.


def draw(ax, labels, title):
    order = np.lexsort((new.hue, labels))
    _, row = np.unique(labels[order], return_inverse=True)
    column = np.array([np.sum(row[:k] == r) for k, r in enumerate(row)])
    colours = [colorsys.hsv_to_rgb(h / 360.0, 0.75, 0.9) for h in new.hue[order]]
    ax.scatter(column, row, s=new.diameter[order] ** 2, c=colours, edgecolor="0.3", linewidth=0.5)
    ax.set(title=title, ylabel="group", yticks=range(row.max() + 1), xticks=[])
    ax.set_ylim(row.max() + 0.6, -0.6)


figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
for ax, (by, model) in zip(axes, models.items(), strict=True):
    draw(ax, model.predict(new.item_set()), f"taught to sort by {by}")
plt.show()
