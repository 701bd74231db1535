"""Items sorted into piles: one decision that says what all its pairs, spelled out, would say."""

import json
import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustruct.core.exceptions import DataError, ModelFileError
from clustruct.data import Table
from clustruct.groups import (
    Decision,
    Item,
    LoggedRun,
    Store,
    corrections,
    read_decisions,
    read_labels,
    replay,
    settle,
    write_decisions,
)
from clustruct.groups.decisions import MOST_SORTED, contradiction
from clustruct.groups.schema import FORMAT
from tests.reference.partitions import all_partitions

ITEMS = "abcdef"
TWO = (("a", "b"), ("c",))


@st.composite
def piles(draw, items=ITEMS):
    """Some items in piles, in any order."""
    named = draw(st.permutations(items))[: draw(st.integers(2, len(items)))]
    where = [draw(st.integers(0, 3)) for _ in named]
    held = [tuple(i for i, w in zip(named, where, strict=True) if w == pile) for pile in set(where)]
    return tuple(filter(None, held))


def spelled(sorted_into):
    """All that a sort says, pair by pair: by brute force, of every two items."""
    pile = {item: n for n, held in enumerate(sorted_into) for item in held}
    return {(a, b): "same" if pile[a] == pile[b] else "different" for a, b in combinations(sorted(pile), 2)}


def told(statements):
    return [(s.a, s.b, s.answer, s.by.number) for s in statements]


def test_the_items_are_those_of_the_piles():
    decision = Decision("sort", piles=TWO)
    assert decision.items == ("a", "b", "c")
    assert decision.content() == {"piles": [["a", "b"], ["c"]]}
    assert replace(decision, number=7).piles == TWO
    assert Decision("sort", ("a", "b", "c"), piles=TWO) == decision


@pytest.mark.parametrize(
    ("kind", "what", "said"),
    [
        ("sort", {}, r"sort takes piles \(piles\)"),
        ("sort", {"items": ("a", "b")}, r"sort takes piles \(piles\)"),
        ("sort", {"piles": (("a", "b"), ())}, "sort: a pile is empty"),
        ("sort", {"piles": (("a",),)}, "sort takes two items or more, not 1"),
        ("sort", {"piles": (("a", "b"), ("a",))}, "sort: the item 'a' is named twice"),
        ("sort", {"piles": TWO, "items": ("a", "c", "b")}, "sort: its items are not those of its piles"),
        ("sort", {"piles": tuple((f"{n}",) for n in range(MOST_SORTED + 1))}, "sort takes at most .* items"),
        ("same", {"piles": TWO, "items": ("a", "b")}, "same takes no piles"),
        ("note", {"piles": TWO}, "note takes no piles"),
    ],
)
def test_what_is_no_sort_is_refused(kind, what, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        Decision(kind, **what)


@settings(max_examples=150, deadline=None)
@given(piles())
def test_it_says_what_its_pairs_say(sorted_into):
    log = [LoggedRun(1, dict.fromkeys(ITEMS, "g")), Decision("sort", piles=sorted_into, number=2)]
    state = replay(log)
    assert state.groups == dict.fromkeys(ITEMS, "g")  # it moves nothing
    found = state.judgements()
    said = {tuple(sorted((a, b))): answer for a, b, answer, _ in told(found)}
    assert said == spelled(sorted_into)
    assert len(found) == len(said)
    words = [Decision(s, p, number=n) for n, (p, s) in enumerate(spelled(sorted_into).items(), 1)]
    pairs = settle(replay(words).judgements())
    unnamed = [sorted((*sorted((j.a, j.b)), j.answer) for j in holding) for holding in (settle(found), pairs)]
    assert unnamed[0] == unnamed[1]


@settings(max_examples=100, deadline=None)
@given(piles(), st.data())
def test_who_sorts_the_same_items_anew_takes_back_what_was_said(first, data):
    items = [item for held in first for item in held]
    where = [data.draw(st.integers(0, 3)) for _ in items]
    held = [tuple(i for i, w in zip(items, where, strict=True) if w == pile) for pile in set(where)]
    second = Decision("sort", piles=tuple(filter(None, held)), number=2, author="ann")
    log = [Decision("sort", piles=first, number=1, author="ann"), second]
    found = settle(replay(log).judgements(), disagreement="majority")
    alone = settle(replay([second]).judgements(), disagreement="majority")
    assert sorted(told(found)) == sorted(told(alone))


@settings(max_examples=100, deadline=None)
@given(piles(), piles())
def test_an_undo_takes_back_all_of_it(first, second):
    log = [
        Decision("sort", piles=first, number=1, author="ann"),
        Decision("sort", piles=second, number=2, author="bob"),
        Decision("undo", undoes=1, number=3),
    ]
    assert told(replay(log).judgements()) == told(replay(log[1:2]).judgements())
    back = [*log, Decision("undo", undoes=3, number=4)]
    assert told(replay(back).judgements()) == told(replay(log[:2]).judgements())


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(piles(), st.sampled_from([("a", "b"), ("c", "a"), ("b", "c")])), max_size=5))
def test_sorts_contradict_each_other_as_their_pairs_do(said):
    """Several people: whatever some say in piles, others in pairs."""
    log, words = [], []
    for n, one in enumerate(said, 1):
        is_pair = isinstance(one[0], str)
        what = {"items": one} if is_pair else {"piles": one}
        log.append(Decision("same" if is_pair else "sort", number=n, author=f"{n}", **what))
        words += [{one: "same"} if is_pair else spelled(one)]
    able = [
        y
        for y in all_partitions(len(ITEMS))
        if all(
            (y[ITEMS.index(a)] == y[ITEMS.index(b)]) == (answer == "same")
            for some in words
            for (a, b), answer in some.items()
        )
    ]
    found = contradiction(replay(log).judgements())
    assert (found is None) == bool(able)


