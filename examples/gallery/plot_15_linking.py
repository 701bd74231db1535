"""
Linking two tables, one to one
==============================

Two lists of the same people from two offices. Within a list nobody is there twice, so each row has one
mate at most. Told so, training and prediction search matchings, and near misses within a list can do no
harm.
"""

import matplotlib.pyplot as plt
import numpy as np

from clustruct import Recipe, groups
from clustruct.data.datasets import make_records

# %%
# Cut made-up records into two tables: first and second entries. About half of the people are in one list
# only. To make it hard only name, city and year of birth are compared.


def two_tables(seed, n_people):
    table = make_records(n_sets=1, n_people=n_people, most=2, errors=0.9, random_state=seed)[0]
    which = [table.labels[:a].count(label) for a, label in enumerate(table.labels)]
    return [table.take([a for a, k in enumerate(which) if k == side]) for side in (0, 1)]


train, new = two_tables(0, 150), two_tables(1, 150)
print([len(table) for table in train], "rows to learn from,", [len(table) for table in new], "to link")

# %%
# Put side by side with a column that names the source, the labels show that rows of one table are never
# together.

known = groups.side_by_side(train, "office", ["first", "second"])
recipe = Recipe(source="office", fields=["name", "city", "born"]).fit([known])
print("within one source rows are", recipe.training_["source"]["within"])

# %%
# Link the new tables. `links` has the pairs, their scores and probabilities.

links = groups.link(recipe.pipeline_, *new)
truth = {(a, b) for a, y in enumerate(new[0].labels) for b, z in enumerate(new[1].labels) if y == z}
pairs = [tuple(pair) for pair in links.pairs.tolist()]
right = np.array([pair in truth for pair in pairs])
print(f"{len(pairs)} links, {right.sum()} of them right, of {len(truth)} true ones")
rows = groups.link_columns(links, *new)
for k in range(3):
    print([rows[name][k] for name in ("id_a", "id_b", "name_a", "name_b")])

# %%
# Scores tell good links from bad ones: where to cut is a matter of what an error costs.

scores = np.asarray(links.scores)
bins = np.linspace(min(scores.min(), 0.0), scores.max(), 25)
figure, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
ax.hist([scores[right], scores[~right]], bins, stacked=True, label=["right", "wrong"])
ax.set(xlabel="score of a link", ylabel="links")
ax.legend(frameon=False)
plt.show()
