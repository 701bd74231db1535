"""A model file gives the same model back, or a clear error; never code, never more memory than its size."""

import contextlib
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.pipeline import Pipeline, make_pipeline

from clustruct import PairFeatures, RawSet, SupervisedCorrelationClustering, SupervisedKMeans
from clustruct.baselines import DefaultClustering, PairKMeans, PairwiseClassifierClustering, UntrainedKMeans
from clustruct.exceptions import ModelFileError
from clustruct.losses import PairwiseLoss
from clustruct.model_files import load, read_model, save
from clustruct.storage.container import LONGEST_HEADER, MAGIC, read_container, write_container
from clustruct.storage.values import decode, encode
from tests.model_files.word_block import SharedWords

WORDS = ["sun", "sea", "sand", "rain", "wind", "snow", "rock", "tree", "leaf", "root"]


def stories(n_sets=4, seed=0):
    """Sets of three stories with two words each, and a common vocabulary of noise."""
    rng = np.random.default_rng(seed)
    found = []
    for s in range(n_sets):
        labels = rng.integers(0, 3, 10).tolist()
        items = [{"title": f"{WORDS[c]} {WORDS[c + 3]} noise{rng.integers(0, 90)}"} for c in labels]
        found.append(RawSet(items, labels=labels, name=f"s{s}"))
    return found


def fitted(estimator, sets=None):
    sets = stories() if sets is None else sets
    return make_pipeline(PairFeatures([SharedWords()]), estimator).fit(sets, [raw.labels for raw in sets])


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
    PairKMeans(),
    UntrainedKMeans(n_clusters=2),
    DefaultClustering("together"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_model_comes_back_whole(estimator, tmp_path):
    pipeline = fitted(estimator)
    save(tmp_path / "model", pipeline, about={"columns": {"set": "fold"}})
    saved = read_model(tmp_path / "model")
    again, test = saved.pipeline, stories(3, seed=1)
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
        PairwiseClassifierClustering(), [RawSet([{"title": "a"}, {"title": "b"}], labels=[0, 0])]
    )
    save(tmp_path / "m", pipeline)
    assert load(tmp_path / "m")[-1].constant_ == 1.0


def test_the_header_can_be_read_by_people(model_bytes):
    start = len(MAGIC) + 8
    header = json.loads(
        model_bytes[start : start + int.from_bytes(model_bytes[len(MAGIC) : start], "little")]
    )
    assert header["format"] == 1
    assert header["versions"]["clustruct"]
    weights = header["model"]["learned"]["weights"]
    assert list(weights) == ["title shared", "title missing", "constant"]
    assert header["model"]["learned"]["result"]["stop_reason"] == "converged"


def test_what_cannot_be_kept_is_refused_before_a_file_is_made(tmp_path, pipeline):
    with pytest.raises(ModelFileError, match=r"the loss .* is code"):
        save(tmp_path / "m", fitted(SupervisedCorrelationClustering(C=1.0, loss=lambda y, z: 0.0)))
    with pytest.raises(ModelFileError, match="no model file for the classifier Perceptron"):
        save(tmp_path / "m", fitted(PairwiseClassifierClustering(Perceptron())))
    with pytest.raises(ModelFileError, match="Pipeline of PairFeatures and a clusterer"):
        save(tmp_path / "m", pipeline[-1])
    with pytest.raises(ModelFileError, match="no model file for LogisticRegression"):
        save(tmp_path / "m", Pipeline([("a", pipeline[0]), ("b", LogisticRegression())]))
    with pytest.raises(ModelFileError, match="plain values and arrays, not object"):
        save(tmp_path / "m", pipeline, about={"x": object()})
    with pytest.raises(ValueError, match="there is no folder"):
        save(tmp_path / "none" / "m", pipeline)
    assert list(tmp_path.iterdir()) == []


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
        (lambda h: h["model"].update(kind="os.system"), "m: unknown kind of model 'os.system'; known are "),
        (lambda h: h["model"]["parameters"].update(evil=1), "m: damaged .TypeError"),
        (lambda h: h["model"].pop("learned"), "m: damaged .KeyError"),
        (
            lambda h: h["model"].update(n_features=10**30),
            "m: damaged, its features and their names do not fit",
        ),
        (lambda h: h["features"]["blocks"].pop(), "m: damaged, its features and its model do not fit"),
        (
            lambda h: h["features"]["blocks"][0].update({"$object": "pickle"}),
            "m: it names .pickle., which is not known",
        ),
        (lambda h: h["model"]["learned"]["weights"].pop("constant"), "m: damaged, its weights and feature"),
        (lambda h: h["about"].update(x={"$array": 10**9}), "m: damaged, it names an array that is not there"),
        (lambda h: h["about"].update(x={"$code": "1"}), "m: damaged, it holds a value of no known kind"),
        (lambda h: h.update(about=h["features"]), "m: damaged, it names an array that is not there"),
        (lambda h: h.update(steps=["a"]), "m: damaged, its steps do not fit"),
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
        | st.dictionaries(st.text(max_size=5).filter(lambda k: not k.startswith("$")), inner, max_size=4)
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
    with pytest.raises(ModelFileError, match="no arrays of object"):
        encode(np.array([None]), [])
