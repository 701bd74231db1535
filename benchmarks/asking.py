"""Decisions that a person must make: asked by Studio, or in random order, until the model is nearly as good
as with all labels.

    python -m benchmarks.asking [abt_buy ...] [--seeds 3] [--most 300]
    python -m benchmarks.asking --draw

A simulated person answers from the truth whether two items, or all of a group, belong together. "Yes" is one
decision; a group that is not one is split, one decision for each part that leaves. Questions are about one
part of the data (seven of ten folds; two of three sets), pairwise F is counted on the rest, which nobody is
asked about. "Full" is what `Recipe` learns from all labels of the first part. Decisions needed: the first
number at which the mean F over seeds is at least 95 % of that, and whether it stays there. In random order
twice as many questions are asked. What was measured is kept in FIGURES; --draw makes the picture and
the table of docs/studio.md from it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

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
from clustruct.studio.asking import COMMITTEE, check_interval, questions
from studies.raw_data import PATHS, item_sets, records_together
from studies.rendering import put

NAMES = ("abt_buy", "cora", "febrl3", "googlenews", "author_names")
BATCH = 5
FIGURES, BY_DEDUPE = Path("benchmarks/figures/asking.json"), Path("benchmarks/figures/asking_dedupe.json")
PAGE = Path("docs/studio.md")
TITLES = {"ask": "asked by Studio", "random": "in random order"}
# So many decisions are what a person makes in a quarter of an hour.
FIRST = 100
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

    @property
    def all_compared(self) -> bool:
        """Whether all pairs of each set are."""
        return not any(x.is_sparse for x in self.items)

    def f(self, model: LatentPairClustering) -> float:
        """Mean pairwise F over the sets."""
        found = []
        for x, pairs, truth in zip(self.items, self.pairs, self.truth, strict=True):
            scores = PairScores(x.n_items, index=pairs, values=model.pair_scores(x, pairs))
            found.append(pairwise_scores(truth, local_search(scores)).f1)
        return float(np.mean(found))


class Person:
    """Who answers from the truth, and what follows from the answers.

    said : set, two items, whether they belong together
    decisions : how many were made
    """

    def __init__(self, part: Part) -> None:
        self.part, self.truth, self.decisions = part, part.truth, 0
        self.said: list[tuple[int, int, int, bool]] = []

    def answer(self, s: int, items: Sequence[int]) -> None:
        """One question about some items of a set: yes, or the smaller parts out of it, one after another."""
        labels = self.truth[s][list(items)]
        parts = [[i for i, y in zip(items, labels, strict=True) if y == c] for c in np.unique(labels)]
        parts.sort(key=len)
        self.decisions += max(1, len(parts) - 1)
        for k, part in enumerate(parts[:-1]):
            self.said += [(s, part[0], other[0], False) for other in parts[k + 1 :]]
        bound = parts if len(parts) == 1 else parts[:-1]  # of what stays nobody has said that it is one
        self.said += [(s, part[0], i, True) for part in bound for i in part[1:]]

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

    def groups(self) -> Ints:
        """The group of each item by the model, sets apart."""
        found, first = [], 0
        for x, pairs in zip(self.part.items, self.part.pairs, strict=True):
            scores = PairScores(x.n_items, index=pairs, values=self.model.pair_scores(x, pairs))
            labels = local_search(scores)
            found.append(labels + first)
            first += int(labels.max()) + 1
        return np.concatenate(found)

    def ask(self, how: str) -> None:
        """A batch of questions, and what is learned from the answers."""
        open_ = self.open()
        numbers = self.pairs + self.first_item[self.where][:, None]
        if how == "random":
            chosen = self.rng.choice(np.flatnonzero(open_), BATCH, replace=False)
            asked = [tuple(pair) for pair in numbers[chosen].tolist()]
        else:
            p, groups = self.p(self.model), self.groups()
            every = check_interval(len(self.person.said), self.part.all_compared)
            found = questions(numbers, p, self.committee(), open_, BATCH, self.rng, groups, every)
            asked = [one.items for one in found]
        for items in asked:
            s = int(np.searchsorted(self.first_item, items[0], side="right")) - 1
            self.person.answer(s, [i - int(self.first_item[s]) for i in items])
        self.model = self.first.answered(self.person.marks())


def full_label(train: Sequence[RawSet], test: Sequence[RawSet]) -> float:
    """Mean pairwise F of a recipe that was shown all labels."""
    recipe = Recipe(source=None).fit(train)
    found = recipe.predict([replace(raw, labels=None) for raw in test])
    return float(np.mean([pairwise_scores(r.labels, y).f1 for r, y in zip(test, found, strict=True)]))


def curves(name: str, seeds: int, most: int) -> dict[str, Any]:
    """F after every batch, for both orders, and what all labels give."""
    train, test = data(name)
    features = features_of(Recipe(), [replace(raw, labels=None) for raw in train])
    part, other = Part.of(features, train), Part.of(features, test)
    first = LatentPairClustering().fit(part.items)
    told: dict[str, Any] = {"without labels": other.f(first), "full": full_label(train, test)}
    for how, until in (("ask", most), ("random", 2 * most)):
        told[how] = []
        for seed in range(seeds):
            asking, curve = Asking(part, first, np.random.default_rng(seed)), [(0, other.f(first))]
            while asking.person.decisions < until:
                asking.ask(how)
                curve.append((asking.person.decisions, other.f(asking.model)))
            told[how].append(curve)
    return told


def mean_curve(runs: Sequence[Sequence[tuple[int, float]]], most: int) -> Floats:
    """The mean F after each number of decisions: that of the last batch which they sufficed for."""
    rows = []
    for run in runs:
        at, f = np.array([n for n, _ in run]), np.array([value for _, value in run])
        rows.append(f[np.searchsorted(at, np.arange(most + 1), side="right") - 1])
    return np.mean(rows, axis=0)


def needed(runs: Sequence[Sequence[tuple[int, float]]], wanted: float, most: int) -> str:
    """After how many decisions the mean F is as wanted, first and for good.

    >>> needed([[(0, 0.5), (5, 0.9), (10, 0.85), (15, 0.95)]], 0.9, 20)
    '5 (for good 15)'
    >>> needed([[(0, 0.5), (5, 0.9)]], 0.95, 10)
    'over 10'
    """
    enough = mean_curve(runs, most) >= wanted
    if not enough.any():
        return f"over {most}"
    first, last = int(np.argmax(enough)), int(np.flatnonzero(~enough)[-1]) + 1 if not enough.all() else 0
    good = "" if last == first else f" (for good {last})" if last <= most else " (not for good)"
    return f"{first}{good}"


def table(found: dict[str, Any], dedupe: dict[str, Any]) -> str:
    """Decisions needed, as Markdown."""
    numbers = sorted({int(n) for rows in dedupe.values() for n in rows})
    head = [
        "data",
        "no labels",
        "all labels",
        "asked",
        "random order",
        f"mean F of the first {FIRST}, asked / random",
        *(f"dedupe, {n} answers" for n in numbers),
    ]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for name, told in found["data"].items():
        wanted = 0.95 * told["full"]
        counts = [needed(told[how], wanted, k * found["most"]) for how, k in (("ask", 1), ("random", 2))]
        other = [dedupe.get(name, {}).get(str(n)) for n in numbers]
        peers = ["" if runs is None else f"{100 * np.mean([run['f'] for run in runs]):.1f}" for runs in other]
        means = [100 * mean_curve(told[how], FIRST).mean() for how in ("ask", "random")]
        cells = [name, f"{100 * told['without labels']:.1f}", f"{100 * told['full']:.1f}", *counts]
        cells += [" / ".join(f"{mean:.1f}" for mean in means), *peers]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(found: dict[str, Any], dedupe: dict[str, Any], path: Path) -> None:
    """The curves, a panel for each data set."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.5, 5.6), layout="constrained")
    panels = figure.subplots(2, 3).ravel()
    for ax, (name, told) in zip(panels, found["data"].items(), strict=False):
        for how, colour in (("ask", "#0072b2"), ("random", "#d55e00")):
            ax.plot(100 * mean_curve(told[how], found["most"]), color=colour, label=TITLES[how])
        ax.axhline(95 * told["full"], color="0.5", ls=":", label="95 % of all labels")
        rows = [(int(n), np.mean([run["f"] for run in runs])) for n, runs in dedupe.get(name, {}).items()]
        if rows:
            ax.plot(*np.array(rows).T * [[1], [100]], "k^", ms=5, label="dedupe")
        ax.set(title=name, xlabel="decisions", ylabel="pairwise F")
    panels[0].legend(fontsize=8)
    for ax in panels[len(found["data"]) :]:
        ax.axis("off")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=300)
    parser.add_argument("--draw", action="store_true")
    args = parser.parse_args()
    kept = json.loads(FIGURES.read_text()) if FIGURES.is_file() else {"data": {}}
    if args.draw:
        dedupe = json.loads(BY_DEDUPE.read_text()) if BY_DEDUPE.is_file() else {}
        draw(kept, dedupe, Path("docs/asking.svg"))
        PAGE.write_text(put(PAGE.read_text("utf-8"), "asking", table(kept, dedupe)), "utf-8")
        return
    for name in args.names:
        started = time.process_time()
        told = curves(name, args.seeds, args.most)
        kept["data"][name], kept["most"] = told, args.most
        wanted = 0.95 * told["full"]
        ends = {"ask": args.most, "random": 2 * args.most}
        counts = {how: needed(told[how], wanted, end) for how, end in ends.items()}
        shown = ", ".join(f"{how}: {n}" for how, n in counts.items())
        first, full = 100 * told["without labels"], 100 * told["full"]
        print(
            f"{name}: no labels {first:.1f}, all labels {full:.1f}, decisions for 95 %: {shown}", flush=True
        )
        print(f"  ({time.process_time() - started:.0f} CPU s)", flush=True)
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_text(json.dumps(kept) + "\n")


if __name__ == "__main__":
    main()
