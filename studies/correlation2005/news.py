"""Tables 3.2, 3.4 and 3.5 and Figure 3.3 on news that is to be had."""

from __future__ import annotations

from typing import Any

import numpy as np

from clustruct.features import PairFeatures, guess_blocks
from studies import raw_data
from studies.correlation2005.models import PREDICTORS, Part, learner, losses_of, tested, trained
from studies.news.halves import TASKS, halves
from studies.records.folds import labels_of
from studies.results import Results

# The linear programmes of training with C_R cost too much above this: one training on 17 whole sets of
# uci_aggregator was ended after four CPU minutes. All columns train on the same sets, but the last.
LARGEST, MOST = 60, 12
WHOLE = "C_G, all sets"
MODELS: dict[str, Any] = {
    "C_G": lambda: learner("C_G"),
    "C_R": lambda: learner("C_R"),
    "C_G without loss": lambda: learner("C_G", loss_in_oracle=False),
    "C_R without loss": lambda: learner("C_R", loss_in_oracle=False),
    "PCC": lambda: None,
    WHOLE: lambda: learner("C_G"),
}


def by_data(results: Results, quick: bool, *, name: str) -> dict[str, Any]:
    """Two halves by group, each in turn trains; every model tested with C_G and both roundings of C_R.

    --quick: C_G, PCC and C_G without loss, four sets of a half.
    """
    sets = raw_data.item_sets(raw_data.PATHS[name])
    parts = halves(sets)[:1] if quick else halves(sets)
    names = ("C_G", "C_G without loss", "PCC") if quick else tuple(MODELS)
    models: dict[str, Any] = {key: [] for key in names}
    for key in names:
        for k, (train, test) in enumerate(parts):
            make = lambda key=key, train=train, test=test: _cell(name, sets, train, test, key, quick)  # noqa: E731
            models[key].append(results.get(f"{key}, half {k}", make))
    tests = [i for _, test in parts for i in (test[:4] if quick else test)]
    truth = labels_of([sets[i] for i in tests])
    alone = losses_of(truth, [np.arange(len(y)) for y in truth])["pairwise"]
    return {
        "data": name,
        "groups": [str(sets[i].group) for i in tests],
        "features": _features(name, [sets[i] for i in parts[0][0]]).get_feature_names_out().tolist(),
        "default": alone,
        "models": {key: _joined(cells) for key, cells in models.items()},
    }


def _features(name: str, train: list[Any]) -> PairFeatures:
    kind, fields = TASKS[name]
    return PairFeatures(guess_blocks(train, kind, fields)).fit(train)


def _cell(name: str, sets: list[Any], train: list[int], test: list[int], key: str, quick: bool) -> Any:
    """One model of one half. Vocabularies are those of all its sets, whatever sets train."""
    features = _features(name, [sets[i] for i in train])
    if key != WHOLE:
        train = _spread(sets, [i for i in train if len(sets[i]) <= LARGEST])[: 4 if quick else MOST]
    test = test[:4] if quick else test
    known, new = [sets[i] for i in train], [sets[i] for i in test]
    groups = [table.group for table in known]
    seen, asked = features.transform(known), features.transform(new)
    part = Part(seen, labels_of(known), groups, asked, labels_of(new), 2 if quick else 5)
    return {"sets": len(train), **tested(trained(part, MODELS[key]()), part, tuple(PREDICTORS))}


def _spread(sets: list[Any], chosen: list[int]) -> list[int]:
    """The first set of every group, then the second of each, and so on."""
    rank: dict[Any, int] = {}
    order = {}
    for i in chosen:
        order[i] = rank[sets[i].group] = rank.get(sets[i].group, -1) + 1
    return sorted(chosen, key=lambda i: order[i])


def _joined(cells: list[Any]) -> dict[str, Any]:
    """Both halves of a model: losses of all test sets one after another, weights of each half."""
    losses = {
        name: [loss for cell in cells for loss in cell["losses"][name]["pairwise"]]
        for name in cells[0]["losses"]
    }
    return {
        "sets": [cell["sets"] for cell in cells],
        "C": [cell["C"] for cell in cells],
        "weights": [cell["weights"] for cell in cells],
        "losses": losses,
    }
