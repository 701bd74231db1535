"""Where the third-party data lies, and its lines."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class NoData(SystemExit):
    """The third-party data (or a package to compare with) is not to be had: one line, unless it is caught."""


def data_folder() -> Path | None:
    """Where the third-party data lies, or None."""
    given = os.environ.get("CLUSTRUCT_DATA")
    return Path(given) if given else None


def data_file(name: str) -> Path:
    """A file of the third-party data."""
    folder = data_folder()
    if folder is None:
        raise NoData("set CLUSTRUCT_DATA to the folder with the third-party data")
    if not (folder / name).exists():
        raise NoData(f"there is no {name} in the folder that CLUSTRUCT_DATA names")
    return folder / name


def text_lines(name: str) -> Iterator[str]:
    """The lines of a compressed file."""
    with gzip.open(data_file(name), "rt", encoding="utf-8") as file:
        yield from file


def json_lines(name: str) -> list[dict[str, Any]]:
    """A compressed file with one object per line."""
    return [json.loads(line) for line in text_lines(name)]
