"""A model file gives the same model back, or a clear error; never code, never more memory than its size."""

import contextlib
import json
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.pipeline import Pipeline, make_pipeline

from clustruct import (
    PairFeatures,
    SupervisedAgglomerative,
    SupervisedCorrelationClustering,
    SupervisedKMeans,
    Table,
)
from clustruct.core.exceptions import ModelFileError
from clustruct.core.storage import load, read, save
from clustruct.core.storage.container import LONGEST_HEADER, MAGIC, read_container, write_container
from clustruct.core.storage.encoding import decode, encode
from clustruct.estimators.baselines import (
    DefaultClustering,
    PairKMeans,
    PairwiseClassifierClustering,
    UntrainedKMeans,
)
from clustruct.losses import PairwiseLoss
from tests.core.storage.word_block import SharedWords

WORDS = ["sun", "sea", "sand", "rain", "wind", "snow", "rock", "tree", "leaf", "root"]


def stories(n_sets=4, seed=0):
    """Sets of three stories with two words each, and a common vocabulary of noise."""
    rng = np.random.default_rng(seed)
    found = []
    for s in range(n_sets):
        labels = rng.integers(0, 3, 10).tolist()
        items = [{"title": f"{WORDS[c]} {WORDS[c + 3]} noise{rng.integers(0, 90)}"} for c in labels]
        found.append(Table(items, labels=labels, name=f"s{s}"))
    return found


def fitted(estimator, sets=None):
    sets = stories() if sets is None else sets
    return make_pipeline(PairFeatures([SharedWords()]), estimator).fit(sets, [table.labels for table in sets])


@pytest.fixture(scope="module")
def pipeline():
    return fitted(SupervisedCorrelationClustering(C=1.0))


