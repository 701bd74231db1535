"""From a file without labels to groups: what is learned holds what people said, and is kept."""

import numpy as np
import pytest

from clustruct.incremental import Decision, Store
from clustruct.metrics import pairwise_scores
from clustruct.studio.asking import MOST_READ, Agreement, agreement, is_enough, questions
from clustruct.studio.data import Folder, begin, preview
from clustruct.studio.engine import Engine
from clustruct.studio.exporting import export
from clustruct.studio.learning import FEWEST_GROUPS, Progress, Stopped, learn
from clustruct.studio.reviewing import block, next_questions, precision_curve, problem, review_page, why
from tests.studio.serving import write_people


def quiet():
    return Progress(lambda told: None)


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
    first, *others = question["items"]
    out = tuple(i for i in others if truth[i] != truth[first])
    if question["kind"] == "pair":
        store.decide(Decision("different" if out else "same", (first, *others)))
    elif out:
        store.decide(Decision("split", out, group=question["group"]))
    else:
        store.decide(Decision("move", (first, *others), into=question["group"]))


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
    for _ in range(3):
        asked = next_questions(engine, 10, 0)["questions"]
        with Store(path) as store:
            for q in asked:
                answer(store, q, truth)
        found = learn(engine, quiet())
    assert found["how"] == "answers"
    assert found["agreement"]["n"] > 20
    assert f_of(path, truth) >= first - 0.02
    with Store(path) as store:
        assert not engine.known().held.broken(store.groups())
        assert store.models()[-1].number == found["model"]
        store.verify()


def test_answers_hold_whatever_the_model_says(project):
    path, _truth, engine = project
    with Store(path) as store:
        groups = store.groups()
        together = next((a, b) for a in groups for b in groups if a < b and groups[a] == groups[b])
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
    told = why(engine, a, b)
    assert sum(f["contribution"] for f in told["fields"]) == pytest.approx(told["similarity"])
    with pytest.raises(ValueError, match="there is no item 'nobody'"):
        why(engine, "nobody", a)


def test_confirmed_groups_stay_and_make_probabilities(project):
    path, truth, engine = project
    with Store(path) as store:
        groups = store.groups()
        right = [g for g in dict.fromkeys(groups.values()) if len({truth[i] for i in store.members(g)}) == 1]
        right = [g for g in right if store.size(g) > 1][: FEWEST_GROUPS + 4]
        before = {g: store.members(g) for g in right}
        for g in right:
            store.decide(Decision("confirm", group=g))
    assert len(right) >= FEWEST_GROUPS
    found = learn(engine, quiet())
    assert found["how"] == "groups"
    assert found["calibrated"]
    with Store(path) as store:
        assert {g: store.members(g) for g in right} == before
    assert precision_curve(engine)["curve"]
    again = learn(engine, quiet())
    assert again["how"] == "groups, from the last model on"


def test_what_is_exported_is_read_again(project, tmp_path):
    import clustruct
    from clustruct.incremental import read_decisions, read_groups

    path, _, engine = project
    found = export(engine, tmp_path, "people", ["groups", "model", "corrections"])
    with Store(path) as store:
        groups = read_groups(tmp_path / found["files"]["groups"], id="nr", cluster="cluster")
        assert groups == store.groups()
        assert len(read_decisions(tmp_path / found["files"]["corrections"])) == len(store.decisions())
    model = clustruct.load(tmp_path / found["files"]["model"])
    assert len(model.predict([engine.known().raw])[0]) == len(groups)
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


def test_questions_are_open_doubtful_and_about_different_items():
    rng = np.random.default_rng(0)
    pairs = np.array([[a, b] for a in range(12) for b in range(a + 1, 12)])
    p, open_ = rng.random(len(pairs)), rng.random(len(pairs)) < 0.8
    found = questions(pairs, p, [], open_, 5, rng)
    items = [i for q in found for i in q.items]
    assert len(set(items)) == len(items)
    numbers = {tuple(pair): at for at, pair in enumerate(pairs.tolist())}
    assert all(open_[numbers[q.items]] for q in found)
    best = max(np.flatnonzero(open_), key=lambda at: p[at] * (1 - p[at]))
    assert found[0].items == tuple(pairs[best])
    assert [q.why for q in found].count("check") == 1


