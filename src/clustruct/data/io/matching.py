"""Predictions of a file beside the sets they were made for."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from clustruct.core.exceptions import DataError, DataWarning
from clustruct.data.records import RawSet

from .files import is_table, read_sets
from .tables import Columns


def match_predictions(
    path: str | PathLike[str], sets: Sequence[RawSet], delimiter: str | None = None
) -> list[list[Any]]:
    """The labels that a predictions file has for the items of the sets, in their order.

    Sets and items are matched by name; one that is not there is an error, one too many is not. A set of one
    of several files may be called "file: name" there. The ids 1 and "1" are the same where only one of
    them is there, as in tables, where all ids are text.

    Parameters
    ----------
    path : path
        A predictions file.
    sets : sequence of RawSet
        The sets that it should speak of.
    delimiter : str, optional
        What separates cells, where it is not a comma or a tab.

    Returns
    -------
    list of list of object
        For each set the label of each item.
    """
    found = _predictions(path, delimiter)
    answers, taken = [], set[str]()
    for raw in sets:
        name = next((n for n in _names(raw) if n in found and n not in taken), None)
        if name is None and len(sets) == len(found) == 1 and not raw.name:
            name = next(iter(found))
        if name is None:
            raise DataError(f"{path}: there is no prediction for {raw.called}")
        taken.add(name)
        answers.append(_labels(path, raw, found[name]))
    return answers


def _predictions(path: str | PathLike[str], delimiter: str | None) -> Mapping[str, RawSet]:
    columns = Columns(id="id")
    if is_table(path):
        columns = Columns(set="set", id="id", cluster="cluster", remembered=frozenset(["set"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # without the column there is one set
        return {raw.name: raw for raw in read_sets(path, columns=columns, delimiter=delimiter)}


def _names(raw: RawSet) -> list[str]:
    """What a set may be called in predictions: with its file where it was one of several, or by itself."""
    if raw.source is None:
        return [raw.name]
    files = [raw.source.path, Path(raw.source.path).name]
    bare = "" if raw.name in files else raw.name
    for file in files:
        bare = bare.removeprefix(f"{file}: ")
    # The name with its file comes first: the bare one may be that of another file's set.
    return [*([f"{file}: {bare}" for file in files] if bare else files), raw.name, bare]


def _labels(path: str | PathLike[str], raw: RawSet, found: RawSet) -> list[Any]:
    labels = list(found.labels or ())
    exact = {_exact(name): label for name, label in zip(found.item_ids, labels, strict=True)}
    alike = {str(name): label for name, label in zip(found.item_ids, labels, strict=True)}
    here, there = (Counter(map(str, one.item_ids)) for one in (raw, found))
    answers = []
    for name in raw.item_ids:
        if _exact(name) in exact:
            answers.append(exact[_exact(name)])
        elif here[str(name)] == there[str(name)] == 1:
            answers.append(alike[str(name)])
        else:
            raise DataError(f"{path}: there is no prediction for item {name!r} of {raw.called}")
    return answers


def _exact(name: Hashable) -> tuple[bool, str]:
    """An id as JSON writes it: 1 and "1" are two."""
    return isinstance(name, str), str(name)
