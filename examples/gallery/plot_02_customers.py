"""
Customers: how many labels are enough?
======================================

A table of customer records, the same people entered several times with slips of the pen. You know the
groups of a few of them. How good is the rest of the table, and how does that grow with what you label?
"""

import matplotlib.pyplot as plt
import numpy as np

from clustruct import Recipe, Table
from clustruct.data.datasets import make_records
from clustruct.evaluate.metrics import pairwise_scores

people = make_records(n_sets=1, n_people=160, errors=0.6, random_state=3)[0]
truth = np.unique(people.labels, return_inverse=True)[1]
print(f"{len(people)} records of {truth.max() + 1} people; the first one:")
print(people.items[0])

# %%
# `Recipe` does what ``clustruct fit`` does: it guesses features from the fields, lists pairs worth a
# comparison, and learns inside the whole table. Labels that are not known are None; those records still
# teach how alike strangers can be.


def with_labels(n_groups, seed):
    known = np.random.default_rng(seed).permutation(truth.max() + 1)[:n_groups]
    return Table(people.items, labels=[int(y) if y in known else None for y in truth], ids=people.ids)


def score(n_groups, seed=0):
    table = with_labels(n_groups, seed)
    found = Recipe(C=10.0).fit([table]).predict([Table(people.items)])[0]
    unknown = np.array([label is None for label in table.labels])
    return 100.0 * pairwise_scores(truth[unknown], np.asarray(found)[unknown]).f1


counts = [5, 10, 20, 40, 80]
f1 = [[score(n, seed) for seed in range(2)] for n in counts]

# %%
# What counts is judged on people without a label alone. Two draws of the labelled groups for each
# number.

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(counts, np.mean(f1, axis=1), marker="o", label="mean of two draws")
ax.scatter(np.repeat(counts, 2), np.ravel(f1), s=14, color="0.5", label="one draw")
ax.set_xscale("log")
ax.set_xticks(counts, [str(n) for n in counts])
ax.minorticks_off()
ax.set(xlabel="labelled groups", ylabel="pairwise F of the others, %")
ax.legend(frameon=False, loc="lower right")
plt.show()
