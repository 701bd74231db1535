"""Sequence tagging as a hook module: a hidden Markov model trained with a margin, Viterbi inside.

    clustruct-learn --m tagging -c 1000 train.txt model
    clustruct-classify --m tagging test.txt model predictions

Files hold one sentence per line, its tokens as word/tag.
"""

from itertools import pairwise

import numpy as np


def read_examples(filename, sparm):
    with open(filename) as lines:
        sentences = [line.split() for line in lines if line.strip()]
    return [tuple(zip(*(token.rsplit("/", 1) for token in s), strict=True)) for s in sentences]


def init_model(sample, sm, sparm):
    words = sorted({word for x, y in sample for word in x})
    sm.tags = sorted({tag for x, y in sample for tag in y})
    sm.word_number = {word: k for k, word in enumerate(words)}
    # Psi counts (word, tag) pairs, then (tag, next tag) pairs. An unknown word counts nowhere.
    sm.size_psi = len(words) * len(sm.tags) + len(sm.tags) ** 2


def tables(v, sm):
    """The two parts of a vector like Psi or w: words x tags and tags x tags, as views."""
    k = len(sm.tags)
    return v[: -k * k].reshape(-1, k), v[-k * k :].reshape(k, k)


def psi(x, y, sm, sparm):
    counts = np.zeros(sm.size_psi)
    emissions, transitions = tables(counts, sm)
    tags = [sm.tags.index(tag) for tag in y]
    for word, tag in zip(x, tags, strict=True):
        if word in sm.word_number:
            emissions[sm.word_number[word], tag] += 1
    for tag, following in pairwise(tags):
        transitions[tag, following] += 1
    return counts


def viterbi(x, sm, penalty=None):
    """The tags of highest score; ``penalty`` adds to the score of each (position, tag)."""
    emissions, transitions = tables(sm.w, sm)
    scores = np.zeros((len(x), len(sm.tags))) if penalty is None else penalty.copy()
    for t, word in enumerate(x):
        if word in sm.word_number:
            scores[t] += emissions[sm.word_number[word]]
    back = np.zeros(scores.shape, int)
    for t in range(1, len(x)):
        paths = scores[t - 1][:, None] + transitions
        back[t] = paths.argmax(axis=0)
        scores[t] += paths.max(axis=0)
    path = [int(scores[-1].argmax())]
    for choices in back[:0:-1]:
        path.append(int(choices[path[-1]]))
    return tuple(sm.tags[k] for k in reversed(path))


def classify_example(x, sm, sparm):
    return viterbi(x, sm)


def find_most_violated_constraint_margin(x, y, sm, sparm):
    # The loss is a sum over positions: it enters the scores that Viterbi adds up.
    return viterbi(x, sm, penalty=np.array([[tag != right for tag in sm.tags] for right in y], float))


def loss(y, ybar, sparm):
    return sum(a != b for a, b in zip(y, ybar, strict=True))


def write_label(fileptr, y):
    fileptr.write(" ".join(y) + "\n")
