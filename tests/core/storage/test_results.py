"""Results, planes and kernel models on their own."""

import numpy as np
import pytest
from scipy import sparse

from clustruct import load, save, ssvm
from clustruct.core.exceptions import ModelFileError
from clustruct.core.kernels import Kernel
from clustruct.learning.problems import MulticlassProblem
from clustruct.ssvm import Planes


@pytest.fixture(scope="module")
def result():
    X = np.random.default_rng(0).normal(size=(30, 3))
    return ssvm.fit(MulticlassProblem(X, np.arange(30) % 3), C=10.0)


def test_a_result_comes_back_without_its_working_set(result, tmp_path):
    save(tmp_path / "r", result, about={"C": 10.0})
    again = load(tmp_path / "r")
    np.testing.assert_array_equal(again.w, result.w)
    assert repr(again) == repr(result)
    assert again.history == result.history
    assert again.certificate == result.certificate
    assert again.working_set is None


def test_planes_come_back(result, tmp_path):
    save(tmp_path / "p", result.planes)
    again = load(tmp_path / "p")
    for name in ("b", "group", "a"):
        np.testing.assert_array_equal(getattr(again, name), getattr(result.planes, name))
    dense = [sparse.csr_array(planes.vectors).toarray() for planes in (again, result.planes)]
    np.testing.assert_array_equal(*dense)


def test_planes_whose_parts_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        Planes(np.zeros((2, 3)), np.zeros(2), np.zeros(1, np.intp), np.zeros(2))
    with pytest.raises(ValueError, match="do not fit"):
        Planes(np.zeros((1, 3)), np.zeros(1), np.array([-1]), np.zeros(1))


def test_a_kernel_model_comes_back(tmp_path):
    support = ssvm.VectorSum(np.array([1.0, -2.0]), sparse.csr_array(np.eye(2)), np.array([0, 1]))
    model = ssvm.KernelModel(Kernel("rbf", gamma=0.5), support, 1.5)
    save(tmp_path / "k", model)
    again = load(tmp_path / "k")
    new = np.array([[0.3, 0.4]])
    np.testing.assert_array_equal(again.scores(new, 1), model.scores(new, 1))
    assert (again.kernel, again.half_norm) == (model.kernel, 1.5)


@pytest.mark.parametrize(
    "change",
    [
        {"history": 3},
        {"history": {}},
        {"objective": "1"},
        {"objective": None},
        {"certificate": {"lower": 1}},
        {"oracle_calls": 1.5},
        {"oracle_calls": True},
        {"more": 1},
    ],
    ids=str,
)
def test_hostile_results_are_refused(result, change):
    state = result.state()
    with pytest.raises((ValueError, TypeError, KeyError)):
        ssvm.FitResult.from_state({**state, **change})


def test_columns_of_a_history_fit_together(result):
    state = result.state()
    for wrong in (np.zeros(99), np.zeros((1, 1)), [1.0], np.array(["a"])):
        with pytest.raises(ValueError):
            ssvm.FitResult.from_state({**state, "history": {**state["history"], "dual": wrong}})


def test_a_checkpoint_is_a_file_like_others(tmp_path):
    problem = MulticlassProblem(np.eye(3), [0, 1, 2])
    ssvm.fit(problem, 10.0, rtol=0.0, checkpoint=tmp_path / "c", callback=lambda entry: True)
    saved = load(tmp_path / "c")
    assert saved.identity.settings["C"] == 10.0
    assert saved.planes.fits(9, 3)
    whole = (tmp_path / "c").read_bytes()
    (tmp_path / "c").write_bytes(whole[:-40])
    with pytest.raises(ModelFileError, match=r"is not a readable checkpoint.*cut short"):
        ssvm.fit(problem, 10.0, checkpoint=tmp_path / "c")
    save(tmp_path / "c", saved.planes)
    with pytest.raises(ModelFileError, match="holds a Planes, not a Saved"):
        ssvm.fit(problem, 10.0, checkpoint=tmp_path / "c")
