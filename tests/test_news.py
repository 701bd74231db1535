"""The learned similarity on real news, where the data is to be had."""

import os

import numpy as np
import pytest

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not os.environ.get("CLUSTRUCT_DATA"),
        reason="CLUSTRUCT_DATA does not name the folder with the news data",
    ),
]


@pytest.mark.filterwarnings(
    "ignore::clustruct.core.exceptions.ChoiceWarning"
)  # the end of the grid serves as well
@pytest.mark.parametrize(
    ("name", "fields", "most"), [("googlenews", ("title", "text"), 1.5), ("uci_aggregator", ("title",), 6.2)]
)
def test_default_settings_group_news(name, fields, most):
    """Two halves by group, each in turn trains; the pair classifier makes more errors."""
    from clustruct import SupervisedCorrelationClustering
    from clustruct.estimators.baselines import PairwiseClassifierClustering
    from studies import tasks
    from studies.correlation2005.defaults import held_out

    task = tasks.news(name, fields)
    learned, _ = held_out(task, SupervisedCorrelationClustering())
    classified, _ = held_out(task, PairwiseClassifierClustering())
    assert np.mean(learned) <= most
    assert np.mean(learned) < np.mean(classified)
