"""What an import costs: no compilation, no plotting, no reading of tables before they are asked for."""

import subprocess
import sys
import time

import pytest

HEAVY = {"numba", "matplotlib", "pandas", "pyarrow", "sklearn.mixture"}
LIGHT = ("features", "losses", "io", "metrics", "hooks", "datasets", "itemsets", "estimators")


def loaded(code):
    """The modules that are loaded after some code, in a fresh interpreter."""
    script = f"{code}\nimport sys\nprint(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(out.stdout.split())


def test_the_package_alone_loads_nothing_and_is_quick():
    start = time.perf_counter()
    found = loaded("import clustruct")
    assert time.perf_counter() - start < 1.5  # half a second and the start of Python, on a busy machine
    assert not found & {"numpy", "scipy", "sklearn", *HEAVY}


@pytest.fixture(scope="module")
def of_sklearn():
    """scikit-learn itself loads pandas where there is one."""
    return loaded("import sklearn.base")


@pytest.mark.parametrize("name", LIGHT)
def test_packages_load_no_kernels_and_no_extras(name, of_sklearn):
    assert not (loaded(f"import clustruct.{name}") - of_sklearn) & HEAVY


@pytest.mark.parametrize("name", ["PairFeatures", "SupervisedCorrelationClustering", "RawSet"])
def test_names_load_no_kernels_and_no_extras(name, of_sklearn):
    assert not (loaded(f"from clustruct import {name}") - of_sklearn) & HEAVY


def test_files_are_read_without_scikit_learn():
    assert "sklearn" not in loaded("import clustruct.io, clustruct.losses")
