"""What a loss of the user's own will cost, said before the training."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence

import numpy as np

from clustruct.core.exceptions import CostWarning
from clustruct.core.partitions import canonical_labels
from clustruct.core.text import duration
from clustruct.core.typing import Labels
from clustruct.losses import FunctionLoss, Loss

# What takes longer, in seconds, is mentioned.
WORTH_SAYING = 60.0
# Where every partition is called for: rounds of one training, and of one in the choice of C, which starts
# from the one before. Else values come up again: m^2 of them in one training where counts of pairs alone
# matter, 0.6 m^2 k where the counts of k true clusters do, and 2.5 times as many in the choice of C (measured
# for 1 - adjusted Rand and 1 - normalised information, sets of 12 to 50 items, 4 and 8 clusters).
ROUNDS, ROUNDS_OF_CHOICE = 10, 5
PAIRS, COUNTS, CHOICE = 1.0, 0.6, 2.5
TIMED = 3


def mention_cost(loss: Loss, labels: Sequence[Labels], n_choosing: int) -> None:
    """Warn of a function that will take long: it is timed, and the calls of the searches are estimated.

    ``n_choosing`` is the number of trainings in the choice of C.
    """
    if not isinstance(loss, FunctionLoss):
        return
    largest = max(labels, key=len)
    seconds = _seconds_of_call(loss, largest)
    sight = loss.sight(canonical_labels(largest))
    expected = [_calls(sight, y, n_choosing) for y in labels]
    last, choice = (seconds * sum(calls) for calls in zip(*expected, strict=True))
    if last + choice <= WORTH_SAYING:
        return
    fixed = f" (with a C of your own about {duration(last)})" if n_choosing else ""
    warnings.warn(
        f"the loss function takes {1000 * seconds:.2g} ms a call, and will be called about "
        f"{(last + choice) / seconds:,.0f} times: training will take about {duration(last + choice)}{fixed}. "
        "verbose=1 shows how it goes, Ctrl-C keeps what was learned; losses known by name ('pairwise', "
        "'mitre') are far faster",
        CostWarning,
        stacklevel=3,
    )


def _calls(sight: str, y: Labels, n_choosing: int) -> tuple[float, float]:
    """Calls in the last training, and in the choice of C."""
    m, k = len(y), int(y.max()) + 1
    all_merges = m**3 / 6
    last, choice = ROUNDS * all_merges, n_choosing * ROUNDS_OF_CHOICE * all_merges
    if sight == "items":
        return last, choice
    last = min(last, m**2 * (PAIRS if sight == "pairs" else COUNTS * k))
    return last, min(choice, CHOICE * last if n_choosing else 0.0)


def _seconds_of_call(loss: FunctionLoss, y: Labels) -> float:
    alone = np.arange(len(y), dtype=np.int64)
    took = []
    for _ in range(TIMED):
        started = time.perf_counter()
        loss(y, alone)
        took.append(time.perf_counter() - started)
    return min(took)