@pytest.fixture(scope="module")
def model_bytes(pipeline, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    save(path, pipeline)
    return path.read_bytes()


ESTIMATORS = [
    SupervisedCorrelationClustering(C=1.0, loss=PairwiseLoss(merge_cost=3.0), n_jobs=2),
    SupervisedCorrelationClustering(C_grid=(0.1, 1.0), cv=2),
    PairwiseClassifierClustering(predictor="components"),
    PairwiseClassifierClustering(LogisticRegression()),
    SupervisedKMeans(C=1.0),
    SupervisedAgglomerative(C=1.0, linkage="left"),
    PairKMeans(),
    UntrainedKMeans(n_clusters=2),
    DefaultClustering("together"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_model_comes_back_whole(estimator, tmp_path):
    pipeline = fitted(estimator)
    save(tmp_path / "model", pipeline, about={"columns": {"set": "fold"}})
    saved = read(tmp_path / "model", Pipeline)
    again, test = saved.object, stories(3, seed=1)
    for a, b in zip(pipeline.predict(test), again.predict(test), strict=True):
        np.testing.assert_array_equal(a, b)
    if hasattr(estimator, "decision_function"):
        for a, b in zip(pipeline.decision_function(test), again.decision_function(test), strict=True):
            np.testing.assert_array_equal(a, b)
    assert saved.about == {"columns": {"set": "fold"}}
    assert list(again.named_steps) == list(pipeline.named_steps)
    old, new = pipeline[-1], again[-1]
    kept = {k: v for k, v in old.get_params(deep=False).items() if k not in ("n_jobs", "classifier")}
    assert {k: new.get_params(deep=False)[k] for k in kept} == kept
    if hasattr(old, "result_"):
        assert repr(new.result_) == repr(old.result_)
        assert new.result_.certificate == old.result_.certificate
        assert [h.gap for h in new.result_.history] == [h.gap for h in old.result_.history]
    # The same model is the same file.
    save(tmp_path / "second", again, about=saved.about)
    assert (tmp_path / "second").read_bytes() == (tmp_path / "model").read_bytes()


def test_pairs_all_alike_are_kept(tmp_path):
    pipeline = fitted(
        PairwiseClassifierClustering(), [Table([{"title": "a"}, {"title": "b"}], labels=[0, 0])]
    )
    save(tmp_path / "m", pipeline)
    assert load(tmp_path / "m")[-1].constant_ == 1.0


def features(header):
    """The state of the features in the header of a pipeline."""
    return header["object"]["state"]["steps"][0][1]["state"]


def model(header):
    """The state of the clusterer in the header of a pipeline."""
    return header["object"]["state"]["steps"][1][1]["state"]


def test_the_header_can_be_read_by_people(model_bytes):
    start = len(MAGIC) + 8
    header = json.loads(
        model_bytes[start : start + int.from_bytes(model_bytes[len(MAGIC) : start], "little")]
    )
    assert header["format"] == 1
    assert header["versions"]["clustruct"]
    learned = model(header)["learned"]
    assert learned["feature_names_in_"]["$objects"][0] == ["title shared", "title missing", "constant"]
    assert learned["result_"]["state"]["stop_reason"] == "converged"


def test_what_cannot_be_kept_is_refused_before_a_file_is_made(tmp_path, pipeline):
    with pytest.raises(
        ModelFileError, match=r"SupervisedC.*: parameters: loss: .* not a function; .*losses.register"
    ):
        save(tmp_path / "m", fitted(SupervisedCorrelationClustering(C=1.0, loss=lambda y, z: 0.0)))
    with pytest.raises(ModelFileError, match=r"classifier_: .* not a sklearn.*Perceptron"):
        save(tmp_path / "m", fitted(PairwiseClassifierClustering(Perceptron())))
    with pytest.raises(ModelFileError, match="no file for Perceptron: its class is not registered"):
        save(tmp_path / "m", Perceptron())
    with pytest.raises(ModelFileError, match=r"Pipeline: steps: .* not a sklearn.*Perceptron"):
        save(tmp_path / "m", Pipeline([("a", pipeline[0]), ("b", Perceptron())]))
    with pytest.raises(ModelFileError, match=r"x: .* not a builtins.object"):
        save(tmp_path / "m", pipeline, about={"x": object()})
    with pytest.raises(ModelFileError, match="this SupervisedKMeans is not fitted: it has no n_features_in_"):
        save(tmp_path / "m", SupervisedKMeans())
    with pytest.raises(ValueError, match="there is no folder"):
        save(tmp_path / "none" / "m", pipeline)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_kind_is_named(tmp_path, pipeline):
    save(tmp_path / "m", pipeline[-1])
    assert type(load(tmp_path / "m")) is SupervisedCorrelationClustering
    with pytest.raises(ModelFileError, match="m: holds a SupervisedCorrelationClustering, not a Pipeline"):
        read(tmp_path / "m", Pipeline)


def fault(path):
    with pytest.raises(ModelFileError) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(str(path), "m")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "m: the file is empty"),
        (b"PK\x03\x04 some archive", "m: not a clustruct model"),
        (b"\x80\x04cos\nsystem\n", "m: not a clustruct model"),
        (MAGIC[:7], "m: the file is cut short or damaged"),
        (MAGIC + (2**63).to_bytes(8, "little") + b"{}", "m: the file is cut short or damaged"),
    ],
)
def test_foreign_files_are_named_as_such(tmp_path, content, message):
    (tmp_path / "m").write_bytes(content)
    assert fault(tmp_path / "m") == message


def test_paths_that_are_no_files(tmp_path):
    assert fault(tmp_path / "m") == "m: cannot be read (No such file or directory)"
    assert fault(tmp_path) == "m: cannot be read (Is a directory)"
    assert fault(Path("/dev/null")) == "m: not a file"


