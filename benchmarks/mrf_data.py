"""The multi-label sets of dissertation chapter 5, as far as they are to be had."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clustruct.datasets import MultiLabelData, make_multilabel_chain, make_multilabel_count, read_multilabel

# Features and labels of the published files.
FILES = {"scene": (294, 6), "yeast": (103, 14), "reuters": (47236, 101)}
# The ten most frequent training labels of RCV1 subset 1.
REUTERS_LABELS = [4, 5, 7, 33, 59, 70, 93, 95, 98, 99]
NAMES = ("scene", "yeast", "reuters", "synth1", "synth2", "synth2-constant")


class Split(NamedTuple):
    """A training and a test part."""

    train: MultiLabelData
    test: MultiLabelData


def available(name: str) -> bool:
    """Whether the set can be loaded: the real ones need the environment variable CLUSTRUCT_DATA."""
    return name not in FILES or "CLUSTRUCT_DATA" in os.environ


def load(name: str) -> Split:
    """A set by name. "synth2-constant" is Synth2 with a feature that is always 1."""
    if name == "synth1":
        return Split(make_multilabel_chain(471, random_state=1), make_multilabel_chain(5045, random_state=2))
    if name.startswith("synth2"):
        parts = [make_multilabel_count(1000, random_state=1), make_multilabel_count(10000, random_state=2)]
        if name == "synth2-constant":
            parts = [MultiLabelData(np.hstack([X, np.ones((len(X), 1))]), Y) for X, Y in parts]
        return Split(*parts)
    return Split(_read(name, "train"), _read(name, "test"))


def _read(name: str, part: str) -> MultiLabelData:
    folder = Path(os.environ["CLUSTRUCT_DATA"]) / "multilabel"
    stem = "rcv1subset1" if name == "reuters" else name
    X, Y = read_multilabel(folder / f"{stem}-{part}.svm.gz", *FILES[name])
    if name != "reuters":
        return MultiLabelData(X.toarray(), Y)
    Y = Y[:, REUTERS_LABELS]
    some = Y.any(axis=1)
    return MultiLabelData(X[some], Y[some])


def mean_and_error(losses: Any) -> tuple[float, float]:
    """Mean loss per example and its standard error."""
    return float(np.mean(losses)), float(np.std(losses, ddof=1) / np.sqrt(len(losses)))
