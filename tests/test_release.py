"""What a release needs agrees with itself."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def recipe():
    return (ROOT / "release/conda/recipe.yaml").read_text(encoding="utf-8")


def packages(lines):
    return {line.replace(" ", "") for line in lines}


def test_the_recipe_of_conda_names_the_same_version_and_dependencies(recipe):
    version = re.search(r'version: "(.*)"', recipe).group(1)
    assert PROJECT["version"].startswith(version)
    runs = re.search(r"  run:\n((?:    - .*\n)+)", recipe).group(1)
    named = packages(line.strip("- ") for line in runs.splitlines()) - {"python>=3.11"}
    assert named == packages(PROJECT["dependencies"])
    for name, where in PROJECT["scripts"].items():
        assert f"- {name} = {where}" in recipe


def test_the_changelog_begins_with_the_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^## (\S+)", text, re.MULTILINE).group(1)
    assert PROJECT["version"].startswith(first)


def test_whatever_is_tested_is_pinned_and_no_address_is_kept():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = {line.split("==")[0].lower().replace("_", "-") for line in lines if not line.startswith("#")}
    extras = [line for extra in PROJECT["optional-dependencies"].values() for line in extra]
    names = {re.match(r"[\w-]+", line).group().lower() for line in [*PROJECT["dependencies"], *extras]}
    assert names - {PROJECT["name"]} <= pins  # an extra may name another one of the same package
    assert not [line for line in lines if "://" in line or "@" in line]


def test_every_dependency_has_a_lowest_version():
    sys.path.insert(0, str(ROOT / "release"))
    try:
        from lowest import lowest
    finally:
        sys.path.pop(0)
    found = lowest(PROJECT)
    assert found["numpy"] == "2.0"
    assert "pytest" not in found
