"""Documents as vectors: tf-idf of Porter stems, the most frequent ones, reduced by truncated SVD."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer

from .stems import stem_tokens


class StemAnalyzer:
    """A text as Porter stems without stop words; a class, so that pipelines with it can be stored."""

    def __init__(self, stop_words: Iterable[str] = ENGLISH_STOP_WORDS) -> None:
        self.stop_words = frozenset(stop_words)

    def __call__(self, text: str) -> list[str]:
        return stem_tokens(text, self.stop_words)


def document_pipeline(
    n_words: int | None = 6600,
    n_components: int | None = 200,
    stop_words: Iterable[str] = ENGLISH_STOP_WORDS,
    random_state: int | np.random.RandomState | None = 0,
) -> Pipeline:
    """Text -> tf-idf of stems -> truncated SVD -> rows of length one, as a scikit-learn pipeline.

    The recipe of the Universum paper (tf-idf, stop words removed, Porter stems, the most frequent words),
    with truncated SVD in place of PCA: centred rows would have mean zero, and the balance of the clusters
    would say nothing. ``n_components=None`` leaves out the SVD: sparse rows of n_words features. The steps
    are called "words", "svd" and "length".

    >>> texts = ["cats and dogs", "a dog barks", "cats like dogs", "stocks fell", "the stock market falls"]
    >>> document_pipeline(n_words=50, n_components=2).fit_transform(texts).shape
    (5, 2)
    """
    words = TfidfVectorizer(analyzer=StemAnalyzer(stop_words), max_features=n_words)
    steps: list[tuple[str, Any]] = [("words", words)]
    if n_components is not None:
        steps.append(("svd", TruncatedSVD(n_components, random_state=random_state)))
    return Pipeline([*steps, ("length", Normalizer())])
