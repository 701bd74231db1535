"""A cluster at hand: an address or one of this machine's own, and what its faults mean in words."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, TypeAlias

from clustruct.core.exceptions import ClusterError

# distributed has no types.
Client: TypeAlias = Any
LOCAL = "local"
SENT_TOO_LATE = "Tried sending message after closing"
# Seconds to wait for a scheduler.
PATIENCE = 10.0
# Seconds between two looks at the workers while nothing is done, and how long all of them may be paused: Dask
# pauses one that has 80 % of its memory in use, and waits without end where nothing of that can go to disk.
LOOK, MOST_PAUSED = 5.0, 60.0


@contextmanager
def connected(
    address: str, n_workers: int | None = None, memory_limit: str | None = None
) -> Iterator[Client]:
    """A client of the scheduler at an address, ``tcp://host:8786``; "local" starts one with workers on this
    machine, for as long as it is used.

    Parameters
    ----------
    address : str
        The address of a scheduler, or "local".
    n_workers : int, optional
        How many workers a local cluster has.
    memory_limit : str, optional
        How much memory each of them may take, such as "2GB".

    Yields
    ------
    Client
        The client.
    """
    distributed = _distributed()
    # That a scheduler is lost we say ourselves, in one line.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    if address == LOCAL:
        options: dict[str, Any] = {
            "n_workers": n_workers,
            "threads_per_worker": 1,
            "dashboard_address": "127.0.0.1:0",
        }
        options |= {"silence_logs": logging.ERROR}  # Dask warns when a shuffle begins and ends
        options |= {} if memory_limit is None else {"memory_limit": memory_limit}
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            yield client
        return
    try:
        client = distributed.Client(address, timeout=PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(f"no scheduler answers at {address} ({_first_line(error)})") from None
    with client:
        if not client.nthreads():
            raise ClusterError(
                f"the scheduler at {address} has no workers: start one with dask worker {address}"
            )
        yield client


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ModuleNotFoundError("a cluster needs Dask: pip install 'clustruct[dask]'") from None
    return distributed


@contextmanager
def answering(client: Client, stage: str) -> Iterator[None]:
    """Faults of the cluster, not those of the work, become a `ClusterError` that names the stage."""
    distributed = _distributed()
    try:
        yield
    except distributed.KilledWorker as error:
        task = error.task if isinstance(getattr(error, "task", None), str) else ""
        raise ClusterError(
            f"{stage}: workers died again and again at the same piece of work{_partition_in(task)}, "
            "for want of memory most likely: give workers more of it, or cut the data into smaller partitions"
        ) from None
    except _Paused:
        raise ClusterError(
            f"{stage}: all workers are paused for want of memory, and nothing more can go to disk: give "
            "workers more of it, or cut the data into smaller partitions"
        ) from None
    except Exception as error:
        # Versions of 2025 raise a plain Exception where something is sent to a scheduler that is gone.
        if not isinstance(error, _lost_errors(distributed)) and SENT_TOO_LATE not in str(error):
            raise
        raise _lost_scheduler(client, stage, error) from None
    except asyncio.CancelledError as error:
        raise _lost_scheduler(client, stage, error) from None


def _lost_scheduler(client: Client, stage: str, error: BaseException) -> ClusterError:
    return ClusterError(f"{stage}: the scheduler at {_address(client)} is gone ({_first_line(error)})")


def as_completed(client: Client, futures: Iterable[Any]) -> Iterator[Any]:
    """Futures as they end; a `ClusterError` where all workers stay paused for want of memory."""
    distributed = _distributed()
    left, paused = set(futures), 0.0
    while left:
        try:
            done, left = distributed.wait(left, timeout=LOOK, return_when="FIRST_COMPLETED")
        except distributed.TimeoutError:
            paused = paused + LOOK if _are_all_paused(client) else 0.0
            if paused >= MOST_PAUSED:
                raise _Paused from None
        else:
            paused = 0.0
            yield from done


class _Paused(Exception):
    """All workers wait for memory that nothing will free."""


def _are_all_paused(client: Client) -> bool:
    workers = client.scheduler_info()["workers"].values()
    return bool(workers) and all(worker["status"] == "paused" for worker in workers)


def _lost_errors(distributed: Any) -> tuple[type[Exception], ...]:
    """What a client that has lost its scheduler raises."""
    of_client = [
        getattr(distributed.client, name, None) for name in ("ClosedClientError", "FuturesCancelledError")
    ]
    own = [kind for kind in of_client if kind is not None]
    return (CancelledError, distributed.comm.CommClosedError, TimeoutError, *own)


def _partition_in(task: str) -> str:
    """The partition that a piece of work is for: its name ends with it.

    >>> _partition_in("scores-3"), _partition_in("('shuffle-transfer-5f', 12)"), _partition_in("")
    (' (partition 3)', ' (partition 12)', '')
    """
    found = re.search(r"(\d+)\)?$", task)
    return f" (partition {found[1]})" if found else ""


def _address(client: Client) -> str:
    return getattr(getattr(client, "scheduler", None), "address", None) or "an address that is lost"


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
