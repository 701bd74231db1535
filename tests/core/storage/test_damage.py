"""Files with every value replaced in turn, and seeded damage, all with a right checksum: refused by name.

What is still a model after a change may be used: predicting or training with it then works.
"""

import copy
import random
import time

import numpy as np
import pytest

from clustruct import SupervisedKMeans, ssvm
from clustruct.core.callbacks import Callback, training_callback
from clustruct.core.exceptions import ModelFileError
from clustruct.core.storage import load, save
from clustruct.core.storage.container import read_container, write_container
from clustruct.data.datasets import make_synth
from clustruct.estimators.baselines import UntrainedKMeans
from clustruct.learning.problems import MulticlassProblem
from clustruct.papers.document_clustering import PLSA
from clustruct.ssvm.checkpoint import Checkpoint

INFINITE = {"$float": "inf"}
VALUES = (
    *(None, True, -1, 0, 2**70, 10**400, 1.5, 1e308, "x", ""),
    *(INFINITE, {"$float": "nan"}, {"$tuple": [INFINITE, INFINITE]}, [], [1], {}),
)
CHANGES = (
    *(lambda a, kind=kind: a.astype(kind) for kind in (np.int64, np.uint8, complex, bool, "<U3")),
    *(lambda a, shape=shape: a.reshape(shape) for shape in ((-1, 1), -1, (1, 1, -1))),
    *(lambda a, value=value: np.full_like(a, value) for value in (2**62, -(2**62))),
    lambda a: np.full_like(a, np.nan) if a.dtype.kind == "f" else a[:0],
    lambda a: a[:-1],
    lambda a: np.concatenate([a, a]),
)


def places(value, way=()):
    """The ways to all values inside a header, of long lists to the first ones."""
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value[:3] if isinstance(value, list) else ())
    )
    for key, held in inner:
        yield (*way, key)
        yield from places(held, (*way, key))


def headers(header):
    """The header with one value in the place of another, for every place and value."""
    for way in places(header["object"]):
        for value in VALUES:
            changed = copy.deepcopy(header)
            inner = changed["object"]
            for step in way[:-1]:
                inner = inner[step]
            inner[way[-1]] = value
            yield changed


def damaged(path, seed, at_most):
    """Damage of both kinds, written to a file beside: as many as asked for."""
    header, arrays = read_container(path)
    del header["arrays"]
    made = [(changed, arrays) for changed in headers(header)]
    for i, array in enumerate(arrays):
        for change in CHANGES:
            made.append((header, [*arrays[:i], np.ascontiguousarray(change(array)), *arrays[i + 1 :]]))
    target = path.with_name("damaged")
    for changed, held in random.Random(seed).sample(made, min(at_most, len(made))):
        write_container(target, changed, held)
        yield target


def counts(files, use):
    """How many of the files there were, how many were refused, and what was said without a name."""
    said, slow, total = [], 0, 0
    for path in files:
        total, started = total + 1, time.process_time()
        try:
            use(path)
        except ModelFileError as error:
            said.append(str(error))
        except ValueError as error:
            # Another run's checkpoint: its file is whole, and named.
            said.append(str(error) if "belongs to another run" in str(error) else repr(error))
        slow += time.process_time() - started > 2.0
    return total, len(said) > total / 2, slow, [text for text in said if not text.startswith(str(path))]


@pytest.mark.filterwarnings("ignore::clustruct.core.exceptions.UnfamiliarDataWarning")
def test_models_of_k_means(tmp_path):
    X, y = make_synth(n_sets=3, n_clusters=2, cluster_size=5)
    save(tmp_path / "m", SupervisedKMeans(C=1.0).fit(X, y))
    found = counts(damaged(tmp_path / "m", 0, 400), lambda path: load(path).predict(X[:1]))
    assert found == (400, True, 0, [])


@pytest.mark.parametrize("bad", [INFINITE, {"$float": "nan"}, 1.5, 0, -3, 10**400, 2**64, "2", None, True])
@pytest.mark.parametrize("end", [0, 1])
def test_ranges_of_counts(tmp_path, bad, end):
    X, y = make_synth(n_sets=3, n_clusters=2, cluster_size=5)
    save(tmp_path / "m", SupervisedKMeans(C=1.0).fit(X, y))
    header, arrays = read_container(tmp_path / "m")
    del header["arrays"]
    header["object"]["state"]["learned"]["k_range_"]["$tuple"][end] = bad
    write_container(tmp_path / "m", header, arrays)
    with pytest.raises(ModelFileError, match=f"^{tmp_path / 'm'}: damaged .*k_range_"):
        load(tmp_path / "m")


