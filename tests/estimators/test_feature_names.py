"""Columns of frames are told apart by their names, in a list of frames as in one frame."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from clustruct import SupervisedCorrelationClustering, SupervisedKMeans
from clustruct.data import ItemSet
from clustruct.estimators.baselines import PairwiseClassifierClustering

MODELS = [SupervisedCorrelationClustering(C=1.0), SupervisedKMeans(C=1.0), PairwiseClassifierClustering()]
NAMES = list("abcde")
LABELS = [[0, 0, 0, 1, 1, 1]] * 3


def frames(columns, kind=pd.DataFrame):
    """Three frames of two clusters each, their columns in the order named."""
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(6, 5)) + np.repeat([[0.0], [2.0]], 3, axis=0) for _ in range(3)]
    return [kind({name: table[:, NAMES.index(name)] for name in columns}) for table in tables]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_other_order_and_other_names_are_refused_by_every_method(model):
    model.fit(frames(NAMES), LABELS)
    assert model.feature_names_in_.tolist() == NAMES
    other = frames(NAMES[::-1])
    for ask in (model.predict, model.decision_function, lambda X: model.score(X, LABELS)):
        with pytest.raises(ValueError, match=r"(?s)set 0: The feature names should match.*same order"):
            ask(other)
        renamed = [frame.rename(columns={"b": "B"}) for frame in frames(NAMES)]
        with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- B\n.*now missing:\n- b"):
            ask(renamed)


def test_a_single_frame_and_a_list_of_it_raise_one_error():
    model = SupervisedCorrelationClustering(C=1.0).fit(frames(NAMES), LABELS)
    (other, *_) = frames(NAMES[::-1])
    with pytest.raises(ValueError) as alone:
        model.predict(other)
    with pytest.raises(ValueError) as listed:
        model.predict([other])
    assert str(listed.value) == f"set 0: {alone.value}".rstrip()


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_training_frames_must_agree(kind):
    mixed = [*frames(NAMES, kind)[:2], *frames(NAMES[::-1], kind)[2:]]
    with pytest.raises(ValueError, match="set 2: The feature names should match"):
        SupervisedCorrelationClustering(C=1.0).fit(mixed, LABELS)


def test_names_of_item_sets_count_and_sets_without_names_are_taken_as_they_are():
    x = [ItemSet(frame.to_numpy(), feature_names=NAMES) for frame in frames(NAMES)]
    model = SupervisedCorrelationClustering(C=1.0).fit(x, LABELS)
    with pytest.raises(ValueError, match="same order"):
        model.predict([ItemSet(x[0].nodes, feature_names=NAMES[::-1])])
    with pytest.raises(ValueError, match="same order"):
        model.predict(ItemSet(x[0].nodes, feature_names=NAMES[::-1]))
    bare = model.predict([ItemSet(one.nodes) for one in x])
    assert all(np.array_equal(a, b) for a, b in zip(bare, model.predict(x), strict=True))
