"""Every benchmark and study can be imported: the names it uses are still there."""

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for folder in ("benchmarks", "studies")
    for path in (ROOT / folder).rglob("*.py")
    if not path.stem.startswith("__")
)


@pytest.mark.parametrize("name", MODULES)
def test_modules_can_be_imported(name):
    try:
        import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.split(".")[0] in ("clustruct", "benchmarks", "studies"):
            raise
        pytest.skip(f"{missing.name} is not installed")
