"""PCC where there are a hundred thousand pairs and more.

LinearSVC's C multiplies a sum over pairs, so that among so many of them all values above 0.1 give the same
(litbank, 16 documents: training loss 9.948 at C = 0.1 and at 10). Smaller ones are tried, by three folds and
a looser tolerance; the last training has the usual one.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from clustruct.estimators.baselines import PairwiseClassifierClustering
from clustruct.learning.model_selection import split_sets
from studies.correlation2005.models import Part, classifier

GRID = (1e-5, 1e-3, 0.1)
FOLDS, LOOSE = 3, 1e-2


def trained(part: Part) -> Any:
    """The classifier of all pairs, its C chosen by pairwise loss of documents held out."""
    losses = dict.fromkeys(GRID, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in split_sets(len(part.X), min(FOLDS, part.folds)):
            for C in GRID:
                model = PairwiseClassifierClustering(LinearSVC(C=C, tol=LOOSE, dual=False, random_state=0))
                model.fit([part.X[i] for i in train], [part.y[i] for i in train])
                held = ([part.X[i] for i in test], [part.y[i] for i in test])
                losses[C] += float(np.sum(model.set_losses(*held)))
        return classifier(min(losses, key=lambda C: (round(losses[C], 9), C))).fit(part.X, part.y)
