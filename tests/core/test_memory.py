"""Cost first: how much memory a step takes is known, and refused, before it is taken."""

import numpy as np
import pytest

from clustruct import ItemSet, PairFeatures, SupervisedCorrelationClustering, SupervisedKMeans, Table
from clustruct.core import memory
from clustruct.core.exceptions import CostWarning, NotEnoughMemory
from clustruct.estimators.baselines import PairwiseClassifierClustering
from clustruct.features import Blocking, Strings


@pytest.mark.parametrize("text", ["", "8Q", "-1", "0", "G", "nan", True, "1e9x"])
def test_a_size_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match="a size is"):
        memory.parse_size(text)


def test_what_is_available_is_positive_and_no_more_than_the_machine_has():
    assert 0 < memory.available() < 2**60


def test_the_limit_of_the_process_counts(monkeypatch):
    monkeypatch.setattr(memory, "_of_machine", lambda: 10 * 2**30)
    monkeypatch.setattr(memory, "_of_process", lambda: 2**30)
    with pytest.raises(NotEnoughMemory, match=r"2\.0 GB of memory, but 1\.0 GB are available"):
        memory.require(2 * 2**30, "this")


def test_a_limit_around_holds_unless_there_is_a_nearer_one():
    with memory.limit("1M"):
        with pytest.raises(NotEnoughMemory, match="allowed"):
            memory.require(2**21, "this")
        memory.require(2**21, "this", limit="3M")
    memory.require(2**21, "this")


def test_much_is_mentioned(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 2**40)
    with pytest.warns(CostWarning, match=r"this will take about 3\.0 GB of memory: do that"):
        memory.require(3 * 2**30, "this", "do that")


@pytest.mark.parametrize("model", [SupervisedCorrelationClustering(C=1.0), SupervisedKMeans(C=1.0)])
def test_a_matrix_that_does_not_fit_is_refused_before_the_work(model):
    X = np.zeros((200_000, 1))
    y = np.arange(200_000) // 2
    with pytest.raises(NotEnoughMemory, match=r"matrix of 200,000 items would take about 894\.1 GB"):
        model.fit([X], [y])
    small = np.arange(8.0).reshape(4, 2)
    model.fit([small], [[0, 0, 1, 1]])
    with pytest.raises(NotEnoughMemory, match="200,000 items"):
        model.predict([np.zeros((200_000, 2))])
    model.set_params(memory_limit="1M")
    with pytest.raises(NotEnoughMemory, match=r"1\.0 MB are allowed"):
        model.predict([np.zeros((300, 2))])


def test_all_pairs_of_a_classifier_are_counted_first():
    x = ItemSet(nodes=np.ones((2000, 50)))
    with pytest.raises(NotEnoughMemory, match="features of 1,999,000 pairs"):
        PairwiseClassifierClustering(memory_limit="100M").fit([x], [np.arange(2000) // 2])


def table(n):
    return Table([{"name": f"name {k}", "town": f"town {k % 7}"} for k in range(n)])


def test_all_pairs_of_a_large_set_are_refused_before_they_are_made():
    features = PairFeatures([Strings("name"), Strings("town")]).fit([table(50)])
    with pytest.raises(NotEnoughMemory) as error:
        features.transform([table(100_000)])
    assert "all 4,999,950,000 pairs of 100,000 items" in str(error.value)
    assert "--block" in str(error.value)
    with pytest.raises(NotEnoughMemory, match="allowed"):
        features.set_params(memory_limit="1M").transform([table(300)])


def test_listed_pairs_are_no_hindrance():
    features = PairFeatures([Strings("name")], blocking=Blocking(n_neighbors=2, from_size=100))
    features.set_params(memory_limit="20M")
    assert features.fit([table(50)]).transform([table(2000)])[0].is_sparse
