"""Tables of the evidence as the kept figures have them at this moment, whatever the file of the page says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = str(Path(__file__).resolve().parents[2])


def begin(app: Any) -> None:
    sys.path.insert(0, ROOT)
    from benchmarks.evidence import tables

    app.kept_tables = tables()


def fill(app: Any, page: str, source: list[str]) -> None:
    from studies.rendering import put

    for name, table in app.kept_tables.get(page, {}).items():
        source[0] = put(source[0], name, table)


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", begin)
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
