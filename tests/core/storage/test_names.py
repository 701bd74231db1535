"""The table of stored names: it has every registered class, nothing else, and loads only what is named."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import clustruct
from clustruct.core import storage
from clustruct.core.exceptions import ModelFileError
from clustruct.core.storage import encoding
from clustruct.core.storage.encoding import decode, encode, entry_by_name
from clustruct.core.storage.names import STORED

SOURCE = Path(clustruct.__file__).parent
# What files of 0.1.0.dev0 (e028f13) may name. Only added to: such files must be read for ever.
OF_FILES = """
Blocking, BoostedColumn, CCCPResult, CLGR, CPM3C, CPM3CResult, Calibration, Certificate, Constant,
Dates, DefaultClustering, DocumentVectors, Elsewhere, FieldNeed, FitResult, ForestColumn,
FourierMap, FullProducts, Identity, ItemRule, KeptPairs, Kernel, KernelMap, KernelModel,
LatentPairClustering, LinearSVC, Links, Lists, LogisticRegression, Mentions, MonotoneLogistic,
MultiLabelMRF, Numbers, NystroemMap, PLSA, PLSAResult, PairContext, PairFeatures, PairKMeans,
PairwiseClassifierClustering, PastTraining, Pipeline, Planes, PrecisionCurve, Recipe, ScoreMap,
Sources, Strings, SupervisedAgglomerative, SupervisedCorrelationClustering, SupervisedKMeans,
TableSketch, TermWeights, Terms, TextCosines, TrainingShape, TreeColumn, Trees, UniversumClustering,
UntrainedKMeans, VectorSum, Vectors, b_cubed, ceaf_entity, ceaf_mention, checkpoint, fit checkpoint,
hook document, hook model, hook vector, lea, mitre, normalised, pairwise, pairwise_f, purity,
variation_of_information
"""
REGISTERED = """
from importlib import import_module
from clustruct.core.storage import encoding
for name in {modules!r}:
    import_module(name)
print(*sorted(encoding._BY_NAME), sep="\\n")
"""


def registering_modules():
    """The modules in which something is registered."""
    for path in sorted(SOURCE.rglob("*.py")):
        if "register" in path.read_text(encoding="utf-8"):
            parts = path.relative_to(SOURCE.parent).with_suffix("").parts
            yield ".".join(parts).removesuffix(".__init__")


def test_the_table_lists_what_is_registered():
    script = REGISTERED.format(modules=list(registering_modules()))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.splitlines()) == sorted(STORED)


@pytest.mark.parametrize("name", STORED)
def test_each_name_stands_for_the_class_of_the_table(name):
    module, _, cls = STORED[name].partition(":")
    assert entry_by_name(name).cls is getattr(import_module(module), cls)


def test_names_of_old_files_are_kept():
    assert {name.strip() for name in OF_FILES.replace("\n", " ").split(",")} <= set(STORED)


def test_a_class_stands_in_the_table_once():
    homes = [home.partition(":")[2] for home in STORED.values()]
    assert len(set(homes)) == len(homes)


def test_a_name_of_the_table_is_taken_before_its_module_is_imported():
    script = """
from clustruct.core.storage import register
class Own:
    def state(self): return {}
    @classmethod
    def from_state(cls, state): return cls()
try: register("mitre")(Own)
except ValueError as error: print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "the name 'mitre' is taken by MitreLoss\n"


@pytest.mark.parametrize("name", ["os", "clustruct.cli.main", "Blockings", "", None, 3, ["Blocking"]])
def test_what_is_not_listed_is_refused(name):
    with pytest.raises(ModelFileError):
        entry_by_name(name)


@storage.register("tests renamed parts")
class Renamed:
    """A class whose parts have other names than in files."""

    def __init__(self, weight):
        self.weight = weight

    def state(self):
        return {"weight": self.weight, "learned": {"weight": 2}, "other": {"weight": 3}}

    @classmethod
    def from_state(cls, state):
        assert state["learned"] == {"weight": 2}
        return cls(state["weight"])


def test_parts_keep_their_names_in_files(monkeypatch):
    monkeypatch.setattr(encoding, "FIELDS", {"tests renamed parts": {"weight": "w"}})
    coded = encode(Renamed(1), [])
    assert coded["state"] == {"w": 1, "learned": {"w": 2}, "other": {"weight": 3}}
    assert decode(coded, []).weight == 1
