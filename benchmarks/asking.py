"""Decisions that a person must make: asked by Studio, or in random order, until the model is nearly as good
as with all labels.

    python -m benchmarks.asking [abt_buy ...] [--seeds 3] [--most 200]
    python -m benchmarks.asking --draw

A simulated person (`benchmarks.asking_person`) answers from the truth what is asked about one part of the
data (seven of ten folds; two of three sets); pairwise F is counted on the rest, which nobody is asked about.
Each card that is moved is a decision, and each answer. Beside it two random orders, in which twice as many
decisions are made: "random cards" are boards of as many cards, drawn at random from a set (from a table: a
card drawn at random, and as many of those it is compared with), in piles as the model proposes; "random
pairs" are compared pairs, drawn at random.

"Full" is what `Recipe` learns from all labels of the first part. Decisions needed: the first number at which
the mean F over seeds is at least 95 % of that, and whether it stays there; F is counted after every
question. What was measured is kept in FIGURES; --draw makes the picture
and the table of docs/evidence/studio.md from it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.asking_person import Person
from clustruct import Recipe
from clustruct.core.typing import Bools, Floats, Ints
from clustruct.data import ItemSet, PairScores, Table
from clustruct.estimators.baselines import LatentPairClustering
from clustruct.evaluate.metrics import pairwise_scores
from clustruct.features import PairFeatures
from clustruct.pipeline import features_of
from clustruct.search.correlation import local_search
from clustruct.studio.asking import BATCH, CARDS, COMMITTEE, Pool, Question, questions
from studies.raw_data import PATHS, item_sets, records_together
from studies.rendering import put

NAMES = ("abt_buy", "cora", "febrl3", "googlenews", "author_names")
# The orders in which questions are asked, and how often as many decisions are made.
ORDERS = {"ask": 1, "random cards": 2, "random pairs": 2}
# The score of a pair that the person decided about, beside scores that are log-odds.
DECIDED = 50.0
FIGURES, BY_DEDUPE = Path("benchmarks/figures/asking.json"), Path("benchmarks/figures/asking_dedupe.json")
PAGE = Path("docs/evidence/studio.md")
TITLES = {"ask": "asked", "random cards": "random cards", "random pairs": "random pairs"}
# So many decisions are what a person makes in a quarter of an hour.
FIRST = 100
# Sets with more items are left out: all their pairs are compared.
LARGEST = 160


def data(name: str) -> tuple[list[Table], list[Table]]:
    """Sets that a person is asked about, and others."""
    if name not in PATHS:
        return [records_together(name, range(7))], [records_together(name, range(7, 10))]
    sets = [table for table in item_sets(PATHS[name]) if 8 <= len(table) <= LARGEST][:30]
    cut = len(sets) * 2 // 3
    return sets[:cut], sets[cut:]


@dataclass
class Part:
    """Sets with the features and scores of their pairs, and the truth."""

    sets: list[Table]
    items: list[ItemSet]

    @classmethod
    def of(cls, features: PairFeatures, sets: Sequence[Table]) -> Part:
        bare = [replace(table, labels=None) for table in sets]
        return cls(list(sets), features.check_tables().transform(bare))

    @cached_property
    def truth(self) -> list[Ints]:
        return [
            np.unique([str(y) for y in table.labels or ()], return_inverse=True)[1] for table in self.sets
        ]

    @cached_property
    def pairs(self) -> list[Ints]:
        """Compared pairs of each set."""
        return [x.pair_list for x in self.items]

    def f(self, model: LatentPairClustering) -> float:
        """Mean pairwise F over the sets."""
        found = []
        for x, pairs, truth in zip(self.items, self.pairs, self.truth, strict=True):
            scores = PairScores(x.n_items, index=pairs, values=model.pair_scores(x, pairs))
            found.append(pairwise_scores(truth, local_search(scores)).f1)
        return float(np.mean(found))


@dataclass
class Asking:
    """One person, asked in one way."""

    part: Part
    first: LatentPairClustering
    rng: np.random.Generator
    how: str

    def __post_init__(self) -> None:
        self.person, self.model = Person(self.part.truth), self.first
        own = self.part.pairs
        where = np.concatenate([np.full(len(pairs), s) for s, pairs in enumerate(own)])
        self.first_item = np.cumsum([0, *(len(table) for table in self.part.sets)])
        self.pairs = np.concatenate(own) + self.first_item[where][:, None]

    def scores(self, model: LatentPairClustering) -> Floats:
        """Scores of all pairs."""
        found = [model.pair_scores(x, q) for x, q in zip(self.part.items, self.part.pairs, strict=True)]
        return np.concatenate(found)

    def said(self) -> tuple[Bools, Bools]:
        """Which pairs something is known of, and which are known to be the same."""
        marks, pairs = self.person.marks(), self.part.pairs
        judged = [m.judges(q) for m, q in zip(marks, pairs, strict=True)]
        same = [m.piece[q[:, 0]] == m.piece[q[:, 1]] for m, q in zip(marks, pairs, strict=True)]
        known = np.concatenate(judged)
        return known, known & np.concatenate(same)

    def committee(self) -> list[Floats]:
        """Probabilities by models of other answers, as `Engine.committee` has them."""
        n = len(self.person.said)
        if n < 2 * COMMITTEE or self.how != "ask":
            return []
        draws = [self.rng.integers(0, n, n).tolist() for _ in range(COMMITTEE)]
        models = [self.first.with_answers(self.person.marks(draw)) for draw in draws]
        return [model.pair_probabilities(self.scores(model)) for model in models]

    def pool(self) -> Pool:
        """What can be asked about: groups are those of the model that hold what the person said."""
        known, same = self.said()
        scores = self.scores(self.model)
        held = np.where(known, np.where(same, DECIDED, -DECIDED), scores)
        groups = local_search(PairScores(int(self.first_item[-1]), index=self.pairs, values=held))
        return Pool(self.pairs, self.model.pair_probabilities(scores), ~known, groups)

    def questions(self) -> list[Question]:
        """The next batch."""
        pool = self.pool()
        if self.how == "ask":
            return questions(pool, self.committee(), BATCH, self.rng, len(self.person.said))
        draw = drawn_pair if self.how == "random pairs" else drawn_cards
        return [draw(pool, self.rng) for _ in range(BATCH) if pool.free().any()]

    def answer(self, one: Question) -> None:
        """Have a question answered."""
        s = int(np.searchsorted(self.first_item, one.items[0], side="right")) - 1
        first = int(self.first_item[s])
        self.person.answer(s, [[i - first for i in pile] for pile in one.piles])

    def learn(self) -> None:
        """From all answers so far."""
        self.model = self.first.with_answers(self.person.marks())

    def curve(self, f: Callable[[LatentPairClustering], float], most: int) -> list[tuple[int, float]]:
        """F by decisions, until so many were made."""
        found = [(0, f(self.first))]
        while self.person.decisions < most and (asked := self.questions()):
            for one in asked:
                self.answer(one)
            self.learn()
            found.append((self.person.decisions, f(self.model)))
        return found


def drawn_pair(pool: Pool, rng: np.random.Generator) -> Question:
    """Any pair that nothing is known of."""
    return pool.ask(pool.pairs[rng.choice(np.flatnonzero(pool.free()))].tolist(), "random")


def drawn_cards(pool: Pool, rng: np.random.Generator) -> Question:
    """Any item of which something is not known, and any that it is compared with."""
    free = pool.free()
    start = int(rng.choice(np.unique(pool.pairs[free])))
    mates = pool.pairs[free & (pool.pairs == start).any(axis=1)]
    others = rng.permutation(mates[mates != start])[: CARDS - 1]
    return pool.ask([start, *others.tolist()], "random")


def full_label(train: Sequence[Table], test: Sequence[Table]) -> float:
    """Mean pairwise F of a recipe that was shown all labels."""
    recipe = Recipe(source=None).fit(train)
    found = recipe.predict([replace(table, labels=None) for table in test])
    return float(np.mean([pairwise_scores(r.labels, y).f1 for r, y in zip(test, found, strict=True)]))


def curves(name: str, seeds: int, most: int, full: float | None = None) -> dict[str, Any]:
    """F after questions and batches, for each order, and what all labels give."""
    train, test = data(name)
    features = features_of(Recipe(), [replace(table, labels=None) for table in train])
    part, other = Part.of(features, train), Part.of(features, test)
    first = LatentPairClustering().fit(part.items)
    told: dict[str, Any] = {
        "without labels": other.f(first),
        "full": full_label(train, test) if full is None else full,
    }
    for how, times in ORDERS.items():
        people = [Asking(part, first, np.random.default_rng(seed), how) for seed in range(seeds)]
        told[how] = [one.curve(other.f, times * most) for one in people]
        told[f"{how}: read"] = [one.person.read / one.person.decisions for one in people]
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
        *(TITLES[how] for how in ORDERS),
        f"mean F of the first n decisions (at most {FIRST}), in this order",
        "items read for a decision",
        *(f"dedupe, {n} answers" for n in numbers),
    ]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for name, told in found["data"].items():
        other = [dedupe.get(name, {}).get(str(n)) for n in numbers]
        peers = ["" if runs is None else f"{100 * np.mean([run['f'] for run in runs]):.1f}" for runs in other]
        lines.append(f"| {' | '.join([name, *cells(told), *peers])} |")
    return "\n".join(lines)


def cells(told: dict[str, Any]) -> list[str]:
    """What was found about one data set."""
    first = min(FIRST, told["most"])
    means = [100 * mean_curve(told[how], first).mean() for how in ORDERS]
    read = [np.mean(told[f"{how}: read"]) for how in ORDERS]
    return [
        *(f"{100 * told[name]:.1f}" for name in ("without labels", "full")),
        *(needed(told[how], 0.95 * told["full"], k * told["most"]) for how, k in ORDERS.items()),
        f"{' / '.join(f'{mean:.1f}' for mean in means)} (n = {first})",
        " / ".join(f"{n:.1f}" for n in read),
    ]


def draw(found: dict[str, Any], dedupe: dict[str, Any], path: Path) -> None:
    """The curves, a panel for each data set."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.5, 5.6), layout="constrained")
    panels = figure.subplots(2, 3).ravel()
    for ax, (name, told) in zip(panels, found["data"].items(), strict=False):
        for how, colour in zip(ORDERS, ("#0072b2", "#d55e00", "#999999"), strict=True):
            ax.plot(100 * mean_curve(told[how], told["most"]), color=colour, label=TITLES[how])
        ax.axhline(95 * told["full"], color="0.5", ls=":", label="95 % of all labels")
        rows = [(int(n), np.mean([run["f"] for run in runs])) for n, runs in dedupe.get(name, {}).items()]
        rows = [(n, f) for n, f in rows if n <= told["most"]]
        if rows:
            ax.plot(*np.array(rows).T * [[1], [100]], "k^", ms=5, label="dedupe")
        ax.set(title=name, xlabel="decisions", ylabel="pairwise F")
    known = {
        label: handle for ax in panels for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    panels[-1].legend(known.values(), known.keys(), loc="center")
    for ax in panels[len(found["data"]) :]:
        ax.axis("off")
    figure.savefig(path, metadata={"Date": None})


def shown(name: str, told: dict[str, Any], most: int) -> str:
    """What was found, in a line."""
    wanted = 0.95 * told["full"]
    counts = ", ".join(f"{how}: {needed(told[how], wanted, k * most)}" for how, k in ORDERS.items())
    first, full = 100 * told["without labels"], 100 * told["full"]
    return f"{name}: no labels {first:.1f}, all labels {full:.1f}, decisions for 95 %: {counts}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--kept-full", action="store_true", help="what all labels give is as kept")
    args = parser.parse_args()
    kept = json.loads(FIGURES.read_text()) if FIGURES.is_file() else {"data": {}}
    if args.draw:
        dedupe = json.loads(BY_DEDUPE.read_text()) if BY_DEDUPE.is_file() else {}
        draw(kept, dedupe, Path("docs/asking.svg"))
        PAGE.write_text(put(PAGE.read_text("utf-8"), "asking", table(kept, dedupe)), "utf-8")
        return
    for name in args.names:
        started = time.process_time()
        full = kept["data"].get(name, {}).get("full") if args.kept_full else None
        told = curves(name, args.seeds, args.most, full)
        kept["data"][name] = {**told, "most": args.most}
        print(shown(name, told, args.most), flush=True)
        print(f"  ({time.process_time() - started:.0f} CPU s)", flush=True)
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_text(json.dumps(kept) + "\n")


if __name__ == "__main__":
    main()
