"""Porter stems: known pairs, and what the analyzer leaves out."""

import pytest

from clustruct.features.blocks.text_cosines import porter_stem, stem_tokens


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("motoring", "motor"),
        ("conflated", "conflat"),
        ("hopping", "hop"),
        ("happy", "happi"),
        ("conditional", "condit"),
        ("electriciti", "electr"),
        ("hopefulness", "hope"),
        ("adjustment", "adjust"),
        ("rate", "rate"),
        ("controll", "control"),
    ],
)
def test_examples_of_the_1980_paper(word, stem):
    """From the step tables of Porter's paper, run through all the steps."""
    assert porter_stem([word]) == [stem]


def test_stop_words_are_compared_before_stemming():
    assert stem_tokens("this is being seen", ["this", "is"]) == ["be", "seen"]


def test_numbers_and_single_letters_are_left_out():
    assert stem_tokens("A b 42 x86 don't été_1") == ["don", "été"]
    assert stem_tokens("") == []


def test_order_and_repeats_stay():
    assert porter_stem(iter(["Cats", "cat", "CATS"])) == ["cat", "cat", "cat"]
