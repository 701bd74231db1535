"""
No labels, a few answers
========================

Nobody has labelled anything. A guess by which fields agree comes first, and then a person answers
questions: "are these two the same?". Which pairs are worth a question? This is what Studio does behind
its page, here in Python and with a person who knows the truth.
"""

import matplotlib.pyplot as plt
import numpy as np

from clustruct import Recipe
from clustruct.data import Evidence
from clustruct.data.datasets import make_records
from clustruct.evaluate.metrics import pairwise_scores
from clustruct.pipeline import fit_without_labels

table = make_records(n_sets=1, n_people=60, errors=0.8, random_state=12)[0]
truth = np.unique(table.labels, return_inverse=True)[1]
a, b = np.triu_indices(len(table), 1)
print(f"{len(table)} records; name, city, phone and year of birth are compared")

# %%
# Learn from what was said so far, and give the probability of every pair. The similarity of a guess is a
# log-odds.


def learned(asked):
    answers = {True: [], False: []}
    for k in asked:
        answers[bool(truth[a[k]] == truth[b[k]])].append((a[k], b[k]))
    marks = Evidence.of_pairs(len(table), same=answers[True], different=answers[False])
    recipe = Recipe(fields=["name", "city", "phone", "born"])
    pipeline = fit_without_labels(recipe, [table], evidence=[marks if asked else None]).pipeline_
    K = pipeline[-1].decision_function(pipeline[:-1].transform([table])[0])[a, b]
    return pipeline.predict([table])[0], 1.0 / (1.0 + np.exp(-K))


# %%
# Ask about doubtful pairs, ten at a time, no record twice in one round; beside it pairs drawn at random
# among those that are at all likely. One draw of one small table: what simulated people need on real
# data is on the page about Studio, and there doubt does not always win.


def ten_more(p, asked, rng, doubtful):
    worth = p * (1.0 - p) if doubtful else (p > 0.02) * rng.random(len(p))
    worth[asked] = -1.0
    chosen, used = [], set()
    for k in np.argsort(-worth):
        if len(chosen) < 10 and not {a[k], b[k]} & used:
            chosen.append(int(k))
            used |= {a[k], b[k]}
    return chosen


figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for title, doubtful in (("doubtful pairs", True), ("random among likely pairs", False)):
    rng, asked, curve = np.random.default_rng(0), [], []
    for _ in range(5):
        groups, p = learned(asked)
        curve.append((len(asked), 100 * pairwise_scores(truth, groups).f1))
        asked += ten_more(p, asked, rng, doubtful)
    ax.plot(*zip(*curve, strict=True), marker="o", label=title)
    print(f"{title}: F {curve[0][1]:.1f} % without an answer, {curve[-1][1]:.1f} % after {curve[-1][0]}")
ax.set(xlabel="answers", ylabel="pairwise F, %")
ax.legend(frameon=False)
plt.show()
