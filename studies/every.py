"""All studies: a folder with a ``study.py`` that defines ``STUDY``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from studies.study import Study


def names() -> list[str]:
    """The folders that hold a study."""
    return sorted(path.parent.name for path in Path(__file__).parent.glob("*/study.py"))


STUDIES: tuple[Study, ...] = tuple(import_module(f"studies.{name}.study").STUDY for name in names())
