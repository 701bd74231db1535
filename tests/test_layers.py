"""The import contract: kept by the source, and broken by a planted import."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLANTED = {
    "ssvm/separation.py": "clustruct.losses",
    "ssvm/solvers/one_slack.py": "clustruct.data",
    "ssvm/problem.py": "clustruct.core.partitions",
    "losses/slack_rule.py": "clustruct.ssvm",
    "losses/purity.py": "clustruct.estimators",
    "search/kmeans.py": "clustruct.learning.problems",
    "core/partitions.py": "clustruct.data",
    "data/column_types.py": "clustruct.features",
    "estimators/correlation.py": "clustruct.pipeline",
    "evaluate/metrics/scores.py": "clustruct.groups",
    "pipeline/recipe.py": "clustruct.papers.cpm3c",
    "studio/engine.py": "clustruct.papers.universum",
    "cli/fit.py": "clustruct.papers.hooks",
    "cli/output.py": "clustruct.cli.main",
}


def lint(folder, source):
    """Run the contracts of this project on the package below ``source``."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    where = {**os.environ, "PYTHONPATH": str(source)}
    words = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as c; c()",
        "--no-cache",
    ]
    return subprocess.run(words, cwd=folder, env=where, capture_output=True, text=True)


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    folder = tmp_path_factory.mktemp("layers")
    kept = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "clustruct", folder / "src" / "clustruct", ignore=kept)
    return folder


def test_the_contracts_hold(copied):
    done = lint(copied, copied / "src")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("where", PLANTED)
def test_a_forbidden_import_breaks_a_contract(copied, where):
    path = copied / "src" / "clustruct" / where
    text = path.read_text()
    path.write_text(f"{text}\n\ndef planted():\n    import {PLANTED[where]}\n")
    done = lint(copied, copied / "src")
    path.write_text(text)
    assert done.returncode == 1
    assert "BROKEN" in done.stdout


def test_a_package_that_no_layer_names_breaks_the_contract(copied):
    path = copied / "src" / "clustruct" / "utilities.py"
    path.write_text('"""Nobody knows where this belongs."""\n')
    done = lint(copied, copied / "src")
    path.unlink()
    assert done.returncode == 1
    assert "utilities" in done.stdout + done.stderr
