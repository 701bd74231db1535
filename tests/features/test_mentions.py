"""Features of mentions: what is said of pairs, and bad places."""

import numpy as np
import pytest

from clustruct.core.exceptions import DataError
from clustruct.data import Table, all_pairs
from clustruct.features import Mentions, PairFeatures, guess_blocks

TOKENS = [
    ["Mr.", "John", "Smith", ",", "the", "mayor", "of", "Rome", ",", "saw", "Mary", "."],
    ["He", "greeted", "her", "and", "the", "two", "dogs", "."],
    ["``", "I", "know", "you", ",", "''", "Smith", "said", "."],
    ["IBM", "and", "International", "Business", "Machines", "."],
]
SPANS = {
    **{"john": (0, 0, 3), "mayor": (0, 4, 8), "rome": (0, 7, 8), "mary": (0, 10, 11)},
    **{"he": (1, 0, 1), "her": (1, 2, 3), "dogs": (1, 4, 7)},
    **{"i": (2, 1, 2), "you": (2, 3, 4), "smith": (2, 6, 7)},
    **{"ibm": (3, 0, 1), "machines": (3, 2, 5)},
}
ITEMS = [dict(zip(("sent", "start", "end"), s, strict=True)) for s in SPANS.values()]
TYPES = {"john": "PER", "mayor": "PER", "rome": "GPE", "mary": "PER", "smith": "PER"}
for key, item in zip(SPANS, ITEMS, strict=True):
    item["type"] = TYPES.get(key, "")
RAW = Table(ITEMS, context={"tokens": TOKENS})


def feature(name, first, second, raw=RAW):
    block = Mentions().fit([raw])
    place = list(SPANS)
    row = block.transform(raw, np.array([[place.index(first), place.index(second)]]))[0]
    return dict(zip(block.get_feature_names_out(), row, strict=True))[name]


@pytest.mark.parametrize(
    ("name", "first", "second", "value"),
    [
        ("shared word", "john", "smith", 1.0),
        ("same head, both names", "john", "smith", 1.0),
        ("words of one within the other", "john", "smith", 1.0),
        ("one is the acronym of the other", "ibm", "machines", 1.0),
        ("gender clashes", "john", "her", 1.0),
        ("gender agrees", "john", "he", 1.0),
        ("number clashes", "dogs", "he", 1.0),
        ("animacy clashes", "rome", "he", 1.0),
        ("first and second person", "i", "you", 1.0),
        ("one quoted", "i", "smith", 1.0),
        ("one within the other", "mayor", "rome", 1.0),
        ("side by side", "john", "mayor", 1.0),
        ("nearest noun that fits the pronoun", "mary", "her", 1.0),
        ("nearest noun that fits the pronoun", "rome", "her", 0.0),
        ("next sentence", "john", "he", 1.0),
        ("same string", "he", "her", 0.0),
    ],
)
def test_features_of_a_pair(name, first, second, value):
    assert feature(name, first, second) == value
    assert feature(name, second, first) == value


ROLES = [
    "compound compound nsubj punct det appos case nmod punct root obj punct",
    "nsubj root obj cc det nummod conj punct",
]


def test_annotation_is_used_where_given():
    deps = {
        "head": [[2, 2, 9, 5, 5, 2, 7, 5, 2, -1, 9, 9], [1, -1, 1, 6, 6, 6, 1, 1]],
        "deprel": [roles.split() for roles in ROLES],
    }
    items = ITEMS[:6]
    raw = Table(items, context={"tokens": TOKENS, **deps})
    assert feature("appositive", "john", "mayor", raw) == 1.0
    assert feature("subject and object of one verb", "john", "mary", raw) == 1.0
    assert feature("subject and object of one verb", "he", "her", raw) == 1.0
    assert feature("nearest subject that fits the pronoun", "john", "he", raw) == 1.0
    assert feature("appositive", "john", "mayor") == 0.0


def test_names_columns_listed_pairs_and_state():
    block = Mentions().fit([RAW])
    pairs = all_pairs(len(RAW))
    values = block.transform(RAW, pairs)
    assert values.shape == (66, len(block.get_feature_names_out()))
    assert len(set(block.get_feature_names_out())) == len(block.get_feature_names_out()) >= 50
    some = [40, 3, 17]
    np.testing.assert_array_equal(block.transform(RAW, pairs[some][:, ::-1]), values[some])
    np.testing.assert_array_equal(Mentions.from_state(block.state()).transform(RAW, pairs), values)
    for hostile in ({}, {"weights_": {"words": [1]}}, {"weights_": [{"words": [1]}]}, None):
        with pytest.raises(ValueError):
            Mentions.from_state({**block.state(), "learned": hostile})


def test_order_of_items_does_not_matter():
    block = Mentions().fit([RAW])
    turned = Table(ITEMS[::-1], context=RAW.context)
    m = len(ITEMS)
    pairs = all_pairs(m)
    np.testing.assert_array_equal(block.transform(turned, m - 1 - pairs), block.transform(RAW, pairs))


def test_bad_places_are_named():
    for wrong in ({"sent": 9}, {"start": 3, "end": 3}, {"end": 99}, {"sent": None}, {"start": "x"}):
        raw = Table([ITEMS[0], {**ITEMS[1], **wrong}], name="d1", context=RAW.context)
        with pytest.raises(ValueError, match="item 2 of set d1"):
            Mentions().fit([raw])
    for wrong in (2.9, "0", 0.0, True):
        raw = Table([ITEMS[0], {**ITEMS[1], "start": wrong}], name="d1", context=RAW.context)
        with pytest.raises(DataError, match="item 2 of set d1 needs a whole number for 'start'"):
            Mentions().fit([raw])
    with pytest.raises(ValueError, match="sentences of the text"):
        Mentions().fit([Table(ITEMS)])


@pytest.mark.parametrize(
    ("layer", "given", "message"),
    [
        ("tokens", ["He ran", "She"], "sentence 1 of tokens must be a list"),
        ("tokens", [[1, 2], ["a"]], "sentence 1 of tokens holds 1"),
        ("tokens", "He ran", "sentences of the text"),
        ("upos", 7, "upos must have a list for each sentence"),
        ("upos", ["NOUN"], "sentence 1 of upos must be a list"),
        ("head", [["x"]], "sentence 1 of head holds 'x'"),
        ("deprel", [[["nsubj"]]], "sentence 1 of deprel holds"),
        ("speaker", [["Ann"]], "speaker of sentence 1 must be a name"),
    ],
)
def test_annotation_of_another_shape_is_refused(layer, given, message):
    context = {"tokens": [["He", "ran"]], layer: given}
    raw = Table([{"sent": 0, "start": 0, "end": 1}] * 2, name="d1", context=context)
    with pytest.raises(DataError, match=f"set d1: .*{message}"):
        Mentions().fit([raw]).transform(raw, np.array([[0, 1]]))


def test_guessed_from_places_in_a_text():
    blocks = guess_blocks([RAW])
    assert [type(b) for b in blocks] == [Mentions]
    assert PairFeatures(blocks).fit_transform([RAW])[0].n_items == len(ITEMS)


def test_hand_annotation_of_the_answer_is_not_used():
    items = [{**item, "gold": {"infstat": "new", "identity": k}} for k, item in enumerate(ITEMS)]
    block, pairs = Mentions().fit([RAW]), all_pairs(len(RAW))
    found = block.transform(Table(items, context=RAW.context), pairs)
    np.testing.assert_array_equal(found, block.transform(RAW, pairs))
