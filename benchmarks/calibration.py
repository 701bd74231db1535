"""How good probabilities are: half of the sets of each data set teach, the other half is asked; both ways.

    python -m benchmarks.calibration [abt_buy googlenews ...] [--json benchmarks/figures/calibration.json]

Pairs: calibration error over ten bins of equally many of the doubtful pairs (.05 < p < .95), what chance
alone would give for so many (were the probabilities right), the error where each of the sets asked gets its
probabilities by a map learned from the others, with the same scores ("by sets": what the chance of which
sets are known costs, were training and use alike in all else), the error of the map of the sets asked
themselves where sets are drawn anew, as many with replacement ("floor %": what the choice of the sets asked
costs a map of scores that is right; and between which figures 8 of 10 draws lie), and the Brier skill
score over all compared pairs.
Items: area under the curve for telling items in the right place from others, by the score lost by the best
other place, by the same over the size of the cluster, and by the confidence; and the calibration error of the
confidence, of items and of groups. Each data set's figures are on file when they are made.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.printing import format_table, keep_row
from clustruct import Recipe
from clustruct.core.partitions import canonical_labels
from clustruct.data import Table
from clustruct.evaluate.explain import item_confidence
from clustruct.evaluate.metrics import brier_skill, calibration_error
from clustruct.features import check_tables
from clustruct.learning.calibration import ScoreMap, group_confidence, in_right_place
from clustruct.pipeline import group, score_set
from studies.raw_data import PATHS, documents, item_sets, records

NAMES = (
    "abt_buy",
    "amazon_google",
    "cora",
    "googlenews",
    "uci_aggregator",
    "ecbplus_articles",
    "author_names",
    "litbank",
    "gum",
)
DOUBTFUL = (0.05, 0.95)
# Mentions of a document.
MOST_MENTIONS = 100
# How often sets are drawn anew.
DRAWS = 100
# Pairs of each set that the map of the others is learned from.
DRAWN = 20_000


def read(name: str) -> list[Table]:
    if name in PATHS:
        return item_sets(PATHS[name])
    return documents(name, MOST_MENTIONS) if name in ("litbank", "gum") else records(name)


def halves(sets: list[Table]) -> list[tuple[list[Table], list[Table]]]:
    """Sorted groups of sets, even against odd; each half in turn teaches."""
    groups = [str(table.group or table.name) for table in sets]
    even = set(sorted(set(groups))[::2])
    first = [table for table, group in zip(sets, groups, strict=True) if group in even]
    second = [table for table, group in zip(sets, groups, strict=True) if group not in even]
    return [(first, second), (second, first)]


def asked(train: list[Table], test: list[Table]) -> dict[str, np.ndarray]:
    """What the probabilities of pairs and items are, and what is true."""
    pipeline = check_tables(Recipe().fit(train).pipeline_)
    model, found, values = pipeline[-1], dict[str, list[Any]](), []
    for table in test:
        scores = score_set(pipeline, replace(table, labels=None))
        found_here = group(model, scores, confidence=True)
        truth, labels = canonical_labels(list(table.labels or ())), found_here.labels
        listed = scores.list_pairs()
        a, b = listed.index.T
        sure = found_here.confidence
        assert sure is not None
        lost = np.nan_to_num(item_confidence(scores.matrix_or_graph(), labels).confidence, posinf=1e9)
        told = {"same": truth[a] == truth[b], "p": model.pair_probabilities(scores)}
        told |= {"right": in_right_place(truth, labels), "item": sure, "lost": lost}
        told |= {"lost_mean": lost / np.bincount(labels)[labels], "group": group_confidence(labels, sure)}
        values.append(listed.values)
        for key, column in told.items():
            found.setdefault(key, []).append(column)
    found["by_sets"] = by_sets(values, found["same"])
    rows = [np.random.default_rng(0).permutation(len(s))[:DRAWN] for s in values]
    weights = np.concatenate([np.full(len(r), len(s) / len(r)) for s, r in zip(values, rows, strict=True)])
    drawn = [
        np.concatenate([c[r] for c, r in zip(column, rows, strict=True)])
        for column in (values, found["same"])
    ]
    own = ScoreMap.fit(*drawn, weights)
    found["own"] = [own.probability(s) for s in values]
    found["size"] = [np.array([len(s)]) for s in values]
    return {key: np.concatenate(columns) for key, columns in found.items()}


def by_sets(scores: list[np.ndarray], same: list[np.ndarray]) -> list[np.ndarray]:
    """The probabilities of each set's pairs by the scores of all other sets."""
    rng = np.random.default_rng(0)
    rows = [rng.permutation(len(s))[:DRAWN] for s in scores]
    weights = [np.full(len(r), len(s) / max(len(r), 1)) for s, r in zip(scores, rows, strict=True)]
    found = []
    for k, one in enumerate(scores):
        others = [i for i in range(len(scores)) if i != k]
        columns = (
            np.concatenate([scores[i][rows[i]] for i in others]),
            np.concatenate([same[i][rows[i]] for i in others]),
            np.concatenate([weights[i] for i in others]),
        )
        found.append(ScoreMap.fit(*columns).probability(one))
    return found


