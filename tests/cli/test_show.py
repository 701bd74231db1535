"""`clustruct show` says in words how a model was trained, what it was shown and which fields it needs."""

import json
from typing import get_args

import numpy as np
import pytest

from clustruct import load
from clustruct.cli import show
from clustruct.data import Readings
from clustruct.features.needs import FieldNeed, Kind


def test_show_says_what_a_model_needs_and_was_shown(command, folder):
    code, out, _ = command("show", "--model", folder / "records.model", "--top", 3)
    assert code == 0
    pipeline = load(folder / "records.model")
    for need in pipeline[0].needs_:
        assert f"\n{need.name} " in out
    assert "fields that it needs, as they were in training" in out
    assert "shown in training: sets of " in out
    assert "(all with --json)" in out
    said = json.loads(command("show", "--model", folder / "records.model", "--json")[1])
    assert [need["name"] for need in said["needs"]] == [need.name for need in pipeline[0].needs_]
    assert said["shown"]["set_sizes"] == pipeline[-1].shown_.set_sizes.tolist()


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ([5, 5, 5, 5, 5], "5 items"),
        ([1, 1, 1, 1, 1], "1 item"),
        ([1, 2, 2, 3.4, 1200], "1 to 1,200 items (half of them 2 to 3)"),
        ([1, 2, 2, 2, 9], "1 to 9 items (half of them 2)"),
    ],
)
def test_sizes_in_words(sizes, words):
    assert show._sizes(np.array(sizes, float).tolist()) == words


def test_shares_in_words():
    shares = [0.0, 0.004, 0.15, 0.999, 1.0]
    assert [show._percent(share) for share in shares] == ["0 %", "under 1 %", "15 %", "over 99 %", "100 %"]


def test_every_kind_of_field_has_a_word():
    assert set(show.KIND_WORDS) == set(get_args(Kind))
    lines = show._field_table(
        [FieldNeed(f"a {kind}", kind) for kind in get_args(Kind)], Readings()
    ).splitlines()
    assert len(lines) == 1 + len(show.KIND_WORDS)


def test_the_gap_is_no_share():
    """It is in the unit of the objective, as the engine gives it; F is a share."""
    assert show._as_text("gap", 0.06) == "0.06"
    assert show._as_text("held_out_pairwise_f", 0.967) == "96.7 %"


def test_the_model_is_named_either_way(command, folder):
    model = folder / "records.model"
    said = command("show", "--model", model)
    assert said[0] == 0
    assert command("show", model) == command("show", model, "--model", model) == said
    for words, told in (
        ((model, "--model", folder / "other"), f"show takes one model file, not {model} and --model "),
        ((), "show needs a model file"),
    ):
        code, out, err = command("show", *words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"clustruct: {told}")
