"""From a file without labels to groups: what is learned holds what people said, and is kept."""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest

from clustruct import Recipe
from clustruct.evaluate.metrics import pairwise_scores
from clustruct.groups import Decision, Store
from clustruct.studio import learning
from clustruct.studio.asking import (
    CARDS,
    Agreement,
    Pool,
    agreement,
    is_enough,
    questions,
)
from clustruct.studio.engine import Engine
from clustruct.studio.exporting import export
from clustruct.studio.folder import Folder, begin, preview
from clustruct.studio.learning import FEWEST_GROUPS, LearningProgress, Stopped, learn
from clustruct.studio.reviewing import block, next_questions, precision_curve, problem, review_page, why
from tests.studio.serving import write_people


def quiet():
    return LearningProgress(lambda about: None)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A project with its first model, so that each test can run alone, and what that learning gave."""
    folder = tmp_path_factory.mktemp("people")
    truth, fields = write_people(folder / "people.csv", n_people=30)
    path = begin(Folder(folder), "people.csv", id="nr", fields=fields, kind="auto")
    engine = Engine(path)
    return path, truth, engine, learn(engine, quiet())


@pytest.fixture(scope="module")
def project(begun):
    return begun[:3]


def f_of(path, truth):
    with Store(path) as store:
        groups = store.groups()
    return pairwise_scores([truth[i] for i in groups], list(groups.values())).f1


def answer(store, question, truth):
    """As the page does it for somebody who knows."""
    if question["kind"] == "pair":
        a, b = question["items"]
        store.decide(Decision("same" if truth[a] == truth[b] else "different", (a, b)))
        return
    piles = defaultdict(list)
    for item in (i for pile in question["piles"] for i in pile):
        piles[truth[item]].append(item)
    store.decide(Decision("sort", piles=tuple(map(tuple, piles.values()))))


@pytest.fixture
def small(tmp_path):
    truth, fields = write_people(tmp_path / "people.csv", n_people=8)
    path = begin(Folder(tmp_path), "people.csv", id="nr", fields=fields, kind="auto")
    return path, truth, Engine(path)


def test_first_without_labels_then_from_answers(begun):
    path, truth, engine, found = begun
    assert found["how"] == "no labels"
    first = f_of(path, truth)
    assert first > 0.7
    kinds = Counter()
    for _ in range(6):
        asked = next_questions(engine)["questions"]
        kinds.update(q["kind"] for q in asked)
        with Store(path) as store:
            for q in asked:
                answer(store, q, truth)
        found = learn(engine, quiet())
    assert found["how"].startswith(("answers", "groups"))
    assert found["agreement"]["n"] == 6
    assert kinds["sort"] >= 4
    assert f_of(path, truth) >= first - 0.02
    with Store(path) as store:
        groups = store.groups()
        for judged in engine.snapshot().judgements:
            if judged.answer != "unsure":
                assert (groups[judged.a] == groups[judged.b]) == (judged.answer == "same")
        assert store.models()[-1].number == found["model"]
        store.verify()


def test_answers_hold_whatever_the_model_says(project):
    path, _truth, engine = project
    with Store(path) as store:
        groups = store.groups()
        said = {item for j in engine.snapshot().judgements for item in (j.a, j.b)}
        free = [i for i in groups if i not in said]
        together = next((a, b) for a in free for b in free if a < b and groups[a] == groups[b])
        number = store.decide(Decision("different", together))
    learn(engine, quiet())
    with Store(path) as store:
        assert store.group_of(together[0]) != store.group_of(together[1])
        store.decide(Decision("undo", undoes=number))
    learn(engine, quiet())


def test_review_block_and_reasons(project):
    path, _truth, engine = project
    page = review_page(engine, 0, 5)
    with Store(path) as store:
        for one in page["groups"]:
            assert set(one["part"]) < set(store.members(one["group"]))
    wrong = [one["wrong_pairs"] for one in page["groups"]]
    assert wrong == sorted(wrong, reverse=True)
    shown = block(engine, 0)
    assert 2 <= len(shown["items"]) <= 24
    a, b = shown["items"][:2]
    reasons = why(engine, a, b)
    assert sum(f["contribution"] for f in reasons["fields"]) == pytest.approx(reasons["similarity"])
    with pytest.raises(ValueError, match="there is no item 'nobody'"):
        why(engine, "nobody", a)


def test_reasons_name_the_fields_that_trees_look_at(project, monkeypatch):
    _, truth, engine = project
    table = engine.snapshot().table
    known = replace(table, labels=[truth[i] for i in table.ids])
    pipeline = Recipe(C=1.0, similarity="trees").fit([known]).pipeline_
    monkeypatch.setattr(engine, "model", lambda: (0, pipeline))
    reasons = why(engine, *table.ids[:2])
    assert sum(f["contribution"] for f in reasons["fields"]) == pytest.approx(reasons["similarity"])
    assert {"name", "phone"} <= {f["field"] for f in reasons["fields"]}
    assert reasons["note"] == ""


def confirm_right_groups(path, truth):
    """A dozen and some groups that are right, confirmed; their items."""
    with Store(path) as store:
        groups = store.groups()
        right = [g for g in dict.fromkeys(groups.values()) if len({truth[i] for i in store.members(g)}) == 1]
        right = [g for g in right if store.size(g) > 1][: FEWEST_GROUPS + 4]
        for g in right:
            store.decide(Decision("confirm", group=g))
        return {g: store.members(g) for g in right}


def test_confirmed_groups_stay_and_make_probabilities(project):
    path, truth, engine = project
    right = confirm_right_groups(path, truth)
    assert len(right) >= FEWEST_GROUPS
    found = learn(engine, quiet())
    assert found["how"].startswith("groups")
    assert found["calibrated"]
    with Store(path) as store:
        assert {g: store.members(g) for g in right} == right
    assert precision_curve(engine)["curve"]
    again = learn(engine, quiet())
    assert again["how"] == "groups, from the last model on"


def test_groups_that_foretell_worse_than_answers_are_not_what_is_learned_from(project, monkeypatch):
    path, truth, engine = project
    confirm_right_groups(path, truth)
    monkeypatch.setattr(learning, "groups_foretell_as_well", lambda *_: False)
    found = learn(engine, quiet())
    assert found["how"].startswith("answers, which foretell")
    assert not found["calibrated"]


def test_scores_that_a_learning_has_made_are_not_made_again(small, monkeypatch):
    path, _, engine = small
    own = Engine(path)
    learn(own, quiet())
    engine.share(own)
    monkeypatch.setattr(Engine, "make_scores", lambda *_: pytest.fail("made again"))
    assert block(engine, 0)["items"]
    assert next_questions(engine)["questions"]


def test_what_is_exported_is_read_again(project, tmp_path):
    import clustruct
    from clustruct.groups import read_decisions, read_groups

    path, _, engine = project
    found = export(engine, tmp_path, "people", ["groups", "model", "corrections"])
    with Store(path) as store:
        groups = read_groups(tmp_path / found["files"]["groups"], id="nr", cluster="cluster")
        assert groups == store.groups()
        assert len(read_decisions(tmp_path / found["files"]["corrections"])) == len(store.decisions())
    model = clustruct.load(tmp_path / found["files"]["model"])
    assert len(model.predict([engine.snapshot().table])[0]) == len(groups)
    assert all(line.startswith("clustruct ") for line in found["commands"])


def test_a_stop_before_anything_was_learned_changes_nothing(project):
    path, _, engine = project
    with Store(path) as store:
        at = store.next_number()
    progress = quiet()
    progress.stop = True
    with pytest.raises(Stopped):
        learn(engine, progress)
    with Store(path) as store:
        assert store.next_number() == at


def all_pairs(n):
    return np.column_stack(np.triu_indices(n, 1))


def pool_of(p, groups=None, open_=None, pairs=None):
    p = np.asarray(p, float)
    pairs = all_pairs(round((1 + np.sqrt(1 + 8 * len(p))) / 2)) if pairs is None else pairs
    groups = np.arange(pairs.max() + 1) if groups is None else groups
    return Pool(pairs, p, np.ones(len(p), bool) if open_ is None else open_, groups)


def test_a_board_is_an_item_and_those_most_like_it_in_piles_as_they_are():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 3)
    pairs = all_pairs(len(groups))
    p, open_ = rng.random(len(pairs)), rng.random(len(pairs)) < 0.8
    found = questions(pool_of(p, groups, open_), [], 5, rng)
    assert [len(q.items) for q in found[:2]] == [CARDS, CARDS]
    likely = {tuple(pair): q for pair, q in zip(pairs.tolist(), np.where(open_, p, -1.0), strict=True)}
    used = set()
    for q in found:
        assert sorted(i for pile in q.piles for i in pile) == sorted(q.items)
        assert len(set(groups[list(q.items)])) == len(q.piles)
        assert all(len(set(groups[list(pile)])) == 1 for pile in q.piles)
        start, *others = q.items
        near = {b: likely[tuple(sorted((start, b)))] for b in range(len(groups)) if b not in {start, *used}}
        near = {b: q for b, q in near.items() if q >= 0.0}
        assert others == sorted(near, key=near.get, reverse=True)[: CARDS - 1]
        assert not used & set(q.items)  # no item comes twice
        used |= set(q.items)


def test_every_second_board_is_round_the_pair_that_teaches_most():
    p = np.full(45, 0.05)
    p[17] = 0.5
    ends = set(all_pairs(10)[17].tolist())
    whys, starts = [], []
    for n_before in range(60):
        (one,) = questions(pool_of(p), [], 1, np.random.default_rng(n_before), n_before)
        whys.append(one.why)
        starts.append(one.items[0])
    assert whys == ["any", "doubt"] * 30
    assert {s for s, why in zip(starts, whys, strict=True) if why == "doubt"} == ends
    assert len({s for s, why in zip(starts, whys, strict=True) if why == "any"}) > 7


def test_of_two_cards_it_is_asked_whether_they_belong_together():
    found = questions(pool_of([0.9, 0.2], pairs=np.array([[0, 1], [2, 3]])), [], 5, np.random.default_rng(0))
    assert sorted(q.items for q in found) != []
    assert sorted(tuple(sorted(q.items)) for q in found) == [(0, 1), (2, 3)]
    assert not any(q.is_board for q in found)
    none = pool_of([0.9], open_=np.zeros(1, bool), pairs=np.array([[0, 1]]))
    assert questions(none, [], 3, np.random.default_rng(0)) == []


def test_decisions_that_contradict_each_other_are_named_at_once(small):
    path, _, engine = small
    assert problem(engine) == {"problem": None}
    with Store(path) as store:
        store.decide(Decision("same", ("p0", "p1")))
        store.decide(Decision("same", ("p1", "p2")))
        last = store.decide(Decision("different", ("p0", "p2")))
    assert problem(engine)["problem"].startswith(f"decision {last} ")
    with Store(path) as store:
        store.decide(Decision("undo", undoes=last))
    assert problem(engine) == {"problem": None}


def test_yes_to_a_group_is_one_decision_that_ties_its_items_and_bars_those_beside_it(small):
    path, _, engine = small
    learn(engine, quiet())
    with Store(path) as store:
        groups = store.groups()
        name = max(set(groups.values()), key=lambda g: sum(v == g for v in groups.values()))
        items = tuple(sorted(i for i, g in groups.items() if g == name))
        beside = tuple(i for i in groups if i not in items)[:2]
        store.decide(Decision("confirm", beside, group=name))
        assert store.groups() == groups
    known = engine.snapshot()
    inside = [known.numbers[i] for i in items]
    assert len(items) > 2
    assert known.shown_evidence.judges(
        np.array([sorted((a, b)) for a in inside for b in inside if a < b])
    ).all()
    out = [known.numbers[i] for i in groups if i not in items]
    across = known.shown_evidence.judges(np.array([sorted((inside[0], b)) for b in out]))
    assert [out[k] for k in np.flatnonzero(across)] == [known.numbers[i] for i in beside]
    assert len(known.answers) == 1


def test_disagreement_is_asked_about_before_equal_doubt():
    pool = pool_of([0.3, 0.3], pairs=np.array([[0, 1], [2, 3]]))
    committee = [np.array([0.3, 0.1]), np.array([0.3, 0.5])]
    (one,) = questions(pool, committee, 1, np.random.default_rng(0), 1)
    assert sorted(one.items) == [2, 3]


def test_a_board_stands_for_as_many_answers_as_its_spread_speaks_for():
    ones = np.ones(200, int)
    single = agreement(np.repeat([1.0, 0.0], [180, 20]), ones)
    boards = agreement(np.repeat([1.0, 0.0], [18, 2]), np.full(20, 10))  # wholly right or wholly wrong
    assert boards.low == pytest.approx(agreement(np.repeat([1.0, 0.0], [18, 2]), ones[:20]).low)
    even = agreement(np.full(20, 0.9), np.full(20, 10))  # all alike: as if each card were an answer
    assert (even.low, even.high) == pytest.approx((single.low, single.high))
    assert (single.n, boards.n, even.n) == (200, 20, 20)


def test_enough_is_said_of_a_high_bound_or_of_no_gain():
    def right(n):
        return agreement(np.ones(n), np.ones(n, int))

    assert not is_enough([])[0]
    assert not is_enough([right(9)])[0]
    assert not is_enough([right(29)])[0]
    assert is_enough([right(300)])[0]
    assert is_enough([Agreement(40, 0.8, 0.7, 0.9), Agreement(80, 0.8, 0.76, 0.9)])[0]
    assert not is_enough([Agreement(40, 0.7, 0.6, 0.9), Agreement(80, 0.8, 0.76, 0.9)])[0]
    assert not is_enough([Agreement(40, 0.8, 0.7, 0.9), Agreement(80, 0.8, 0.7, 0.9)])[0]  # who knows


def test_a_missing_value_is_shown_as_nothing(tmp_path):
    (tmp_path / "few.csv").write_text("name,born\nAda,\nBob,1901\n", encoding="utf-8")
    assert preview(tmp_path / "few.csv")["rows"] == [["Ada", ""], ["Bob", "1901"]]
