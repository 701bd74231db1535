"""Grouping a table on a cluster: stage after stage, each written and taken up again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from sklearn.pipeline import Pipeline

from clustruct.core.exceptions import ClusterError, DataError
from clustruct.core.storage import digest
from clustruct.estimators.base import PairSimilarity
from clustruct.features import PairFeatures

from . import candidates, components, frequencies, pair_scores, table_parts
from .cluster import Client
from .stage_runner import StageRunner
from .table_parts import Size, is_files, plan_of_files
from .workdir import About, Stats, WorkDirectory

MOST_ROUNDS = 100
SEARCHES = ("greedy", "local_search")


@dataclass(frozen=True)
class Grouped:
    """What was made: the directory of Parquet files, how many items and clusters.

    ``stages`` has for each stage the stats of its pieces, their cost among them, ``exchanged`` the rows,
    bytes and CPU seconds of what was exchanged in it.
    """

    path: str
    items: int
    clusters: int
    stages: Mapping[str, Sequence[Stats]]
    exchanged: Mapping[str, Sequence[Stats]]


def predict(
    data: Any,
    model: Pipeline,
    out: str | os.PathLike[str],
    *,
    client: Client,
    id: str | None = None,
    partitions: int | None = None,
    work: str | os.PathLike[str] | None = None,
) -> Grouped:
    """Group the rows of a table that is one set, on the workers of a cluster: the labels of one process.

    Parameters
    ----------
    data : object
        A Dask DataFrame, or Parquet files: a name, a pattern such as ``part-*.parquet``, or several.
    model : Pipeline
        The pipeline of a fitted `Recipe`, or of a model file.
    out : path
        A new directory for Parquet files of the columns "id" and "cluster", in the order of the table; it
        appears when all is done.
    client : Client
        A ``distributed.Client``.
    id : str, optional
        The column of names; by default rows are numbered from 1.
    partitions : int, optional
        Into how many parts the rows of files are cut; by default as few as the memory of workers allows
        (125,000 rows with 2 GB), as many for each thread.
    work : path, optional
        The directory of what is made on the way, which all machines see; by default ``out`` with ".work"
        at its end. Work that was cut short goes on from it. It is removed in the end.

    Returns
    -------
    Grouped
        Where the clusters are, and what the stages cost.

    Notes
    -----
    Every stage calls, for a part of the table, what one process calls for all of it. Only sums and counts
    come to the client.
    """
    target = Path(out)
    if target.exists():
        raise DataError(f"{target}: there is something of that name already")
    folder = Path(f"{target}.work" if work is None else work)
    begun = begin(data, model, folder, id, partitions, Size.for_cluster(client))
    try:
        found = group_table(data, StageRunner(client, begun), target)
    except ClusterError as error:
        raise ClusterError(
            f"{error}; what is done is kept in {begun.folder}: run it again to go on"
        ) from None
    begun.remove()
    return found


def group_table(data: Any, engine: StageRunner, out: Path) -> Grouped:
    """All stages, in the directory of an engine; what the last one wrote becomes ``out``."""
    run = _StageSequence(engine, {})
    run.read(data)
    run.candidates()
    run.scores()
    clusters = run.groups(run.components())
    engine.work.publish("labels", out)
    exchanged = {stage: engine.work.notes(stage) for stage in run.stats}
    return Grouped(str(out), engine.work.n_items, clusters, run.stats, exchanged)


def begin(
    data: Any, model: Pipeline, folder: Path, id: str | None, partitions: int | None, size: Size | None = None
) -> WorkDirectory:
    """The directory of a run, new or taken up; refuses what cannot be done."""
    check_model(model)
    if partitions is None:  # a run that goes on is cut as it was, whatever cluster it goes on with
        partitions = WorkDirectory.partitions_of(folder)
    if is_files(data):
        return WorkDirectory.begin(folder, model, _plan_of_files(data, model, id, partitions, size or Size()))
    return WorkDirectory.begin(folder, model, _plan_of_frame(data, model, id))


def check_model(model: Pipeline) -> None:
    """Refuse a model that needs more than parts of a table, before any work."""
    features, last = model[0], model[-1]
    if len(model) != 2 or not isinstance(features, PairFeatures) or not isinstance(last, PairSimilarity):
        raise ValueError(f"{type(last).__name__} does not group by pair features, and cannot on a cluster")
    linear = last.linear_similarity() if last.clustering_objective == "correlation" else None
    search = last._predictor()
    context = [type(block).__name__ for block in features.blocks_ if block.used_context()]
    refused = {
        "its similarity is not linear in pair features": linear is None,
        f"its search {search.name!r} does not go by component": search.name not in SEARCHES,
        "it compares all pairs: train it with --block N": features.blocking_ is None,
        "its likely pairs are found by vectors": features.blocking_ and features.blocking_.vectors,
        "it keeps sources apart": features.sources_ is not None,
        "pairs must beat their rivals (--precision)": getattr(last, "beats_rivals_", None),
        f"{', '.join(context)} looks at the set as a whole": context,
    }
    for why, holds in refused.items():
        if holds:
            raise ValueError(f"the model cannot group on a cluster: {why}")


def _plan_of_files(data: Any, model: Pipeline, id: str | None, partitions: int | None, size: Size) -> About:
    spans, columns, sizes = plan_of_files(data, partitions, size)
    return _about(model, id, columns, spans, digest([list(one) for one in sizes], len(spans)))


def _plan_of_frame(data: Any, model: Pipeline, id: str | None) -> About:
    names = [str(name) for name in data.columns]
    return _about(model, id, names, [()] * data.npartitions, digest(str(data._name), data.npartitions))


def _about(model: Pipeline, id: str | None, names: Sequence[str], spans: Any, data: str) -> About:
    if id is not None and id not in names:
        raise DataError(f"there is no column {id!r}; there are {', '.join(names)}")
    features: PairFeatures = model[0]
    assert features.blocking_ is not None
    looked_at = {need.name for need in features.needs_} | set(features.blocking_.fields_)
    looked_at |= {name for block in features.blocks_ for name in block.used_fields()}
    columns = [name for name in names if name in looked_at or name == id]
    identity = {"model": digest(model), "data": data, "id": digest(id)}
    return About(identity, spans, columns, id, uuid4().hex)


@dataclass(frozen=True)
class _StageSequence:
    """The stages in order; ``stats`` has those of the pieces of each."""

    engine: StageRunner
    stats: dict[str, Sequence[Stats]]

    @property
    def n(self) -> int:
        return len(self.engine.work.about.spans)

    def each(self, stage: str, make: Any) -> Sequence[Stats]:
        self.stats[stage] = self.engine.each(stage, make, self.n)
        return self.stats[stage]

    def exchange(self, stage: str, make: Any, meta: dict[str, Any], finish: Any) -> Sequence[Stats]:
        self.stats[stage] = self.engine.exchange(stage, make, meta, finish, self.n, self.n)
        return self.stats[stage]

    def read(self, data: Any) -> None:
        """The table in partitions, and whether it has what the model needs."""
        work = self.engine.work
        if any(work.about.spans):
            found = self.each(table_parts.READING, table_parts.read_part)
        else:
            found = self.engine.each_thing(
                table_parts.READING, table_parts.keep_frame, list(data.to_delayed())
            )
        table_parts.judge(work, found)
        if not all(one["rows"] for one in found):
            raise DataError("the table has partitions without rows: repartition it")
        work.set_sizes([one["rows"] for one in found])
        least = table_parts.blocking_of(work).from_size
        if work.n_items < least:
            raise ValueError(
                f"{work.n_items} rows: the model compares all pairs of fewer than {least}, in one process"
            )

    def candidates(self) -> None:
        """Frequencies of terms, keys, neighbours, pairs."""
        counted = self.exchange("terms", frequencies.make_terms, frequencies.TERMS, frequencies.sum_terms)
        if not frequencies.decide(self.engine.work, counted):
            types = frequencies.FREQUENCIES
            self.exchange("frequencies", frequencies.make_frequencies, types, frequencies.take_frequencies)
        self.exchange("keys", candidates.make_keys, candidates.KEYS, candidates.gather_keys)
        self.exchange("neighbours", candidates.make_lists, candidates.KEYS, candidates.find_neighbours)
        self.exchange("pairs", candidates.make_pairs, candidates.PAIRS, candidates.take_pairs)

    def scores(self) -> None:
        """Records of other parts, and the scores of pairs."""
        self.exchange("asked", pair_scores.make_questions, pair_scores.ASKED, pair_scores.take_questions)
        types = pair_scores.record_types(self.engine.work.read_table(table_parts.READING, 0).schema)
        self.exchange("records", pair_scores.make_records, types, pair_scores.take_records)
        if not frequencies.is_common(self.engine.work):
            self.exchange("counts", pair_scores.make_counts, pair_scores.COUNTS, pair_scores.take_counts)
        components.warn_unfamiliar(self.engine.work, self.each("scores", pair_scores.score_pairs))

    def components(self) -> str:
        """Components of the positive pairs; the name of the last round."""
        make, stage = components.make_first_edges, ""
        for turn in range(MOST_ROUNDS):
            stage = f"components-{turn}"
            found = self.exchange(stage, make, components.EDGES, partial(components.join_edges, stage))
            if not sum(one["new"] for one in found):
                return stage
            make = partial(components.make_edges, stage)
        raise AssertionError("components did not settle")

    def groups(self, last: str) -> int:
        """The clusters of components, numbered; how many there are."""
        work = self.engine.work
        make, finish = partial(components.make_inside, last), partial(components.take_inside, last)
        components.share_out(work, self.exchange("inside", make, components.INSIDE, finish))
        self.exchange("groups", components.make_components, components.INSIDE, components.search_groups)
        members = self.exchange(
            "members", components.make_members, components.GROUPS, components.take_members
        )
        clusters = components.number_clusters(work, members)
        self.exchange("numbers", components.make_strangers, components.GROUPS, components.number_strangers)
        self.exchange("labels", components.make_numbers, components.LABELS, components.write_labels)
        return clusters
