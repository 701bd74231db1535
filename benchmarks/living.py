"""Groups that live on, against grouping all at once: items come in portions, and join the groups of the day.

    python -m benchmarks.living [googlenews] [febrl3] [persons-100000] [--portions 10] [--revise]

Prints the loss (100 - pairwise F) of both, ids that changed without being reported (none may), and the CPU
seconds of each portion over its share of the whole, after all is imported and compiled. The share is told in
two ways: by the portion's items among all items, and by its compared pairs (all touch a new item) among those
that are compared all at once; of several sets it is the median. What one call costs whatever is in it is told
beside: that of a single item.
"""

from __future__ import annotations

import argparse
import gc
import time
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.pipeline import Pipeline

from benchmarks.tables.made import SHAPES
from clustruct import Recipe
from clustruct.features import checked
from clustruct.incremental import add_to_groups
from clustruct.incremental.known import Known
from clustruct.incremental.replay import State
from clustruct.incremental.scoring import candidates
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


@dataclass
class Stream:
    """What became of items that came in portions: groups, CPU seconds and compared pairs of each portion, and
    ids that changed without a report.
    """

    known: Known = field(default_factory=lambda: Known(None, State()))
    seconds: list[float] = field(default_factory=list)
    pairs: list[int] = field(default_factory=list)
    silent: int = 0

    def add(self, pipeline: Pipeline, new: RawSet, revise: bool) -> None:
        """A day."""
        before = dict(self.known.state.groups)
        gc.collect()  # what earlier days have left is not this day's cost
        start = time.process_time()
        found = add_to_groups(pipeline, self.known, new, revise=revise)
        self.known = found.as_known()
        self.seconds.append(time.process_time() - start)
        after = found.update.groups
        told = {move.item for move in found.changes.moved}
        self.silent += sum(after[item] != group and item not in told for item, group in before.items())
        touched = np.array([str(name) not in before for name in found.raw.item_ids])
        self.pairs.append(len(candidates(pipeline[0], found.index.columns, touched)))


def in_portions(pipeline: Pipeline, raw: RawSet, portions: int, revise: bool) -> Stream:
    """All days."""
    stream = Stream()
    for rows in np.array_split(np.arange(len(raw)), portions):
        stream.add(pipeline, replace(raw.take(rows), labels=None), revise)
    return stream


def compared_pairs(pipeline: Pipeline, raw: RawSet) -> int:
    """How many pairs are compared all at once."""
    blocking, m = pipeline[0].blocking_, len(raw)
    return len(blocking.pairs(raw)) if blocking is not None and blocking.lists(raw) else m * (m - 1) // 2


def of_one_item(pipeline: Pipeline, raw: RawSet) -> tuple[float, float]:
    """CPU seconds of a single item, all at once and as a day of its own: what a call costs."""
    one = replace(raw.take([0]), labels=None)
    alone = min(all_at_once(pipeline, one)[1] for _ in range(5))
    return alone, min(in_portions(pipeline, one, 1, False).seconds[0] for _ in range(5))


def study(name: str, portions: int, revise: bool, seed: int) -> None:
    """One data set, both ways."""
    train, test = data(name, seed)
    pipeline = checked(Recipe(C=1.0).fit(train).pipeline_)
    all_at_once(pipeline, test[0])  # what is compiled at its first call is compiled then
    in_portions(pipeline, test[0], portions, revise)
    rows, shares, by_pairs = [], [], []
    for raw in test:
        whole, seconds = all_at_once(pipeline, raw)
        grown = in_portions(pipeline, raw, portions, revise)
        each, pairs = np.array(grown.seconds), np.array(grown.pairs)
        losses = f_loss(raw, whole), f_loss(raw, dict(grown.known.state.groups))
        rows.append([len(raw), *losses, grown.silent, seconds, each.sum()])
        shares.append(each / (seconds / portions))
        by_pairs.append(each / (seconds * pairs / compared_pairs(pipeline, raw)))
    m, one, other, silent, *_ = np.array(rows).mean(axis=0)
    seconds, total = np.median(rows, axis=0)[-2:]
    alone, day = of_one_item(pipeline, test[0])
    print(f"{name}: {len(test)} sets of {m:.0f} items in {portions} portions{', revised' * revise}")
    print(f"  100 - F: all at once {one:.2f}, in portions {other:.2f}; ids changed in silence: {silent:.0f}")
    print(f"  CPU s: all at once {seconds:.4f}, all portions {total:.4f}; ", end="")
    print(f"of a single item {alone:.4f} and {day:.4f}")
    for what, ratio in (("items", shares), ("pairs", by_pairs)):
        print(f"  portions over their share by {what}:", *(f"{x:.2f}" for x in np.median(ratio, axis=0)))


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
