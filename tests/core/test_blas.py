"""BLAS has one thread while a call runs, and afterwards as many as before."""

import importlib
import inspect
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_info, threadpool_limits

from clustruct import MultiLabelMRF, Recipe, ssvm
from clustruct.cli import main as commands
from clustruct.core.blas import LimitsBlas, call_with_blas_limit, limit_blas
from clustruct.learning.problems import MulticlassProblem


def threads():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    """As on a machine of two cores."""
    with threadpool_limits(2, user_api="blas"):
        yield
        assert threads() == {2}


class Model(LimitsBlas, BaseEstimator):
    """Says what it sees."""

    def fit(self, wrong=False):
        """Nested: it is limited once."""
        self.seen_ = [threads(), self.predict(), threads()]
        if wrong:
            raise ValueError("wrong")
        return self

    def predict(self):
        return threads()


def test_nested_calls_and_errors_restore():
    assert Model().fit().seen_ == [{1}] * 3
    assert threads() == {2}
    with pytest.raises(ValueError, match="wrong"):
        Model().fit(wrong=True)
    assert threads() == {2}


def test_of_two_calls_at_once_the_last_restores():
    entered, first_may_end, first_ended = (threading.Event() for _ in range(3))

    def first():
        with limit_blas():
            entered.set()
            first_may_end.wait(60)
        first_ended.set()

    thread = threading.Thread(target=first)
    thread.start()
    assert entered.wait(60)
    with limit_blas():
        first_may_end.set()
        assert first_ended.wait(60)
        assert threads() == {1}
    thread.join()
    assert threads() == {2}


def test_the_environment_overrules(monkeypatch):
    monkeypatch.setenv("CLUSTRUCT_BLAS_THREADS", "3")
    with limit_blas():
        assert threads() == {3}
    for wrong in ("0", "-1", "x", "1.5", ""):
        monkeypatch.setenv("CLUSTRUCT_BLAS_THREADS", wrong)
        with pytest.raises(ValueError, match="CLUSTRUCT_BLAS_THREADS must be a whole number from 1 on"):
            Model().fit()
        assert threads() == {2}


def test_a_wrong_number_is_one_line_of_a_command(monkeypatch, capsys):
    monkeypatch.setenv("CLUSTRUCT_BLAS_THREADS", "many")
    assert commands.main(["show", "--model", "none"]) == 1
    assert "CLUSTRUCT_BLAS_THREADS must be" in capsys.readouterr().err


def test_the_doors_are_held(monkeypatch):
    seen = []

    class Problem(MulticlassProblem):
        """Sees how many threads its oracle has."""

        def separate(self, *args):
            seen.append(threads())
            return super().separate(*args)

        def separate_batch(self, *args):
            seen.append(threads())
            return super().separate_batch(*args)

    ssvm.fit(Problem(np.eye(3), [0, 1, 2]), C=1.0)
    assert {1} in seen
    assert {2} not in seen
    for door in (Recipe.fit, Recipe.predict, MultiLabelMRF.fit, MultiLabelMRF.predict):
        assert hasattr(door, "__wrapped__"), door


def test_workers_of_joblib_are_held():
    assert Parallel(n_jobs=2)(delayed(call_with_blas_limit)(threads) for _ in range(2)) == [{1}] * 2


def test_a_library_that_an_import_loads_meanwhile_is_held_by_the_next_call():
    code = """
from clustruct.core.blas import limit_blas
with limit_blas():
    import numpy, scipy.linalg
    with limit_blas():
        from threadpoolctl import threadpool_info
        print(sorted({one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[1]\n"


def test_entering_is_cheap():
    with limit_blas():
        started = time.perf_counter()
        for _ in range(1000):
            with limit_blas():
                pass
        assert time.perf_counter() - started < 0.1


def test_methods_keep_their_signatures():
    assert Model.fit.__doc__ == "Nested: it is limited once."
    assert list(inspect.signature(Model.fit).parameters) == ["self", "wrong"]


def test_every_method_that_is_to_be_limited_is_there():
    """A method that is renamed must not lose its limit."""
    modules = ("estimators.baselines", "estimators.correlation", "features.pair_features", "pipeline.recipe")
    papers = ("multilabel", "universum", "document_clustering", "cpm3c")
    for name in (*modules, *(f"papers.{one}" for one in papers)):
        importlib.import_module(f"clustruct.{name}")
    found, waiting = set(), LimitsBlas.__subclasses__()
    while waiting:
        kind = waiting.pop()
        found |= vars(kind).keys()
        waiting += kind.__subclasses__()
    assert LimitsBlas._limited <= found
