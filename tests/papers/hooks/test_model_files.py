"""Model files keep what a module set, and hold no code unless asked to."""

import datetime
import tracemalloc
from dataclasses import fields

import numpy as np
import pytest
from scipy import sparse

from clustruct import save
from clustruct.core.exceptions import ModelFileError
from clustruct.core.storage.container import read_container, write_container
from clustruct.losses import PairwiseLoss
from clustruct.papers.hooks import HookError, svmapi
from clustruct.papers.hooks.model_files import HookModel, read_model_file, unstorable, write_model_file
from clustruct.papers.hooks.svmapi import RBF, Document, KernelParm, Model, Sparm, Sparse, StructModel
from clustruct.ssvm import VectorSum

HOOK_FIELDS = [field.name for field in fields(HookModel)]

PLAIN = {
    "number": 3,
    "text": "ä",
    "nothing": None,
    "infinite": float("inf"),
    "nested": {"a": [1, (2, "x")], 4: {5.5, 6.5}, (1, 2): frozenset(["q"])},
    "flags": [True, False],
    "array": np.arange(6).reshape(2, 3),
    "names": np.array(["a", "bc"]),
    "scalar": np.float64(2.5),
    "vector": Sparse([(3, 1.5)], factor=2.0, kernel_id=4),
    "document": Document([Sparse([1.0])], slackid=9, costfactor=2.0),
    "empty": [],
    # A list that looks like the file's own marks must come back as it is.
    "mimic": ["pickle", "a0"],
}


def linear_model(**attributes):
    sm = StructModel()
    sm.size_psi = 3
    sm.w = np.array([1.0, 2.0, 3.0])
    for name, value in attributes.items():
        setattr(sm, name, value)
    return sm


def test_plain_attributes_come_back(tmp_path):
    sparm = Sparm(c=7.0, argv=["--a", "1"])
    sparm.own = (1, 2)
    sparm.strange = object()
    left = write_model_file(tmp_path / "model", linear_model(**PLAIN), sparm, False)
    read = Sparm()
    sm, left_out = read_model_file(tmp_path / "model", read, False)
    assert left == left_out == []
    for name, value in PLAIN.items():
        back = getattr(sm, name)
        assert type(back) is type(value)
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(back, value)
        elif isinstance(value, Document):
            assert (back.slackid, back.costfactor, back[0]) == (9, 2.0, Sparse([1.0]))
        else:
            assert back == value
    np.testing.assert_array_equal(sm.w, [1.0, 2.0, 3.0])
    assert (sm.size_psi, read.c, read.argv, read.own) == (3, 7.0, ["--a", "1"], (1, 2))
    assert not hasattr(read, "strange")


def test_sparse_matrices_come_back(tmp_path):
    X = sparse.random_array((4, 5), density=0.4, rng=np.random.default_rng(0))
    write_model_file(tmp_path / "model", linear_model(X=X), Sparm(), False)
    sm, _ = read_model_file(tmp_path / "model", Sparm(), False)
    np.testing.assert_array_equal(sm.X.toarray(), X.toarray())


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_support_vectors_come_back(tmp_path, as_rows):
    sm = StructModel(KernelParm(RBF, rbf_gamma=0.5))
    sm.size_psi = 2
    support = VectorSum(np.array([1.0, -2.0]), as_rows(np.eye(2)), np.array([0, 3]))
    sm.svm_model = Model(sm.svm_model.kernel_parm, support=support)
    write_model_file(tmp_path / "model", sm, Sparm(), False)
    back, _ = read_model_file(tmp_path / "model", Sparm(), False)
    for kernel_id in (0, 3):
        v = Sparse([0.3, 0.4], kernel_id=kernel_id)
        assert back.svm_model.classify(v) == pytest.approx(sm.svm_model.classify(v))


def far_support(n_columns):
    """Three support vectors with a word or two each, in as many columns."""
    places = np.array([0, 7, n_columns - 1, 7])
    rows = sparse.csr_array((np.array([1.0, 2.0, 3.0, 4.0]), places, [0, 2, 3, 4]), shape=(3, n_columns))
    return VectorSum(np.array([1.0, -2.0, 0.5]), rows, np.zeros(3, np.int64))


def test_a_small_file_does_not_ask_for_much_memory(tmp_path):
    """Two words in 2^39 columns are two words: 12 TiB were they written out."""
    sm = StructModel(KernelParm(RBF, rbf_gamma=0.01))
    sm.size_psi = 2**39
    sm.svm_model = Model(sm.svm_model.kernel_parm, support=far_support(2**39))
    write_model_file(tmp_path / "model", sm, Sparm(), False)
    assert (tmp_path / "model").stat().st_size < 5000
    tracemalloc.start()
    back, _ = read_model_file(tmp_path / "model", Sparm(), False)
    assert back.svm_model.classify(Sparse([(7, 2.0), (2**39 - 1, 3.0), (2**45, 1.0)])) != 0.0
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**22


