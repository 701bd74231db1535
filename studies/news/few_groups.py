"""googlenews: which C do four training days choose, by which rule, and what does that cost on the other days?

Four groups (days) drawn at random train, the others test, several times over. All values of a grid are tried
on held-out training groups. The old rule takes the smallest mean; the present one (`choose_C` with few
groups) takes of those as good within an error over groups the one that groups agree on. In hindsight the best
is the C of the least loss on the test groups, which nobody could know.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from clustruct import SupervisedCorrelationClustering
from clustruct.data import Table
from clustruct.features import PairFeatures, guess_blocks
from studies import raw_data
from studies.news.halves import TASKS
from studies.records.folds import labels_of
from studies.results import Results

NAME = "googlenews"
DRAWS, GROUPS = 8, 4
C_VALUES = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2)
RULES = ("smallest mean", "what groups agree on", "best in hindsight")


def draw(sets: list[Table], seed: int) -> tuple[list[Table], list[Table]]:
    """The sets of some groups, and the others."""
    groups = sorted({table.group for table in sets}, key=str)
    chosen = set(np.random.default_rng(seed).permutation(groups)[:GROUPS].tolist())
    return [table for table in sets if table.group in chosen], [
        table for table in sets if table.group not in chosen
    ]


def trial(sets: list[Table], seed: int) -> dict[str, Any]:
    """The test loss of every C, and what each rule chooses."""
    train, test = draw(sets, seed)
    features = PairFeatures(guess_blocks(train, *TASKS[NAME])).fit(train)
    X, Z = features.transform(train), features.transform(test)
    y, truth = labels_of(train), labels_of(test)
    options: dict[str, Any] = {"calibrate": False, "rtol": 1e-2}
    chooser = SupervisedCorrelationClustering("cv", C_grid=C_VALUES, **options)
    chooser.fit(X, y, groups=[table.group for table in train])
    held_out = chooser.cv_results_["mean_loss"]
    losses = [
        float(SupervisedCorrelationClustering(C, **options).fit(X, y).set_losses(Z, truth).mean())
        for C in C_VALUES
    ]
    chosen = (C_VALUES[int(np.argmin(held_out))], chooser.C_, C_VALUES[int(np.argmin(losses))])
    return {"held out": held_out, "test": losses, "chosen": dict(zip(RULES, chosen, strict=True))}


def rules(results: Results, quick: bool) -> list[dict[str, Any]]:
    """A row for each draw: C and test loss by each rule; the last has the means. --quick: two draws."""
    sets = raw_data.item_sets(raw_data.PATHS[NAME])
    sets = sets[::3] if quick else sets
    found = [results.get(f"draw {seed}", partial(trial, sets, seed)) for seed in range(2 if quick else DRAWS)]
    rows = [{"draw": seed + 1, **_row(one)} for seed, one in enumerate(found)]
    means = {f"{rule}: loss": float(np.mean([row[f"{rule}: loss"] for row in rows])) for rule in RULES}
    return [*rows, {"draw": "mean", **means}]


def _row(found: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for rule in RULES:
        C = found["chosen"][rule]
        row |= {f"{rule}: C": f"{C:g}", f"{rule}: loss": found["test"][C_VALUES.index(C)]}
    return row
