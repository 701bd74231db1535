"""Similarities by name."""

from __future__ import annotations

from collections.abc import Callable

from sklearn.base import clone

from .base import PairMap
from .kernels import KernelMap, NystroemMap
from .tree_column import TreeColumn

# What --similarity and Recipe(similarity=...) know; "linear" needs no map.
SIMILARITIES: dict[str, Callable[[], PairMap | None]] = {
    "linear": lambda: None,
    "kernel": KernelMap,
    "mapped": NystroemMap,
    "trees": TreeColumn,
}


def make_map(similarity: str | PairMap, random_state: int = 0) -> PairMap | None:
    """The map of that name, or a copy of one that is given; None for the linear similarity.

    Parameters
    ----------
    similarity : str or PairMap
        A name of `SIMILARITIES`, or a map.
    random_state : int, default=0
        Seed of the map.

    Returns
    -------
    PairMap or None
        A map that is not fitted yet.

    Examples
    --------
    >>> make_map("linear") is None, type(make_map("trees")).__name__
    (True, 'TreeColumn')
    """
    if isinstance(similarity, PairMap):
        return clone(similarity)
    if similarity not in SIMILARITIES:
        if similarity == "auto":
            raise ValueError("similarity='auto' is a choice that `Recipe.fit` makes; to see it, cv --compare")
        raise ValueError(f"similarity must be one of {', '.join(SIMILARITIES)}, auto, not {similarity!r}")
    made = SIMILARITIES[similarity]()
    if made is not None and "random_state" in made.get_params():
        made.set_params(random_state=random_state)
    return made
