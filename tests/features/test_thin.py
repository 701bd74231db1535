"""Features of many pairs that are mostly zero are kept sparse, and say the same."""

import numpy as np
import pytest
from scipy import sparse

from clustruct.data.datasets import make_mentions, make_records
from clustruct.features import PairFeatures, feature_matrix, guess_blocks


@pytest.mark.parametrize("at_once", [50_000, 700])
def test_mentions_are_kept_sparse(monkeypatch, at_once):
    sets = make_mentions(n_sets=3)
    features = PairFeatures(guess_blocks(sets)).fit(sets)
    dense = [x.pairs for x in features.transform(sets)]
    monkeypatch.setattr(feature_matrix, "LARGE", 1)
    monkeypatch.setattr(feature_matrix, "PAIRS_AT_ONCE", at_once)
    thin = [x.pairs for x in features.transform(sets)]
    assert not any(sparse.issparse(P) for P in dense)
    assert all(sparse.issparse(P) for P in thin)
    for one, other in zip(dense, thin, strict=True):
        np.testing.assert_array_equal(one, other.toarray())


def test_records_are_not(monkeypatch):
    monkeypatch.setattr(feature_matrix, "LARGE", 1)
    sets = make_records(n_sets=2, n_people=8)
    assert not any(sparse.issparse(x.pairs) for x in PairFeatures(guess_blocks(sets)).fit_transform(sets))
