"""A project with its model: items, decisions, features, scores. The store is read when its log has grown."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from clustruct.core import storage
from clustruct.core.exceptions import DataError
from clustruct.core.typing import Floats, Ints
from clustruct.data import Evidence, ItemSet, PairScores, Table
from clustruct.estimators.baselines import LatentPairClustering
from clustruct.features import PairFeatures, check_tables
from clustruct.groups import PairJudgement, Store, settle
from clustruct.groups.decisions import evidence_of
from clustruct.groups.known import known_of_store
from clustruct.groups.log_replay import State
from clustruct.pipeline import Recipe, features_of, is_calibrated, score_set

from .asking import COMMITTEE

# Features of all pairs of so many items are held, so that learning does not make them again.
MOST_HELD = 5000


@dataclass(frozen=True)
class ProjectSnapshot:
    """A project at one moment.

    table : items with the fields that are compared; numbers : of items by their ids
    groups : the number of each item's group; names : ids of groups
    judgements : those of pairs that hold; evidence : the same and the confirmed groups, to learn from
    shown_evidence : without what follows from confirmed groups for pairs that nobody was shown
    at : the number of the last event
    """

    table: Table
    numbers: Mapping[str, int]
    state: State
    groups: Ints
    names: list[str]
    judgements: list[PairJudgement]
    evidence: Evidence
    shown_evidence: Evidence
    at: int

    @classmethod
    def of(cls, store: Store) -> ProjectSnapshot:
        """A store as it is now."""
        known, settings = known_of_store(store, indexed=False), store.settings()
        assert known.table is not None
        table, state = known.table, known.state
        if fields := settings.get("fields"):
            columns = {f: table.column(f) for f in fields if table.has(f)}
            table = Table.from_columns(columns, ids=list(table.item_ids))
        numbers = {str(name): a for a, name in enumerate(table.item_ids)}
        holding = settle(state.judgements(), disagreement="majority")
        group_ids = [state.groups.get(str(name), "") for name in table.item_ids]
        group_number = {name: g for g, name in enumerate(dict.fromkeys(group_ids))}
        groups = np.array([group_number[name] for name in group_ids], np.int64)
        shown = evidence_of(holding, numbers)
        evidence = evidence_of(holding, numbers, complete=state.confirmed_items())
        at = store.next_number() - 1
        return cls(table, numbers, state, groups, list(group_number), holding, evidence, shown, at)

    def groups_of(self, *items: str) -> Ints:
        """The groups of items."""
        return self.groups[[self.numbers[item] for item in items]]

    @cached_property
    def answers(self) -> list[list[PairJudgement]]:
        """The judgements of pairs, by decision."""
        found: dict[int, list[PairJudgement]] = {}
        for judged in self.judgements:
            if judged.answer != "unsure":
                found.setdefault(judged.by.number, []).append(judged)
        return [found[number] for number in sorted(found)]


@dataclass
class Engine:
    """The model of a project, and what it makes of it."""

    path: Path
    _snapshot: ProjectSnapshot | None = None
    _features: PairFeatures | None = None
    _item_set: ItemSet | None = None
    _pipeline: tuple[int, Pipeline] | None = None
    _scores: tuple[int, PairScores] | None = None
    recipe: Recipe = field(default_factory=Recipe)
    first_guess: LatentPairClustering | None = None
    # The number of the last event known, and what `find_doubts` gave then.
    doubts: Any = None

    def snapshot(self) -> ProjectSnapshot:
        """The project as it is now."""
        with Store(self.path) as store:
            if self._snapshot is None or self._snapshot.at != store.next_number() - 1:
                self._snapshot = ProjectSnapshot.of(store)
                self.recipe = Recipe(kind=store.settings().get("kind") or "auto")
        return self._snapshot

    def share(self, other: Engine) -> None:
        """Take over what another engine of the same project has made of the items."""
        self._features, self._item_set = other._features, other._item_set
        self.first_guess, self._pipeline, self._scores = other.first_guess, other._pipeline, other._scores

    def features(self) -> PairFeatures:
        """Features that suit the items."""
        if self._features is None:
            bare = replace(self.snapshot().table, labels=None)
            self._features = features_of(self.recipe, [bare])
        return self._features

    def item_set(self) -> ItemSet | None:
        """The features of all compared pairs, for a table that is not large."""
        table = self.snapshot().table
        if self._item_set is None and len(table) <= MOST_HELD:
            self._item_set = self.features().check_tables().transform([table])[0]
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

    def need_model(self) -> tuple[int, Pipeline]:
        """The same; `DataError` where nothing was learned yet."""
        found = self.model()
        if found is None:
            raise DataError("there is no model yet: learn first")
        return found

    def keep(self, number: int, pipeline: Pipeline, scores: PairScores) -> None:
        """Hold a model and its scores, so that they are not made again."""
        self._pipeline, self._scores = (number, pipeline), (number, scores)

    def scores(self, number: int, pipeline: Pipeline) -> PairScores:
        """Scores of all compared pairs by a model."""
        if self._scores is None or self._scores[0] != number:
            self._scores = number, self.make_scores(pipeline)
        return self._scores[1]

    def committee(self, snapshot: ProjectSnapshot, rng: np.random.Generator) -> list[Floats]:
        """Probabilities of the compared pairs by models that have seen other answers, drawn with replacement;
        none for a large table, or before there are answers.
        """
        x, first, n = self.item_set(), self.first_guess, len(snapshot.answers)
        if x is None or first is None or n < 2 * COMMITTEE:
            return []
        found = []
        for _ in range(COMMITTEE):
            some = [snapshot.answers[i] for i in rng.integers(0, n, n).tolist()]
            model = first.with_answers([evidence_of(chain.from_iterable(some), snapshot.numbers)])
            scores = score_set(model, x).list_pairs().values
            assert scores is not None
            found.append(model.pair_probabilities(scores))
        return found

    def make_scores(self, pipeline: Pipeline) -> PairScores:
        """Scores of all compared pairs by a model that may not be kept."""
        x = self.item_set() if pipeline[0] is self._features else None
        return score_set(check_tables(pipeline), self.snapshot().table if x is None else x).list_pairs()


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