def test_a_contradiction_names_it():
    log = [
        Decision("sort", piles=(("a", "b", "c"), ("d",)), number=1, author="ann"),
        Decision("different", ("b", "c"), number=2, author="bob"),
    ]
    assert contradiction(replay(log).judgements()) == (
        "decision 2 (by bob) says 'b' and 'c' are different, but decision 1 (by ann) says they are the same"
    )
    log[1] = Decision("same", ("d", "a"), number=2, author="bob")
    assert contradiction(replay(log).judgements()) == (
        "decision 2 (by bob) says 'd' and 'a' are the same, but decision 1 (by ann) says they are different"
    )
    log[1:] = [Decision("same", ("d", "e"), number=2), Decision("same", ("e", "b"), number=3)]
    assert "sorts 'a' and 'd' into two piles, but" in contradiction(replay(log).judgements())


def test_the_majority_may_be_against_it():
    log = [
        Decision("sort", piles=TWO, number=1, author="ann"),
        Decision("different", ("a", "b"), number=2, author="bob"),
        Decision("different", ("b", "a"), number=3, author="eve"),
    ]
    held = settle(replay(log).judgements(), disagreement="majority")
    assert {s.answer for s in held} == {"different"}
    assert [(s.a, s.b) for s in held] == [("a", "b"), ("a", "c"), ("b", "c")]


NAMES = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    unique=True,
    min_size=2,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_it_comes_back_from_every_format(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("sorts")
    some = [
        Decision("sort", piles=data.draw(piles(data.draw(NAMES))), number=n, author="ann", note="by\nhand")
        for n in range(1, data.draw(st.integers(1, 3)) + 1)
    ]
    some.append(Decision("same", ("a", "b"), number=9))
    for name in ("log.csv", "log.tsv", "log.jsonl"):
        write_decisions(folder / name, some)
        for found in (read_decisions(folder / name), read_labels(folder / name).decisions):
            assert [replace(d, source="", line=None) for d in found] == some
    labels = read_labels(folder / "log.csv")
    assert told(labels.judgements()) == told(replay(some).judgements())


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("[[1", "'piles' is not a JSON list"),
        ("[" * 5000 + "]" * 5000, "'piles' (is not a JSON list|must be a list of lists of ids)"),
        ("a", "'piles' is not a JSON list"),
        ('["a","b"]', "'piles' must be a list of lists of ids"),
        ('[["a"],[["b"]]]', "'piles' must be a list of lists of ids"),
        ('{"a": 1}', "'piles' must be a list of lists of ids"),
        ("[]", "sort takes piles"),
        ('[["a","b"],[]]', "sort: a pile is empty"),
        ('[["a","a"]]', "sort: the item 'a' is named twice"),
    ],
)
def test_bad_piles_are_named_by_line(tmp_path, cell, said):
    with open(tmp_path / "f.csv", "w") as f:
        f.write('decision,a,b,piles\nsame,a,b,\nsort,,,"{}"\n'.format(cell.replace('"', '""')))
    with pytest.raises(DataError, match=rf"f\.csv:3: {said}"):
        read_decisions(tmp_path / "f.csv")


def test_numbers_are_names_in_piles_too(tmp_path):
    (tmp_path / "f.jsonl").write_text('{"decision": "sort", "piles": [["a", 7], ["c"]]}\n')
    (found,) = read_decisions(tmp_path / "f.jsonl")
    assert found.piles == (("a", "7"), ("c",))


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "s.db") as made:
        made.add_items(Item(i, {"t": i}) for i in ITEMS)
        made.record_run(dict.fromkeys(ITEMS, "g"))
        yield made


