"""What a model makes of a project: learning from decisions, proposals, doubtful groups, questions, reasons.

It reads the store whenever the log has grown. It runs in a process of its own (`engine_process`), so that
decisions of people never wait for it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct.core import storage
from clustruct.core.typing import Floats, Ints
from clustruct.data import Evidence, ItemSet, PairScores, Table
from clustruct.estimators.baselines import LatentPairClustering
from clustruct.features import PairFeatures, checked
from clustruct.groups import Constraints, Store, constraints
from clustruct.groups.known import known_of_store
from clustruct.groups.replay import State
from clustruct.groups.statements import Statement
from clustruct.pipeline import Recipe, features_of, is_calibrated, score_set

from .asking import COMMITTEE

# Features of all pairs of so many items are held, so that learning does not make them again.
MOST_HELD = 5000


@dataclass(frozen=True)
class Known:
    """What a project says at one moment.

    raw : items with the fields that are compared; numbers : of items by their ids
    groups : the number of each item's group; names : ids of groups
    held : what people said of pairs; marks : the same as something to learn from; told : without what
    follows of confirmed groups for pairs that nobody was shown
    at : the number of the last event
    """

    table: Table
    numbers: Mapping[str, int]
    state: State
    groups: Ints
    names: list[str]
    held: Constraints
    marks: Evidence
    told: Evidence
    at: int

    @classmethod
    def of(cls, store: Store) -> Known:
        """All of a store."""
        known, settings = known_of_store(store, indexed=False), store.settings()
        assert known.table is not None
        table, state = _fields_of(known.table, settings.get("fields")), known.state
        numbers = {str(name): a for a, name in enumerate(table.item_ids)}
        held = constraints(state.statements(), disagreement="majority")
        names, groups = _numbered([state.groups.get(str(name), "") for name in table.item_ids])
        confirmed = [numbers[item] for item in state.confirmed() if item in numbers]
        marks, told = _marks(held, numbers, confirmed), _marks(held, numbers, [])
        return cls(table, numbers, state, groups, names, held, marks, told, store.next_number() - 1)

    def groups_of(self, *items: str) -> Ints:
        """The groups of items."""
        return self.groups[[self.numbers[item] for item in items]]

    def members(self, group: int) -> Ints:
        """The items of a group."""
        return np.flatnonzero(self.groups == group)

    @cached_property
    def answers(self) -> list[list[Statement]]:
        """What was said, by decision."""
        found: dict[int, list[Statement]] = {}
        for said in (*self.held.same, *self.held.different):
            found.setdefault(said.by.number, []).append(said)
        return [found[number] for number in sorted(found)]

    def marks_of(self, statements: Iterable[Statement]) -> Evidence:
        """Evidence of some of what was said."""
        some: dict[str, list[Statement]] = {"same": [], "different": []}
        for said in statements:
            some[said.answer].append(said)
        return _marks(Constraints(tuple(some["same"]), tuple(some["different"])), self.numbers, [])


def _fields_of(table: Table, fields: list[str] | None) -> Table:
    if not fields:
        return table
    return Table.from_columns({f: table.column(f) for f in fields if table.has(f)}, ids=list(table.item_ids))


def _numbered(groups: list[str]) -> tuple[list[str], Ints]:
    names = list(dict.fromkeys(groups))
    number = {name: g for g, name in enumerate(names)}
    return names, np.array([number[name] for name in groups], np.int64)


def _marks(held: Constraints, numbers: Mapping[str, int], confirmed: Sequence[int]) -> Evidence:
    """Pairs that people spoke of, and confirmed groups, to which nothing else belongs."""
    unsure = [(numbers[a], numbers[b]) for a, b in held.unsure]
    return Evidence.of_pairs(
        len(numbers), held.must_link(numbers), held.cannot_link(numbers), unsure=unsure, complete=confirmed
    )


@dataclass
class Engine:
    """The model of a project, and what it makes of it."""

    path: Path
    _known: Known | None = None
    _features: PairFeatures | None = None
    _item_set: ItemSet | None = None
    _pipeline: tuple[int, Pipeline] | None = None
    _scores: tuple[int, PairScores] | None = None
    recipe: Recipe = field(default_factory=Recipe)
    first_guess: LatentPairClustering | None = None
    doubts: Any = None

    def known(self) -> Known:
        """What the project says now."""
        with Store(self.path) as store:
            if self._known is None or self._known.at != store.next_number() - 1:
                self._known = Known.of(store)
                self.recipe = Recipe(kind=store.settings().get("kind") or "auto")
        return self._known

    def whole(self) -> Table:
        """The items with all their fields."""
        with Store(self.path) as store:
            table = known_of_store(store, indexed=False).table
        assert table is not None
        return table

    def share(self, other: Engine) -> None:
        """Take over what another engine of the same project has made of the items."""
        self._features, self._item_set = other._features, other._item_set
        self.first_guess, self._pipeline, self._scores = other.first_guess, other._pipeline, other._scores

    def features(self) -> PairFeatures:
        """Features that suit the items."""
        if self._features is None:
            bare = replace(self.known().table, labels=None)
            self._features = features_of(self.recipe, [bare])
        return self._features

    def item_set(self) -> ItemSet | None:
        """The features of all compared pairs, for a table that is not large."""
        table = self.known().table
        if self._item_set is None and len(table) <= MOST_HELD:
            self._item_set = self.features().checked().transform([table])[0]
        return self._item_set

    def model(self) -> tuple[int, Pipeline] | None:
        """The last model of the project, with its number."""
        with Store(self.path) as store:
            held = store.models()
            if not held:
                return None
            number = held[-1].number
            if self._pipeline is None or self._pipeline[0] != number:
                self._pipeline = number, model_of(store.model(number))
        return self._pipeline

    def keep(self, number: int, pipeline: Pipeline, scores: PairScores) -> None:
        """A model that was learned here need not be read again, nor its scores be made again."""
        self._pipeline, self._scores = (number, pipeline), (number, scores)

    def scores(self, number: int, pipeline: Pipeline) -> PairScores:
        """Scores of all compared pairs by a model."""
        if self._scores is None or self._scores[0] != number:
            self._scores = number, self.scored(pipeline)
        return self._scores[1]

    def committee(self, known: Known, rng: np.random.Generator) -> list[Floats]:
        """Probabilities of the compared pairs by models that have seen other answers, drawn with replacement;
        none for a large table, or before there are answers.
        """
        x, first, n = self.item_set(), self.first_guess, len(known.answers)
        if x is None or first is None or n < 2 * COMMITTEE:
            return []
        found = []
        for _ in range(COMMITTEE):
            some = [known.answers[i] for i in rng.integers(0, n, n).tolist()]
            model = first.answered([known.marks_of(chain.from_iterable(some))])
            scores = score_set(model, x).list_pairs().values
            assert scores is not None
            found.append(model.pair_probabilities(scores))
        return found

    def scored(self, pipeline: Pipeline) -> PairScores:
        """The same for a model without number."""
        x = self.item_set() if pipeline[0] is self._features else None
        return score_set(checked(pipeline), self.known().table if x is None else x).list_pairs()


def probabilities(pipeline: Pipeline, scores: Floats) -> Floats:
    """The probability that pairs with these scores belong together, as far as the model knows."""
    model = pipeline[-1]
    if not is_calibrated(model) and not hasattr(model, "from_nearest_"):
        unit = float(np.std(scores)) or 1.0
        return 1.0 / (1.0 + np.exp(-2.0 * np.asarray(scores) / unit))
    return np.asarray(model.pair_probabilities(scores), np.float64)


def model_of(content: bytes) -> Pipeline:
    """The pipeline of a model file that is held in memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(content)
        pipeline: Pipeline = storage.load(path)
    return pipeline


def bytes_of(pipeline: Pipeline, about: Mapping[str, Any]) -> bytes:
    """A pipeline as a model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        storage.save(path, pipeline, about=about)
        return Path(path).read_bytes()
