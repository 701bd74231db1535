"""Segmentations against those of people, on pictures that nothing was learned from."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from clustruct.evaluate.metrics import compare_paired
from studies.results import Results

from .images import judged, people, pictures
from .methods import METHODS, SCORES, whole

QUICK = 3


def against_people(results: Results, quick: bool) -> list[dict[str, Any]]:
    """Every method, its one number chosen on the training by either score; people beside each other."""
    limit = QUICK if quick else None
    train, test = pictures("train", limit), pictures("val", limit)
    rows = []
    for by, score in list(SCORES.items())[: 1 if quick else None]:
        for name, choose in METHODS.items():
            found = results.get(
                f"{name}, by {by}", lambda c=choose, s=score: asdict(judged(c(train, s), test))
            )
            rows.append({"method": name, "chosen by": by, **found})
    rows.append({"method": "one segment", **results.get("one segment", lambda: asdict(judged(whole, test)))})
    rows.append({"method": "people", **results.get("people", lambda: asdict(people(test)))})
    by_picture = [row.pop("by_picture") for row in rows]
    return [row | _beside(by_picture[0], other) for row, other in zip(rows, by_picture, strict=True)]


def _beside(learned: list[float], other: list[float]) -> dict[str, Any]:
    """On how many pictures the learned one is nearer to people, and the level of that difference."""
    if learned == other:
        return {}
    found = compare_paired(learned, other)
    return {"learned nearer on": f"{found.wins} of {len(other)}", "p": found.p_two_tailed}