@pytest.mark.parametrize("most", [0, 2**25])
@pytest.mark.parametrize("kernel", range(4))
def test_sparse_support_vectors_score_as_dense_ones(monkeypatch, kernel, most):
    monkeypatch.setattr(svmapi, "MOST_DENSE", most)
    parm, support = KernelParm(kernel, rbf_gamma=0.01), far_support(12)
    dense = VectorSum(support.coefficients, support.vectors.toarray(), support.parts)
    for words in ([], [(0, 1.0)], [(7, 2.0), (11, 3.0)], [(3, 1.0), (7, -1.0), (12, 5.0), (99, 1.0)]):
        scores = [Model(parm, support=s).classify(Sparse(words)) for s in (support, dense)]
        assert scores[0] == pytest.approx(scores[1], rel=1e-12)
    nothing = VectorSum(np.ones(1), sparse.csr_array((1, 12)), np.zeros(1, np.int64))
    assert Model(KernelParm(0), support=nothing).classify(Sparse([(3, 1.0)])) == 0.0


def test_objects_need_pickle_on_both_sides(tmp_path):
    day = datetime.date(2020, 1, 2)
    sm = linear_model(day=day, days=[{"a": day}], plain=1)
    assert unstorable(sm.own_attributes(), False) == dict.fromkeys(["day", "days"], "a datetime.date")
    assert write_model_file(tmp_path / "safe", sm, Sparm(), False) == ["day", "days"]
    back, left_out = read_model_file(tmp_path / "safe", Sparm(), False)
    assert (back.plain, left_out, hasattr(back, "day")) == (1, ["day", "days"], False)

    assert write_model_file(tmp_path / "pickled", sm, Sparm(), True) == []
    with pytest.raises(HookError, match=r"holds pickled objects \(sm\.day, sm\.days\).*--allow-pickle"):
        read_model_file(tmp_path / "pickled", Sparm(), False)
    back, _ = read_model_file(tmp_path / "pickled", Sparm(), True)
    assert (back.day, back.days) == (day, [{"a": day}])


def altered(path, change):
    """The file with its header changed and its checksum right."""
    header, arrays = read_container(path)
    change(header["object"]["state"])
    del header["arrays"]
    write_container(path, header, arrays)


def test_a_pickle_is_not_opened_wherever_it_stands(tmp_path):
    """Bytes of a pickle among the plain attributes stay bytes."""
    write_model_file(tmp_path / "model", linear_model(day=datetime.date(2020, 1, 2)), Sparm(), True)

    def hide(state):
        state["attributes"]["day"] = state["pickled"].pop("day")

    altered(tmp_path / "model", hide)
    sm, _ = read_model_file(tmp_path / "model", Sparm(), True)
    assert sm.day.dtype == np.uint8


INFINITE, NOT_A_NUMBER = {"$float": "inf"}, {"$float": "nan"}
TUPLE = "$tuple"


def set_in(*way, to):
    """A change: the value at the end of the way becomes another one; DROPPED takes it away."""

    def change(state):
        for step in way[:-1]:
            state = state[step]
        if to is DROPPED:
            del state[way[-1]]
        else:
            state[way[-1]] = to

    return change


DROPPED = object()
VECTOR, DOCUMENT = (("attributes", name, "state") for name in ("vector", "document"))
DAMAGED = [
    *(set_in("kernel", name, to=DROPPED) for name in ("kernel_type", "rbf_gamma")),
    *(set_in("kernel", "kernel_type", to=value) for value in (4, -1, "0", 0.5, INFINITE, None)),
    *(set_in("kernel", "rbf_gamma", to=value) for value in (INFINITE, NOT_A_NUMBER, 10**400, "1", [], {})),
    *(set_in("kernel", "poly_degree", to=value) for value in (INFINITE, 1.5, None)),
    *(set_in("sparm", name, to=DROPPED) for name in ("c", "epsilon", "slack_norm")),
    *(set_in("sparm", "c", to=value) for value in (INFINITE, NOT_A_NUMBER, 10**400, "1", None)),
    *(set_in("size_psi", to=value) for value in (0, -1, 10**400, 2.5, INFINITE, True)),
    *(set_in("kernel_ids", TUPLE, to=value) for value in ([], [0, 0], [INFINITE], ["0"], [1.5], [0, 1])),
    set_in("w", to=None),
    *(set_in("pickled", to=value) for value in ({"a": 1}, {"a": None}, {"a": [1]})),
    *(set_in("left_out", to=value) for value in ([1], [None], "ab")),
    set_in("attributes", to={"$dict": [[1, 2]]}),
    *(set_in(*VECTOR, "factor", to=value) for value in (INFINITE, 10**400, "2", None, [])),
    *(set_in(*VECTOR, "kernel_id", to=value) for value in (INFINITE, 0.5, [], {}, None)),
    *(set_in(*VECTOR, name, to=DROPPED) for name in ("indices", "values", "userdefined", "factor")),
    *(set_in(*VECTOR, "indices", to=value) for value in (1, [3], None, INFINITE)),
    *(set_in(*DOCUMENT, "sparses", to=value) for value in (1, [1], None, "ab")),
    *(set_in(*DOCUMENT, "slackid", to=value) for value in (INFINITE, 1.5, "1")),
    *(set_in(*DOCUMENT, name, to=DROPPED) for name in ("sparses", "docnum", "costfactor")),
    set_in(*DOCUMENT, "other", to=1),
]


