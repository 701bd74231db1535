"""
Large tables: which pairs are worth a look
==========================================

All pairs of a large table are too many. `Blocking` lists those that share a rare word, or two common
ones, and the nearest by words. What it leaves out can hardly be put together any more, so look at its
recall before anything else.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from clustruct.data.datasets import make_records
from clustruct.features import Blocking, pair_recall

# %%
# Tables from 1,000 to 16,000 records. The number of compared pairs grows about with the number of rows,
# that of all pairs with its square.

sizes = [400, 800, 1600, 3200, 6400]
rows, listed, seconds, recalls = [], [], [], []
Blocking().fit(make_records(1, 50)).pairs(make_records(1, 500)[0])  # compiled on first use
for n_people in sizes:
    table = make_records(n_sets=1, n_people=n_people, errors=0.5, random_state=n_people)[0]
    start = time.process_time()
    pairs = Blocking(from_size=0).fit([table]).pairs(table)
    seconds.append(time.process_time() - start)
    rows.append(len(table))
    listed.append(len(pairs))
    recalls.append(pair_recall(table, pairs))
    print(f"{len(table):>6} rows: {len(pairs):>7} pairs, {recalls[-1]:.2%} of the true ones among them")

# %%
# Left: pairs. Right: what listing them costs.

rows = np.array(rows)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
axes[0].loglog(rows, rows * (rows - 1) / 2, color="0.5", marker="s", ms=4, label="all pairs")
axes[0].loglog(rows, listed, marker="o", label="compared pairs")
axes[0].set(xlabel="rows", ylabel="pairs")
axes[0].legend(frameon=False)
axes[1].plot(rows, 1000 * np.array(seconds) / rows, marker="o")
axes[1].set(xlabel="rows", ylabel="CPU ms for each row, listing pairs", ylim=(0, None))
plt.show()

# %%
# More neighbours cost more pairs and find more of the true ones. The table of 1,600 people, with more
# errors and without neighbours by single fields:

table = make_records(n_sets=1, n_people=1600, errors=0.9, random_state=1)[0]
ways = []
for n_neighbors in (1, 2, 5, 10, 20):
    blocking = Blocking(from_size=0, n_neighbors=n_neighbors, n_neighbors_by_field=0)
    pairs = blocking.fit([table]).pairs(table)
    ways.append((len(pairs) / len(table), pair_recall(table, pairs)))
    print(f"{n_neighbors:>2} neighbours: {ways[-1][0]:.1f} pairs for each row, recall {ways[-1][1]:.1%}")
figure, ax = plt.subplots(figsize=(5.4, 3.2), layout="constrained")
ax.plot(*zip(*ways, strict=True), marker="o")
ax.set(xlabel="compared pairs for each row", ylabel="share of true pairs compared")
plt.show()
