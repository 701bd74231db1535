"""A training that goes on: the labelled sets of an earlier one, and sets of which people corrected something.

    min over w   1/2 |w|^2 + C [ sum_i xi_i + sum_j v_j xi_j ] / n

i are the n labelled sets, j those with corrections. C, the units of the features and the planes of the
earlier training are kept, so that it ends after a few rounds; corrections come on top of what was learned. A
set with corrections weighs v_j examples: as many as it has named items, counted in labelled items of a
labelled set.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from clustruct.core.callbacks import steps, training_listener, working
from clustruct.core.exceptions import DataError
from clustruct.core.partitions import partial_labels
from clustruct.core.typing import Floats, Ints
from clustruct.data import Evidence, ItemSet, Table
from clustruct.data.row_order import sort_rows
from clustruct.estimators import SupervisedCorrelationClustering
from clustruct.features import PairFeatures
from clustruct.features.row_equality import MOST_COPIES
from clustruct.learning.model_selection.training_tables import LabelsOfSets, known_items, label_tables
from clustruct.learning.problems import ClusteringProblem, Region, Trained, Units, feature_scale
from clustruct.learning.problems.region import regions_of
from clustruct.learning.problems.saved_training import example_digests
from clustruct.learning.problems.training import train_and_complete
from clustruct.losses import as_loss
from clustruct.search.oracles import make_oracle
from clustruct.ssvm import PastTraining, fit

from .predict import group
from .training_pairs import FeatureFile, labelled_item_mask

# C where nothing was chosen before: the middle of the grid.
USUAL_C = 1.0
# How far a training that goes on is taken: half the cost of 0.001, and held-out F is the same.
RTOL = 0.01


@dataclass(frozen=True)
class CorrectedSets:
    """Sets, people's judgements of their items, and groups of sets where there are some."""

    sets: list[Table]
    evidence: list[Evidence | None]
    groups: Sequence[Hashable] | None

    @classmethod
    def of(
        cls,
        sets: Iterable[Table],
        y: LabelsOfSets,
        groups: Sequence[Hashable] | None,
        evidence: Sequence[Evidence | None] | None,
    ) -> CorrectedSets:
        """Checked: evidence for each set, one entry for each of its items."""
        tables = list(sets)
        if y is not None:
            tables = label_tables(tables, y)
        given: list[Evidence | None] = [None for _ in tables] if evidence is None else list(evidence)
        if len(given) != len(tables):
            raise ValueError(f"{len(tables)} sets but corrections of {len(given)}")
        for table, known in zip(tables, given, strict=True):
            if known is not None and len(known.piece) != len(table):
                raise ValueError(
                    f"{table.title} has {len(table)} items, its corrections are of {len(known.piece)}"
                )
        # Where people contradict each other nothing may be left of what they said.
        return cls(tables, [e if e is not None and e.named.any() else None for e in given], groups)

    @property
    def labelled_numbers(self) -> list[int]:
        """The numbers of the sets in which an item has a label."""
        return [
            i for i, table in enumerate(self.sets) if table.labels is not None and known_items(table).any()
        ]

    @property
    def labelled_groups(self) -> list[Hashable] | None:
        """The groups of these sets."""
        return None if self.groups is None else [self.groups[i] for i in self.labelled_numbers]

    @property
    def n_named_items(self) -> int:
        """How many items have been judged."""
        return sum(int(np.count_nonzero(e.named)) for e in self.evidence if e is not None)

    def with_open_labels(self) -> CorrectedSets:
        """The same where labelled clusters may lack members."""
        known = [None if e is None else replace(e, complete=e.complete & ~e.labelled) for e in self.evidence]
        return replace(self, evidence=known)

    def with_parts(self, parts: list[Table]) -> CorrectedSets:
        """With parts in the place of the labelled sets, which keep their evidence as sets without labels."""
        bare = [replace(table, labels=None) for table in self.sets]
        none: list[Evidence | None] = [None for _ in parts]
        return CorrectedSets([*parts, *bare], none + self.evidence, None)


def learn_corrections(
    pipeline: Pipeline, given: CorrectedSets, features_file: FeatureFile | None = None
) -> Pipeline:
    """A pipeline that has learned from labelled sets and from people's judgements of some sets.

    Its features are those of the one given. Where that has learned before, what people corrected are its
    groups: those that they touched are taken as they are after it (`Evidence.with_complete_groups`).

    pipeline : fitted `PairFeatures` and a `SupervisedCorrelationClustering`, which may not be fitted yet
    features_file : where features of the labelled sets are looked up, and kept
    """
    file = FeatureFile(None) if features_file is None else features_file
    features, model = pipeline[0], pipeline[-1]
    if not isinstance(features, PairFeatures) or not isinstance(model, SupervisedCorrelationClustering):
        raise ValueError(f"{type(model).__name__} does not learn from corrections: use learner='correlation'")
    features.check_tables(given.sets)
    trusting = features.check_tables()
    corrected = [(table, e) for table, e in zip(given.sets, given.evidence, strict=True) if e is not None]
    if hasattr(model, "w_"):
        before = Pipeline([("features", trusting), ("model", model)])
        corrected = [(table, _confirm_shown_groups(before, table, e)) for table, e in corrected]
    labelled_sets = [order_as_before(model, given.sets[i]) for i in given.labelled_numbers]
    labels = [partial_labels(table.labels or ()) for table in labelled_sets]
    bare = copy(trusting).with_map(None)
    sets = [
        file.item_set(bare, table, labelled_item_mask(table, whole=len(labelled_sets) == 1))
        for table in steps(labelled_sets, "features")
    ]
    if features.map_ is not None:  # what it was learned from has the columns that it had there
        sets = features.map_.transform_with_labels(sets, labels, unknown_apart=model.unlabelled == "apart")
    others = [
        trusting.transform([table], [e.named], most_copies=MOST_COPIES)[0]
        for table, e in steps(corrected, "features")
    ]
    file.save()
    with working("learning"):
        learned = WarmStart(model, sets, labels, others, [e for _, e in corrected]).learn()
    return Pipeline([(pipeline.steps[0][0], copy(features)), (pipeline.steps[-1][0], learned)])