@pytest.mark.parametrize("change", DAMAGED)
def test_what_a_header_lacks_or_has_wrong(tmp_path, change):
    """Each is the user's to hear of, and a model file's fault, and names the file."""
    path = tmp_path / "model"
    plain = {name: PLAIN[name] for name in ("vector", "document")}
    write_model_file(path, linear_model(**plain), Sparm(), False)
    altered(path, change)
    for kind in (HookError, ModelFileError):
        with pytest.raises(kind, match=f"^{path} is not a model file of clustruct-learn "):
            read_model_file(path, Sparm(), True)


def test_a_model_without_support_vectors_or_weights(tmp_path):
    """It would say 0 to everything."""
    path = tmp_path / "model"
    sm = StructModel(KernelParm(RBF))
    sm.svm_model = Model(
        sm.svm_model.kernel_parm, support=VectorSum(np.ones(1), np.eye(1), np.zeros(1, np.int64))
    )
    write_model_file(path, sm, Sparm(), False)
    read_model_file(path, Sparm(), False)
    altered(path, set_in("support", to=None))
    with pytest.raises(ModelFileError, match="neither weights nor support vectors"):
        read_model_file(path, Sparm(), False)


@pytest.mark.parametrize("data", [b"", b"\x80\x04", b"junk", b"\x80\x04]q\x00(e"])
def test_damaged_pickles(tmp_path, data):
    path = tmp_path / "model"
    write_model_file(path, linear_model(day=datetime.date(2020, 1, 2)), Sparm(), True)
    header, arrays = read_container(path)
    place = header["object"]["state"]["pickled"]["day"]["$array"]
    del header["arrays"]
    write_container(path, header, [*arrays[:place], np.frombuffer(data, np.uint8), *arrays[place + 1 :]])
    with pytest.raises(ModelFileError, match=f"^{path}: sm.day cannot be read"):
        read_model_file(path, Sparm(), True)


@pytest.mark.parametrize(
    "change",
    [
        *(lambda state, name=name: state.pop(name) for name in HOOK_FIELDS),
        *(lambda state, name=name: state.update({name: "x"}) for name in HOOK_FIELDS),
        *(lambda state, name=name: state["attributes"].update({name: 1}) for name in ("w", "__class__")),
        lambda state: state["kernel"].update(other=1),
        lambda state: state.update(kernel_ids={"$tuple": [0, 1]}),
        lambda state: state.update(w=None, support={"$object": "hook vector", "state": {}}),
    ],
)
def test_headers_made_by_hand_are_refused(tmp_path, change):
    write_model_file(tmp_path / "model", linear_model(size=3), Sparm(), False)
    altered(tmp_path / "model", change)
    with pytest.raises(HookError, match=r"is not a model file of clustruct-learn \("):
        read_model_file(tmp_path / "model", Sparm(), False)


def test_what_cannot_be_pickled_is_named():
    assert "cannot be pickled" in unstorable({"f": lambda: 0}, True)["f"]


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04damaged"])
def test_foreign_files(tmp_path, content):
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(HookError, match="is not a model file of clustruct-learn"):
        read_model_file(tmp_path / "model", Sparm(), False)
    with pytest.raises(HookError, match="there is no model file"):
        read_model_file(tmp_path / "other", Sparm(), False)


def test_files_of_another_kind(tmp_path):
    save(tmp_path / "model", PairwiseLoss())
    with pytest.raises(HookError, match=r"holds a PairwiseLoss, not a HookModel"):
        read_model_file(tmp_path / "model", Sparm(), False)
