"""Decisions that a person must make: asked by Studio, or in random order, until the model is nearly as good
as with all labels.

    python -m benchmarks.asking [abt_buy ...] [--seeds 3] [--most 400] [--json FILE]

A simulated person answers from the truth whether two items belong together. Questions are about one part of
the data (seven of ten folds; two of three sets), pairwise F is counted on the rest, which nobody is asked
about. "Full" is what `Recipe` learns from all labels of the first part. Decisions needed: the first number of
answers from which on the mean F over seeds is at least 95 % of that.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from clustruct import Recipe
from clustruct._typing import Floats, Ints
from clustruct.baselines import LatentPairClustering
from clustruct.baselines.pair_classifier import scored_pairs
from clustruct.features import PairFeatures
from clustruct.inference.correlation import local_search
from clustruct.itemsets import ItemSet, PairScores
from clustruct.metrics import pairwise_scores
from clustruct.problems import Marks
from clustruct.recipe import features_of
from clustruct.records import RawSet
from clustruct.studio.asking import COMMITTEE, questions
from studies.raw_data import PATHS, item_sets, records_together

NAMES = ("abt_buy", "cora", "febrl3", "googlenews", "author_names")
BATCH = 5
# Sets with more items are left out: all their pairs are compared.
LARGEST = 160


def data(name: str) -> tuple[list[RawSet], list[RawSet]]:
    """Sets that a person is asked about, and others."""
    if name not in PATHS:
        return [records_together(name, range(7))], [records_together(name, range(7, 10))]
    sets = [raw for raw in item_sets(PATHS[name]) if 8 <= len(raw) <= LARGEST][:30]
    cut = len(sets) * 2 // 3
    return sets[:cut], sets[cut:]


@dataclass
class Part:
    """Sets with the features and scores of their pairs, and the truth."""

    sets: list[RawSet]
    items: list[ItemSet]

    @classmethod
    def of(cls, features: PairFeatures, sets: Sequence[RawSet]) -> Part:
        bare = [replace(raw, labels=None) for raw in sets]
        return cls(list(sets), features.checked().transform(bare))

    @cached_property
    def truth(self) -> list[Ints]:
        return [np.unique([str(y) for y in raw.labels or ()], return_inverse=True)[1] for raw in self.sets]

    @cached_property
    def pairs(self) -> list[Ints]:
        """Compared pairs of each set."""
        return [scored_pairs(x) for x in self.items]

    def f(self, model: LatentPairClustering) -> float:
        """Mean pairwise F over the sets."""
        found = []
        for x, pairs, truth in zip(self.items, self.pairs, self.truth, strict=True):
            scores = PairScores(x.n_items, index=pairs, values=model.pair_scores(x, pairs))
            found.append(pairwise_scores(truth, local_search(scores)).f1)
        return float(np.mean(found))


class Person:
    """Who answers from the truth, and what follows from the answers."""

    def __init__(self, part: Part) -> None:
        self.part, self.truth = part, part.truth
        self.said: list[tuple[int, int, int, bool]] = []

    def answer(self, s: int, a: int, b: int) -> None:
        self.said.append((s, a, b, bool(self.truth[s][a] == self.truth[s][b])))

    def marks(self, which: Sequence[int] | None = None) -> list[Marks | None]:
        """What is known of each set, from all answers or some."""
        chosen = self.said if which is None else [self.said[i] for i in which]
        found: list[Marks | None] = []
        for s, raw in enumerate(self.part.sets):
            mine = [(a, b, same) for t, a, b, same in chosen if t == s]
            same = [(a, b) for a, b, yes in mine if yes]
            other = [(a, b) for a, b, yes in mine if not yes]
            found.append(Marks.of_pairs(len(raw), same, other) if mine else None)
        return found


@dataclass
class Asking:
    """One person, asked in one way."""

    part: Part
    first: LatentPairClustering
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.person, self.model = Person(self.part), self.first
        own = self.part.pairs
        self.where = np.concatenate([np.full(len(pairs), s) for s, pairs in enumerate(own)])
        self.pairs = np.concatenate(own)
        self.first_item = np.cumsum([0, *(len(raw) for raw in self.part.sets)])

    def p(self, model: LatentPairClustering) -> Floats:
        """Probabilities of all pairs."""
        found = [model.pair_scores(x, q) for x, q in zip(self.part.items, self.part.pairs, strict=True)]
        return model.pair_probabilities(np.concatenate(found))

    def open(self) -> Ints:
        """Which pairs nothing is known of."""
        marks = self.person.marks()
        known = [
            np.zeros(len(q), bool) if m is None else m.judges(q)
            for q, m in zip(self.part.pairs, marks, strict=True)
        ]
        return ~np.concatenate(known)

    def committee(self) -> list[Floats]:
        n = len(self.person.said)
        if n < 2 * BATCH:
            return []
        draws = [self.rng.integers(0, n, n).tolist() for _ in range(COMMITTEE)]
        return [self.p(self.model.answered(self.person.marks(draw))) for draw in draws]

    def ask(self, how: str) -> None:
        """A batch of questions, and what is learned from the answers."""
        open_ = self.open()
        if how == "random":
            chosen = self.rng.choice(np.flatnonzero(open_), BATCH, replace=False).tolist()
        else:
            numbers = self.pairs + self.first_item[self.where][:, None]
            found = questions(numbers, self.p(self.model), self.committee(), open_, BATCH, self.rng)
            index = {tuple(pair): at for at, pair in enumerate(numbers.tolist())}
            chosen = [index[one.items] for one in found]
        for at in chosen:
            self.person.answer(int(self.where[at]), int(self.pairs[at, 0]), int(self.pairs[at, 1]))
        self.model = self.first.answered(self.person.marks())


def full_label(train: Sequence[RawSet], test: Sequence[RawSet]) -> float:
    """Mean pairwise F of a recipe that was shown all labels."""
    recipe = Recipe(source=None).fit(train)
    found = recipe.predict([replace(raw, labels=None) for raw in test])
    return float(np.mean([pairwise_scores(r.labels, y).f1 for r, y in zip(test, found, strict=True)]))


def curves(name: str, seeds: int, most: int) -> dict[str, object]:
    """F after every batch, for both orders, and what all labels give."""
    train, test = data(name)
    features = features_of(Recipe(), [replace(raw, labels=None) for raw in train])
    part, other = Part.of(features, train), Part.of(features, test)
    first = LatentPairClustering().fit(part.items)
    told: dict[str, object] = {"without labels": other.f(first), "full": full_label(train, test)}
    for how in ("ask", "random"):
        runs = []
        for seed in range(seeds):
            asking, curve = Asking(part, first, np.random.default_rng(seed)), [other.f(first)]
            for _ in range(most // BATCH):
                asking.ask(how)
                curve.append(other.f(asking.model))
            runs.append(curve)
        told[how] = runs
    return told


def needed(runs: Sequence[Sequence[float]], wanted: float) -> int | None:
    """From how many answers on the mean F is as wanted; None: not so far."""
    mean = np.mean(np.array(runs), axis=0)
    below = np.flatnonzero(mean < wanted)
    at = 0 if not len(below) else int(below[-1]) + 1
    return at * BATCH if at < len(mean) else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=400)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    found = {}
    for name in args.names:
        started = time.process_time()
        found[name] = told = curves(name, args.seeds, args.most)
        wanted = 0.95 * told["full"]  # type: ignore[operator]
        counts = {how: needed(told[how], wanted) for how in ("ask", "random")}  # type: ignore[arg-type]
        first, full = 100 * told["without labels"], 100 * told["full"]  # type: ignore[operator]
        shown = ", ".join(
            f"{how}: {n if n is not None else f'over {args.most}'}" for how, n in counts.items()
        )
        print(f"{name}: no labels {first:.1f}, all labels {full:.1f}, answers for 95 %: {shown}", flush=True)
        print(f"  ({time.process_time() - started:.0f} CPU s)", flush=True)
        if args.json:
            args.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
