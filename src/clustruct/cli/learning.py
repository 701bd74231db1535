"""What `fit` and `cv` share: sets made ready, features guessed, a clusterer trained."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from sklearn.pipeline import Pipeline

from clustruct.baselines import PairwiseClassifierClustering
from clustruct.callbacks import training_callback
from clustruct.estimators import SupervisedCorrelationClustering, SupervisedKMeans
from clustruct.exceptions import DataError
from clustruct.features import Blocking, PairFeatures, guess_blocks
from clustruct.losses import PairwiseLoss
from clustruct.model_selection.splits import split_by_clusters
from clustruct.partitions import canonical_labels
from clustruct.records import RawSet

from .data import groups_of
from .interrupts import ending_gently
from .progress import Progress

# A single set is cut into sets of about this many items, since the cost of training grows with their square;
# a table of many items into larger ones, in which likely pairs are found as they will be in prediction.
# (Learning from half of walmart_amazon whole took three times as long; pairwise F was 81.3 against 82.0.)
PART_SIZE, BLOCKED_PART_SIZE = 250, 2500
FEWEST_PARTS = 5


def check_learnable(sets: list[RawSet]) -> None:
    """Refuse data from which nothing can be learned."""
    if all(len(raw) < 2 for raw in sets):
        raise DataError("nothing to learn from: no set has two items")
    counts = [int(canonical_labels(raw.labels or ()).max()) + 1 for raw in sets]
    if all(k == 1 for k in counts):
        raise DataError("nothing to learn from: all items of each set are in one cluster")
    if all(k == len(raw) for k, raw in zip(counts, sets, strict=True)):
        raise DataError("nothing to learn from: no two items share a cluster")


def cut(raw: RawSet, args: argparse.Namespace, least: int = FEWEST_PARTS) -> list[RawSet]:
    """One set as several of whole clusters: C is chosen by holding sets out."""
    labels = list(raw.labels or ())
    clusters = len(set(labels))
    blocked = args.block and len(raw) >= FEWEST_PARTS * args.block and args.learner != "kmeans"
    size = max(BLOCKED_PART_SIZE, args.block) if blocked else PART_SIZE
    wanted = args.parts or max(least, round(len(raw) / size))
    chosen = split_by_clusters(labels, max(1, min(wanted, clusters)), random_state=args.seed)
    return [_part(raw, [int(a) for a in items], n) for n, items in enumerate(chosen, 1)]


def _part(raw: RawSet, items: list[int], number: int) -> RawSet:
    ids = None if raw.ids is None else [raw.ids[a] for a in items]
    labels = None if raw.labels is None else [raw.labels[a] for a in items]
    name = f"{raw.name or 'table'} part {number}"
    return replace(raw, items=[raw.items[a] for a in items], labels=labels, ids=ids, name=name)


def estimator(args: argparse.Namespace) -> Any:
    """The clusterer that the options describe."""
    loss = args.loss if args.merge_cost is None else PairwiseLoss(merge_cost=args.merge_cost)
    given = {"loss": loss, "predictor": args.predictor, "random_state": args.seed}
    named = {k: v for k, v in given.items() if v is not None}
    if args.learner == "pairs":
        return PairwiseClassifierClustering(**named)
    kind = SupervisedKMeans if args.learner == "kmeans" else SupervisedCorrelationClustering
    return kind(C=args.C, scaling=args.scaling, n_jobs=args.n_jobs, **named)


def train(args: argparse.Namespace, sets: list[RawSet], progress: Progress) -> Pipeline:
    """Features fitted to the sets, and a clusterer trained on them; Ctrl-C keeps what was learned so far."""
    fields = args.fields.split(",") if args.fields else None
    model = estimator(args)
    blocks = guess_blocks(sets, args.kind, fields)
    features = PairFeatures(blocks, blocking=_blocking(args, blocks)).fit(sets)
    item_sets = [features.transform([raw])[0] for raw in progress.each(sets, "features")]
    labels = [list(raw.labels or ()) for raw in sets]
    if args.learner == "pairs":
        model.fit(item_sets, labels)
    else:
        with training_callback(progress), ending_gently(progress):
            model.fit(item_sets, labels, groups=groups_of(sets))
    progress.done()
    return Pipeline([("features", features), ("model", model)])


def _blocking(args: argparse.Namespace, blocks: list[Any]) -> Blocking | None:
    """How likely pairs are found in large sets; None: all pairs are compared."""
    if args.block == 0 or args.learner == "kmeans" or not all(b.has_words for b in blocks):
        return None
    fields = args.fields.split(",") if args.fields else None
    return Blocking(fields, n_neighbors=args.neighbours, from_size=args.block)


def interrupted(pipeline: Pipeline) -> bool:
    """Whether Ctrl-C ended the training."""
    result = getattr(pipeline[-1], "result_", None)
    return result is not None and result.stop_reason == "interrupted"
