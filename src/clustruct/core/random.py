"""Random numbers as scikit-learn's users ask for them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

__all__ = ["RandomStateLike", "as_generator"]

RandomStateLike: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def as_generator(random_state: RandomStateLike) -> np.random.Generator:
    """A number gives the same stream each time, None another one each time; a generator goes on.

    >>> as_generator(7).random() == as_generator(7).random()
    True
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)