def altered(path, model_bytes, change):
    """The model with its header changed, sizes and checksum made to fit again."""
    path.write_bytes(model_bytes)
    header, arrays = read_container(path)
    change(header)
    header.pop("arrays", None)
    write_container(path, header, arrays)
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda h: h.update(format=2),
            "m: written in format 2 by clustruct .*; this version reads formats up to 1",
        ),
        (lambda h: h.update(format="1"), "m: damaged, it has no format number"),
        (
            lambda h: h["object"].update({"$object": "os.system"}),
            "m: it names 'os.system', which no imported module",
        ),
        (lambda h: h["object"].update({"$object": 3}), "m: it names 3, which no imported module"),
        (lambda h: h["object"].update(state=[]), "m: damaged .TypeError"),
        (lambda h: h.update(object=7), "m: damaged, it holds no object"),
        (lambda h: model(h)["parameters"].update(evil=1), "m: damaged .ValueError: .* 'evil'"),
        (lambda h: model(h)["parameters"].update(predictor="dice"), "m: damaged .ValueError: predictor"),
        (lambda h: model(h)["parameters"].update(random_state="x"), "m: damaged .*random_state cannot be"),
        (lambda h: model(h).pop("learned"), "m: damaged .ValueError: .*'learned'"),
        (lambda h: model(h)["learned"].pop("w_"), "m: damaged .ValueError: w_ of a .* does not fit"),
        (lambda h: model(h)["learned"].update(C_="1"), "m: damaged .ValueError: C_ of a .* does not fit"),
        (lambda h: model(h)["learned"].update(n_features_in_=4), "m: damaged .*feature_names_in_ of"),
        (lambda h: model(h)["learned"].update(n_features_in_=10**30), "m: damaged .* n_features_in_ of"),
        (
            lambda h: model(h)["learned"]["result_"]["state"].update(dual="0"),
            "m: damaged .*dual of FitResult",
        ),
        (lambda h: features(h)["blocks"].pop(), "m: damaged, its features and its model do not fit"),
        (
            lambda h: features(h)["blocks"][0].update({"$object": "block pickle"}),
            "m: it names 'block pickle'",
        ),
        (lambda h: features(h)["blocks"].append(7), "m: damaged .ValueError: .* no list of blocks"),
        (lambda h: h["about"].update(x={"$array": 10**9}), "m: damaged, it names an array that is not there"),
        (lambda h: h["about"].update(x={"$code": "1"}), "m: damaged, it holds a value of no known kind"),
        (lambda h: h.update(about=features(h)), "m: damaged, it names an array that is not there"),
        (lambda h: h["object"]["state"].update(steps=["a"]), "m: damaged .ValueError"),
        (lambda h: h["object"]["state"]["steps"][0].__setitem__(0, 1), "m: damaged, the names of its steps"),
    ],
)
def test_headers_made_by_hand_are_refused(tmp_path, model_bytes, change, message):
    import re

    assert re.match(message, fault(altered(tmp_path / "m", model_bytes, change)))


def sealed(header, body=b""):
    """A file with the right magic and checksum, whatever its header says."""
    import hashlib

    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    whole = MAGIC + len(text).to_bytes(8, "little") + text + body
    return whole + hashlib.sha256(whole).digest()


@pytest.mark.parametrize(
    "arrays",
    [
        [["<f8", [10**12]]],
        [["<f8", [2**39, 2**39]]],
        [["<f8", [-1]]],
        [["<f8", [0, 2**60]]],
        [["<f8", [True]]],
        [["|O", [1]]],
        [["<U8", [1]]],
        [["<f8", [1] * 40]],
        [["<f8"]],
        ["<f8"],
        {"0": 1},
        None,
    ],
)
def test_lies_about_sizes_take_no_memory(tmp_path, arrays):
    (tmp_path / "m").write_bytes(sealed({"format": 1, "arrays": arrays}))
    tracemalloc.start()
    try:
        assert "damaged" in fault(tmp_path / "m")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_headers_that_are_no_headers(tmp_path):
    for text in (b"[1]", b"{", b"[" * 100_000, b"\xff", b"1" * 5000):
        (tmp_path / "m").write_bytes(sealed(text))
        assert fault(tmp_path / "m").startswith("m: damaged, its header is not")
    with open(tmp_path / "m", "wb") as f:
        f.write(MAGIC + (LONGEST_HEADER + 1).to_bytes(8, "little"))
        f.truncate(LONGEST_HEADER + 2**20)
    assert "a header of 16777217 bytes cannot be" in fault(tmp_path / "m")


