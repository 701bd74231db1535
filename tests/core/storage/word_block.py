"""A small block with a vocabulary and an array, for model files in tests."""

from typing import ClassVar

import numpy as np

from clustruct.core.storage import Shape, register
from clustruct.features import PairBlock


@register("SharedWords of the tests")
class SharedWords(PairBlock):
    """Sum of the idf of the words that two items share, and whether one has no words."""

    fitted: ClassVar = {"words_": list, "idf_": Shape((None,))}

    def __init__(self, field="title", span=(1, 1)):
        self.field = field
        self.span = span

    def summarise(self, sets):
        return [set(t.split()) for table in sets for t in self._texts(table)]

    def merge(self, first, second):
        return first + second

    def finish(self, texts):
        self.words_ = sorted(set().union(*texts))
        count = np.array([sum(w in t for t in texts) for w in self.words_])
        self.idf_ = np.log((1.0 + len(texts)) / count)
        return self

    def get_feature_names_out(self):
        return [f"{self.field} shared", f"{self.field} missing"]

    def transform(self, table, pairs):
        weight = dict(zip(self.words_, self.idf_, strict=True))
        words = [set(t.split()) for t in self._texts(table)]
        shared = [sum(weight.get(w, 0.0) for w in sorted(words[a] & words[b])) for a, b in pairs]
        missing = [float(not (words[a] and words[b])) for a, b in pairs]
        return np.array([shared, missing], dtype=float).T.reshape(-1, 2)

    def check_attributes(self):
        if len(self.words_) != len(self.idf_) or self.idf_.dtype != np.float64:
            raise ValueError("words and weights do not fit")

    def _texts(self, table):
        return [str(v or "") for v in table.column(self.field)]