def order_as_before(model: BaseEstimator, table: Table) -> Table:
    """A table with its rows in the order of the training before, which knows its sets by their pairs."""
    past: PastTraining | None = getattr(model, "past_", None)
    return sort_rows(table) if past is None or past.sorted_rows else table


def _confirm_shown_groups(pipeline: Pipeline, table: Table, evidence: Evidence) -> Evidence:
    """With the groups that were shown to people, or else those that the model finds under the evidence."""
    shown = group(pipeline, table, evidence).labels if evidence.shown is None else evidence.shown
    return evidence.with_complete_groups(shown)


@dataclass
class WarmStart:
    """The training of a clusterer on labelled sets (-1 where not known) and on sets with evidence.

    Where the clusterer was fitted before, its C and its units of features are kept, and for those sets that
    it was fitted to its planes: that is a tenth of the work of a first fit, or less.
    """

    model: SupervisedCorrelationClustering
    sets: Sequence[ItemSet]
    labels: Sequence[Ints]
    others: Sequence[ItemSet]
    evidence: Sequence[Evidence]

    def __post_init__(self) -> None:
        self.is_fitted = hasattr(self.model, "w_")
        self.past: PastTraining | None = getattr(self.model, "past_", None)
        if self.is_fitted and self.past is None:
            raise ValueError(
                "the model keeps nothing to go on from: it is of an older version, or no correlation "
                "clustering with rescale=True; fit it again"
            )
        corrected = [Region.of(x, e, listed=True) for x, e in zip(self.others, self.evidence, strict=True)]
        self.corrected = [region for region in corrected if region.judged_pairs.any()]
        if not self.sets and not self.corrected:
            raise DataError(
                "nothing to learn from: of the pairs that people marked none is compared, being no likely "
                "one (--block 0, or block=0, compares all pairs)"
            )
        self.regions = [*regions_of(self.sets, self.labels), *self.corrected]
        self.C = USUAL_C if isinstance(self.model.C, str) else float(self.model.C)
        self.oracle = make_oracle(self.model.oracle, loss_in_oracle=self.model.loss_in_oracle)

    @cached_property
    def scale(self) -> Floats:
        """What features are divided by."""
        if self.is_fitted:
            return self.model.feature_scale_
        return feature_scale([region.x for region in self.regions])

    def learn(self) -> SupervisedCorrelationClustering:
        """A clusterer that has learned; the one given stays as it is, and its past is that of the new one."""
        model, start = self.model, self.model.result_.w if self.is_fitted else np.zeros_like(self.scale)
        trained, learned = train_and_complete(self.corrected, start, self._train), copy(model)
        learned.result_, learned.w_ = trained.result, trained.result.w
        learned.feature_scale_ = trained.feature_scale
        if not self.is_fitted:
            x = [*self.sets, *self.others][0]
            learned.C_, learned.cv_results_, learned.shown_, learned.past_ = self.C, {}, None, None
            learned.n_features_in_ = x.n_features
            if x.feature_names is not None:
                learned.feature_names_in_ = np.asarray(x.feature_names, dtype=object)
        elif not model.nonnegative:
            # Weights that are the mean over folds stay so: each fold's would move by about as much.
            learned.w_ = learned.w_ + (model.w_ - model.result_.w)
        return learned

    def _train(self, completed: Sequence[Ints]) -> Trained:
        problem, weights = self._problem(completed), self._weights
        if self.past is None:
            C, planes = self.C * problem.natural_C(), None
        else:  # for each of the labelled sets C is what it was
            C = self.past.C * sum(weights) / max(len(self.sets), 1)
            planes = self.past.planes_of(example_digests(self.sets, self.labels), len(self.scale))
        options: dict[str, Any] = self.model.training_options()
        options["rtol"] = rtol = max(self.model.rtol, RTOL)
        result = fit(
            problem,
            C,
            **options,
            sample_weight=np.array(weights),
            w0=planes,
            callback=training_listener(self.C, rtol, self.model.verbose),
        )
        return Trained(replace(result, w=np.asarray(result.w / self.scale)), result, self.scale, C)

    @cached_property
    def _weights(self) -> list[float]:
        counts = [float(np.count_nonzero(region.known_items)) for region in self.regions]
        n = len(self.sets)
        usual = float(np.mean(counts[:n] or counts[n:] or [1.0]))
        return [1.0] * n + [count / usual for count in counts[n:]]

    def _problem(self, completed: Sequence[Ints]) -> ClusteringProblem:
        n, sets = len(self.sets), [region.x for region in self.regions]
        units = Units.of_means(sets, self.oracle.objective, self.scale)
        shares = np.array([*[1.0] * n, *(float(np.mean(region.judged_pairs)) for region in self.corrected)])
        return ClusteringProblem(
            sets,
            [region.labels for region in self.regions],
            as_loss(self.model.loss),
            self.oracle,
            units=replace(units, example_scale=units.example_scale / shares),
            judged=[*[None] * n, *(region.judged_pairs for region in self.corrected)],
            known=[None if r.is_complete else r.known_items for r in self.regions[:n]]
            + [None] * len(self.corrected),
            completed=[*(region.labels for region in self.regions[:n]), *completed],
        )
