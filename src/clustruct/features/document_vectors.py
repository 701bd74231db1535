"""Documents as vectors: tf-idf of Porter stems, the most frequent ones, reduced by truncated SVD."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, normalize

from clustruct.core.storage import EstimatorState, Shape, register
from clustruct.core.typing import Floats

from .blocks.text_cosines import spellings, stem_tokens


def document_pipeline(
    n_words: int | None = 6600,
    n_components: int | None = 200,
    stop_words: Iterable[str] = ENGLISH_STOP_WORDS,
    random_state: int | np.random.RandomState | None = 0,
) -> Pipeline:
    """Text -> tf-idf of stems -> truncated SVD -> rows of length one, as a scikit-learn pipeline.

    As in the Universum paper, with truncated SVD in place of PCA: centred rows would have mean zero, and the
    balance of the clusters would say nothing. Without ``n_components`` there is no SVD, but sparse rows of
    n_words features. The steps are called "words", "svd" and "length".

    >>> texts = ["cats and dogs", "a dog barks", "cats like dogs", "stocks fell", "the stock market falls"]
    >>> document_pipeline(n_words=50, n_components=2).fit_transform(texts).shape
    (5, 2)
    """
    steps: list[tuple[str, Any]] = [("words", _stems(stop_words, max_features=n_words))]
    if n_components is not None:
        steps.append(("svd", TruncatedSVD(n_components, random_state=random_state)))
    return Pipeline([*steps, ("length", Normalizer())])


def _stems(stop_words: Iterable[str], **options: Any) -> TfidfVectorizer:
    # A partial, not a lambda, so that pipelines with it can be stored.
    return TfidfVectorizer(analyzer=partial(stem_tokens, stop_words=frozenset(stop_words)), **options)


@register("DocumentVectors")
@dataclass(eq=False, repr=False)
class DocumentVectors(EstimatorState, TransformerMixin, BaseEstimator):
    """Texts -> rows of length one, as `document_pipeline` makes them, in one step that files can keep.

    A text t becomes ``V x / |V x|``, where x holds tf-idf of its stems and V the leading right singular
    vectors of the training rows. Where there are no more than ``n_components`` words, or it is None, V is
    left out and rows are sparse. A text without any known word becomes a row of zeros.

    Parameters
    ----------
    n_words, n_components : int or None
        How many words are kept, the most frequent ones, and to how many numbers a text is reduced.
    stop_words : {"english"} or None, default="english"
        "english" or None.
    random_state : int, default=0
        Seed of the SVD.

    Attributes
    ----------
    words_
        The stems that are kept.
    idf_
        The weight of each.
    spellings_
        A word that each stands for.
    components_ : array (n_components, number of words)
        Or None.

    Examples
    --------
    >>> texts = ["cats and dogs", "a dog barks", "cats like dogs", "stocks fell", "the stock market falls"]
    >>> vectors = DocumentVectors(n_components=2).fit(texts)
    >>> vectors.transform(["dogs and stocks", "nothing known"]).round(2).tolist()[1]
    [0.0, 0.0]
    """

    n_words: int | None = 6600
    n_components: int | None = 200
    stop_words: Literal["english"] | None = "english"
    random_state: int = 0
    fitted: ClassVar = {
        "words_": list[str],
        "spellings_": list[str],
        "idf_": Shape((None,)),
        "components_": (Shape((None, None)), None),
    }

    def check_parameters(self) -> None:
        for name in ("n_words", "n_components"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise ValueError(f"{name} must be a whole number of at least 1 or None, not {value!r:.60}")
        if self.stop_words not in ("english", None):
            raise ValueError(f"stop_words must be 'english' or None, not {self.stop_words!r:.60}")

    def check_attributes(self) -> None:
        n, reduced = len(self.words_), self.components_
        lengths = {len(set(self.words_)), len(self.idf_), len(self.spellings_)}
        fits = lengths == {n} and (reduced is None or reduced.shape[1] == n)
        if not fits or n == 0:
            raise ValueError("the words and weights of DocumentVectors do not fit")

    def fit(self, texts: Sequence[str], y: object = None) -> Self:
        """Learn the words, their weights and the reduction; y is not used."""
        self.check_parameters()
        made = document_pipeline(self.n_words, None, self._ignored_words())["words"]
        try:
            rows = made.fit_transform(texts)
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            raise ValueError("no text has a word of two letters that is no stop word") from None
        self.words_, self.idf_ = made.get_feature_names_out().tolist(), made.idf_
        self.spellings_ = spellings(texts, self.words_)
        self.components_: Floats | None = None
        if self.n_components is not None and self.n_components < min(rows.shape):
            svd = TruncatedSVD(self.n_components, random_state=self.random_state)
            self.components_ = svd.fit(rows).components_
        return self

    def transform(self, texts: Sequence[str]) -> Any:
        """One row for each text, of length one (or zero)."""
        words = _stems(self._ignored_words(), vocabulary=self.words_)
        words.idf_ = self.idf_
        rows = words.transform(texts)
        return rows if self.components_ is None else normalize(rows @ self.components_.T)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The stems, or the numbers of the directions."""
        if self.components_ is None:
            return np.array(self.words_, dtype=object)
        return np.array([f"direction {a + 1}" for a in range(len(self.components_))], dtype=object)

    def word_weights(self, coef: Floats) -> Floats:
        """Weights of the rows that `transform` gives, as weights of words."""
        return coef if self.components_ is None else np.asarray(coef @ self.components_)

    def _ignored_words(self) -> Iterable[str]:
        return ENGLISH_STOP_WORDS if self.stop_words == "english" else ()
