"""What every block of pair features must keep to, tried on records that are hard to read."""

import json
import time

import numpy as np
import pytest
from sklearn.base import clone

from clustruct.core.storage.encoding import decode, encode
from clustruct.data import Table, all_pairs, field_kinds
from clustruct.features import (
    Dates,
    Elsewhere,
    Links,
    Lists,
    Numbers,
    PairFeatures,
    Strings,
    Terms,
    TextCosines,
    Vectors,
    guess_blocks,
)
from clustruct.features.term_weights import TermWeights

VECTORS = [[1.0, 0.0], [0.5, 0.5], None, [0.0, 0.0], [3.0, 1.0], [1.0, 2.0], [0.0, 1.0], [1.0, 1.0]]
ITEMS = [
    {"title": "Learning in the presence of malicious errors", "year": "1988.", "by": ["M. Kearns", "M. Li"]},
    {"title": "learning in the Présence of malicious errors.", "year": 1988, "by": ["m. kearns", "m. li"]},
    {"title": "", "year": None, "by": []},
    {"title": "日本語 の 題名 x-100", "year": "n/a", "by": None},
    {"title": "日本語 の 題名 X100", "year": float("nan"), "by": ["李"]},
    {"title": 12.0, "year": "1990", "by": ["M. Li"], "day": "1990-01-02"},
    {"title": 'He said "go on, errors"', "year": "1991", "day": "19900103"},
    {},
]
ITEMS = [{**item, "vec": vector} for item, vector in zip(ITEMS, VECTORS, strict=True)]
RAW = Table(ITEMS, name="hard", context={"links": [[0, 1], [9, 4], [9, 3]]})
OTHER = Table([{"title": "quite other words", "vec": [0, 2]}, {"title": "quite other words", "year": 2001}])
BLOCKS = [
    TextCosines("title"),
    TextCosines("title", ngrams=[1], stemmed=False, quotations=True),
    Strings("title"),
    Strings("year", measures=["spelling"]),
    Terms(["title", "year"], name="record", missing_values=True),
    Terms(["title"], views=["letters"]),
    Numbers("year"),
    Dates("day"),
    Lists("by"),
    Lists("title", separator=" "),
    Elsewhere("title", ["year", "by"]),
    Vectors(["vec"]),
    Links(),
]
each = pytest.mark.parametrize("block", BLOCKS, ids=lambda b: f"{type(b).__name__}-{len(b.get_params())}")


@each
def test_one_column_per_name_and_finite(block):
    values = block.fit([RAW]).transform(RAW, all_pairs(len(RAW)))
    assert values.shape == (28, len(block.get_feature_names_out()))
    assert np.isfinite(values).all()
    assert (values >= 0.0).all()
    assert (values <= 1.0 + 1e-12).all()
    assert len(set(block.get_feature_names_out())) == len(block.get_feature_names_out())


@each
def test_symmetric_and_the_same_for_listed_pairs(block):
    pairs = all_pairs(len(RAW))
    everything = block.fit([RAW, OTHER]).transform(RAW, pairs)
    some = np.array([[4, 3], [7, 0], [1, 0], [6, 2]])
    rows = [np.flatnonzero((pairs == sorted(p)).all(axis=1))[0] for p in some.tolist()]
    np.testing.assert_allclose(block.transform(RAW, some), everything[rows], atol=1e-12)
    assert block.transform(RAW, np.zeros((0, 2), np.int64)).shape == (0, len(block.get_feature_names_out()))


@each
def test_parts_of_the_sets_are_as_good_as_all(block):
    sets = [RAW, OTHER, Table([{"title": "words of malicious errors", "year": 1999, "vec": [2, 2]}])]
    whole = clone(block).fit(sets)
    for cut in (1, 2):
        parts = [block.summarise(sets[:cut]), block.summarise(sets[cut:])]
        again = clone(block).finish(block.merge(*parts))
        assert again.get_feature_names_out() == whole.get_feature_names_out()
        for table in sets:
            pairs = all_pairs(len(table))
            np.testing.assert_allclose(
                again.transform(table, pairs), whole.transform(table, pairs), atol=1e-12
            )


def test_parts_whose_vectors_differ_are_refused():
    block = Vectors(["vec"])
    longer = Table([{"vec": [1, 2, 3]}], name="longer")
    with pytest.raises(ValueError, match="vectors of 2 numbers, elsewhere of 3"):
        block.merge(block.summarise([longer]), block.summarise([OTHER]))
    with pytest.raises(ValueError, match="no item has a vector"):
        block.fit([Table([{}, {}])])


