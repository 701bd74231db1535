"""A small block with a vocabulary and an array, for model files in tests."""

import numpy as np

from clustruct.features.base import PairBlock, register


@register
class SharedWords(PairBlock):
    """Sum of the idf of the words that two items share, and whether one has no words."""

    kind = "shared words (tests)"

    def __init__(self, field="title", span=(1, 1)):
        self.field = field
        self.span = span

    def fit(self, sets):
        texts = [set(t.split()) for raw in sets for t in self._texts(raw)]
        self.words_ = sorted(set().union(*texts))
        count = np.array([sum(w in t for t in texts) for w in self.words_])
        self.idf_ = np.log((1.0 + len(texts)) / count)
        return self

    def names(self):
        return [f"{self.field} shared", f"{self.field} missing"]

    def values(self, raw, pairs):
        weight = dict(zip(self.words_, self.idf_, strict=True))
        words = [set(t.split()) for t in self._texts(raw)]
        shared = [sum(weight.get(w, 0.0) for w in sorted(words[a] & words[b])) for a, b in pairs]
        missing = [float(not (words[a] and words[b])) for a, b in pairs]
        return np.array([shared, missing], dtype=float).T.reshape(-1, 2)

    def learned(self):
        return {"words": self.words_, "idf": self.idf_}

    def restore(self, learned):
        self.words_, self.idf_ = list(learned["words"]), np.asarray(learned["idf"])
        if len(self.words_) != len(self.idf_) or self.idf_.dtype != np.float64:
            raise ValueError("words and weights do not fit")

    def _texts(self, raw):
        return [str(v or "") for v in raw.column(self.field)]
