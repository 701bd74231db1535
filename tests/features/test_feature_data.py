"""Default features on real records, where the data is to be had."""

import os

import numpy as np
import pytest

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not os.environ.get("CLUSTRUCT_DATA"),
        reason="CLUSTRUCT_DATA does not name the folder with the third-party data",
    ),
]


def test_citations_are_grouped_with_default_features():
    """cora, at most 40 records of a fold: folds 0-4 train, 5-9 test."""
    from clustruct import SupervisedCorrelationClustering
    from clustruct.features import PairFeatures, guess_blocks
    from studies import raw_data
    from studies.records.folds import labels_of, scores

    sets = raw_data.records("cora", 40)
    train, test = sets[:5], sets[5:]
    features = PairFeatures(guess_blocks(train)).fit(train)
    assert not any(
        name.startswith(("source", "cluster", "fold")) for name in features.get_feature_names_out()
    )
    model = SupervisedCorrelationClustering(C=1.0).fit(features.transform(train), labels_of(train))
    pairwise, b_cubed = scores(labels_of(test), model.predict(features.transform(test)))
    assert pairwise > 90.0
    assert b_cubed > 90.0


def test_mentions_of_real_documents_are_read():
    """Every mention of ten documents has a place, and gum's hand annotation is left out."""
    from clustruct.features import PairFeatures, guess_blocks
    from studies import raw_data

    for name in ("litbank", "gum"):
        docs = raw_data.documents(name, 30)[:10]
        assert not any("gold" in item for table in docs for item in table.items)
        features = PairFeatures(guess_blocks(docs)).fit(docs)
        assert all(np.isfinite(x.pairs).all() for x in features.transform(docs))
