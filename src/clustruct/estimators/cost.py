"""What a loss of the user's own will cost, said before the training."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence

import numpy as np

from clustruct._typing import Labels
from clustruct.exceptions import CostWarning
from clustruct.losses import FunctionLoss, Loss
from clustruct.text import duration

# What takes longer, in seconds, is mentioned.
WORTH_SAYING = 60.0
# Rounds of one training, and of one in the choice of C, which starts from the one before; calls for each item
# and true cluster where counts alone matter (measured for 1 - adjusted Rand, sets of 25 items).
ROUNDS, ROUNDS_OF_CHOICE, CALLS = 10, 5, 2.5
TIMED = 3


def mention_cost(loss: Loss, labels: Sequence[Labels], n_choosing: int) -> None:
    """Warn of a function that will take long: it is timed, and the calls of the searches are estimated.

    ``n_choosing`` is the number of trainings in the choice of C.
    """
    if not isinstance(loss, FunctionLoss):
        return
    largest = max(labels, key=len)
    seconds = _seconds_of_call(loss, largest)
    calls = sum(_calls(loss, y) for y in labels)
    last, choice = (seconds * calls * n for n in (ROUNDS, n_choosing * ROUNDS_OF_CHOICE))
    if last + choice <= WORTH_SAYING:
        return
    fixed = f" (with a C of your own about {duration(last)})" if n_choosing else ""
    warnings.warn(
        f"the loss function takes {1000 * seconds:.2g} ms a call, and each round of training calls it about "
        f"{calls:,.0f} times: training will take about {duration(last + choice)}{fixed}. verbose=1 shows how "
        "it goes, Ctrl-C keeps what was learned; losses known by name ('pairwise', 'mitre') are far faster",
        CostWarning,
        stacklevel=3,
    )


def _calls(loss: FunctionLoss, y: Labels) -> float:
    """Calls of one search: a merge of each two clusters in each step, or of each two kinds of them."""
    all_merges = len(y) ** 3 / 6
    return min(all_merges, CALLS * len(y) * (int(y.max()) + 1)) if loss.of_counts(y) else all_merges


def _seconds_of_call(loss: FunctionLoss, y: Labels) -> float:
    alone = np.arange(len(y), dtype=np.int64)
    took = []
    for _ in range(TIMED):
        started = time.perf_counter()
        loss(y, alone)
        took.append(time.perf_counter() - started)
    return min(took)
