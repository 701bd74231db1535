"""Whole data sets with blocking: folds 0-4 as one labelled set, folds 5-9 as one set to be grouped."""

from __future__ import annotations

import resource
import time
from typing import Any

from clustruct import SupervisedCorrelationClustering
from clustruct.features import Blocking, PairFeatures, guess_blocks, pair_recall
from studies import raw_data
from studies.records.folds import labels_of, scores
from studies.results import Results

NAMES = ("cora", "abt_buy", "amazon_google", "dblp_acm", "febrl3", "walmart_amazon")


def compare(name: str) -> dict[str, Any]:
    """From CSV to groups, with the seconds and the memory of the process so far."""
    started = time.process_time()
    train, test = (raw_data.records_together(name, folds) for folds in (range(5), range(5, 10)))
    features = PairFeatures(guess_blocks([train], "records"), blocking=Blocking(from_size=500)).fit([train])
    X = features.transform([train])
    model = SupervisedCorrelationClustering().fit(X, labels_of([train]))
    fitted = time.process_time() - started
    Z = features.transform([test])
    found = model.predict(Z)
    seconds = time.process_time() - started
    F, B = scores(labels_of([test]), found)
    return {
        "data": name,
        "records": len(test),
        "pairs": len(Z[0].pair_index),
        "recall of blocking": pair_recall(test, Z[0].pair_index),
        "pairwise F": F,
        "B-cubed": B,
        "fit seconds": fitted,
        "seconds": seconds,
        "GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def blocking(results: Results, quick: bool) -> list[dict[str, Any]]:
    """A row per data set; --quick: cora."""
    return [results.get(name, lambda n=name: compare(n)) for name in (NAMES[:1] if quick else NAMES)]
