"""Labels as people have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..sheets import Sheet
from .registry import Change, Rng, add

FLAT = ("persons", "products", "papers", "places", "events", "vectors")


def _named(name: Callable[[int], str]) -> Change:
    """The labelled groups have other names."""

    def change(sheet: Sheet, rng: Rng) -> Sheet:
        labels = [name(g) if label else "" for g, label in zip(sheet.truth, sheet.labels, strict=True)]
        return replace(sheet, labels=labels)

    return change


for word, name in {
    "whole numbers": str,
    "floats": lambda g: f"{g}.0",
    "with blanks around": lambda g: f"  g{g} ",
    "of two words": lambda g: f"the group {g}",
    "in Chinese": lambda g: "組" + chr(0x4E00 + g),
    "emoji": lambda g: chr(0x1F300 + g),
    "of forty digits": lambda g: str(10**39 + g),
    "with quotes and commas": lambda g: f'"{g}", that is',
    "like dates": lambda g: f"2024-{1 + g % 12:02d}-{1 + g // 12:02d}",
    "negative": lambda g: str(-g - 2),
}.items():
    add(f"labels: {word}", "labels", "undoable", _named(name))


def _unlabelled_as(word: str) -> Change:
    return lambda sheet, rng: replace(sheet, labels=[label or word for label in sheet.labels])


for word in ("-1", "NA", "null", "  "):
    add(f"no label: {word.strip() or 'blanks'}", "labels", "undoable", _unlabelled_as(word), only=FLAT)


def _kept(n: int) -> Change:
    """So many groups are labelled."""

    def change(sheet: Sheet, rng: Rng) -> Sheet:
        kept = set(sorted({label for label in sheet.labels if label})[:n])
        return replace(sheet, labels=[label if label in kept else "" for label in sheet.labels])

    return change


def _wrong(sheet: Sheet, rng: Rng) -> Sheet:
    """Two labels of a hundred are those of another group."""
    known = sorted({label for label in sheet.labels if label})
    labels = [str(rng.choice(known)) if label and rng.random() < 0.02 else label for label in sheet.labels]
    return replace(sheet, labels=labels)


def _singletons(sheet: Sheet, rng: Rng) -> Sheet:
    """One row of each labelled group is labelled, so that no two labelled rows belong together."""
    seen: set[str] = set()
    labels = []
    for label in sheet.labels:
        labels.append("" if label in seen else label)
        seen.add(label)
    return replace(sheet, labels=labels)


def _giant(sheet: Sheet, rng: Rng) -> Sheet:
    """All labelled rows are one group."""
    return replace(sheet, labels=["all" if label else "" for label in sheet.labels])


def _partly(sheet: Sheet, rng: Rng) -> Sheet:
    """A third of the labels of a group is missing."""
    return replace(sheet, labels=["" if rng.random() < 1 / 3 else label for label in sheet.labels])


def _all(sheet: Sheet, rng: Rng) -> Sheet:
    return replace(sheet, labels=[f"g{g}" for g in sheet.truth])


FEW = ("label", "cluster", "group", "together")
add("labels: twelve groups", "labels", "changes", _kept(12), only=FLAT)
add("labels: three groups", "labels", "changes", _kept(3), refusals=FEW, only=FLAT)
add("labels: one group", "labels", "changes", _kept(1), refusals=FEW, only=FLAT)
add("labels: two in a hundred wrong", "labels", "changes", _wrong, only=FLAT)
add("labels: no two alike", "labels", "changes", _singletons, refusals=FEW, only=FLAT)
add("labels: one giant group", "labels", "changes", _giant, refusals=FEW, only=FLAT)
add("labels: parts of groups", "labels", "changes", _partly, only=FLAT)
add("labels: all rows", "labels", "changes", _all)