@each
def test_state_as_a_file_keeps_it_gives_the_same_values(block):
    arrays = []
    text = json.dumps(encode(block.fit([RAW]), arrays))
    restored = decode(json.loads(text), arrays)
    assert type(restored) is type(block)
    assert restored.get_feature_names_out() == block.get_feature_names_out()
    for table in (RAW, OTHER):
        pairs = all_pairs(len(table))
        np.testing.assert_array_equal(restored.transform(table, pairs), block.transform(table, pairs))


HOSTILE = [None, [], {}, 7, "x", {"weights_": 3}, {"size_": 10**18}, {"weights_": [{"words": 1}]}]


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.fitted], ids=lambda b: type(b).__name__)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_states_are_refused(block, hostile):
    state = block.fit([RAW]).state()
    with pytest.raises(ValueError):
        block.from_state({**state, "learned": hostile})
    for name in block.fitted:
        with pytest.raises(ValueError):
            block.from_state({**state, "learned": {**state["learned"], name: [hostile]}})


@each
def test_hostile_parameters_are_refused(block):
    state = block.fit([RAW]).state()
    for name, value in state["parameters"].items():
        if isinstance(value, bool):
            continue
        with pytest.raises(ValueError):
            block.from_state({**state, "parameters": {**state["parameters"], name: {"a": 10**9}}})
    with pytest.raises(ValueError):
        block.from_state({**state, "parameters": {**state["parameters"], "system": "rm"}})


@pytest.mark.parametrize("state", [None, [], {"parameters": []}, {"parameters": {"field": "a"}}])
def test_what_is_no_state_is_refused(state):
    with pytest.raises(ValueError):
        TextCosines.from_state(state)
    with pytest.raises(ValueError):
        PairFeatures.from_state({"blocks": [state], "products": [], "blocking": None})


def test_term_tables_are_checked():
    table = Terms(["title"], views=["words"]).fit([RAW]).weights_[0].state()
    assert table["words"]
    n = len(table["words"])
    for wrong in (
        *({"counts": c} for c in (np.zeros(3), [1.0] * 10**6, np.full(n, np.nan), ["x"] * n)),
        *({"n": -1}, {"n": True}, {"n": 10**30}, {"words": ["a", "a"]}),
    ):
        with pytest.raises(ValueError):
            TermWeights.from_state({**table, **wrong})


def test_fields_are_told_apart():
    even = {"t": "word " * 40, "n": "$1,200", "d": "2014-03-11", "l": ["a"]}
    odd = {"t": "other " * 40, "n": 7, "d": "2014-03-12", "l": ["b"]}
    sets = [Table([{"id": i, **(odd if i % 2 else even), "s": f"ab {i}", "c": 1} for i in range(9)])]
    kinds = ("id", "text", "number", "date", "list", "string", "nothing")
    assert field_kinds(sets) == dict(zip(["id", "t", "n", "d", "l", "s", "c"], kinds, strict=True))
    assert field_kinds(sets, ["id"]) == {"id": "number"}
    with pytest.raises(ValueError, match="no item has the field 'x'"):
        guess_blocks(sets, fields=["x"])
    with pytest.raises(ValueError, match="kind must be"):
        guess_blocks(sets, "other")
    with pytest.raises(ValueError, match="no field to compare"):
        guess_blocks([Table([{}, {}])])


@pytest.mark.parametrize("kind", ["records", "text"])
def test_guessed_features_of_new_sets(kind):
    features = PairFeatures(guess_blocks([RAW], kind)).fit([RAW])
    names = list(features.get_feature_names_out())
    assert len(set(names)) == len(names)
    x, y = features.transform([RAW, OTHER])
    assert list(x.feature_names) == names
    assert y.n_items == 2
    again = PairFeatures.from_state(features.state()).set_params(allow_missing_fields=True)
    again = again.transform([OTHER])[0]
    np.testing.assert_array_equal(again.pairs, y.pairs)


def test_unknown_words_count_in_new_sets():
    block = TextCosines("title", ngrams=[1], stemmed=False).fit([RAW])
    assert block.transform(OTHER, all_pairs(2)).tolist() == [[pytest.approx(1.0)]]


def test_a_cell_of_megabytes_costs_little():
    """DEFECTS 22: likenesses are taken of 2,000 letters, other features of 100,000."""
    rng = np.random.default_rng(0)
    text = " ".join(map(str, rng.integers(10**6, 10**7, 1_300_000)))
    items = [{"name": f"name {k} of some"} for k in range(20)]
    table = Table([{"name": text}, {"name": text[:-1]}, *items])
    pairs = all_pairs(len(table))
    blocks = [Strings("name"), Terms(["name"])]
    for block in blocks:
        block.fit([Table(items)])
    started = time.process_time()
    found = [block.transform(table, pairs) for block in blocks]
    assert time.process_time() - started < 3.0
    assert found[0][0, 3:].tolist() == [1.0] * 4