def by_chance(p: np.ndarray) -> float:
    """The calibration error of probabilities that are right, in the mean."""
    rng = np.random.default_rng(0)
    drawn = [calibration_error(rng.random(len(p)) < p, p, between=DOUBTFUL) for _ in range(10)]
    return float(np.mean(drawn))


def sets_drawn_anew(every: dict[str, np.ndarray]) -> np.ndarray:
    """Calibration errors of the map of the sets asked, with as many of them drawn with replacement."""
    ends = np.cumsum(every["size"])
    rng, n = np.random.default_rng(0), len(ends)
    errors = []
    for _ in range(DRAWS):
        rows = np.concatenate([np.arange(ends[i] - every["size"][i], ends[i]) for i in rng.integers(0, n, n)])
        errors.append(calibration_error(every["same"][rows], every["own"][rows], between=DOUBTFUL))
    return np.asarray(errors)


def study(name: str) -> dict[str, Any]:
    """The figures of one data set."""
    begun = time.process_time()
    both = [asked(*half) for half in halves(read(name))]
    every = {key: np.concatenate([one[key] for one in both]) for key in both[0]}
    p, same, right = every["p"], every["same"], every["right"]
    row: dict[str, Any] = {"data": name, "doubtful": int(((p > DOUBTFUL[0]) & (p < DOUBTFUL[1])).sum())}
    row |= {"error %": 100 * calibration_error(same, p, between=DOUBTFUL), "by chance %": 100 * by_chance(p)}
    row["by sets %"] = 100 * calibration_error(same, every["by_sets"], between=DOUBTFUL)
    anew = 100 * sets_drawn_anew(every)
    row["sets"] = len(every["size"])
    row["floor %"], row["floor, 8 of 10 %"] = float(anew.mean()), np.quantile(anew, (0.1, 0.9)).tolist()
    row |= {"Brier skill": brier_skill(same, p), "items right %": 100 * right.mean()}
    for title, key in (("AUC lost", "lost"), ("AUC lost/size", "lost_mean"), ("AUC", "item")):
        # Each direction has its own scores: areas are means.
        areas = [roc_auc_score(one["right"], one[key]) for one in both if 0.0 < one["right"].mean() < 1.0]
        row[title] = float(np.mean(areas)) if areas else float("nan")
    row |= {f"{key} error %": 100 * calibration_error(right, every[key]) for key in ("item", "group")}
    return row | {"CPU s": time.process_time() - begun}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(NAMES))
    parser.add_argument("--json", type=Path, default=Path("out/calibration.json"))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.names:
        row = study(name)
        keep_row(given.json, row, ("data",))
        print(format_table([row]), flush=True)
    print(f"\nFigures: {given.json}")


if __name__ == "__main__":
    main()
