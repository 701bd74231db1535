"""Every estimator comes back from a file as it was, and no file makes one that cannot be."""

import inspect
import subprocess
import sys
import textwrap
from dataclasses import fields

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

import clustruct
from clustruct import ItemSet, estimators, load, losses, papers, save
from clustruct.core.exceptions import ModelFileError
from clustruct.core.storage import register
from clustruct.core.storage.state import fits
from clustruct.estimators import baselines
from clustruct.papers.cpm3c import CPM3C
from clustruct.papers.document_clustering import CLGR, PLSA
from clustruct.papers.multilabel import MultiLabelMRF, make_multilabel_count
from clustruct.papers.universum import UniversumClustering


def sets(n_sets=4, m=12):
    """Sets whose pair features are far from the scale of 1."""
    rng = np.random.default_rng(0)
    y = [np.arange(m) % 3 for _ in range(n_sets)]
    a, b = np.triu_indices(m, 1)
    rows = [[*(7.0 * (v[a] == v[b]) + rng.normal(size=(3, len(a)))), np.ones(len(a))] for v in y]
    return [ItemSet(pairs=np.transpose(r), feature_names=["f", "g", "h", "constant"]) for r in rows], y


def table():
    """36 rows of counts in three groups."""
    means = 1.0 + 8.0 * np.repeat(np.eye(3), 12, axis=0)
    return (np.random.default_rng(0).poisson(means).astype(float),)


def labels():
    X, Y = make_multilabel_count(80)
    return X, Y


def classes():
    X, Y = make_multilabel_count(80)
    return X, np.where(Y[:, 0] > 0, "yes", "no")


CASES = [
    (estimators.SupervisedCorrelationClustering(C=1.0, loss=losses.PairwiseLoss(2.0), n_jobs=2), sets),
    (estimators.SupervisedCorrelationClustering(C_grid=(0.1, 1.0), cv=2), sets),
    (estimators.SupervisedKMeans(C=np.float64(1.0)), sets),
    (MultiLabelMRF(C=30.0, oracle="graph_cut", edges=[(0, 1), (2, 3)]), labels),
    (MultiLabelMRF(C=30.0), classes),
    (UniversumClustering(n_clusters=3, init="kmeans", random_state=0), table),
    (estimators.SupervisedAgglomerative(linkage="average", C=1.0), sets),
    (estimators.SupervisedAgglomerative(linkage="left", C_grid=(0.1, 1.0), cv=2), sets),
    (baselines.LatentPairClustering(), sets),
    (baselines.PairwiseClassifierClustering(), sets),
    (baselines.PairwiseClassifierClustering(LogisticRegression(), canopy_range=(0.0, np.inf)), sets),
    (baselines.DefaultClustering("together"), sets),
    (baselines.PairKMeans(n_clusters=2), sets),
    (baselines.UntrainedKMeans(), sets),
    (CPM3C(n_clusters=3, init=np.arange(36) % 3), table),
    (PLSA(n_clusters=3, random_state=1), table),
    (CLGR(n_clusters=3, n_neighbors=5, random_state=1), table),
]


def named(given):
    return getattr(given, "__name__", type(given).__name__)


each = pytest.mark.parametrize(("estimator", "data"), CASES, ids=named)


def fitted(estimator, data):
    return estimator.fit(*data())


def same(a, b):
    """Equal in type and value, whatever they are made of."""
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    elif hasattr(a, "__dataclass_fields__"):
        for field in fields(a):
            if field.compare:
                same(getattr(a, field.name), getattr(b, field.name))
    elif isinstance(a, tuple | list):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            same(one, other)
    elif isinstance(a, BaseEstimator):
        same(a.coef_, b.coef_)
    else:
        assert a == b


def test_no_public_estimator_is_left_out():
    ours = (papers.cpm3c, papers.document_clustering, papers.multilabel, papers.universum)
    homes = (estimators, baselines, *ours)
    public = {getattr(home, name) for home in homes for name in home.__all__}
    public = {cls for cls in public if inspect.isclass(cls) and issubclass(cls, BaseEstimator)}
    assert public == {type(estimator) for estimator, _ in CASES}


@each
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_estimator_comes_back_whole(estimator, data, tmp_path):
    model = fitted(estimator, data)
    save(tmp_path / "first", model)
    again = load(tmp_path / "first")
    X = data()[0]
    for name in ("predict", "decision_function", "relax", "predict_relaxed"):
        if hasattr(model, name):
            same(getattr(model, name)(X), getattr(again, name)(X))
    left = {"n_jobs", "verbose", "classifier"}
    parameters = model.get_params(deep=False)
    same(*({k: m.get_params(deep=False)[k] for k in parameters if k not in left} for m in (model, again)))
    same(*({k: v for k, v in sorted(vars(m).items()) if k.endswith("_")} for m in (model, again)))
    save(tmp_path / "second", again)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


