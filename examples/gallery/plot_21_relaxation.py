"""
Scores you already have: greedy, local search, and the linear programme
=======================================================================

Correlation clustering of given scores needs no training. Greedy merging is quick, local search mends
what it got wrong, and the linear programme gives an upper bound: where its answer has no fractions it is
the best clustering there is.
"""

import matplotlib.pyplot as plt
import numpy as np

from clustruct.search import correlation


def instance(rng, m=36, noise=1.0):
    y = np.repeat(np.arange(m // 9), 9)
    K = np.where(y[:, None] == y, 0.5, -0.5) + noise * rng.normal(size=(m, m))
    K = np.triu(K, 1)
    return K + K.T


def value(K, labels):
    return float(np.triu(K * (labels[:, None] == labels), 1).sum())


# %%
# From little noise to much: what the searches reach, as a share of the bound.

noises = [0.3, 0.5, 0.7, 0.9, 1.1]
rows = []
for noise in noises:
    rng = np.random.default_rng(3)
    for _ in range(3):
        K = instance(rng, noise=noise)
        bound = correlation.lp_relaxation(K).value
        found = correlation.greedy(K), correlation.local_search(K)
        rows.append((noise, *(value(K, labels) / bound for labels in found)))
rows = np.array(rows)

# %%
# While the noise is small all three meet: the programme's answer has no fractions, and local search has
# found the best clustering there is. With more noise the bound is loose, and nobody knows how much is
# missing.

figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for column, name in ((1, "greedy"), (2, "local search")):
    means = [rows[rows[:, 0] == noise, column].mean() for noise in noises]
    ax.plot(noises, means, marker="o", label=name)
ax.axhline(1.0, color="0.5", lw=1)
ax.set(xlabel="noise", ylabel="value over the bound")
ax.legend(frameon=False)
plt.show()
