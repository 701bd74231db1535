"""Groups that live on, against grouping all at once: items come in portions, and join the groups of the day.

    python -m benchmarks.living [googlenews] [febrl3] [persons-100000] [--portions 10]

Prints the loss (100 - pairwise F) of all at once and of each mode of a stream (known groups kept; items
settled after some runs; known groups revised), ids that changed without being reported (none may), and the
CPU seconds of each portion over its share of the whole, after all is imported and compiled; both read their
items anew, and of each the best of three is taken, in turn. The share is told in two ways: by the portion's
items among all items, and by its compared pairs (all touch a new item) among those that are compared all at
once; of several sets it is the median. What one call costs whatever is in it is told beside: that of a
single item.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from benchmarks.tables.made import SHAPES
from clustruct import Recipe
from clustruct.core.typing import Floats, Ints
from clustruct.data import Table
from clustruct.evaluate.metrics import pairwise_scores
from clustruct.features import check_tables
from clustruct.groups import add_to_groups
from clustruct.groups.known import KnownItems
from clustruct.groups.log_replay import State
from clustruct.groups.scoring import candidates
from studies.raw_data import PATHS, item_sets, records, records_together

# How often all is measured.
REPEATS = 3
# Runs after which an item stays where it is; chosen on quarters of googlenews' training half.
SETTLE = 5


def data(name: str, seed: int) -> tuple[list[Table], list[Table]]:
    """Sets to learn from, and sets that come in portions, in random order."""
    rng = np.random.default_rng(seed)
    if name in PATHS:
        sets = item_sets(PATHS[name])
        train, test = sets[: len(sets) // 2], sets[len(sets) // 2 :]
    elif name.startswith("persons"):
        train, test = [persons(4000, seed + 1)], [persons(int(name.removeprefix("persons-") or 10_000), seed)]
    else:
        train, test = records(name)[:5], [records_together(name, range(5, 10))]
    named = [replace(table, ids=[f"i{a}" for a in range(len(table))]) for table in test]
    return train, [table.take(rng.permutation(len(table))) for table in named]


def persons(n: int, seed: int) -> Table:
    """Made-up persons, several rows of each."""
    table = SHAPES["persons"].make(n, seed)
    columns = {name: [cell.decode() for cell in held.tolist()] for name, held in table.columns.items()}
    return Table.from_columns(columns, labels=table.entity.tolist(), ids=[f"i{a}" for a in range(n)])


def f_loss(table: Table, groups: dict[str, str]) -> float:
    """100 - pairwise F, in percent."""
    return 100.0 - 100.0 * pairwise_scores(table.labels, [groups[str(i)] for i in table.item_ids]).f1


def read_anew(table: Table) -> Table:
    """The items without labels, and without what earlier calls have worked out of their columns."""
    return replace(table.take(np.arange(len(table))), labels=None)


def all_at_once(pipeline: Pipeline, table: Table) -> tuple[dict[str, str], float]:
    """Groups of the whole set, and the CPU seconds they took."""
    given = read_anew(table)
    gc.collect()
    start = time.process_time()
    labels = pipeline.predict([given])[0]
    seconds = time.process_time() - start
    return {str(i): str(y) for i, y in zip(table.item_ids, labels, strict=True)}, seconds


@dataclass
class Stream:
    """What became of items that came in portions: groups, CPU seconds and compared pairs of each portion, and
    ids of known items that changed, with and without a report.
    """

    known: KnownItems = field(default_factory=lambda: KnownItems(None, State(), placed=()))
    seconds: list[float] = field(default_factory=list)
    pairs: list[int] = field(default_factory=list)
    silent: int = 0
    moved: int = 0

    def add(self, pipeline: Pipeline, new: Table, **mode: Any) -> None:
        """A day."""
        before = dict(self.known.state.groups)
        gc.collect()  # what earlier days have left is not this day's cost
        start = time.process_time()
        found = add_to_groups(pipeline, self.known, new, **mode)
        self.known = found.next_known_items()
        self.seconds.append(time.process_time() - start)
        after = found.update.groups
        told = {move.item for move in found.changes.moved}
        other = [item for item, group in before.items() if after[item] != group]
        self.moved += len(other)
        self.silent += sum(item not in told for item in other)
        touched = np.array([str(name) not in before for name in found.table.item_ids])
        self.pairs.append(len(candidates(pipeline[0], found.index.columns, touched)))


def in_portions(pipeline: Pipeline, table: Table, portions: int, **mode: Any) -> Stream:
    """All days."""
    stream = Stream()
    for rows in np.array_split(np.arange(len(table)), portions):
        stream.add(pipeline, replace(table.take(rows), labels=None), **mode)
    return stream


def compared_pairs(pipeline: Pipeline, table: Table) -> int:
    """How many pairs are compared all at once."""
    blocking, m = pipeline[0].blocking_, len(table)
    return len(blocking.pairs(table)) if blocking is not None and blocking.lists(table) else m * (m - 1) // 2


def of_one_item(pipeline: Pipeline, table: Table) -> tuple[float, float]:
    """CPU seconds of a single item, all at once and as a day of its own: what a call costs."""
    one = replace(table.take([0]), labels=None)
    alone = min(all_at_once(pipeline, one)[1] for _ in range(5))
    return alone, min(in_portions(pipeline, one, 1).seconds[0] for _ in range(5))


MODES: dict[str, dict[str, Any]] = {
    "known groups kept": {},
    f"settled after {SETTLE} runs": {"settle": SETTLE},
    "known groups revised": {"revise": True},
}


def study(name: str, portions: int, seed: int) -> None:
    """One data set, all ways."""
    train, test = data(name, seed)
    pipeline = check_tables(Recipe(C=1.0).fit(train).pipeline_)
    once = [all_at_once(pipeline, table)[0] for table in test]  # the first call compiles
    losses = [f_loss(table, groups) for table, groups in zip(test, once, strict=True)]
    m, loss = np.mean([*map(len, test)]), np.mean(losses)
    for how in MODES.values():
        in_portions(pipeline, test[0], portions, **how)
    taken, streams = [], {mode: list[list[Stream]]() for mode in MODES}
    for _ in range(REPEATS):
        taken.append([all_at_once(pipeline, table)[1] for table in test])
        for mode, how in MODES.items():
            streams[mode].append([in_portions(pipeline, table, portions, **how) for table in test])
    seconds = np.min(taken, axis=0)
    print(f"{name}: {len(test)} sets of {m:.0f} items in {portions} portions")
    alone, day = of_one_item(pipeline, test[0])
    print(f"  all at once: 100 - F {loss:.2f}, CPU s {np.median(seconds):.4f}")
    print(f"  CPU s of a single item: all at once {alone:.4f}, as a day {day:.4f}")
    compared = np.array([compared_pairs(pipeline, table) for table in test])
    for mode, found in streams.items():
        told(mode, test, found, seconds, compared)


def told(
    mode: str, test: Sequence[Table], repeats: Sequence[Sequence[Stream]], seconds: Floats, compared: Ints
) -> None:
    """What a mode of a stream lost and cost."""
    streams = repeats[0]
    each = np.min([[stream.seconds for stream in one] for one in repeats], axis=0)
    pairs = np.array([stream.pairs for stream in streams])
    loss = np.mean(
        [f_loss(table, dict(s.known.state.groups)) for table, s in zip(test, streams, strict=True)]
    )
    silent, moved = (sum(getattr(s, what) for s in streams) for what in ("silent", "moved"))
    taken = np.median(each.sum(axis=1))
    print(f"  in portions, {mode}: 100 - F {loss:.2f}, CPU s of all {taken:.4f}; ", end="")
    print(f"known items moved {moved}, of these in silence {silent}")
    shares = {"items": seconds[:, None] / each.shape[1], "pairs": (seconds / compared)[:, None] * pairs}
    for what, share in shares.items():
        ratio = np.median(each / share, axis=0)
        print(f"    portions over their share by {what}:", *(f"{x:.2f}" for x in ratio))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["googlenews", "febrl3"])
    parser.add_argument("--portions", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for name in args.names:
        study(name, args.portions, args.seed)


if __name__ == "__main__":
    main()
