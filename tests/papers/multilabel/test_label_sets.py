"""The synthetic multi-label sets, the reader, and scores beside scikit-learn's and at their edges."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import accuracy_score, f1_score, hamming_loss

from clustruct.core.exceptions import DataError
from clustruct.papers.multilabel import (
    label_set_scores,
    make_multilabel_chain,
    make_multilabel_count,
    read_multilabel,
)
from clustruct.papers.multilabel.label_sets import label_rows


def test_chain_follows_the_recipe():
    X, Y = make_multilabel_chain(2000, random_state=0)
    assert X.shape == (2000, 6000)
    assert (Y[:, 0] == 1).all()
    assert (Y[:, 1:] <= Y[:, :-1]).all()
    np.testing.assert_allclose(Y.mean(axis=0), 0.5 ** np.arange(6), atol=0.04)
    per_label = np.add.reduceat(X.toarray(), np.arange(0, 6000, 1000), axis=1)
    np.testing.assert_array_equal(per_label, 10 * Y)
    assert X.max() == 1.0


def test_count_follows_the_recipe():
    X, Y = make_multilabel_count(2000, random_state=0)
    assert X.shape == (2000, 40)
    assert (Y.sum(axis=1) == 1).all()
    np.testing.assert_array_equal(X.sum(axis=1), 4 * (Y.argmax(axis=1) + 1))
    np.testing.assert_allclose(Y.mean(axis=0), 0.1, atol=0.03)


@pytest.mark.parametrize("make", [make_multilabel_chain, make_multilabel_count])
def test_same_seed_same_data(make):
    for one, other in zip(make(50, random_state=3), make(50, random_state=3), strict=True):
        assert abs(one - other).max() == 0
    assert abs(make(50, random_state=3).X - make(50, random_state=4).X).max() > 0


@pytest.mark.parametrize("packed", [False, True])
def test_reader(tmp_path, packed):
    text = "0,2 1:0.5 3:2\n 2:1e-1\n1 3:-1 # a remark\n"
    path = tmp_path / ("data.svm.gz" if packed else "data.svm")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    X, Y = read_multilabel(path)
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, 2], [0, 0.1, 0], [0, 0, -1]])
    np.testing.assert_array_equal(Y, [[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    assert read_multilabel(path, n_features=5, n_labels=4).X.shape == (3, 5)
    with pytest.raises(ValueError, match="more than 2 features"):
        read_multilabel(path, n_features=2)


@pytest.mark.parametrize(
    "text",
    ["a 1:1", "-1 1:1", "99999999999 1:1", "1 a:1", f"1 {10**30}:1", "1 1:a", "1 1:nan", "1 1:1_0", "\xff"],
)
def test_faults_name_the_line(tmp_path, text):
    path = tmp_path / "data.svm"
    path.write_bytes(b"0 1:1\n" + text.encode("latin-1"))
    with pytest.raises(DataError, match=r"data.svm:2: "):
        read_multilabel(path)
    path.write_text("")
    with pytest.raises(DataError, match="there are no examples"):
        read_multilabel(path)


def test_reader_wants_indices_from_one(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("0 0:1\n")
    with pytest.raises(ValueError, match="count from 1"):
        read_multilabel(path)


@pytest.mark.data
@pytest.mark.skipif("CLUSTRUCT_DATA" not in os.environ, reason="CLUSTRUCT_DATA does not name the data folder")
def test_published_sets_have_their_sizes():
    folder = Path(os.environ.get("CLUSTRUCT_DATA", "")) / "multilabel"
    X, Y = read_multilabel(folder / "scene-train.svm.gz", 294, 6)
    assert X.shape == (1211, 294)
    assert Y.sum(axis=1).mean() == pytest.approx(1.062, abs=1e-3)
    Y = read_multilabel(folder / "rcv1subset1-test.svm.gz", 47236, 101).Y
    assert Y[:, [4, 5, 7, 33, 59, 70, 93, 95, 98, 99]].any(axis=1).sum() == 2914


LABELS = st.integers(2, 4).flatmap(lambda v: st.integers(1, 6).map(lambda n: (n, v)))
TWO = LABELS.flatmap(lambda shape: st.tuples(*[arrays(np.int8, shape, elements=st.integers(0, 1))] * 2))


@given(TWO)
def test_the_scores_are_those_of_scikit_learn(pair):
    truth, found = pair
    scores = label_set_scores(truth, found)
    assert scores["hamming_loss"] == pytest.approx(100 * hamming_loss(truth, found))
    assert scores["subset_accuracy"] == pytest.approx(accuracy_score(truth, found))
    for name, average in {"f1_micro": "micro", "f1_macro": "macro", "f1_rows": "samples"}.items():
        assert scores[name] == pytest.approx(f1_score(truth, found, average=average, zero_division=1.0))


@given(TWO)
def test_the_mean_of_the_labels_is_the_macro_score(pair):
    truth, found = pair
    rows = label_rows(truth, found, [str(a) for a in range(truth.shape[1])])
    values = [1.0 if row[3] is None else row[3] for row in rows]
    assert np.mean(values) == pytest.approx(label_set_scores(truth, found)["f1_macro"])
    assert [row[4] for row in rows] == truth.sum(axis=0).tolist()


def test_labels_of_two_shapes_are_refused():
    with pytest.raises(ValueError, match=r"one shape, not \(1, 2\) and \(2, 2\)"):
        label_set_scores([[1, 0]], [[1, 0], [0, 1]])
