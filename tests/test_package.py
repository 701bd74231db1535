"""What an import costs: no compilation, no plotting, no reading of tables before they are asked for."""

import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

import clustruct
from clustruct.data.datasets import make_records

HEAVY = {"numba", "matplotlib", "pandas", "pyarrow", "sklearn.mixture"}
# Modules of this package.
MOST_OF_RECORDS = 62
LIGHT = (
    "features",
    "losses",
    "data.io",
    "evaluate.metrics",
    "papers.hooks",
    "data.datasets",
    "data",
    "estimators",
)


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


@pytest.mark.parametrize("name", ["PairFeatures", "SupervisedCorrelationClustering", "Table"])
def test_names_load_no_kernels_and_no_extras(name, of_sklearn):
    assert not (loaded(f"from clustruct import {name}") - of_sklearn) & HEAVY


def test_files_are_read_without_scikit_learn():
    assert "sklearn" not in loaded("import clustruct.data.io, clustruct.losses")


@pytest.fixture(scope="module")
def records_model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "data.records.model"
    clustruct.save(path, clustruct.Recipe(C=1.0).fit(make_records(n_sets=3, n_people=4)).pipeline_)
    return path


def test_a_model_file_loads_what_it_names(records_model, of_sklearn):
    found = loaded(f"import clustruct; clustruct.load({str(records_model)!r})") - of_sklearn
    assert not found & {*HEAVY, "sklearn.cluster", "sklearn.decomposition", "sklearn.ensemble"}
    assert not {
        name for name in found if name.startswith(("clustruct.papers.hooks", "clustruct.papers.universum"))
    }
    assert len([name for name in found if name.startswith("clustruct")]) <= MOST_OF_RECORDS


PACKAGES = sorted(path.parent for path in Path(clustruct.__file__).parent.rglob("__init__.py"))
LAZY = [
    folder for folder in PACKAGES if "lazy_names(" in (folder / "__init__.py").read_text(encoding="utf-8")
]


@pytest.mark.parametrize("folder", LAZY, ids=lambda folder: folder.name)
def test_names_that_load_on_first_use(folder):
    package = ".".join(("clustruct", *folder.relative_to(Path(clustruct.__file__).parent).parts))
    script = f"import {package} as p\nassert set(p.__all__) <= set(dir(p))\nfor n in p.__all__: getattr(p, n)"
    loaded(script)
    exported = set(import_module(package).__all__)
    # A module of the package would take the place of the name when it is imported.
    assert not exported & {path.stem for path in folder.iterdir()}
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        import_module(package).nothing  # noqa: B018
