"""Rows that would lose something on their way to plain numbers are refused by name."""

import numpy as np
import pytest

from clustruct import MultiLabelMRF, UniversumClustering
from clustruct.papers.cpm3c import CPM3C
from clustruct.papers.document_clustering import CLGR, PLSA

X = np.random.default_rng(0).uniform(size=(12, 3))
WRONG = {
    "masked array": np.ma.masked_greater(X, 0.9),
    "dates or times": np.array(X * 1e9, "datetime64[s]"),
    "float64 can hold": [[10**400, 1, 2]] * 12,
}


@pytest.mark.parametrize("words", WRONG)
@pytest.mark.parametrize("model", [UniversumClustering(2), PLSA(2), CLGR(2), CPM3C(2)], ids=repr)
def test_rows_of_clusterings(model, words):
    with pytest.raises(ValueError, match=words):
        model.fit(WRONG[words])


@pytest.mark.parametrize("words", WRONG)
def test_rows_of_labels(words):
    Y = (X > 0.5).astype(int)
    with pytest.raises(ValueError, match=words):
        MultiLabelMRF(C=1.0).fit(WRONG[words], Y)
    model = MultiLabelMRF(C=1.0).fit(X, Y)
    with pytest.raises(ValueError, match=words):
        model.predict(WRONG[words])
