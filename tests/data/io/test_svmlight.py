"""SVM^light files: what scikit-learn reads, with faults named by line."""

import gzip

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from clustruct import SupervisedKMeans, ssvm
from clustruct.core.exceptions import DataError
from clustruct.data.io import read_svmlight, sets_from_svmlight
from clustruct.learning.problems import MulticlassProblem


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = np.tile([1.0, 2.0, 3.0], 8)
    return np.round(rng.normal(size=(24, 5)) + 4 * np.eye(5)[y.astype(int)], 6), y


def test_what_was_dumped_is_read(tmp_path, rows):
    X, y = rows
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False, query_id=np.repeat([4, 2], 12))
    (tmp_path / "a.svm.gz").write_bytes(gzip.compress((tmp_path / "a.svm").read_bytes()))
    for name in ("a.svm", "a.svm.gz"):
        found = read_svmlight(tmp_path / name)
        np.testing.assert_allclose(found.X.toarray(), X)
        np.testing.assert_array_equal(found.y, y)
        np.testing.assert_array_equal(found.qid, np.repeat([4, 2], 12))


def test_the_classical_learners_take_it(tmp_path, rows):
    X, y = rows
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    found = read_svmlight(tmp_path / "a.svm")
    assert found.qid is None
    assert ssvm.fit(MulticlassProblem(found.X.toarray(), found.y), C=10.0).converged


def test_sets_are_the_queries(tmp_path, rows):
    X, y = rows
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False, query_id=np.repeat([4, 2], 12))
    sets, labels = sets_from_svmlight(tmp_path / "a.svm")
    assert [x.n_items for x in sets] == [12, 12]
    np.testing.assert_allclose(sets[0].nodes.toarray(), X[:12])
    assert SupervisedKMeans(C=1.0).fit(sets, labels).score(sets, labels) > 0.8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.svm: there are no examples"),
        ("# nothing\n", "a.svm: there are no examples"),
        ("1 1:2\none 1:2\n", "a.svm:2: the target is no number: 'one'"),
        ("1 1:2 3\n", "a.svm:1: expected index:value, not '3'"),
        ("1 1:x\n", "a.svm:1: the value of feature 1 is no number: 'x'"),
        ("1 1:1_0\n", "a.svm:1: the value of feature 1 is no number: '1_0'"),
        ("1 \u0661:1\n", "a.svm:1: expected index:value"),
        ("1 qid:\u00b2 1:1\n", "a.svm:1: the qid must be a whole number"),
        ("1 1:nan\n", "a.svm:1: the value of feature 1 is not finite"),
        ("1 2:1 1:1\n", "a.svm:1: feature numbers count from 1 and rise; here is 1 after 2"),
        ("1 0:1\n", "a.svm:1: feature numbers count from 1 and rise; here is 0 after 0"),
        ("1 99999999999:1\n", "a.svm:1: feature numbers count from 1 and rise"),
        ("1 qid:a 1:1\n", "a.svm:1: the qid must be a whole number, not 'a'"),
        ("1 qid:1 1:1\n1 1:1\n", "a.svm: some examples have a qid, example 2 has none"),
        (b"1 1:1\n\xff 1:1\n", "a.svm:2: byte 1 of the line (0xff) is not UTF-8"),
    ],
)
def test_faults_name_the_line(tmp_path, text, message):
    path = tmp_path / "a.svm"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError) as caught:
        read_svmlight(path)
    assert str(caught.value).replace(str(path), "a.svm").startswith(message)


def test_width_can_be_given(tmp_path):
    (tmp_path / "a.svm").write_text("1 2:1\n")
    assert read_svmlight(tmp_path / "a.svm", n_features=9).X.shape == (1, 9)
    with pytest.raises(DataError, match="rise to 1 at most; here is 2 after 0"):
        read_svmlight(tmp_path / "a.svm", n_features=1)
