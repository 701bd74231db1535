"""Tables 3.1, 3.3 and 3.4 on mentions that are to be had, and the chain of 1.3.2 beside them."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from clustruct.estimators.baselines import PairwiseClassifierClustering
from clustruct.features import PairFeatures, guess_blocks
from clustruct.features import pronouns as pronouns_of
from studies import raw_data
from studies.correlation2005 import many_pairs
from studies.correlation2005.models import Part, learner, losses_of, tested, trained
from studies.records.folds import labels_of
from studies.results import Results

# As many mentions of a document as make trainings of seconds (MUC-6 has 150 noun phrases in a document).
MENTIONS = 100
MODELS: dict[str, Any] = {
    "C_G, pairwise": partial(learner, "C_G", "pairwise"),
    "C_G, mitre": partial(learner, "C_G", "mitre"),
    "C_G, mitre, slack scaling": partial(learner, "C_G", "mitre", scaling="slack"),
    "C_G, pairwise, without loss": partial(learner, "C_G", "pairwise", loss_in_oracle=False),
    "C_G, mitre, without loss": partial(learner, "C_G", "mitre", loss_in_oracle=False),
}
# 1.3.2: pairs of a chain train, each mention is linked to the nearest earlier mate.
CHAINS = {"chain": True, "chain, pronouns as mates": False}


def by_data(results: Results, quick: bool, *, name: str, step: int = 1) -> dict[str, Any]:
    """Of every so manieth document the first, third, ... train, the others test; 10 folds choose C.

    --quick: 20 mentions of eight documents, two folds.
    """
    documents = raw_data.documents(name, 20 if quick else MENTIONS)[::step]
    documents = [table for table in documents if len(table) > 1][: 8 if quick else None]
    train, test = documents[::2], documents[1::2]
    features = PairFeatures(guess_blocks(train)).fit(train)
    part = Part(
        features.transform(train),
        labels_of(train),
        range(len(train)),
        features.transform(test),
        labels_of(test),
        2 if quick else 10,
        [pronouns_of(table) for table in train],
    )
    models = {
        key: results.get(key, lambda m=make: tested(trained(part, m()), part, ["C_G"]))
        for key, make in MODELS.items()
    }
    models["PCC"] = results.get("PCC", lambda: tested(many_pairs.trained(part), part, ["C_G"]))
    models |= {key: results.get(key, lambda p=passed: _chain(part, p)) for key, passed in CHAINS.items()}
    for key, answer in (("alone", np.arange), ("together", partial(np.zeros, dtype=int))):
        models[key] = {"losses": {"C_G": losses_of(part.truth, [answer(len(y)) for y in part.truth])}}
    sizes = [len(y) / len(set(y.tolist())) for y in part.truth]
    return {
        "data": name,
        "documents": [len(train), len(test)],
        "items per cluster": float(np.mean(sizes)),
        "models": {key: {"C": m.get("C"), "losses": m["losses"]["C_G"]} for key, m in models.items()},
    }


def _chain(part: Part, pass_over: bool) -> dict[str, Any]:
    model = PairwiseClassifierClustering(selection="chain", predictor="nearest_mate")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(part.X, part.y, pronouns=part.pronouns if pass_over else None)
    return {"losses": {"C_G": losses_of(part.truth, model.predict(part.Z))}}