@pytest.mark.parametrize("bad", [INFINITE, 1.5, 0, -3, "2"])
def test_numbers_of_clusters(tmp_path, bad):
    X, _ = make_synth(n_sets=3, n_clusters=2, cluster_size=5)
    save(tmp_path / "m", UntrainedKMeans(n_clusters=2).fit(X))
    header, arrays = read_container(tmp_path / "m")
    del header["arrays"]
    header["object"]["state"]["parameters"]["n_clusters"] = bad
    write_container(tmp_path / "m", header, arrays)
    with pytest.raises(ModelFileError, match=f"^{tmp_path / 'm'}: damaged .*n_clusters"):
        load(tmp_path / "m")


@pytest.mark.filterwarnings("ignore")  # of rounds cut short, and of planes that are far too large
@pytest.mark.parametrize("formulation", ["n_slack", "one_slack"])
def test_checkpoints(tmp_path, monkeypatch, formulation):
    monkeypatch.setattr(Checkpoint, "every", 0.0)
    rng = np.random.default_rng(0)
    problem = MulticlassProblem(rng.normal(size=(12, 3)), rng.integers(0, 3, 12))

    def train(path, rounds=4):
        options = {"max_iter": rounds, "formulation": formulation, "rtol": 1e-9}
        return ssvm.fit(problem, C=100.0, checkpoint=path, **options)

    train(tmp_path / "m", 2)
    # What is finite, but not its square; and what cannot be compared.
    header, arrays = read_container(tmp_path / "m")
    del header["arrays"]
    place = header["object"]["state"]["planes"]["state"]["vectors"]["$array"]
    far = arrays[place].copy()
    far[0, 0] = 1e298
    write_container(tmp_path / "far", header, [*arrays[:place], far, *arrays[place + 1 :]])
    with pytest.raises(ModelFileError, match=f"^{tmp_path / 'far'} is not a readable checkpoint"):
        train(tmp_path / "far")
    identity = header["object"]["state"]["identity"]["state"]
    identity["settings"]["n_examples"] = {"$objects": [["a", "b"], [2]]}
    write_container(tmp_path / "far", header, arrays)
    with pytest.raises(ValueError, match=f"^{tmp_path / 'far'} belongs to another run"):
        train(tmp_path / "far")
    assert counts(damaged(tmp_path / "m", 1, 300), train) == (300, True, 0, [])


def test_labels_of_other_documents(tmp_path):
    """PLSA keeps a label for each document it was fitted to, no more and no fewer."""
    X = np.random.default_rng(0).integers(0, 4, (12, 5)).astype(float)
    path = tmp_path / "plsa"
    save(path, PLSA(2, random_state=0, max_iter=1000).fit(X))
    header, arrays = read_container(path)
    for change in (lambda a: a[:-1], lambda a: a[:0], lambda a: np.concatenate([a, a])):
        changed = [change(a) if a.dtype.kind == "i" and a.shape == (12,) else a for a in arrays]
        assert any(a.shape != b.shape for a, b in zip(arrays, changed, strict=True))
        write_container(path, header, changed)
        with pytest.raises(ModelFileError, match="not of one fit"):
            load(path)


@pytest.mark.filterwarnings("ignore")
def test_checkpoints_of_whole_fits(tmp_path, monkeypatch):
    """Stopped in the choice of C: what is known of folds, and the state of a training."""
    monkeypatch.setattr(Checkpoint, "every", 0.0)
    X, y = make_synth(n_sets=4, n_clusters=2, cluster_size=4)

    class Third(Callback):
        begun = 0

        def on_begin(self, training):
            self.begun += 1

        def on_iteration(self, training, iteration):
            return self.begun == 3 and iteration.iteration == 2

    def train(path):
        # The file goes on a successful run; each is tried once.
        return SupervisedKMeans(C_grid=(0.1, 1.0), cv=2, rtol=1e-6, checkpoint=path).fit(X, y)

    with training_callback(Third()):
        train(tmp_path / "m")
    assert counts(damaged(tmp_path / "m", 2, 150), train) == (150, True, 0, [])
