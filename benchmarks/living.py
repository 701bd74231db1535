"""Groups that live on, against grouping all at once: items come in portions, and join the groups of the day.

    python -m benchmarks.living [googlenews] [febrl3] [persons-100000] [--portions 10] [--revise]

Prints the loss (100 - pairwise F) of both, ids that changed without being reported (none may), and the CPU
seconds of each portion over its share of the whole.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np
from sklearn.pipeline import Pipeline

from benchmarks.tables.made import SHAPES
from clustruct import Recipe
from clustruct.features import checked
from clustruct.incremental import add_to_groups
from clustruct.incremental.known import Known
from clustruct.incremental.replay import State
from clustruct.metrics import pairwise_scores
from clustruct.records import RawSet
from studies.raw_data import PATHS, item_sets, records, records_together


def data(name: str, seed: int) -> tuple[list[RawSet], list[RawSet]]:
    """Sets to learn from, and sets that come in portions, in random order."""
    rng = np.random.default_rng(seed)
    if name in PATHS:
        sets = item_sets(PATHS[name])
        train, test = sets[: len(sets) // 2], sets[len(sets) // 2 :]
    elif name.startswith("persons"):
        train, test = [persons(4000, seed + 1)], [persons(int(name.removeprefix("persons-") or 10_000), seed)]
    else:
        train, test = records(name)[:5], [records_together(name, range(5, 10))]
    named = [replace(raw, ids=[f"i{a}" for a in range(len(raw))]) for raw in test]
    return train, [raw.take(rng.permutation(len(raw))) for raw in named]


def persons(n: int, seed: int) -> RawSet:
    """Made-up persons, several rows of each."""
    table = SHAPES["persons"].make(n, seed)
    columns = {name: [cell.decode() for cell in held.tolist()] for name, held in table.columns.items()}
    return RawSet.from_columns(columns, labels=table.entity.tolist(), ids=[f"i{a}" for a in range(n)])


def f_loss(raw: RawSet, groups: dict[str, str]) -> float:
    """100 - pairwise F, in percent."""
    return 100.0 - 100.0 * pairwise_scores(raw.labels, [groups[str(i)] for i in raw.item_ids]).f1


def all_at_once(pipeline: Pipeline, raw: RawSet) -> tuple[dict[str, str], float]:
    """Groups of the whole set, and the CPU seconds they took."""
    start = time.process_time()
    labels = pipeline.predict([replace(raw, labels=None)])[0]
    seconds = time.process_time() - start
    return {str(i): str(y) for i, y in zip(raw.item_ids, labels, strict=True)}, seconds


def in_portions(
    pipeline: Pipeline, raw: RawSet, portions: int, revise: bool
) -> tuple[dict[str, str], list[float], int]:
    """Groups after all portions, the CPU seconds of each, and ids that changed without a report."""
    known, seconds, silent = Known(None, State()), [], 0
    for rows in np.array_split(np.arange(len(raw)), portions):
        new = replace(raw.take(rows), labels=None)
        before = dict(known.state.groups)
        start = time.process_time()
        found = add_to_groups(pipeline, known, new, revise=revise)
        seconds.append(time.process_time() - start)
        after = dict(found.update.groups)
        told = {move.item for move in found.changes.moved}
        silent += sum(after[item] != group and item not in told for item, group in before.items())
        known = Known(found.raw, State.start(after))
    return dict(known.state.groups), seconds, silent


def study(name: str, portions: int, revise: bool, seed: int) -> None:
    """One data set, both ways."""
    train, test = data(name, seed)
    pipeline = checked(Recipe(C=1.0).fit(train).pipeline_)
    rows = []
    for raw in test:
        if not rows:  # what is compiled at its first call is compiled then
            all_at_once(pipeline, raw)
            in_portions(pipeline, raw, 2, revise)
        whole, seconds = all_at_once(pipeline, raw)
        grown, each, silent = in_portions(pipeline, raw, portions, revise)
        share = np.array(each) / (seconds / portions)
        rows.append([len(raw), f_loss(raw, whole), f_loss(raw, grown), silent, seconds, *share])
    mean = np.array(rows).mean(axis=0)
    print(f"{name}: {len(test)} sets of {mean[0]:.0f} items in {portions} portions{', revised' * revise}")
    silence = f"ids changed in silence: {mean[3]:.0f}"
    print(f"  100 - F: all at once {mean[1]:.2f}, in portions {mean[2]:.2f}; {silence}")
    print(f"  CPU: all at once {mean[4]:.2f} s; portions over their share:", *(f"{x:.2f}" for x in mean[5:]))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["googlenews", "febrl3"])
    parser.add_argument("--portions", type=int, default=10)
    parser.add_argument("--revise", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for name in args.names:
        study(name, args.portions, args.revise, args.seed)


if __name__ == "__main__":
    main()
