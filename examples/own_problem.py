"""A structured problem of your own: tag words, with a weight per word and tag and per pair of tags.

The engine needs four functions. Here the oracle is Viterbi's algorithm with the loss added, so it is exact.
"""

from __future__ import annotations

import itertools

import numpy as np

from clustruct import ssvm

TAGS = ["noun", "verb", "other"]


class Tagging(ssvm.Problem):
    """Psi counts (word, tag) pairs and (tag, next tag) pairs; the loss counts wrong tags."""

    oracle_kind = "exact"

    def __init__(self, sentences: list[list[str]], tags: list[list[int]]) -> None:
        self.words = {w: k for k, w in enumerate(sorted({w for s in sentences for w in s}))}
        self.x = [[self.words[w] for w in s] for s in sentences]
        self.y = tags
        self.n_examples = len(sentences)
        self.n_features = len(self.words) * len(TAGS) + len(TAGS) ** 2

    def truth(self, i: int) -> list[int]:
        return self.y[i]

    def joint_feature(self, i: int, y: list[int]) -> np.ndarray:
        psi = np.zeros(self.n_features)
        emissions, transitions = self.split(psi)
        for word, tag in zip(self.x[i], y, strict=True):
            emissions[word, tag] += 1
        for tag, following in itertools.pairwise(y):
            transitions[tag, following] += 1
        return psi

    def loss(self, i: int, y: list[int]) -> float:
        return float(sum(a != b for a, b in zip(self.y[i], y, strict=True)))

    def separate(self, i: int, w: np.ndarray, rule: ssvm.SlackRule) -> list[int]:
        emissions, transitions = self.split(w)
        scores = emissions[self.x[i]] + (np.arange(len(TAGS)) != np.array(self.y[i])[:, None])
        return viterbi(scores, transitions)

    def split(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cut = len(self.words) * len(TAGS)
        return w[:cut].reshape(-1, len(TAGS)), w[cut:].reshape(len(TAGS), len(TAGS))


def viterbi(scores: np.ndarray, transitions: np.ndarray) -> list[int]:
    """The best sequence of tags for scores per word and per neighbouring pair."""
    best, back = scores[0], []
    for row in scores[1:]:
        ways = best[:, None] + transitions + row
        back.append(ways.argmax(axis=0))
        best = ways.max(axis=0)
    y = [int(best.argmax())]
    for pointers in reversed(back):
        y.append(int(pointers[y[-1]]))
    return y[::-1]


def main() -> None:
    sentences = [
        "dogs bark",
        "the dogs run",
        "cats run",
        "the cats bark at dogs",
        "a run ends",
        "the bark stops",
    ]
    tags = [[0, 1], [2, 0, 1], [0, 1], [2, 0, 1, 2, 0], [2, 0, 1], [2, 0, 1]]
    problem = Tagging([s.split() for s in sentences], tags)
    result = ssvm.fit(problem, C=100.0)
    emissions, transitions = problem.split(result.w)
    for sentence, words in zip(sentences, problem.x, strict=True):
        found = viterbi(emissions[words], transitions)
        print(f"{sentence:<24}", " ".join(TAGS[t] for t in found))
    print(f"\n{result.stop_reason} after {result.n_iter} rounds, {result.oracle_calls} oracle calls")
    print(result.certificate)


if __name__ == "__main__":
    main()
