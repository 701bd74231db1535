"""Tables 3 to 6 as Markdown, the published figures beside ours."""

from __future__ import annotations

from typing import Any

from studies.rendering import grid
from studies.universum2011.published import ACCURACY, NMI, RAND, SECONDS


def render_tables(rows: list[dict[str, Any]]) -> str:
    """Each measure (published), with an arrow where ours is worse; seconds of one fit."""
    lines = []
    for row in rows:
        accuracy = _beside(row, "accuracy", ACCURACY, 1, f" ± {row['spread']:.1f}")
        others = [_beside(row, "nmi", NMI, 3), _beside(row, "rand", RAND, 3)]
        then = SECONDS[row["collection"]].get(row["method"])
        seconds = f"{row['seconds']:.2f}" + ("" if then is None else f" ({then:.0f})")
        lines.append([row["method"], str(row["seeds"]), accuracy, *others, seconds])
    return grid(["method", "seeds", "accuracy (published)", "NMI", "Rand", "CPU seconds"], lines)


def _beside(
    row: dict[str, Any], key: str, table: dict[str, dict[str, float]], digits: int, more: str = ""
) -> str:
    ours, then = row[key], table[row["collection"]].get(row["method"])
    if then is None:
        return f"{ours:.{digits}f}{more}"
    worse = " ↓" if round(ours, digits) < then else ""
    return f"{ours:.{digits}f}{more} ({then:.{digits}f}){worse}"
