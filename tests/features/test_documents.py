"""The text pipeline: Porter stems, words kept, lengths, and that it can be stored."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from clustruct import load, save
from clustruct.features.blocks.text_cosines import porter_stem, spellings, stem_tokens
from clustruct.features.document_vectors import DocumentVectors, document_pipeline

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


def test_document_vectors_are_those_of_the_pipeline(tmp_path):
    """Saved and loaded, too."""
    for components in (None, 3):
        vectors = DocumentVectors(n_components=components).fit(TEXTS)
        X = document_pipeline(n_components=components).fit_transform(TEXTS)
        save(tmp_path / "d", vectors)
        for made in (vectors, load(tmp_path / "d")):
            np.testing.assert_allclose(_dense(made.transform(TEXTS)), _dense(X), atol=1e-12)
            assert len(made.get_feature_names_out()) == X.shape[1]


def test_word_weights_are_what_words_add():
    vectors = DocumentVectors(n_components=2).fit(TEXTS)
    coef = np.array([[1.0, -2.0]])
    words = vectors.word_weights(coef)
    tfidf = _dense(document_pipeline(n_components=None).fit(TEXTS)["words"].transform(TEXTS))
    lengths = np.linalg.norm(tfidf @ vectors.components_.T, axis=1)
    np.testing.assert_allclose((tfidf @ words.T)[:, 0] / lengths, (vectors.transform(TEXTS) @ coef.T)[:, 0])


def test_texts_without_words_are_refused_or_zero():
    with pytest.raises(ValueError, match="no text has a word of two letters that is no stop word"):
        DocumentVectors().fit(["the", "", "1 2 3"])
    assert not _dense(DocumentVectors(n_components=2).fit(TEXTS).transform(["zzz"])).any()


@pytest.mark.parametrize("wrong", [{"n_words": 0}, {"n_components": 1.5}, {"stop_words": "klingon"}])
def test_parameters_of_document_vectors_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        DocumentVectors(**wrong).fit(TEXTS)


@pytest.mark.parametrize("name", ["words_", "idf_", "components_"])
def test_a_file_with_parts_that_do_not_fit_is_refused(name):
    state = DocumentVectors(n_components=2).fit(TEXTS).state()
    held = state["learned"][name]
    state["learned"][name] = held[:, :-1] if name == "components_" else held[:-1]
    with pytest.raises(ValueError, match="do not fit"):
        DocumentVectors.from_state(state)


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        *(("caresses", "caress"), ("ponies", "poni"), ("motoring", "motor"), ("conflated", "conflat")),
        *(("hopping", "hop"), ("happy", "happi"), ("conditional", "condit"), ("electriciti", "electr")),
        *(("hopefulness", "hope"), ("adjustment", "adjust"), ("rate", "rate"), ("controll", "control")),
    ],
)
def test_examples_of_the_1980_paper(word, stem):
    """From the step tables of Porter's paper, run through all the steps."""
    assert porter_stem([word]) == [stem]


def test_stop_words_are_compared_before_stemming():
    assert stem_tokens("this is being seen", ["this", "is"]) == ["be", "seen"]


def test_numbers_and_single_letters_are_left_out():
    assert stem_tokens("A b 42 x86 don't été_1") == ["don", "été"]
    assert stem_tokens("") == []


def test_order_and_repeats_stay():
    assert porter_stem(iter(["Cats", "cat", "CATS"])) == ["cat", "cat", "cat"]


def test_a_stem_is_shown_as_the_word_it_most_often_stands_for():
    texts = ["a bank", "two banks", "more banks of money"]
    assert spellings(texts, ["bank", "monei"]) == ["banks", "money"]


def _dense(rows):
    return rows.toarray() if sparse.issparse(rows) else rows
