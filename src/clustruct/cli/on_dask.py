"""Commands that run on many machines: ``--dask ADDRESS``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clustruct
from clustruct.core.callbacks import training_callback
from clustruct.core.formatting import count

from .arguments import whole
from .output import UsageError, print_json
from .progress import ProgressOutput

if TYPE_CHECKING:
    from .arguments import SavedModel

# Options of `predict` that one process knows alone.
ALONE = (
    *("confidence", "existing", "constraints", "set", "where", "without", "reject_below"),
    *("pairs", "groups", "wide", "graph"),
)


def add_arguments(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Which cluster, and how it is described."""
    group = parser.add_argument_group("on many machines (pip install 'clustruct[dask]')")
    where = "the scheduler of a Dask cluster, tcp://host:8786; local: workers on this machine"
    group.add_argument("--dask", metavar="ADDRESS|local", help=where)
    group.add_argument("--workers", type=whole(1), metavar="N", help="of --dask local (one for each core)")
    limit = "that each worker of --dask local may use, e.g. 2GB"
    group.add_argument("--worker-memory", metavar="SIZE", help=limit)
    report = "write Dask's report of the run, an HTML page"
    group.add_argument("--performance-report", metavar="FILE", help=report)
    return group


def add_table_arguments(parser: argparse.ArgumentParser) -> None:
    """The same for a table, which is cut into partitions."""
    group = add_arguments(parser)
    rows = "cut the table into N partitions (default: by the memory of workers)"
    group.add_argument("--partitions", type=whole(1), metavar="N", help=rows)
    kept = "directory, seen by all machines, for what is made on the way (OUT.work); a run cut short goes on"
    group.add_argument("--work", metavar="DIR", help=kept)


def check(args: argparse.Namespace) -> None:
    """Refuse options that mean nothing without a cluster."""
    needing = ["workers", "worker_memory", "performance_report", "partitions", "work"]
    for name in needing if args.dask is None else ():
        if getattr(args, name, None) is not None:
            raise UsageError(f"--{name.replace('_', '-')} goes with --dask")
    if args.dask not in (None, "local") and (args.workers or args.worker_memory):
        raise UsageError("--workers and --worker-memory are for --dask local: a cluster has its own")


@contextmanager
def open_cluster(args: argparse.Namespace) -> Iterator[Any]:
    """The cluster of a command, with its report; its dashboard is told."""
    with clustruct.distributed.connected(args.dask, args.workers, args.worker_memory) as client:
        if not args.quiet and client.dashboard_link:
            print(f"clustruct: dashboard at {client.dashboard_link}", file=sys.stderr)
        with _report(args.performance_report):
            yield client


def _report(path: str | None) -> Any:
    if path is None:
        return nullcontext()
    from distributed import performance_report

    return performance_report(filename=path, mode="inline")  # the page needs nothing of the network


@contextmanager
def training(args: argparse.Namespace) -> Iterator[None]:
    """Trainings inside ask their oracles on the cluster, where there is one."""
    check(args)
    if args.dask is None:
        yield
        return
    with open_cluster(args) as client:
        try:
            with clustruct.ssvm.executing(clustruct.distributed.DaskExecutor(client)):
                yield
        except clustruct.core.exceptions.ClusterError as error:
            if args.checkpoint is None:
                raise
            text = f"{error}; the same command goes on from {args.checkpoint}"
            raise clustruct.core.exceptions.ClusterError(text) from None


def predict(args: argparse.Namespace, saved: SavedModel) -> None:
    """Group one table of Parquet files."""
    for name in ALONE:
        if getattr(args, name, None):
            option = {"without": "except"}.get(name, name)
            raise UsageError(f"--{option.replace('_', '-')} does not go with --dask")
    if args.out is None:
        raise UsageError("--dask writes a directory of Parquet files: name it with --out DIR")
    if saved.columns.get("set"):
        raise UsageError("the model was trained on sets (--set): --dask groups one table")
    progress = ProgressOutput(args.quiet)
    with open_cluster(args) as client, training_callback(progress):
        found = clustruct.distributed.predict(
            args.data,
            saved.pipeline,
            Path(args.out),
            client=client,
            id=args.id or saved.columns.get("id"),
            partitions=args.partitions,
            work=args.work,
        )
    progress.close_stage()
    if args.json:
        print_json({"out": found.path, "items": found.items, "clusters": found.clusters})
    elif not args.quiet:
        print(f"{count(found.items, 'item')} in {count(found.clusters, 'cluster')}")
        print(f"written to {found.path}")
    if args.verbose:
        progress.costs.print()
