"""
A learner as a plain module
===========================

A structural SVM needs examples, a joint feature vector, a predictor and a search for the most violated
output. Written as functions of a Python module, in the way of SVM^python, that is a whole learner: here
one that ranks four things by features and is told by how many places it may be wrong.
"""

import tempfile
from ast import literal_eval
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from clustruct.cli.classify import main as classify
from clustruct.cli.learn import main as learn

MODULE = """
import itertools
import numpy as np

ORDERS = np.array(list(itertools.permutations(range(4))))      # place -> thing

def read_examples(filename, sparm):
    held = np.load(filename)
    return list(zip(held["x"], [tuple(y) for y in held["y"]]))

def init_model(sample, sm, sparm):
    sm.size_psi = sample[0][0].shape[1]

def psi(x, y, sm, sparm):
    places = np.array([1.5, 0.5, -0.5, -1.5])                  # the first place counts for a thing
    return places @ x[list(y)]

def loss(y, ybar, sparm):
    return 100.0 * sum(abs(ybar.index(thing) - k) for k, thing in enumerate(y)) / 8

def classify_example(x, sm, sparm):
    return tuple(int(k) for k in np.argsort(-(x @ np.array(sm.w))))

def find_most_violated_constraint(x, y, sm, sparm):
    w = np.array(sm.w)
    value = lambda order: psi(x, order, sm, sparm) @ w + loss(y, tuple(order), sparm)
    return tuple(int(k) for k in max(ORDERS, key=value))
"""

# %%
# Data: the right order follows two of six features, with noise.


def make(rng, n):
    x = rng.normal(size=(n, 4, 6))
    score = x @ np.array([1.0, -0.7, 0, 0, 0, 0]) + 0.3 * rng.normal(size=(n, 4))
    return {"x": x, "y": np.argsort(-score, axis=1)}


rng = np.random.default_rng(0)
folder = tempfile.TemporaryDirectory()
where = Path(folder.name)
(where / "ranking.py").write_text(MODULE)
for name, n in (("train", 60), ("test", 200)):
    np.savez(where / f"{name}.npz", **make(rng, n))


# %%
# Two commands do the rest, here called from Python; on the command line ``clustruct-learn --m ranking.py -c 1
# train.npz model`` and ``clustruct-classify --m ranking.py test.npz model answers``.

module, model, answers = (str(where / name) for name in ("ranking.py", "model", "answers"))
wrong, values = [], [0.01, 0.03, 0.1, 1.0, 10.0]
for C in values:
    learn(["--m", module, "-v", "0", "-c", str(C), str(where / "train.npz"), model])
    classify(["--m", module, "-v", "0", str(where / "test.npz"), model, answers])
    found = np.array([literal_eval(line) for line in Path(answers).read_text().splitlines()])
    with np.load(where / "test.npz") as test:
        places = np.argsort(found, axis=1) - np.argsort(test["y"], axis=1)
    wrong.append(100.0 * np.abs(places).sum(axis=1).mean() / 8)
folder.cleanup()

figure, ax = plt.subplots(figsize=(5.4, 3.2), layout="constrained")
ax.semilogx(values, wrong, marker="o")
ax.set(xlabel="-c", ylabel="places wrong, % of the most possible", ylim=(0, None))
plt.show()
