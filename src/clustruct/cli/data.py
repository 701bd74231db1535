"""Sets from the files named on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from sklearn.pipeline import Pipeline

from clustruct.exceptions import DataError, ModelFileError, NoLabels
from clustruct.features import PairFeatures
from clustruct.io import Columns, LabelUse, read_sets
from clustruct.records import RawSet
from clustruct.storage import StoredFile, read

NAMED = ("set", "id", "cluster", "group")


def columns(args: argparse.Namespace, trained: Mapping[str, Any] | None = None) -> Columns:
    """The columns named by the options; where not named, those that the model was trained with."""
    before = trained or {}
    named = {name: getattr(args, name) or before.get(name) for name in NAMED}
    fields = args.fields.split(",") if args.fields else before.get("fields")
    kept = [before[name] for name in NAMED if not getattr(args, name) and before.get(name)]
    kept += [] if args.fields else fields or []
    return Columns(
        **named,
        fields=fields,
        left_out=frozenset(before.get("chosen_by") or ()),
        remembered=frozenset(kept),
        repeated_ids=args.number_ids,
        where=_choices(args.where),
        without=_choices(args.without),
    )


def about(args: argparse.Namespace) -> dict[str, Any]:
    """What later commands want to know of how the data was read."""
    fields = args.fields.split(",") if args.fields else None
    chosen_by = sorted({*_choices(args.where), *_choices(args.without)})
    return {**{name: getattr(args, name) for name in NAMED}, "fields": fields, "chosen_by": chosen_by}


def read_model(path: str) -> StoredFile[Pipeline]:
    """A model as ``fit`` writes them: features, and a clusterer."""
    saved = read(path, Pipeline)
    if len(saved.object) != 2 or not isinstance(saved.object[0], PairFeatures):
        raise ModelFileError(f"{path}: holds no PairFeatures with a clusterer")
    return saved


def trained_with(saved: StoredFile[Pipeline]) -> dict[str, Any]:
    """What `about` gave when the model was trained; nothing for a model from Python."""
    held = saved.about.get("columns")
    found = dict(held) if isinstance(held, Mapping) else {}
    names = [found.get(name) for name in NAMED]
    lists = [found.get(name) or [] for name in ("fields", "chosen_by")]
    plain = all(isinstance(v, list) for v in lists)
    if not plain or not all(isinstance(n, str | None) for n in [*names, *(n for v in lists for n in v)]):
        raise ModelFileError("the model file is damaged: its columns are no names")
    return found


def _choices(given: list[str]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for text in given:
        name, _, values = text.partition("=")
        found[name] = found.get(name, frozenset()) | frozenset(values.split(","))
    return found


def labelled_sets(args: argparse.Namespace, trained: Mapping[str, Any] | None = None) -> list[RawSet]:
    """All sets, with labels."""
    use: LabelUse = "skip" if args.skip_unlabelled else "required"
    sets = list(read_sets(*args.data, columns=columns(args, trained), labels=use, delimiter=args.delimiter))
    for name in args.fields.split(",") if args.fields else ():
        if not any(name in item for raw in sets for item in raw.items):
            raise DataError(f"{args.data[0]}: no item has the field {name!r}")
    return sets


def unlabelled_sets(args: argparse.Namespace, trained: Mapping[str, Any] | None = None) -> Iterator[RawSet]:
    """The sets one by one, labels left out."""
    return read_sets(*args.data, columns=columns(args, trained), labels="ignored", delimiter=args.delimiter)


def sets_as_they_are(args: argparse.Namespace, trained: Mapping[str, Any] | None = None) -> list[RawSet]:
    """All sets, with labels where the data has them."""
    try:
        return labelled_sets(args, trained)
    except NoLabels:
        return list(unlabelled_sets(args, trained))


def groups_of(sets: list[RawSet]) -> list[Any] | None:
    """The group of each set, a set without one being a group of its own; None where no set has one."""
    if all(raw.group is None for raw in sets):
        return None
    return [f"set {i}" if raw.group is None else f"group {raw.group}" for i, raw in enumerate(sets)]
