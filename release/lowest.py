"""python release/lowest.py: the lowest versions that pyproject.toml allows, as constraints for pip.

Dependencies and extras of users, not the tools of developers.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def lowest(project: dict[str, Any]) -> dict[str, str]:
    """The lowest version of each package.

    >>> extras = {"dev": ["x>=1"], "plot": ["m>=3.8"]}
    >>> lowest({"dependencies": ["numpy>=2.0"], "optional-dependencies": extras})
    {'numpy': '2.0', 'm': '3.8'}
    """
    extras = {k: v for k, v in project["optional-dependencies"].items() if k not in ("dev", "docs")}
    found = {}
    for line in itertools.chain(project["dependencies"], *extras.values()):
        name, version = re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", line).groups()
        found[name] = version
    return found


if __name__ == "__main__":
    print("pyparsing<3.2  # matplotlib of that time warns of what newer ones deprecate")
    for name, version in lowest(tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]).items():
        print(f"{name}=={version}{'.0' if version.count('.') == 0 else ''}")