def test_a_store_keeps_it_and_takes_it_back(store, monkeypatch):
    number = store.decide(Decision("sort", piles=TWO, author="ann"))
    with Store(store.path) as again:
        (found,) = again.decisions()
        assert (found.piles, found.items, found.author) == (TWO, ("a", "b", "c"), "ann")
        assert told(again.state().judgements()) == [
            ("a", "b", "same", 2),
            ("a", "c", "different", 2),
            ("b", "c", "different", 2),
        ]
        assert again.groups() == dict.fromkeys(ITEMS, "g")
        again.verify()
    with monkeypatch.context() as patched:
        patched.setattr(Store, "replay_log", lambda self: pytest.fail("a replay"))
        undo = store.decide(Decision("undo", undoes=number))
    assert store.state().judgements() == []
    store.decide(Decision("undo", undoes=undo))
    assert len(store.state().judgements()) == 3
    with pytest.raises(DataError, match="decision 5 names 'zz', and there is no such item"):
        store.decide(Decision("sort", piles=(("a",), ("zz",))))


def test_files_go_into_a_store_once(store, tmp_path):
    some = [Decision("sort", piles=TWO, number=1, author="ann", time="2026-01-01T00:00:00Z")]
    write_decisions(tmp_path / "fix.csv", some)
    assert store.import_decisions(read_labels(tmp_path / "fix.csv").decisions) == [2]
    assert store.import_decisions(read_labels(tmp_path / "fix.csv").decisions) == []
    write_decisions(tmp_path / "out.csv", store.decisions())
    assert read_decisions(tmp_path / "out.csv")[0].piles == TWO


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"piles": [["a", "b"], ["zz"]]}, "decision 90 names 'zz', and there is no such item"),
        ({"piles": [["a"], [["b"]]]}, "decision 90: its piles are no lists of names"),
        ({"piles": ["a", "b"]}, "decision 90: its piles are no lists of names"),
        ({"piles": "ab"}, "decision 90: its piles are no lists of names"),
        ({"piles": {"a": 1}}, "decision 90: its piles are no lists of names"),
        ({"piles": [["a", "b"]], "items": ["a"]}, "decision 90: sort: its items are not"),
        ({"items": ["a", "b"]}, "decision 90: sort takes piles"),
    ],
)
def test_sorts_that_nobody_wrote_are_damage(store, content, said):
    store._db.execute("INSERT INTO log VALUES (90, 'sort', '', '', ?)", [json.dumps(content)])
    with pytest.raises(ModelFileError, match=rf"the store is damaged \({said}"):
        store.verify()


def format_of(path):
    return int.from_bytes(path.read_bytes()[60:64], "big")


def test_a_store_of_the_format_before_is_of_this_one_when_it_holds_a_sort(store):
    """An older version then says that it cannot read the format, and does not call the store damaged."""
    path = store.path
    store.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 3")
    with Store(path) as old:
        old.decide(Decision("same", ("a", "b")))
        assert format_of(path) == 3
        with pytest.raises(DataError, match="'zz'"):
            old.decide(Decision("sort", piles=(("a",), ("zz",))))
        assert format_of(path) == 3
        old.decide(Decision("sort", piles=TWO))
        assert format_of(path) == FORMAT == 4
        old.verify()
    with Store(path) as new:
        assert [d.kind for d in new.decisions()] == ["same", "sort"]


def test_it_is_learned_from(tmp_path):
    table = Table([{"t": word} for word in ITEMS], ids=list(ITEMS))
    (tmp_path / "fix.jsonl").write_text('{"decision": "sort", "piles": [["a", "b"], ["c", "d"], ["e"]]}\n')
    found = corrections([table], tmp_path / "fix.jsonl")
    (known,) = found.evidence
    assert (found.n_same, found.n_different) == (2, 8)
    assert known.piece[0] == known.piece[1] != known.piece[2] == known.piece[3]
    assert known.named.tolist() == [True] * 5 + [False]
    (tmp_path / "fix.jsonl").write_text('{"decision": "sort", "piles": [["a", "b"], ["zz"]]}\n')
    with pytest.raises(DataError, match=r"names 'zz', and there is no such item"):
        corrections([table], tmp_path / "fix.jsonl")


def test_as_many_as_can_be_sorted_at_once():
    names = [str(n) for n in range(MOST_SORTED)]
    random.Random(0).shuffle(names)
    cut = [tuple(names[at : at + 10]) for at in range(0, MOST_SORTED, 10)]
    held = settle(replay([Decision("sort", piles=tuple(cut), number=1)]).judgements())
    same = len(cut) * 45
    answers = [s.answer for s in held]
    assert answers.count("same") == same
    assert answers.count("different") == MOST_SORTED * (MOST_SORTED - 1) // 2 - same