def test_truth_values_are_zero_or_one(tmp_path):
    header = {"format": 1, "arrays": [["|b1", [2]]]}
    (tmp_path / "m").write_bytes(sealed(header, bytes([0, 2]) + bytes(62)))
    assert "truth values" in fault(tmp_path / "m")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_damage_is_seen(data, model_bytes, tmp_path):
    """Bytes changed, cut off, put in or added: an error of our own, or a file with the same bytes."""
    damaged = bytearray(model_bytes)
    kind = data.draw(st.sampled_from(["flip", "cut", "insert", "append"]))
    place = data.draw(st.integers(0, len(damaged) - 1))
    if kind == "flip":
        damaged[place] ^= data.draw(st.integers(1, 255))
    elif kind == "cut":
        del damaged[place:]
    elif kind == "insert":
        damaged[place:place] = data.draw(st.binary(min_size=1, max_size=70))
    else:
        damaged += data.draw(st.binary(min_size=1, max_size=70))
    (tmp_path / "m").write_bytes(bytes(damaged))
    if bytes(damaged) != model_bytes:
        fault(tmp_path / "m")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_value_in_the_header_is_survived(data, model_bytes, tmp_path):
    """With any part of the header replaced and the checksum right, the model is refused or usable."""

    def replace_one(header):
        at = header
        while True:
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            key = data.draw(st.sampled_from(keys))
            inner = at[key]
            if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
                at[key] = data.draw(JSON)
                return
            at = inner

    path = altered(tmp_path / "m", model_bytes, replace_one)
    with contextlib.suppress(ModelFileError):
        load(path).predict(stories(1))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_values_come_back_with_their_types(value):
    arrays = []
    coded = json.loads(json.dumps(encode(value, arrays)))
    assert repr(decode(coded, arrays)) == repr(value)


def test_vocabularies_are_kept_outside_the_header():
    words, arrays = [f"wörd{i}" for i in range(1000)] + ["", "\ud800"], []
    coded = encode({"words": words}, arrays)
    assert len(json.dumps(coded)) < 100
    assert decode(coded, arrays) == {"words": words}
    with pytest.raises(ModelFileError, match="not there"):
        decode(coded, arrays)


def test_big_endian_arrays_are_turned():
    arrays = []
    coded = encode(np.arange(3, dtype=">i8"), arrays)
    assert arrays[0].dtype.str == "<i8"
    np.testing.assert_array_equal(decode(coded, arrays), [0, 1, 2])
    with pytest.raises(ModelFileError, match="not an array of datetime64"):
        encode(np.array(["2020"], "datetime64[Y]"), [])


@pytest.mark.parametrize(
    "value",
    [
        {"a", "b"},
        frozenset([(1, 2), (3, 4)]),
        {1: "a", "$x": 2, (1, 2): None},
        np.float64(2.5),
        np.int8(3),
        np.array(["a", "bcé"]),
        np.array([b"a", b"bc"]),
        np.array([["a", None], [3, "b"]], object),
        np.array(1.0 + 2.0j),
        np.zeros((0, 3), np.float32),
        float("inf"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_collections_and_arrays_come_back(value):
    arrays = []
    coded = json.loads(json.dumps(encode(value, arrays)))
    back = decode(coded, arrays)
    assert type(back) is type(value)
    if isinstance(value, np.ndarray):
        assert (back.dtype, back.shape) == (value.dtype, value.shape)
    np.testing.assert_array_equal(back, value)


def test_sparse_matrices_come_back_and_are_checked():
    X, arrays = sparse.random_array((5, 4), density=0.4, rng=np.random.default_rng(0)), []
    coded = encode(X, arrays)
    np.testing.assert_array_equal(decode(coded, list(arrays)).toarray(), X.toarray())
    for wrong in ([6, 4], [5, 1], [5], "54", [5.0, 4]):
        with pytest.raises(ValueError):
            decode({"$csr": [0, 1, 2, wrong]}, list(arrays))


def test_what_cannot_be_read_again_is_not_written():
    deep = []
    for _ in range(60):
        deep = [deep]
    with pytest.raises(ModelFileError, match="nested so deeply"):
        encode(deep, [])
    with pytest.raises(ModelFileError, match="nested too deeply"):
        decode(deep, [])
    with pytest.raises(ModelFileError, match=r"not a .*Fraction"):
        encode({"x": [Fraction(1, 2)]}, [])
