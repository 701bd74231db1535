"""
Groups that live on
===================

Records come day by day. Known groups keep their ids and members; a new record joins one of them or opens
a group of its own. What changed is told each day.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from clustruct import Recipe
from clustruct.data.datasets import make_records
from clustruct.evaluate.metrics import pairwise_scores
from clustruct.features import check_tables
from clustruct.groups import KnownItems, State, add_to_groups, compare

# %%
# A model learned from other people, and a stream of six days.

model = Recipe(C=10.0).fit(make_records(n_sets=6, n_people=20, errors=0.6, random_state=1))
stream = make_records(n_sets=1, n_people=60, errors=0.6, random_state=5)[0]
ids = [f"r{k:03d}" for k in range(len(stream))]
order = np.random.default_rng(0).permutation(len(stream))
days = [
    replace(stream.take(part.tolist()), labels=None, ids=[ids[k] for k in part])
    for part in np.array_split(order, 6)
]

# %%
# Each run takes what is known and gives what will be known tomorrow.

known, history = KnownItems(None, State()), [{}]
for number, day in enumerate(days, 1):
    found = add_to_groups(check_tables(model.pipeline_), known, day)
    known = found.next_known_items()
    history.append(dict(known.state.groups))
    print(f"day {number}: {compare(history[-2], history[-1]).summary()}")

# %%
# Every group is a line that never changes its name: it grows as members come. Colour says on which day
# it began.

names = sorted(set(history[-1].values()), key=lambda group: -list(history[-1].values()).count(group))
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for group in names:
    sizes = np.array([list(groups.values()).count(group) for groups in history])
    first = int(np.argmax(sizes > 0))
    jitter = 0.012 * (names.index(group) - len(names) / 2)
    ax.plot(range(first, 7), sizes[first:] + jitter, color=plt.cm.viridis(first / 6), alpha=0.7)
ax.set(xlabel="day", ylabel="records in the group", xticks=range(1, 7))
plt.show()

# %%
# Is it as good as grouping all records at once? No, and here it is far from it: a record that opened a
# group of its own while its mates were not there yet stays there, and so do groups that a later record
# would join. ``predict --settle 5`` (with a store) lets what the last runs have placed be revised,
# ``--revise`` all of it; both tell each change.

truth = dict(zip(ids, stream.labels, strict=True))
at_once = model.predict([replace(stream, labels=None)])[0]
for title, groups in (("day by day", history[-1]), ("all at once", dict(zip(ids, at_once, strict=True)))):
    y, z = (np.unique([held[name] for name in ids], return_inverse=True)[1] for held in (truth, groups))
    print(f"{title}: pairwise F {100 * pairwise_scores(y, z).f1:.1f} %")
