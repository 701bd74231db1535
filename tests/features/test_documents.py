"""The text pipeline: stems, words kept, lengths, and that it can be stored."""

import pickle

import numpy as np
from scipy import sparse
from sklearn.base import clone

from clustruct.features.documents import document_pipeline

TEXTS = [
    "Hockey players scored goals; the hockey player scores.",
    "The player skates on ice",
    "Programs compile, programming compilers",
    "A compiler compiles the program",
    "goal scored by players on ice",
]


def test_words_are_stems_without_stop_words():
    pipeline = document_pipeline(n_words=None, n_components=None).fit(TEXTS)
    words = set(pipeline["words"].get_feature_names_out())
    assert {"hockei", "player", "score", "compil", "program"} <= words
    assert not {"the", "on", "by", "players", "scored"} & words


def test_most_frequent_words_are_kept():
    pipeline = document_pipeline(n_words=2, n_components=None).fit(TEXTS)
    assert set(pipeline["words"].get_feature_names_out()) == {"player", "compil"}


def test_sparse_without_svd_and_not_centred_with_it():
    X = document_pipeline(n_components=None).fit_transform(TEXTS)
    assert sparse.issparse(X)
    Z = document_pipeline(n_components=3).fit_transform(TEXTS)
    assert Z.shape == (5, 3)
    np.testing.assert_allclose(np.linalg.norm(Z, axis=1), 1.0)
    assert np.linalg.norm(Z.mean(axis=0)) > 0.1


def test_pipeline_is_cloned_and_stored():
    pipeline = document_pipeline(n_components=2).fit(TEXTS)
    again = pickle.loads(pickle.dumps(pipeline))
    np.testing.assert_allclose(again.transform(TEXTS), pipeline.transform(TEXTS))
    np.testing.assert_allclose(clone(pipeline).fit_transform(TEXTS), pipeline.transform(TEXTS), atol=1e-9)
    words = document_pipeline(stop_words=["dogs"]).named_steps["words"]
    assert words.build_analyzer()("Dogs dog") == ["dog"]
