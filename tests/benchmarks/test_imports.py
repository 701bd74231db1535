"""Every benchmark can be imported: the names it uses are still there."""

from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


MODULES = sorted(
    ".".join(path.relative_to(FOLDER).with_suffix("").parts)
    for path in FOLDER.rglob("*.py")
    if not path.stem.startswith("__")
)


@pytest.mark.parametrize("name", MODULES)
def test_benchmarks_can_be_imported(name):
    try:
        import_module(f"benchmarks.{name}")
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.split(".")[0] in ("clustruct", "benchmarks"):
            raise
        pytest.skip(f"{missing.name} is not installed")
