"""
Are the probabilities right?
============================

A model that chose C on held-out groups also knows what its scores are worth: the probability that a pair
belongs together, and that an item is in the right group. On new data, of the pairs that are said to be
70 % likely, 70 % should be together.
"""

import matplotlib.pyplot as plt
import numpy as np

from clustruct import Recipe
from clustruct.data import PairScores
from clustruct.data.datasets import make_records
from clustruct.learning.calibration import in_right_place

sets = make_records(n_sets=22, n_people=20, errors=1.0, random_state=8)
train, new = sets[:10], sets[10:]
recipe = Recipe().fit(train)
features, model = recipe.pipeline_[:-1], recipe.pipeline_[-1]

# %%
# Collect probability and truth of every pair, and confidence and truth of every item, over twelve new
# sets.

pairs, items = [], []
for table, x in zip(new, features.transform(new), strict=True):
    truth = np.unique(table.labels, return_inverse=True)[1]
    scores = PairScores(len(table), matrix=model.decision_function(x))
    labels = model.predict(x)
    a, b = np.triu_indices(len(table), 1)
    pairs.append((model.pair_probabilities(scores), truth[a] == truth[b]))
    items.append((model.item_probability(scores, labels), in_right_place(truth, labels)))
p, same = (np.concatenate(part) for part in zip(*pairs, strict=True))
confidence, right = (np.concatenate(part) for part in zip(*items, strict=True))
doubtful = (p > 0.05) & (p < 0.95)
print(f"{len(p)} pairs, {doubtful.mean():.1%} of them doubtful; {right.mean():.1%} of items right")

# %%
# Points on the diagonal are honest. The size of a point grows with the number of pairs or items in its
# bin; few items are in a wrong place here, so that the lower bins on the right hold only a handful.


def reliability(ax, said, came, title, n_bins):
    bins = np.clip((said * n_bins).astype(int), 0, n_bins - 1)
    for k in np.unique(bins):
        mine = bins == k
        ax.scatter(said[mine].mean(), came[mine].mean(), s=12 + 25 * np.log10(mine.sum()), color="tab:blue")
    ax.plot([0, 1], [0, 1], color="0.6", lw=1)
    ax.set(title=title, xlabel="probability told", ylabel="share that was so", aspect="equal")


figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
reliability(axes[0], p, same, "pairs: together", 10)
reliability(axes[1], confidence, right, "items: in the right group", 5)
plt.show()
