"""From a file without labels to groups: what is learned holds what people said, and is kept."""

import numpy as np
import pytest

from clustruct.incremental import Decision, Store
from clustruct.metrics import pairwise_scores
from clustruct.studio.asking import Agreement, agreement, is_enough, questions
from clustruct.studio.data import Folder, begin, preview
from clustruct.studio.engine import Engine
from clustruct.studio.exporting import export
from clustruct.studio.learning import FEWEST_GROUPS, Progress, Stopped, learn
from clustruct.studio.reviewing import block, next_questions, precision_curve, review_page, why
from tests.studio.serving import write_people


def quiet():
    return Progress(lambda told: None)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    truth, fields = write_people(folder / "people.csv", n_people=30)
    path = begin(Folder(folder), "people.csv", id="nr", fields=fields, kind="auto")
    return path, truth, Engine(path)


def f_of(path, truth):
    with Store(path) as store:
        groups = store.groups()
    return pairwise_scores([truth[i] for i in groups], list(groups.values())).f1


def test_first_without_labels_then_from_answers(project):
    path, truth, engine = project
    found = learn(engine, quiet())
    assert found["how"] == "no labels"
    first = f_of(path, truth)
    assert first > 0.7
    for _ in range(3):
        asked = next_questions(engine, 10, 0)["questions"]
        with Store(path) as store:
            for q in asked:
                kind = "same" if truth[q["a"]] == truth[q["b"]] else "different"
                store.decide(Decision(kind, (q["a"], q["b"])))
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
    items = [i for q in found for i in q.pair]
    assert len(set(items)) == len(items)
    numbers = {tuple(pair): at for at, pair in enumerate(pairs.tolist())}
    assert all(open_[numbers[q.pair]] for q in found)
    best = max(np.flatnonzero(open_), key=lambda at: p[at] * (1 - p[at]))
    assert found[0].pair == tuple(pairs[best])
    assert [q.why for q in found].count("check") == 1


def test_disagreement_is_asked_about_before_equal_doubt():
    pairs, p = np.array([[0, 1], [2, 3]]), np.array([0.3, 0.3])
    committee = [np.array([0.3, 0.1]), np.array([0.3, 0.5])]
    found = questions(pairs, p, committee, np.ones(2, bool), 1, np.random.default_rng(0))
    assert found[0].pair == (2, 3)


def test_enough_is_said_of_a_high_bound_or_of_no_gain():
    assert not is_enough([])[0]
    assert not is_enough([agreement(29, 29)])[0]
    assert is_enough([agreement(300, 300)])[0]
    assert is_enough([Agreement(40, 0.8, 0.6, 0.9), Agreement(80, 0.8, 0.7, 0.9)])[0]
    assert not is_enough([Agreement(40, 0.7, 0.6, 0.9), Agreement(80, 0.8, 0.7, 0.9)])[0]


def test_a_missing_value_is_shown_as_nothing(tmp_path):
    (tmp_path / "few.csv").write_text("name,born\nAda,\nBob,1901\n", encoding="utf-8")
    assert preview(tmp_path / "few.csv")["rows"] == [["Ada", ""], ["Bob", "1901"]]
