"""The vectors and models that hook modules handle."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from clustruct.papers.hooks.svmapi import POLY, RBF, SIGMOID, Document, KernelParm, Model, Sparse, StructModel
from clustruct.ssvm import VectorSum


@pytest.mark.parametrize(
    "words",
    [
        [(1, 2.0), (4, -1.0)],
        [(4, -1.0), (1, 2.0)],
        [(1, 1.5), (4, -1.0), (1, 0.5)],
        [0, 2, 0, 0, -1],
        np.array([0.0, 2.0, 0.0, 0.0, -1.0]),
        sparse.csr_array([[0.0, 2.0, 0.0, 0.0, -1.0]]),
        Sparse([(1, 2.0), (4, -1.0)], factor=3.0),
        zip([1, 4], [2, -1], strict=True),
        [[1, 2.0], [4, -1.0]],
    ],
)
def test_words_in_every_form(words):
    v = Sparse(words)
    assert list(v) == v.words == [(1, 2.0), (4, -1.0)]
    assert (len(v), v[0], v[-1], v.factor, v.kernel_id) == (2, (1, 2.0), (4, -1.0), 1.0, 0)
    assert v[:1] == [(1, 2.0)]
    assert v.twonorm_sq == 5.0
    assert [type(part) for part in v[0]] == [int, float]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([(-1, 2.0)], "negative"),
        ([(1.5, 2.0)], "integer"),
        ([(1, float("nan"))], "NaN"),
        ([(1, 2, 3)], "pairs or plain values"),
    ],
)
def test_bad_words(words, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Sparse(words)


def test_empty_vector_and_document():
    assert list(Sparse([])) == []
    assert len(Document([Sparse([1.0]), Sparse([])], slackid=3)) == 2
    with pytest.raises(TypeError, match="a Sparse, a sequence of Sparse or a Document is wanted, not int 3"):
        Document(3)


def test_large_values_are_finite():
    assert Sparse([1e200, -1e200]).values.tolist() == [1e200, -1e200]


def test_shifted_is_a_block():
    assert list(Sparse([(0, 1.0), (2, 3.0)]).shifted(10)) == [(10, 1.0), (12, 3.0)]


def test_linear_model_scores():
    model = Model(lin_weights=np.array([1.0, 10.0, 100.0]))
    assert model.classify(Sparse([(0, 2.0), (2, 1.0)], factor=0.5)) == 51.0
    assert model.classify(Document([Sparse([(1, 1.0)]), Sparse([(0, 1.0)], factor=-1.0)])) == 9.0
    assert model.classify([Sparse([(1, 1.0)]), Sparse([(1, 1.0)])]) == 20.0
    # Words that only new data has carry no weight.
    assert model.classify(Sparse([(0, 1.0), (7, 5.0)])) == 1.0
    assert model.classify(Sparse([(0, 1.0)], kernel_id=9)) == 0.0


def test_each_kernel_id_has_its_block():
    model = Model(lin_weights=np.array([1.0, 2.0, 3.0, 4.0]), kernel_ids=(5, 7))
    assert model.classify([Sparse([(1, 1.0)], kernel_id=5), Sparse([(0, 1.0)], kernel_id=7)]) == 5.0


@pytest.mark.parametrize(
    ("parm", "kappa"),
    [
        (KernelParm(0), lambda u, v: u @ v),
        (KernelParm(POLY, poly_degree=2, coef_lin=0.5, coef_const=2.0), lambda u, v: (0.5 * u @ v + 2) ** 2),
        (KernelParm(RBF, rbf_gamma=0.3), lambda u, v: np.exp(-0.3 * np.sum((u - v) ** 2))),
        (KernelParm(SIGMOID, coef_lin=0.1), lambda u, v: np.tanh(0.1 * u @ v + 1)),
    ],
)
def test_kernel_model_scores(parm, kappa):
    rng = np.random.default_rng(0)
    V, a, parts = rng.normal(size=(5, 3)), rng.normal(size=5), np.array([0, 1, 0, 1, 1])
    model = Model(parm, support=VectorSum(a, sparse.csr_array(V), parts))
    x = rng.normal(size=3)
    expected = 2.0 * sum(a[j] * kappa(V[j], x) for j in range(5) if parts[j] == 1)
    assert model.classify(Sparse(x, factor=2.0, kernel_id=1)) == pytest.approx(expected)
    assert parm.engine_kernel()(V[:1], x[None])[0, 0] == pytest.approx(kappa(V[0], x))
    np.testing.assert_allclose([d[0][0][1] for d in model.supvec], V[:, 0])
    assert [d[0].kernel_id for d in model.supvec] == parts.tolist()


def test_w_says_why_it_is_not_there():
    with pytest.raises(AttributeError, match="before training"):
        _ = StructModel().w
    with pytest.raises(AttributeError, match=r"rbf kernel: use sm\.svm_model\.classify"):
        _ = StructModel(KernelParm(RBF)).w


def test_everything_survives_pickle():
    sm = StructModel()
    sm.w = np.arange(3.0)
    sm.words = {"a": Sparse([1.0])}
    back = pickle.loads(pickle.dumps(sm))
    assert back.svm_model.classify(Sparse([0, 1.0])) == 1.0
    assert back.words == sm.words
