"""
Where groups went wrong
=======================

Marbles measured so badly that errors are left. Three pictures of one answer: the similarities, the true
groups flowing into the groups found, and how sure each item is of its place.
"""

import matplotlib.pyplot as plt
import numpy as np

from clustruct import SupervisedCorrelationClustering
from clustruct.evaluate.explain import item_confidence, split_merge
from clustruct.evaluate.plot import SimilarityMatrixDisplay, SplitMergeDisplay
from clustruct.papers.toy_marbles import make_marbles

COLOURS = ["red", "yellow", "green", "cyan", "blue", "magenta"]
*train, new = make_marbles(9, 60, COLOURS, noise=1.6, random_state=4)
model = SupervisedCorrelationClustering(C=1.0).fit([m.item_set() for m in train], [m.labels for m in train])
x, truth = new.item_set(), new.labels

# %%
# Each frame is a group found; blue pairs want to be together, red ones apart; the strip shows the true
# groups.

SimilarityMatrixDisplay.from_estimator(model, x, truth)
plt.show()

# %%
# True groups on the left, groups found on the right. Orange bands are items that went astray.

SplitMergeDisplay.from_estimator(model, x, truth)
plt.show()

# %%
# The same as text: true groups that were split, and groups found that mix several.

labels = model.predict(x)
errors = split_merge(truth, labels)
for split in errors.splits[:2]:
    sizes = [len(piece.items) for piece in split.pieces]
    print(f"true group {split.cluster} was split into pieces of {sizes}: {split.pairs} pairs lost")
for merge in errors.merges[:2]:
    print(f"found group {merge.cluster} mixes true groups: {merge.pairs} wrong pairs")

# %%
# The confidence of an item is the score lost by its best other place. Items in a wrong place should be
# at the left.

found = item_confidence(model.decision_function(x), labels)
main = {group: np.bincount(truth[labels == group]).argmax() for group in np.unique(labels)}
astray = np.array([truth[i] != main[labels[i]] for i in range(len(labels))])
order = np.argsort(found.confidence)
figure, ax = plt.subplots(figsize=(8, 2.8), layout="constrained")
ax.bar(range(len(order)), found.confidence[order], color=np.where(astray[order], "tab:orange", "tab:blue"))
ax.set(xlabel="items, least sure first", ylabel="score lost elsewhere", xticks=[])
ax.set_title("orange: not with the majority of its group", fontsize=10)
plt.show()