@each
def test_weights_of_the_result_have_the_unit_of_the_input(estimator, data, tmp_path):
    model = fitted(estimator, data)
    if not hasattr(model, "w_") or not hasattr(model, "result_"):
        return
    np.testing.assert_array_equal(model.result_.w, model.w_)
    save(tmp_path / "m", model)
    np.testing.assert_array_equal(load(tmp_path / "m").result_.w, model.w_)


HOSTILE = ["x", [1.0], {"a": 1}, np.full(3, np.nan), np.zeros((2, 3, 4)), 10**30, float("nan"), None]


@each
def test_hostile_states_are_refused(estimator, data):
    model = fitted(estimator, data)
    state = model.state()
    hints = type(model).fitted
    for name in hints.keys() & state["learned"].keys():
        for wrong in HOSTILE:
            finite = not isinstance(wrong, float) or np.isfinite(wrong)
            if fits(wrong, hints[name]) and finite:
                continue
            with pytest.raises(ValueError):
                type(model).from_state({**state, "learned": {**state["learned"], name: wrong}})
    for wrong in ({}, {"parameters": {}}, {"learned": {}}, {**state, "learned": None}, None):
        with pytest.raises(ValueError):
            type(model).from_state(wrong)
    with pytest.raises(ValueError):
        type(model).from_state({**state, "parameters": {**state["parameters"], "random_state": "x"}})


def test_a_class_that_is_not_registered_is_refused_by_name(tmp_path):
    class Mine(estimators.SupervisedKMeans):
        pass

    X, y = sets()
    model = Mine(C=1.0).fit(X, y)
    with pytest.raises(ModelFileError, match=r"no file for .*Mine: its class is not registered"):
        save(tmp_path / "m", model)
    register("my own k-means")(Mine)
    save(tmp_path / "m", model)
    assert type(load(tmp_path / "m")) is Mine
    with pytest.raises(ValueError, match="the name 'my own k-means' is taken"):
        register("my own k-means")(estimators.SupervisedKMeans)
    with pytest.raises(TypeError, match="Bare cannot be registered: it lacks state"):
        register("bare")(type("Bare", (), {}))


MODULE = """
print("imported")
from clustruct.core.storage import register

@register("trap")
class Trap:
    def state(self): return {}
    @classmethod
    def from_state(cls, state): return cls()
"""


def test_a_file_that_names_an_unregistered_class_imports_nothing(tmp_path):
    (tmp_path / "trap.py").write_text(MODULE)
    make = "import trap, clustruct as c; c.save('m', trap.Trap()); print(type(c.load('m')).__name__)"
    read = """
        import sys, clustruct
        try:
            clustruct.load('m')
        except ValueError as error:
            print(str(error).split(': import')[0], 'trap' in sys.modules)
    """

    def run(code):
        words = [sys.executable, "-c", textwrap.dedent(code)]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.split("\n")

    assert run(make)[:2] == ["imported", "Trap"]
    assert run(read)[0] == "m: it names 'trap', which no imported module registers False"


LOSS = '''
"""A loss in one file: the difference in the number of clusters."""
from dataclasses import dataclass

import numpy as np

from clustruct.losses import FunctionLoss, Loss, register
from clustruct.core.storage import DataclassState


@register("cluster_count")
@dataclass(frozen=True)
class ClusterCountLoss(DataclassState, Loss):
    per_cluster: float = 10.0

    def __call__(self, y_true, y_pred):
        return min(100.0, self.per_cluster * abs(len(np.unique(y_true)) - len(np.unique(y_pred))))

    def start(self, y_true, labels):
        return FunctionLoss(self).start(y_true, labels)
'''


def test_a_new_loss_is_one_file(tmp_path, monkeypatch):
    (tmp_path / "cluster_count_loss.py").write_text(LOSS)
    monkeypatch.syspath_prepend(str(tmp_path))
    import cluster_count_loss

    assert losses.as_loss("cluster_count") == cluster_count_loss.ClusterCountLoss()
    assert "cluster_count" in losses.names()
    X, y = sets()
    for loss in ("cluster_count", cluster_count_loss.ClusterCountLoss(30.0)):
        model = clustruct.SupervisedCorrelationClustering(C=1.0, loss=loss, max_iter=5).fit(X[:2], y[:2])
        save(tmp_path / "m", model)
        again = load(tmp_path / "m")
        assert again.loss == loss
        np.testing.assert_array_equal(again.set_losses(X, y), model.set_losses(X, y))
