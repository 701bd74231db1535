"""Scores of sets of labels beside scikit-learn's, and at their edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import accuracy_score, f1_score, hamming_loss

from clustruct.papers.multilabel import label_rows, label_set_scores

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
