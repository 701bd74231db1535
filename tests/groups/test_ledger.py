"""Ids are never given twice, lead to living groups through any chain, and never in a circle."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.core.exceptions import DataError
from clustruct.groups.ledger import ALPHABET, Ledger, LedgerEntry, digest, fresh_id


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["issue", "merge", "split", "gone"]), st.integers(0, 50)), max_size=40)
)
def test_any_history_resolves_to_living_groups(history):
    ledger, living, owner = Ledger(), [], {}
    for at, (what, pick) in enumerate(history):
        if what == "issue" or not living:
            living.append(ledger.issue(f"g{at}", at))
            owner[living[-1]] = {living[-1]}
            continue
        name = living.pop(pick % len(living))
        heirs = [] if what == "gone" else living[:1] if what == "merge" else living[:2]
        ledger.end(name, at, heirs)
        # The twin: for each id, the living groups it stands for.
        owner = {k: (v - {name}) | set(heirs) if name in v else v for k, v in owner.items()}
    for entry in ledger:
        assert set(ledger.resolve(entry.id)) == owner[entry.id]
        assert all(ledger.is_alive(heir) for heir in ledger.resolve(entry.id))
    assert list(Ledger(ledger)) == list(ledger)


def test_an_id_is_given_once_and_ends_once():
    ledger = Ledger([LedgerEntry("g", 1), LedgerEntry("h", 1)])
    ledger.end("g", 2, ["h"])
    with pytest.raises(ValueError, match=r"'g' was given before \(merged into h\)"):
        ledger.issue("g", 3)
    with pytest.raises(ValueError, match="'g' is not alive"):
        ledger.end("g", 3, ["h"])
    with pytest.raises(ValueError, match="cannot lead to 'g'"):
        ledger.end("h", 3, ["g"])
    with pytest.raises(ValueError, match="cannot lead to 'h'"):
        ledger.end("h", 3, ["h"])
    with pytest.raises(DataError, match="no group 'k', and there never was"):
        ledger.resolve("k")


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([LedgerEntry("g", 1), LedgerEntry("g", 2)], "the id 'g' twice"),
        ([LedgerEntry("g", 1, 2, into=("h",))], "there is no id 'h'"),
        ([LedgerEntry("g", 1, None, into=("h",)), LedgerEntry("h", 1)], "both alive and"),
        ([LedgerEntry("g", 3, 2)], "ended before it was made"),
        (
            [LedgerEntry("g", 1, 2, into=("h",)), LedgerEntry("h", 1, 2, into=("g",))],
            "in a circle: 'g' is merged into h",
        ),
        ([LedgerEntry("g", 1, 2, into=("g",))], "in a circle"),
        ([LedgerEntry(f"g{i}", 1, 2, into=(f"g{(i + 1) % 5000}",)) for i in range(5000)], "in a circle"),
    ],
)
def test_a_ledger_from_a_file_is_checked(entries, said):
    with pytest.raises(DataError, match=said):
        Ledger(entries)


def test_long_chains_are_followed():
    n = 20_000
    ledger = Ledger(
        [LedgerEntry(f"g{i}", 1, 2, into=(f"g{i + 1}",)) for i in range(n)] + [LedgerEntry(f"g{n}", 1)]
    )
    assert ledger.resolve("g0") == (f"g{n}",)


def test_fresh_ids_are_opaque_and_the_same_for_the_same_run():
    many = {fresh_id("state", n) for n in range(20_000)}
    assert len(many) == 20_000
    assert all(name[0] == "g" and len(name) == 13 and set(name[1:]) <= set(ALPHABET) for name in many)
    assert fresh_id("state", 7) in many
    assert fresh_id("state", 7, taken=many) not in many


def test_the_digest_is_that_of_the_grouping():
    assert digest({"a": "g", "b": "h"}) == digest({"b": "h", "a": "g"})
    assert digest({"a": "g"}) != digest({"a": "h"})
    assert digest({"ab": "c"}) != digest({"a": "bc"})


def test_a_circle_beside_living_groups_is_found():
    entries = [LedgerEntry("a", 1), LedgerEntry("b", 1, 2, into=("c",)), LedgerEntry("c", 1, 2, into=("b",))]
    with pytest.raises(DataError, match="leads in a circle: 'b' is merged into c"):
        Ledger(entries)
