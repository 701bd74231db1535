"""Likenesses of many pairs against rapidfuzz called for each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz
from rapidfuzz.distance import JaroWinkler, Levenshtein

from clustruct.data import fold
from clustruct.features.blocks.strings import MEASURES, likenesses
from clustruct.features.vocabulary import FoldedTexts

SLOW = dict(
    zip(
        MEASURES,
        (
            Levenshtein.normalized_similarity,
            JaroWinkler.normalized_similarity,
            lambda a, b: fuzz.token_sort_ratio(a, b) / 100,
            lambda a, b: fuzz.token_set_ratio(a, b) / 100,
        ),
        strict=True,
    )
)
TEXT = (st.text("ab c", max_size=8) | st.text(max_size=5)).map(fold).filter(bool)


def texts(values):
    return FoldedTexts.of(values, np.arange(len(values)))


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=5, unique=True), st.permutations(MEASURES), st.integers(0, 4))
def test_likenesses_are_those_of_each_pair(values, measures, n):
    measures = measures[:n]
    m = len(values)
    pairs = np.array([(a, b) for a in range(m) for b in range(m)])
    found = likenesses(texts(values), pairs, measures)
    expected = [[SLOW[measure](values[a], values[b]) for measure in measures] for a, b in pairs]
    assert found.shape == (m * m, n)
    np.testing.assert_allclose(found, np.array(expected).reshape(m * m, n), atol=1e-12)


def test_no_pairs():
    assert likenesses(texts(["a"]), np.zeros((0, 2), np.int64), MEASURES).shape == (0, 4)


def test_long_strings_are_compared_by_their_beginning():
    pairs = np.array([[0, 1]])
    assert likenesses(texts(["a" * 3000, "a" * 2000 + "b"]), pairs, ["spelling"]) == pytest.approx(1.0)
