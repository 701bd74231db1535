"""What can be had on a table, with the answers in view: ``python -m benchmarks.tables.ceiling cora title``.

For each direction of `real`: F of the linear similarity, and the best F over places of zero, chosen by the
answers themselves; and F of the right groups where each is cut into rows of one title, where groups of one
title are joined, and both. None of these is a result of a tool: they say what the labels allow.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from benchmarks.printing import format_table
from benchmarks.tables import real
from benchmarks.tables.held_out import labelled_half
from benchmarks.tables.scores import Labels, touching
from clustruct import Recipe

# Places of zero that are tried, in standard deviations of the scores.
PLACES = np.round(np.arange(-0.6, 0.61, 0.05), 2)
# Two titles are one where so many of the words of the shorter are in the other.
SHARED = 0.6


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables.ceiling", description=__doc__)
    parser.add_argument("table", choices=[*real.NAMES, *real.BESIDE])
    parser.add_argument("field", help="what a reader would call the same thing by, a title")
    parser.add_argument("--no-learning", action="store_true", help="what labels allow, alone")
    given = parser.parse_args()
    rows = real.read(given.table)
    print(format_table([_direction(rows, half, given) for half in real.HALVES]))


def _direction(rows: real.Rows, half: range, given: argparse.Namespace) -> dict[str, object]:
    labelled = np.array([int(row["fold"]) in half for row in rows])
    truth, titles = real.entities(rows), [row[given.field] for row in rows]
    cut, joined = cut_by_title(truth, titles), joined_by_title(truth, titles)
    groupings = {"cut by title": cut, "joined by title": joined, "both": joined_by_title(cut, titles)}
    found: dict[str, object] = {"labelled folds": f"{half.start}-{half.stop - 1}"}
    if not given.no_learning:
        scored = {place: touching(truth, y, ~labelled).f1 for place, y in _by_place(given.table, half)}
        best = max(scored, key=lambda place: scored[place])
        found |= {"F": scored[0.0], "best F": scored[best], "zero at": best}
    return found | {name: touching(truth, y, ~labelled).f1 for name, y in groupings.items()}


def _by_place(name: str, half: range) -> Iterator[tuple[float, Labels]]:
    """The groups of the linear similarity, by the place of zero."""
    sets = labelled_half(name, half)
    features, model = Recipe(calibrate=False).fit(sets).pipeline_
    scores = features.scores(sets[0], *model.linear_similarity())
    spread = float(np.std(scores.values))
    for place in PLACES.tolist():
        yield place, model.group_scores(replace(scores, values=scores.values - place * spread)).labels


def cut_by_title(truth: Labels, titles: Sequence[str]) -> Labels:
    """Each group cut into rows that titles connect; a row without a title stays with the largest part.

    >>> cut_by_title(np.array([0, 0, 0, 1]), ["an advice", "An Advice.", "on-line", "on line"]).tolist()
    [0, 0, 1, 2]
    """
    words = [frozenset(re.findall(r"\w+", title.lower())) for title in titles]
    found, first = np.zeros(len(truth), np.int64), 0
    for group in np.unique(truth):
        own = np.flatnonzero(truth == group)
        parts = _parts([words[a] for a in own])
        found[own] = first + parts
        first += int(parts.max()) + 1
    return found


def _parts(words: Sequence[frozenset[str]]) -> Labels:
    named = [k for k, own in enumerate(words) if own]
    same = [(a, b) for a in named for b in named if a < b and is_one(words[a], words[b])]
    a, b = np.array(same, np.int64).reshape(-1, 2).T
    linked = coo_array((np.ones(len(a)), (a, b)), shape=(len(words),) * 2)
    parts = connected_components(linked, directed=False)[1]
    largest = Counter(parts[named].tolist()).most_common(1)[0][0] if named else 0
    parts[[k for k, own in enumerate(words) if not own]] = largest
    return np.unique(parts, return_inverse=True)[1].astype(np.int64)


def is_one(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two titles share most of the words of the shorter."""
    return len(one & other) >= SHARED * min(len(one), len(other))


def joined_by_title(truth: Labels, titles: Sequence[str]) -> Labels:
    """Groups whose most frequent title is the same, letter by letter, are one.

    >>> joined_by_title(np.array([0, 0, 1, 2]), ["On Trees", "on trees.", "on trees", "forests"]).tolist()
    [1, 1, 1, 0]
    """
    plain = ["".join(re.findall(r"\w", title.lower())) for title in titles]
    usual = {
        g: Counter(plain[a] for a in np.flatnonzero(truth == g)).most_common(1)[0][0]
        for g in np.unique(truth)
    }
    names = [usual[g] or f"group {g}" for g in truth]
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


if __name__ == "__main__":
    main()
