"""A small fitted model, a backend without a screen, and no figure left open."""

import matplotlib
import pytest

from clustruct import SupervisedCorrelationClustering
from clustruct.papers.toy_marbles import make_marbles

matplotlib.use("Agg")


@pytest.fixture(scope="package")
def fitted():
    """A model, its sets and their labels; noisy enough to make errors."""
    sets = make_marbles(4, 24, noise=2.5, random_state=1)
    X, y = [m.item_set() for m in sets], [m.labels for m in sets]
    return SupervisedCorrelationClustering(C=1.0).fit(X, y), X, y


@pytest.fixture(autouse=True)
def no_figure_left_open():
    from matplotlib import pyplot

    yield
    pyplot.close("all")
