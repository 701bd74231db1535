"""Corrections that teach: a model groups new items, a person mends the worst groups, the model goes on.

    python -m benchmarks.corrections [abt_buy] [author_names] [--most 50] [--folds 2] [--json FILE]

A correction is one decision (a split or a merge), always the one that mends most pairs. Prints the loss
(100 - pairwise F, mean over sets) on *other* sets after every ten of them, what a refit costs beside the
first fit, and how many statements are broken when the new model groups the mended sets anew and is told of
them (none may be).
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct import Recipe
from clustruct.data import Table
from clustruct.evaluate.metrics import pairwise_scores
from clustruct.features import check_tables
from clustruct.groups import Decision, corrections, replay, settle, write_decisions
from clustruct.groups.decisions import evidence_of
from clustruct.groups.known import KnownItems
from clustruct.groups.log_replay import State
from clustruct.pipeline import group_sets
from studies.raw_data import PATHS, item_sets, records_together

STEP = 10


def data(name: str, n_folds: int) -> tuple[list[Table], list[Table], list[Table]]:
    """Sets to learn from, sets whose groups are corrected, and others; of records so many folds to learn
    from.
    """
    if name in PATHS:
        sets = item_sets(PATHS[name])
        parts = sets[:8], sets[8:20], sets[20:]
    else:
        last = n_folds + max(1, (10 - n_folds) * 5 // 8)
        folds = range(n_folds), range(n_folds, last), range(last, 10)
        parts = tuple([records_together(name, some)] for some in folds)  # type: ignore[assignment]
    return parts[0], [_named(table, s) for s, table in enumerate(parts[1])], parts[2]


def _named(table: Table, s: int) -> Table:
    return replace(table, ids=[f"s{s}:{a}" for a in range(len(table))])


def without_labels(table: Table) -> Table:
    """As a prediction gets it."""
    return replace(table, labels=None)


def loss(pipeline: Pipeline, sets: Sequence[Table]) -> float:
    """100 - pairwise F, in percent, the mean over sets."""
    able = check_tables(pipeline)
    found = [able.predict([without_labels(table)])[0] for table in sets]
    scores = [pairwise_scores(table.labels, y).f1 for table, y in zip(sets, found, strict=True)]
    return 100.0 - 100.0 * float(np.mean(scores))


@dataclass
class Person:
    """Who knows the truth, and mends the groups shown by one decision at a time."""

    truth: dict[str, str]
    groups: dict[str, str]

    def decide(self, number: int) -> Decision | None:
        """The split or merge that mends most pairs; the groups are then as it says."""
        held: dict[str, list[str]] = {}
        for item, group in self.groups.items():
            held.setdefault(group, []).append(item)
        options = [*self._splits(held), *self._merges(held)]
        if not options:
            return None
        _, kind, group, other = max(options, key=lambda option: (option[0], option[2]))
        if kind == "split":
            items = tuple(i for i in held[group] if self.truth[i] == other)
            self.groups |= dict.fromkeys(items, f"n{number}")
            return Decision("split", items, group=group, into=f"n{number}", number=number)
        self.groups |= dict.fromkeys(held[group], other)
        return Decision("merge", group=group, into=other, number=number)

    def _splits(self, held: dict[str, list[str]]) -> list[tuple[int, str, str, str]]:
        found = []
        for group, items in held.items():
            parts = Counter(self.truth[i] for i in items)
            for part, n in parts.most_common()[1:]:
                found.append((n * (len(items) - n), "split", group, part))
        return found

    def _merges(self, held: dict[str, list[str]]) -> list[tuple[int, str, str, str]]:
        """Of groups that have items of one true cluster alone: others must be split first."""
        pure: dict[str, list[str]] = {}
        for group, items in held.items():
            if len({self.truth[i] for i in items}) == 1:
                pure.setdefault(self.truth[items[0]], []).append(group)
        pairs = [pair for groups in pure.values() for pair in combinations(sorted(groups), 2)]
        return [(len(held[a]) * len(held[b]), "merge", a, b) for a, b in pairs]


def shown(pipeline: Pipeline, sets: Sequence[Table]) -> dict[str, str]:
    """The groups that a model makes of the sets, by item."""
    able, found = check_tables(pipeline), {}
    for s, table in enumerate(sets):
        labels = able.predict([without_labels(table)])[0]
        found |= {str(i): f"g{s}.{y}" for i, y in zip(table.item_ids, labels, strict=True)}
    return found


def own(groups: dict[str, str], table: Table) -> dict[str, str]:
    """The groups of the items of one set."""
    return {str(i): groups[str(i)] for i in table.item_ids}


def broken(pipeline: Pipeline, sets: Sequence[Table], groups: dict[str, str], said: list[Decision]) -> int:
    """Statements that do not hold when the model groups all items anew, and is told of the decisions."""
    state, count, able = replay(said, groups), 0, check_tables(pipeline)
    for table in sets:
        names = [str(i) for i in table.item_ids]
        numbers = {name: a for a, name in enumerate(names)}
        known = evidence_of(settle([j for j in state.judgements() if j.a in numbers]), numbers)
        labels = group_sets(able, [without_labels(table)], [known])[0].labels
        must, cannot = known.must_link, known.cannot_link
        count += int((labels[must[:, 0]] != labels[must[:, 1]]).sum())
        count += int((labels[cannot[:, 0]] == labels[cannot[:, 1]]).sum())
    return count


def study(name: str, most: int, n_folds: int, kept: Path) -> dict[str, object]:
    """The curve of one data set; the features of training pairs are kept in a file."""
    train, mended, others = data(name, n_folds)
    start = time.process_time()
    first = Recipe(kept_features=kept).fit(train)
    whole = time.process_time() - start
    groups = shown(first.pipeline_, mended)
    truth = {
        str(i): f"{s}.{y}"
        for s, table in enumerate(mended)
        for i, y in zip(table.item_ids, table.labels, strict=True)
    }
    person, said = Person(truth, dict(groups)), list[Decision]()
    rows = [
        {"corrections": 0, "other": loss(first.pipeline_, others), "mended": loss(first.pipeline_, mended)}
    ]
    print(
        f"{name}: first fit {whole:.1f} CPU s; loss on {len(others)} other sets {rows[0]['other']:.2f}",
        flush=True,
    )
    for number in range(1, most + 1):
        decision = person.decide(number)
        if decision is None:
            break
        said.append(decision)
        if number % STEP == 0:
            start = time.process_time()
            pipeline = refit(first.pipeline_, train, mended, groups, said, kept)
            seconds = time.process_time() - start
            rows.append(
                {
                    "corrections": number,
                    "other": loss(pipeline, others),
                    "mended": loss(pipeline, mended),
                    "share of the first fit": seconds / whole,
                    "broken": broken(pipeline, mended, groups, said),
                }
            )
            print("  " + ", ".join(f"{key} {value:.3g}" for key, value in rows[-1].items()), flush=True)
    return {"data": name, "first fit": whole, "curve": rows}


def refit(
    start: Pipeline,
    train: Sequence[Table],
    mended: Sequence[Table],
    groups: dict[str, str],
    said: Sequence[Decision],
    kept: Path | None = None,
) -> Pipeline:
    """What ``clustruct fit --corrections --corrected --start --keep-features`` does."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "said.jsonl"
        write_decisions(path, said)
        seen = [KnownItems(without_labels(table), State.start(own(groups, table))) for table in mended]
        found = corrections(train, path, seen=seen)
    learned = Recipe(kept_features=kept).fit(found.sets, corrections=found.evidence, start=start)
    return learned.pipeline_


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["abt_buy", "author_names"])
    parser.add_argument("--most", type=int, default=50)
    parser.add_argument("--folds", type=int, default=2, help="of ten, to learn from")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    found = []
    for name in args.names:
        with tempfile.TemporaryDirectory() as folder:
            found.append(study(name, args.most, args.folds, Path(folder) / "kept.features"))
    if args.json is not None:
        args.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
