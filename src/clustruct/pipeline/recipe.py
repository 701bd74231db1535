"""From tables to a fitted pipeline: features guessed, large sets blocked, a clusterer trained.

This is what ``clustruct fit`` does, as an estimator.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar, Literal, Self, TypeAlias, overload

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from clustruct.core import memory
from clustruct.core.callbacks import steps, working
from clustruct.core.exceptions import DataError, NoLabels, OtherRun
from clustruct.core.storage import EstimatorState, register
from clustruct.core.typing import Indices, Labels
from clustruct.data import Evidence, Grouping, GroupingOptions, ItemKind, Table
from clustruct.data.row_order import sort_rows
from clustruct.estimators import SupervisedCorrelationClustering
from clustruct.estimators.baselines import LatentPairClustering
from clustruct.estimators.training_shape import TrainingShape
from clustruct.features import PairFeatures, check_tables
from clustruct.features.similarity import PairMap
from clustruct.learning.model_selection import split_by_clusters, split_sets
from clustruct.learning.model_selection.completeness import Completeness
from clustruct.learning.model_selection.task_choice import FEWEST_CLUSTERS
from clustruct.learning.model_selection.training_tables import (
    LabelsOfSets,
    check_learnable,
    groups_of,
    known_items,
    label_tables,
)
from clustruct.losses import Loss
from clustruct.ssvm import PastTraining

from .guessing import completeness_of, guess_weights, with_map_columns
from .leaks import warn_of_leak
from .learners import (
    continued_summary,
    fit_better_similarity,
    make_learner,
    set_checkpoint,
    set_nonnegative,
    training_summary,
    warn_of_little_use,
    warn_of_near_misses,
    warn_of_order,
    was_interrupted,
)
from .predict import group, group_sets
from .training_pairs import (
    FeatureFile,
    SourceChoice,
    WithinSource,
    add_similarity,
    choose_source_for,
    fit_features,
    may_block,
    out_of_fold_features,
    training_item_set,
)
from .unlabelled import learn_judgements
from .warm_start import CorrectedSets, learn_corrections, order_as_before

# What is known of items without a label; "auto": what the data bear out.
Background: TypeAlias = Literal["auto", "apart", "unknown"]
# One group per set; None: what the sets say themselves.
Groups: TypeAlias = Sequence[Hashable] | None
# A single set is cut into sets of about this many items, since the cost of training grows with their square;
# a table of many items into larger ones, in which likely pairs are found as they will be in prediction.
# (Learning from half of walmart_amazon whole took three times as long; pairwise F was 81.3 against 82.0.)
PART_SIZE, BLOCKED_PART_SIZE = 250, 2500
FEWEST_PARTS = 5


@dataclass(frozen=True)
class HeldOut:
    """Sets, and the clusters that models gave them which had seen neither the set nor its group.

    ``folds`` holds the numbers of the sets of each fold.
    """

    sets: list[Table]
    labels: list[Labels]
    folds: list[list[int]]

    @classmethod
    def in_order(
        cls, sets: Sequence[Table], folds: Sequence[Sequence[int]], labels: Sequence[Sequence[Labels]]
    ) -> HeldOut:
        """The labels of the sets of each fold, in the order of the sets; those of no fold are left out.

        >>> sets = [Table(["x"], name=name) for name in "abc"]
        >>> made = HeldOut.in_order(sets, [[2], [0]], [["labels of c"], ["labels of a"]])
        >>> [table.name for table in made.sets], made.labels, made.folds
        (['a', 'c'], ['labels of a', 'labels of c'], [[1], [0]])
        """
        by_set = dict(zip(chain.from_iterable(folds), chain.from_iterable(labels), strict=True))
        numbers = sorted(by_set)
        place = {i: n for n, i in enumerate(numbers)}
        at = [[place[i] for i in fold] for fold in folds]
        return cls([sets[i] for i in numbers], [by_set[i] for i in numbers], at)


@register("Recipe")
@dataclass(eq=False, repr=False)
class Recipe(EstimatorState, BaseEstimator):
    """Learn from tables with known groups how to group others: what ``clustruct fit`` does.

    Fields are looked at and turned into pair features (`clustruct.features.guess_blocks`), large sets are
    blocked, a single set of few labelled clusters is cut into sets of these, and a clusterer is trained.

    Parameters
    ----------
    kind : "auto", "records", "text", "mentions" or "vectors"
        What the items are; by default a guess.
    fields : sequence of str, optional
        The fields to use, all by default.
    kinds : mapping, optional
        What some columns hold, where it was learned wrong (`clustruct.data.learn_readings`): "text",
        "number" ("decimal-point", "decimal-comma"), "date" ("day-first", "month-first"), "code", "list" or
        "id".
    learner : "correlation", "agglomerative", "kmeans", "pairs", or a set clusterer
        A name stands for one of `LEARNERS`. An estimator of one's own is trained as it is.
    similarity : "linear", "trees", "mapped", "kernel", "auto", or a `clustruct.features.similarity.PairMap`
        What is learned beside or instead of the weights of features, see `clustruct.features.similarity`;
        "auto": trees where they do better on held-out labels by more than a standard error.
    loss, C, scaling, predictor, oracle, formulation, loss_in_oracle, n_jobs, verbose, random_state
        As for the learner; None leaves its own value. The loss of one table is "pairwise_f", where it is
        learned from as a whole.
    surrogates : sequence of str, optional
        Losses that are trained for beside ``loss``, as for `SupervisedCorrelationClustering`.
    linkage : "single", "average", "complete" or "left", optional
        For learner="agglomerative". "left" takes the items of a set in their order: mentions of a text.
    merge_cost : float, optional
        A wrong merge counts so many times as much as a wrong split (pairwise loss only).
    unlabelled : "auto", "apart" or "unknown"
        What is known of items without a label: that they belong to no labelled cluster, or nothing. "auto":
        the former where the data bear it out (one table, `learning.model_selection.completeness`). They are
        background: with them the table that is learned from is the one that prediction will meet.
    for_size : int, optional
        How many rows the table to be grouped will have, where it is larger than the one that is learned
        from: false pairs count so many times more as there will be of them for each row.
    nonnegative : bool
        Likeness never counts against a pair: no weight of a feature that measures one
        (`features.likeness_features`) is negative. Correlation clustering only.
    parts : int, optional
        Into how many sets a single set without background is cut. By default one is cut that has fewer items
        than ``block`` and fewer than 12 clusters of two items and more.
    block : int
        In sets of so many items or more only likely pairs are compared (0: always all pairs).
    n_neighbors : int
        Likely pairs for each item, at least.
    calibrate : "auto", True or False
        Whether to learn probabilities, as for `SupervisedCorrelationClustering`.
    source : str, optional
        The field that says which table (shop, register, ...) an item comes from: only items of different
        sources are compared. "auto" takes a field of few values for it where nearly all labelled pairs
        are across them; None compares all items.
    within_source : "auto", "apart" or "uncompared"
        Two items of one source are never in one cluster, or are merely not compared: they may both belong
        to an item of another source. "auto": apart, where 50 clusters and more are labelled and at most 2
        % of them have two items of a source.
    memory_limit : int or str, optional
        What needs more (bytes, or words such as "8G") is refused; by default what needs more than there
        is.
    checkpoint : path, optional
        A `fit` that was cut short goes on from this file, as for the learner.
    kept_features : path, optional
        Features of training pairs are kept there, for a fit with ``start``.

    Attributes
    ----------
    pipeline_ : Pipeline
        The fitted `PairFeatures` and the clusterer.
    was_cut_
        Whether a single set was cut.
    training_ : dict
        How the training went; "source" says which field is the source, and why.

    Examples
    --------
    >>> from clustruct import Recipe
    >>> from clustruct.data.datasets import make_records
    >>> sets = make_records(n_sets=5, n_people=5)
    >>> recipe = Recipe(C=1.0).fit(sets[:4])
    >>> [len(labels) == len(table) for labels, table in zip(recipe.predict(sets[4:]), sets[4:])]
    [True]
    >>> recipe.score(sets[4:]) > 0.9
    True
    """

    fitted: ClassVar = {"pipeline_": Pipeline, "was_cut_": bool, "training_": dict}

    kind: ItemKind = "auto"
    fields: Sequence[str] | None = None
    learner: str | BaseEstimator = "correlation"
    similarity: str | PairMap = "linear"
    loss: str | Loss | None = None
    C: float | str = "cv"
    surrogates: Sequence[str] | None = None
    linkage: str | None = None
    merge_cost: float | None = None
    unlabelled: Background = "auto"
    for_size: int | None = None
    scaling: str = "margin"
    nonnegative: bool = False
    predictor: str | None = None
    oracle: str | None = None
    formulation: str | None = None
    loss_in_oracle: bool | None = None
    parts: int | None = None
    block: int = 1000
    n_neighbors: int = 10
    calibrate: Literal["auto"] | bool = "auto"
    source: str | None = "auto"
    within_source: WithinSource = "auto"
    n_jobs: int | None = None
    verbose: int = 0
    random_state: int = 0
    memory_limit: memory.Size = None
    checkpoint: str | os.PathLike[str] | None = None
    kept_features: str | os.PathLike[str] | None = None
    kinds: Mapping[str, str] | None = None

    def fit(
        self,
        sets: Iterable[Table],
        y: LabelsOfSets = None,
        groups: Groups = None,
        *,
        corrections: Sequence[Evidence | None] | None = None,
        start: Pipeline | None = None,
    ) -> Self:
        """Learn from sets with labels, their own or those of y.

        ``groups`` has one entry per set (by default what the sets say themselves): sets of one group are
        held out together when C is chosen. ``corrections`` are people's judgements of items of each set
        (`clustruct.groups.corrections` makes them of files); sets may lack labels then. With ``start``,
        a pipeline that was fitted before, the training goes on from it: features and C are kept, and
        ``sets`` are those alone that it has not seen. Ctrl-C ends the training and keeps what was learned
        so far.
        """
        if corrections is not None or start is not None:
            return self._fit_on(sets, y, groups, corrections, start)
        tables = label_tables(sets, y)
        check_learnable(tables)
        in_order = self._in_one_order(tables)
        if self.similarity == "auto":
            return fit_better_similarity(self, in_order, groups)
        try:
            return self._fit_tables(in_order, groups, sorted_rows=self.linkage != "left")
        except OtherRun as refused:  # a checkpoint of a version that took rows as they came is gone on with
            try:
                return self._fit_tables(tables, groups, sorted_rows=False)
            except OtherRun:
                raise refused from None

    def _fit_tables(self, tables: list[Table], groups: Groups, *, sorted_rows: bool) -> Self:
        """Learn from labelled tables whose rows are sorted, or stand as they came."""
        sizes = [len(table) for table in tables]
        self.was_cut_ = len(tables) == 1 and self._cuts(tables[0])
        if self.for_size is not None and len(tables) > 1:
            raise ValueError("for_size goes with one table, not with several sets")
        if self.was_cut_:
            tables, groups = self.cut(tables[0]), None
        groups = groups_of(tables) if groups is None else groups
        whole = len(tables) == 1 and not self.was_cut_
        chosen = choose_source_for(self, tables)
        self._completeness: Completeness | None = None
        self.pipeline_ = self._train(tables, groups, chosen, self.checkpoint, whole=whole, hint=True)
        if isinstance(past := getattr(self.pipeline_[-1], "past_", None), PastTraining):
            self.pipeline_[-1].past_ = replace(past, sorted_rows=sorted_rows)
        if isinstance(shape := getattr(self.pipeline_[-1], "shown_", None), TrainingShape):  # before a cut
            self.pipeline_[-1].shown_ = shape.with_set_sizes(sizes)
        if self.was_cut_ and hasattr(self.pipeline_[-1], "sketch_"):  # parts are not like whole tables
            self.pipeline_[-1].sketch_ = None
        source = None if chosen is None else chosen.to_dict()
        self.training_ = training_summary(self.pipeline_[-1], tables, self.pipeline_[0]) | {"source": source}
        if self._completeness is not None:
            self.training_["completeness"] = self._completeness.summary()
        warn_of_little_use(self.pipeline_[-1], tables)
        return self

    def _in_one_order(self, tables: list[Table]) -> list[Table]:
        """Tables whose rows stand in an order of their own, so that the model does not depend on the file's.

        Items that left links take in their order keep it.
        """
        return tables if self.linkage == "left" else [sort_rows(table) for table in tables]

    def _fit_on(
        self,
        sets: Iterable[Table],
        y: LabelsOfSets,
        groups: Groups,
        corrections: Sequence[Evidence | None] | None,
        start: Pipeline | None,
    ) -> Self:
        """Labels first, where there are some and nothing was learned before; then people's judgements."""
        given = CorrectedSets.of(sets, y, groups, corrections)
        self.was_cut_ = False
        if start is None and given.labelled_numbers:
            self.fit([given.sets[i] for i in given.labelled_numbers], groups=given.labelled_groups)
            start = self.pipeline_
            if self.unlabelled == "auto" and getattr(start[-1], "unlabelled", "apart") == "unknown":
                given = given.with_open_labels()
        if start is None or isinstance(start[-1], LatentPairClustering):
            return self._fit_on_judgements(given, None if start is None else start[0])
        if not was_interrupted(start[-1]):
            file = FeatureFile(self.kept_features)
            self.pipeline_ = learn_corrections(start, self._cut_as_before(given, start[-1]), file)
        self.training_ = continued_summary(
            self.pipeline_[-1], given.sets, given.n_named_items, self.pipeline_[0]
        )
        return self

    def _fit_on_judgements(self, given: CorrectedSets, features: PairFeatures | None) -> Self:
        """No labels: what people judged, and what can be guessed of the rest."""
        if features is not None and given.labelled_numbers:
            raise DataError(
                "a model without labels goes on from corrections, not from labels: fit it again without start"
            )
        if all(e is None for e in given.evidence):
            raise NoLabels("nothing to learn from: no item has a label, and no pair was judged")
        self.pipeline_, about = learn_judgements(self, given.sets, given.evidence, features)
        summary = continued_summary(self.pipeline_[-1], given.sets, given.n_named_items)
        self.training_ = summary | about
        return self

    def _cut_as_before(self, given: CorrectedSets, model: BaseEstimator) -> CorrectedSets:
        """A single labelled set is cut where the model learned from several sets, or from parts of one."""
        if len(given.labelled_numbers) != 1:
            return given
        table, past = given.sets[given.labelled_numbers[0]], getattr(model, "past_", None)
        self.was_cut_ = self._cuts(table) if past is None else past.examples > 1 and self._may_cut(table)
        return given.with_parts(self.cut(order_as_before(model, table))) if self.was_cut_ else given

    def _may_cut(self, table: Table) -> bool:
        """Whether a single set can be cut: not if it is, or stands for, a whole table."""
        if self.for_size is not None or not all(known_items(table)):
            return False
        return self.parts is not None or not may_block(self) or len(table) < self.block

    def _cuts(self, table: Table) -> bool:
        """Whether a first fit cuts a single set. In the parts of a table an item has fewer others to be
        confused with than it will have: where there are clusters enough to hold some out inside the table,
        it is not cut.
        """
        if self.parts is not None or not may_block(self) or not self._may_cut(table):
            return self._may_cut(table)
        if self.learner != "correlation" or self.surrogates:
            return True
        sizes = Counter(table.labels or ()).values()
        return sum(size > 1 for size in sizes) < FEWEST_CLUSTERS

    def predict(
        self,
        sets: Iterable[Table],
        *,
        threshold: float | None = None,
        precision: float | None = None,
        max_size: int | None = None,
        min_groups: int | None = None,
        max_groups: int | None = None,
        reject_below: float | None = None,
    ) -> list[Labels]:
        """The clusters of each set, with what else is asked of them: see `GroupingOptions`."""
        check_is_fitted(self)
        options = GroupingOptions(
            threshold=threshold,
            precision=precision,
            max_size=max_size,
            min_groups=min_groups,
            max_groups=max_groups,
            reject_below=reject_below,
        )
        return [one.labels for one in group_sets(self.pipeline_, sets, options=options)]

    @overload
    def group(self, table: Table, evidence: Evidence | None = None, **asked: Any) -> Grouping: ...

    @overload
    def group(
        self, table: Iterable[Table], evidence: Sequence[Evidence | None] | None = None, **asked: Any
    ) -> list[Grouping]: ...

    def group(
        self,
        table: Table | Iterable[Table],
        evidence: Evidence | Sequence[Evidence | None] | None = None,
        *,
        confidence: bool = False,
        pairs: bool = False,
        **options: Any,
    ) -> Grouping | list[Grouping]:
        """The groups of a set, or of each of several, with all that is known of them.

        ``evidence`` is what is known of the items (of each set), such as
        ``Evidence.of_pairs(len(table), same=[(0, 1)], different=[(1, 2)])``; it holds exactly. ``confidence``
        asks for the confidence in items and groups, ``pairs`` for the scores of the compared pairs. Options
        (``threshold``, ``precision``, ``max_size``, ``min_groups``, ``max_groups``, ``reject_below``) are
        those of `GroupingOptions`.
        """
        check_is_fitted(self)
        alone = isinstance(table, Table)
        sets = [table] if isinstance(table, Table) else table
        known = [evidence] if evidence is None or isinstance(evidence, Evidence) else evidence
        found = group_sets(
            self.pipeline_,
            sets,
            None if evidence is None else known,
            GroupingOptions(**options),
            confidence=confidence,
            pairs=pairs,
        )
        return found[0] if alone else found

    def score(self, sets: Iterable[Table], y: LabelsOfSets = None) -> float:
        """1 minus the mean loss over the sets, the worst loss being 1."""
        check_is_fitted(self)
        tables = label_tables(sets, y)
        return float(self.pipeline_.score(tables, [table.labels for table in tables]))

    def cross_predict(
        self,
        sets: Iterable[Table],
        y: LabelsOfSets = None,
        groups: Groups = None,
        folds: int = 5,
        at_most: int | None = None,
    ) -> HeldOut:
        """Train on a part of the sets and predict the rest, in turn. Sets of one group stay together.

        A single set is cut into two sets for each fold at least. ``at_most``: of the folds only so many are
        predicted, and the sets of the others are left out.
        """
        tables = label_tables(sets, y)
        check_learnable(tables)
        for table in tables:
            if not all(known := known_items(table)):
                raise NoLabels(
                    f"{table.item_title(int(np.argmin(known)))} has no label: leave such items out"
                )
        if len(tables) == 1:
            tables, groups = self.cut(self._in_one_order(tables)[0], fewest=2 * folds), None
        if len(tables) < 2:
            raise ValueError("cross-validation needs two sets at least")
        owners = groups_of(tables) if groups is None else list(groups)
        splits = [*split_sets(len(tables), folds, self.random_state, owners)][:at_most]
        labels = [self._predict_fold(tables, owners, *split) for split in splits]
        return HeldOut.in_order(tables, [test.tolist() for _, test in splits], labels)

    def _predict_fold(
        self, tables: list[Table], owners: Groups, train: Indices, test: Indices
    ) -> list[Labels]:
        """The clusters of some sets by a training on others."""
        kept = None if owners is None else [owners[i] for i in train]
        seen = self._in_one_order([tables[i] for i in train])
        pipeline = self._train(seen, kept, choose_source_for(self, seen))
        if was_interrupted(pipeline[-1]):
            raise KeyboardInterrupt
        pipeline = check_tables(pipeline)  # of the same data, part of which may lack a field
        return [group(pipeline, tables[i]).labels for i in test]

    def cut(self, table: Table, fewest: int = FEWEST_PARTS) -> list[Table]:
        """One set as several of whole clusters: C is chosen by holding sets out."""
        labels = list(table.labels or ())
        blocked = may_block(self) and len(table) >= FEWEST_PARTS * self.block
        size = max(BLOCKED_PART_SIZE, self.block) if blocked else PART_SIZE
        wanted = self.parts or max(fewest, round(len(table) / size))
        parts = split_by_clusters(labels, min(wanted, len(set(labels))), random_state=self.random_state)
        name = table.name or "table"
        return [replace(table.take(items), name=f"{name} part {n}") for n, items in enumerate(parts, 1)]

    def _train(
        self,
        sets: list[Table],
        groups: Groups,
        chosen: SourceChoice | None,
        checkpoint: str | os.PathLike[str] | None = None,
        *,
        whole: bool = False,
        hint: bool = False,
    ) -> Pipeline:
        """Features fitted to the sets, and a clusterer trained on them; with a hint of fields that decide."""
        model = make_learner(self, sets[0] if whole else None)
        set_checkpoint(model, checkpoint)
        features = fit_features(self, sets, whole=whole, chosen=chosen)
        features.check_memory(sets)
        set_nonnegative(self, model, features)
        trusting = features.check_tables()  # what they need was learned from these very sets
        made = [training_item_set(trusting, table, whole=whole) for table in steps(sets, "features")]
        item_sets = [x for x, _ in made]
        if hint:
            warn_of_order(model, features, self.kind)
            warn_of_leak(features, item_sets, sets)
            FeatureFile(self.kept_features).save_sets(trusting, sets, item_sets, whole=whole)
        labels = [list(table.labels or ()) for table in sets]
        # Where nothing is known of pairs they are latent, which goes with margin scaling alone.
        open_ = self.unlabelled == "auto" and self.scaling == "margin"
        partial = open_ and not all(known_items(sets[0]))
        asked = whole and (self.C == "cv" or partial)
        guess = guess_weights(features, *made[0], self.random_state) if asked else None
        if whole and partial and "unlabelled" in model.get_params():
            self._completeness = completeness_of(item_sets[0], labels[0], guess)
            model.set_params(unlabelled="apart" if self._completeness.is_borne_out else "unknown")
        guess = guess if self.C == "cv" else None
        apart = getattr(model, "unlabelled", "apart") == "apart"
        item_sets = add_similarity(self, item_sets, labels, groups, [features, trusting], apart=apart)
        if isinstance(model, SupervisedCorrelationClustering):
            unmapped = not whole and features.map_ is None
            folds = out_of_fold_features(features, sets, made) if unmapped else None
            model.set_surroundings([rest for _, rest in made], folds, with_map_columns(guess, features))
        with working("learning"):
            model.fit(item_sets, labels, groups=groups)
        if hint and apart and isinstance(model, SupervisedCorrelationClustering):
            names = [(table.item_ids, table.labels or ()) for table in sets]
            warn_of_near_misses(item_sets, names, model.pair_scores)
        return Pipeline([("features", features), ("model", model)])

    def check_attributes(self) -> None:
        """The pipeline must be one of a recipe."""
        if len(self.pipeline_) != 2 or not isinstance(self.pipeline_[0], PairFeatures):
            raise ValueError("the pipeline of a recipe has pair features and a clusterer")