def all_pairs(n):
    return np.column_stack(np.triu_indices(n, 1))


def test_a_doubtful_group_is_asked_about_at_once_and_a_known_or_large_one_is_not():
    n = MOST_READ + 1
    pairs, rng = all_pairs(n), np.random.default_rng(0)
    groups, p, open_ = np.zeros(n, int), np.full(len(pairs), 0.9), np.ones(len(pairs), bool)
    assert all(len(q.items) == 2 for q in questions(pairs, p, [], open_, 3, rng, groups))
    groups[-1] = 1
    (first, *_) = questions(pairs, p, [], open_, 3, rng, groups)
    assert first.items == tuple(range(MOST_READ))
    assert first.p == pytest.approx(0.9)
    known = ~(groups[pairs] == 0).all(axis=1)  # nothing is left to ask inside the group
    assert all(len(q.items) == 2 for q in questions(pairs, p, [], known, 3, rng, groups))


def test_a_group_of_one_doubtful_pair_is_worth_less_than_the_pair():
    pairs, p = all_pairs(4), np.array([0.5, 0.999, 0.999, 0.999, 0.999, 0.999])
    found = questions(pairs, p, [], np.ones(6, bool), 1, np.random.default_rng(0), np.zeros(4, int))
    assert found[0].items == (0, 1)


def test_a_group_that_is_likely_wrong_is_not_asked_about():
    pairs, p = all_pairs(4), np.array([0.2, 0.7, 0.7, 0.7, 0.7, 0.7])
    found = questions(pairs, p, [], np.ones(6, bool), 1, np.random.default_rng(0), np.zeros(4, int))
    assert len(found[0].items) == 2


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


def test_yes_to_a_group_is_one_decision_that_ties_its_items(small):
    path, _, engine = small
    learn(engine, quiet())
    with Store(path) as store:
        groups = store.groups()
        name = max(set(groups.values()), key=lambda g: sum(v == g for v in groups.values()))
        items = tuple(sorted(i for i, g in groups.items() if g == name))
        store.decide(Decision("move", items, into=name))
        assert store.groups() == groups
    marks, numbers = engine.known().marks, engine.known().numbers
    pairs = np.array([[numbers[a], numbers[b]] for a in items for b in items if a < b])
    assert len(items) > 2
    assert marks.judges(np.sort(pairs, axis=1)).all()


def test_disagreement_is_asked_about_before_equal_doubt():
    pairs, p = np.array([[0, 1], [2, 3]]), np.array([0.3, 0.3])
    committee = [np.array([0.3, 0.1]), np.array([0.3, 0.5])]
    found = questions(pairs, p, committee, np.ones(2, bool), 1, np.random.default_rng(0))
    assert found[0].items == (2, 3)


def test_enough_is_said_of_a_high_bound_or_of_no_gain():
    assert not is_enough([])[0]
    assert not is_enough([agreement(29, 29)])[0]
    assert is_enough([agreement(300, 300)])[0]
    assert is_enough([Agreement(40, 0.8, 0.6, 0.9), Agreement(80, 0.8, 0.7, 0.9)])[0]
    assert not is_enough([Agreement(40, 0.7, 0.6, 0.9), Agreement(80, 0.8, 0.7, 0.9)])[0]


def test_a_missing_value_is_shown_as_nothing(tmp_path):
    (tmp_path / "few.csv").write_text("name,born\nAda,\nBob,1901\n", encoding="utf-8")
    assert preview(tmp_path / "few.csv")["rows"] == [["Ada", ""], ["Bob", "1901"]]
