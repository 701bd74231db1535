"""``predict --existing``, ``--constraints`` and ``store``: ids kept, decisions held, faults in one line."""

import csv
import json

import pytest

from clustruct.data.datasets import make_records
from clustruct.groups import Store, read_groups


def write(path, rows, fields, clusters=True):
    with open(path, "w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(["id", *["cluster"] * clusters, *fields])
        writer.writerows([[name, *[group] * clusters, *map(item.get, fields)] for name, group, item in rows])


@pytest.fixture
def people(tmp_path):
    """known.csv (with groups), new.csv (without), and what is true."""
    table = make_records(n_sets=6, n_people=6)[5]
    labels = table.labels
    rows = [(f"p{a}", f"person-{labels[a]}", table.items[a]) for a in range(len(table))]
    cut = 2 * len(rows) // 3
    write(tmp_path / "known.csv", rows[:cut], table.fields())
    write(tmp_path / "new.csv", rows[cut:], table.fields(), clusters=False)
    return tmp_path, {name: group for name, group, _ in rows}, [name for name, _, _ in rows[cut:]]


@pytest.fixture
def predict(command, folder, people):
    def run(*words):
        data = ["predict", people[0] / "new.csv", "--model", folder / "records.model"]
        return command(*data, *words)

    return run


def test_known_groups_keep_ids_and_members_and_new_items_join_them(predict, people):
    there, truth, new = people
    code, out, err = predict("--existing", there / "known.csv", "--out", there / "all.csv")
    assert (code, err) == (0, "")
    before, after = read_groups(there / "known.csv"), read_groups(there / "all.csv")
    assert {item: after[item] for item in before} == before
    assert set(after) == {*before, *new}
    joined = [item for item in new if truth[item] in before.values()]
    assert sum(after[item] == truth[item] for item in joined) >= 0.5 * len(joined) > 0
    assert f"{len(new)} new items: " in out
    assert "written to" in out
    # What was written is what the next run starts from; what is known stays.
    code, out, _ = predict("--existing", there / "all.csv", "--out", there / "again.csv")
    assert code == 0
    assert f"{len(new)} items of the data known already" in out
    assert (there / "again.csv").read_text() == (there / "all.csv").read_text()


def test_rows_without_a_group_are_new_though_the_known_table_has_them(command, folder, people):
    """One table, part labelled, as data and as known groups: only rows with a group are known."""
    there = people[0]
    rows = list(csv.DictReader((there / "known.csv").read_text().splitlines()))
    given = {row["id"]: row["cluster"] for row in rows}
    with (there / "part.csv").open("w", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows({**row, "cluster": "" if k % 3 == 0 else row["cluster"]} for k, row in enumerate(rows))
    words = [
        "predict",
        there / "part.csv",
        "--model",
        folder / "records.model",
        "--existing",
        there / "part.csv",
    ]
    code, out, _ = command(*words, "--out", there / "all.csv")
    assert code == 0
    n_new = len(range(0, len(rows), 3))
    assert f"{n_new} new items: " in out
    assert f"{len(given) - n_new} items of the data known already" in out


def test_without_a_file_the_groups_of_new_items_are_printed(predict, people):
    there, _, new = people
    code, out, err = predict("--existing", there / "known.csv")
    assert code == 0
    assert [line.split(",")[0] for line in out.splitlines()] == ["id", *new]
    assert "new items" in err
    code, out, err = predict("--existing", there / "known.csv", "--json")
    found = json.loads(out)
    assert set(found["new"]) == set(new)
    assert found["groups"]["merged"] == 0


def test_constraints_hold_exactly(predict, people):
    there, _, new = people
    (there / "fix.csv").write_text(
        f"a,b,answer,author\n{new[0]},{new[1]},yes,ann\np0,{new[2]},no,ann\np0,p1,yes,bob\n"
    )
    code, out, _ = predict(
        "--existing", there / "known.csv", "--constraints", there / "fix.csv", "--out", there / "all.csv"
    )
    assert code == 0
    after = read_groups(there / "all.csv")
    assert after[new[0]] == after[new[1]]
    assert after["p0"] != after[new[2]]
    assert after["p0"] == after["p1"]
    assert "3 constraints held" in out
    # Without known groups, too.
    (there / "new_fix.csv").write_text(f"a,b,answer\n{new[0]},{new[1]},yes\n{new[0]},{new[2]},no\n")
    code, out, _ = predict("--constraints", there / "new_fix.csv")
    alone = dict(line.split(",") for line in out.splitlines())
    assert code == 0
    assert alone[new[0]] == alone[new[1]] != alone[new[2]]


@pytest.mark.parametrize("existing", ["known.csv", "people.db", None])
def test_piles_hold_exactly(command, predict, people, existing):
    there, _, new = people
    assert command("store", there / "people.db", "--create", "--items", there / "known.csv")[0] == 0
    piles = [[new[0], new[1], new[2]], [new[3], new[4]], [new[5]]]
    (there / "fix.jsonl").write_text(json.dumps({"decision": "sort", "piles": piles}))
    where = [] if existing is None else ["--existing", there / existing]
    assert predict(*where, "--constraints", there / "fix.jsonl", "--out", there / "all.csv")[0] == 0
    found = read_groups(there / "all.csv")
    held = [{found[item] for item in pile} for pile in piles]
    assert [len(groups) for groups in held] == [1, 1, 1]
    assert len(set.union(*held)) == 3
    # What is said of items that are nowhere is not passed over, though the rest of the piles is there.
    (there / "fix.jsonl").write_text(json.dumps({"decision": "sort", "piles": [*piles, ["zz"]]}))
    code, _, err = predict(*where, "--constraints", there / "fix.jsonl")
    assert code == 1
    assert "'zz'" in err


def test_a_store_takes_piles_and_lists_them(command, predict, people):
    there = people[0]
    store = there / "people.db"
    assert command("store", store, "--create", "--items", there / "known.csv")[0] == 0
    piles = [["p0", "p1", "p2", "p3"], ["p4"], ["p5"], ["p6"]]
    (there / "fix.csv").write_text('decision,piles\nsort,"{}"\n'.format(json.dumps(piles).replace('"', '""')))
    code, out, err = command(
        "store", store, "--decisions", there / "fix.csv", "--decisions-out", there / "o.csv"
    )
    assert (code, err) == (0, "")
    assert "p0, p1, p2, ... | p4 | p5 | ..." in out
    assert json.dumps(piles).replace('"', '""') in (there / "o.csv").read_text()
    assert json.loads(command("store", store, "--json")[1])["decisions"] == {"sort": 1}
    assert predict("--existing", store, "--revise")[0] == 0
    found = read_groups(store)
    assert [len({found[item] for item in pile}) for pile in piles] == [1, 1, 1, 1]
    assert len({found[pile[0]] for pile in piles}) == 4
    code, _, err = command("store", store, "--decide", "different", "p1", "p2", "--author", "bob")
    assert code == 0
    assert "says 'p1' and 'p2' are different, but decision 2" in err
    fit = ["fit", there / "known.csv", "--id", "id", "--cluster", "cluster", "--C", "1", "--quiet"]
    code, _, err = command(*fit, "--corrections", there / "fix.csv", "--model", there / "new.model")
    assert code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b,answer\np0,zz,yes\n", "decision 1 (line 2 of {fix}) names 'zz', and there is no such item"),
        (
            "a,b,answer,author\np0,p1,yes,ann\np1,p0,no,bob\n",
            "decision 2 (line 3 of {fix}, by bob) says 'p1' and 'p0' are different, but "
            "decision 1 (line 2 of {fix}, by ann) says they are the same",
        ),
        ("a,b,answer\np0,p1,perhaps\n", "{fix}:2: 'perhaps' is no answer (yes, no or unsure)"),
        (
            "decision,group,into\nmerge,nobody,person-1\n",
            "decision 1 (line 2 of {fix}) names the group 'nobody'",
        ),
        ("id,cluster\np0,x\n", "{fix}: holds groups, not pairs or decisions (--existing takes groups)"),
    ],
)
def test_bad_constraints_are_one_line(predict, people, text, said):
    there = people[0]
    (there / "fix.csv").write_text(text)
    code, out, err = predict("--existing", there / "known.csv", "--constraints", there / "fix.csv")
    assert (code, out) == (1, "")
    assert err.startswith("clustruct: " + said.format(fix=there / "fix.csv"))
    assert err.count("\n") == 1


def test_bad_existing_files_are_one_line(predict, people):
    there = people[0]
    (there / "no_ids.csv").write_text("name,cluster\nAnn,1\n")
    code, _, err = predict("--existing", there / "no_ids.csv")
    assert (code, err) == (1, f"clustruct: {there / 'no_ids.csv'}: items that live on need ids (--id NAME)\n")
    (there / "no_groups.csv").write_text("id,name\n1,Ann\n")
    code, _, err = predict("--existing", there / "no_groups.csv")
    assert code == 1
    assert err.endswith("no_groups.csv:1: name the column of the clusters (--cluster NAME)\n")
    code, _, err = predict("--revise")
    assert code == 2
    assert "--revise goes with --existing only" in err


def test_decisions_about_groups_are_carried_out_and_told(predict, people):
    there = people[0]
    before = read_groups(there / "known.csv")
    first, second = list(dict.fromkeys(before.values()))[:2]
    (there / "fix.csv").write_text(f"decision,group,into\nmerge,{first},{second}\n")
    out_file = there / "all.csv"
    code, out, _ = predict(
        "--existing", there / "known.csv", "--constraints", there / "fix.csv", "--out", out_file
    )
    assert code == 0
    assert {read_groups(out_file)[i] for i in before if before[i] in (first, second)} == {second}
    assert "merged" in out


def test_a_store_lives_through_runs_decisions_and_undo(command, predict, people):
    there, _, new = people
    store = there / "people.db"
    assert command("store", store, "--create", "--items", there / "known.csv")[0] == 0
    before = read_groups(store)
    code, _, err = predict("--existing", store, "--dry-run")
    assert (code, read_groups(store)) == (0, before)
    assert "nothing was written" in err
    code, _, err = predict("--existing", store)
    assert code == 0
    assert err.endswith(f"run 2 of {store}\n")
    after = read_groups(store)
    assert {item: after[item] for item in before} == before
    assert set(after) == {*before, *new}
    first, second = list(dict.fromkeys(before.values()))[:2]
    assert command("store", store, "--decide", "merge", first, second, "--author", "ann")[0] == 0
    code, out, _ = command("store", store, "--show", first)
    assert out.startswith(f"group {first}: merged into {second}")
    assert command("store", store, "--decide", "undo", "3")[0] == 0
    assert read_groups(store) == after
    code, out, _ = command("store", store, "--verify", "--decisions-out", there / "log.csv")
    assert code == 0
    assert "merge (undone)" in out
    with Store(store) as held:
        assert [d.kind for d in held.decisions()] == ["merge", "undo"]


def test_what_is_wrong_with_a_store_is_one_line(command, people):
    there = people[0]
    code, _, err = command("store", there / "known.csv")
    assert (code, err) == (1, f"clustruct: {there / 'known.csv'}: not a clustruct store\n")
    command("store", there / "s.db", "--create")
    code, _, err = command("store", there / "s.db", "--create")
    assert (code, err) == (1, f"clustruct: {there / 's.db'}: there is a file already\n")
    code, _, err = command("store", there / "s.db", "--decide", "merge", "a")
    assert code == 2
    assert "'merge a' is no decision" in err


def test_known_items_without_a_field_of_the_model_are_refused_by_name(command, predict, people):
    there = people[0]
    head, rest = (there / "known.csv").read_text().split("\n", 1)
    field = head.split(",")[2]
    (there / "other.csv").write_text(head.replace(field, "else") + "\n" + rest)
    code, out, err = predict("--existing", there / "other.csv")
    assert (code, out) == (1, "")
    assert err.startswith(f"clustruct: {there / 'other.csv'}: no item has the field {field!r}")
    store = there / "people.db"
    assert command("store", store, "--create", "--items", there / "other.csv")[0] == 0
    code, _, err = predict("--existing", store)
    assert code == 1
    assert err.startswith(f"clustruct: {store}: no item has the field {field!r}")
    assert predict("--existing", there / "other.csv", "--allow-missing-fields")[0] == 0


def test_a_broken_row_is_named_by_file_and_line(predict, people):
    there = people[0]
    lines = (there / "known.csv").read_text().splitlines()
    (there / "known.csv").write_text("\n".join([*lines[:3], lines[3] + ",more", *lines[4:], ""]))
    code, _, err = predict("--existing", there / "known.csv")
    assert code == 1
    assert err.startswith(f"clustruct: {there / 'known.csv'}:4: ")


def test_a_store_that_cannot_be_filled_is_not_made(command, people):
    there = people[0]
    (there / "twice.csv").write_text("id,cluster\na,1\na,1\n")
    for words in (
        ["--items", there / "twice.csv"],
        ["--items", there / "none.csv"],
        ["--decide", "same", "a", "b"],
        ["--items", there / "known.csv", "--groups-out", there / "groups.xlsx"],
    ):
        code, _, err = command("store", there / "s.db", "--create", *words)
        assert code == 1
        assert err.count("\n") == 1
        assert not list(there.glob("*s.db*"))


def test_nothing_is_taken_in_when_what_is_asked_for_cannot_be_written(command, people):
    there = people[0]
    store, fix = there / "s.db", there / "fix.csv"
    assert command("store", store, "--create", "--items", there / "known.csv")[0] == 0
    fix.write_text("a,b,answer\np0,p1,yes\n")
    before = fix.read_bytes(), (there / "known.csv").read_bytes()
    for words in (
        ["--decisions", fix, "--groups-out", there / "groups.parquet"],
        ["--decisions", fix, "--decisions-out", fix],
        ["--decisions", fix, "--groups-out", there / "known.csv", "--items", there / "known.csv"],
        ["--decisions", fix, "--groups-out", there / "o.csv", "--decisions-out", there / "o.csv"],
        ["--decide", "same", "p0", "p1", "--groups-out", there / "no" / "o.csv"],
    ):
        code, _, err = command("store", store, *words)
        assert code == 1
        assert err.count("\n") == 1
    assert (fix.read_bytes(), (there / "known.csv").read_bytes()) == before
    with Store(store) as held:
        assert held.decisions() == []


def test_a_group_that_never_was_is_not_made_by_a_slip(command, people):
    there = people[0]
    command("store", there / "s.db", "--create", "--items", there / "known.csv")
    code, _, err = command("store", there / "s.db", "--decide", "move", "p0", "persn-1")
    assert code == 1
    assert "there is no group 'persn-1'" in err
    assert command("store", there / "s.db", "--decide", "move", "p0")[0] == 0


def test_nothing_comes_out_of_a_store_whose_log_is_damaged(command, people):
    there = people[0]
    store = there / "s.db"
    command("store", store, "--create", "--items", there / "known.csv")
    with Store(store) as held:
        held._db.execute("""INSERT INTO log VALUES (9, 'undo', '', '', '{"undoes": 7}')""")
    code, _, err = command("store", store, "--groups-out", there / "groups.csv")
    assert code == 1
    assert err.startswith(f"clustruct: {store}: the store is damaged (decision 9 undoes decision 7")
    assert not (there / "groups.csv").exists()
    assert command("store", store, "--decide", "same", "p0", "p1")[0] == 1
    with Store(store) as held:
        assert [d.number for d in held.decisions()] == [9]


def test_the_file_and_the_run_are_both_kept_or_neither(predict, people, command, monkeypatch):
    there = people[0]
    store, out = there / "s.db", there / "all.csv"
    command("store", store, "--create", "--items", there / "known.csv")
    out.write_text("old")

    def full(*args, **more):
        raise OSError(28, "No space left on device", str(store))

    with monkeypatch.context() as patched:
        patched.setattr(Store, "record_run", full)
        code, _, err = predict("--existing", store, "--out", out)
    assert (code, err) == (1, f"clustruct: {store}: No space left on device\n")
    assert out.read_text() == "old"
    assert predict("--existing", store, "--out", out)[0] == 0
    assert read_groups(out) == read_groups(store)


@pytest.mark.parametrize("option", ["--existing", "--corrections"])
def test_decisions_of_a_store_that_contradict_each_other_are_named_by_the_store(
    option, command, folder, predict, people
):
    there, _, _ = people
    store = there / "people.db"
    assert command("store", store, "--create", "--items", there / "known.csv")[0] == 0
    for words in (["same", "p0", "p1", "--author", "ann"], ["different", "p1", "p0", "--author", "bob"]):
        assert command("store", store, "--decide", *words)[0] == 0
    numbers = [d.number for d in Store(store).decisions()]
    if option == "--existing":
        code, _, err = predict("--existing", store)
    else:
        words = ["--id", "id", "--cluster", "cluster", "--corrections", store, "--model", there / "new.model"]
        code, _, err = command("fit", there / "known.csv", *words)
    told = f"decision {numbers[1]} of {store} (by bob) says 'p1' and 'p0' are different, but "
    told += f"decision {numbers[0]} of {store} (by ann) says they are the same"
    if option == "--existing":
        told += "; undo one of them (clustruct store FILE --decide undo NUMBER)"
    else:
        told += " (--disagreement majority, or disagreement='majority', leaves out what most contradict)"
    assert (code, err) == (1, f"clustruct: {told}\n")


def test_a_decision_about_a_group_that_is_another_today_says_so(command, people):
    there, _, _ = people
    store = there / "merged.db"
    command("store", store, "--create", "--items", there / "known.csv")
    with Store(store) as held:
        a, b, c = list(dict.fromkeys(held.groups().values()))[:3]
    code, out, _ = command("store", store, "--decide", "merge", a, b)
    assert (code, out.splitlines()[0].endswith("written down")) == (0, True)
    code, out, _ = command("store", store, "--decide", "merge", a, c)
    assert code == 0
    assert out.splitlines()[0].endswith(f"written down ({a} is {b} today)")


def test_settle_tells_what_it_moved_and_needs_a_store(predict, command, people):
    there, _, new = people
    for words, told in (
        (("--settle", "2"), "--settle goes with --existing only"),
        (("--existing", there / "known.csv", "--settle", "2"), "--settle needs a store: "),
        (("--existing", there / "known.csv", "--settle", "0"), "must be a number of runs from 1 on, not 0"),
        (("--existing", there / "known.csv", "--settle", "2", "--revise"), "do not go together"),
    ):
        code, _, err = predict(*words)
        assert code == 2
        assert told in err
    command("store", there / "s.db", "--create", "--items", there / "known.csv", "--id", "id")
    code, out, err = predict("--existing", there / "s.db", "--settle", "2", "--out", there / "out.csv")
    assert (code, err) == (0, "")
    assert f"{len(new)} new items: " in out
    before, after = read_groups(there / "known.csv"), read_groups(there / "out.csv")
    assert {item: after[item] for item in before} == before  # what came with its groups is settled
    with Store(there / "s.db") as store:
        assert dict(store.groups()) == after
        assert store.placements(2) == (frozenset(), frozenset(new))


def test_contradictions_are_told_when_they_are_written_down(command, people):
    there, _, _ = people
    command("store", there / "s.db", "--create", "--items", there / "known.csv", "--id", "id")
    (there / "fix.csv").write_text("a,b,answer,author\np0,p1,yes,ann\np0,p1,no,bob\n")
    code, out, err = command("store", there / "s.db", "--decisions", there / "fix.csv")
    assert code == 0
    assert "2 decisions of" in out  # nothing is lost
    assert "'p0' and 'p1' are different, but decision" in err
    assert "--decide undo NUMBER" in err
    code, _, err = command("store", there / "s.db", "--decide", "undo", "3")
    assert (code, err) == (0, "")


def with_moves(path, n):
    """A table of which n rows have moved to another city."""
    rows = list(csv.DictReader(path.read_text().splitlines()))
    moved = [{**row, "city": "Elsewhere"} if k < n else row for k, row in enumerate(rows)]
    changed = path.with_name(f"moved {path.name}")
    with changed.open("w", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows(moved)
    return changed


def test_other_values_of_known_items_are_counted_named_and_taken_with_update(command, folder, people):
    there = people[0]
    changed = with_moves(there / "known.csv", 3)
    words = ["predict", changed, "--model", folder / "records.model", "--existing", there / "known.csv"]
    code, out, err = command(*words, "--out", there / "all.csv", "--quiet")
    assert code == 0
    assert "3 known items have other values in 'city', which are not taken: --update" in err
    assert "Elsewhere" not in (there / "all.csv").read_text()
    code, out, err = command(*words, "--out", there / "all.csv", "--update")
    assert (code, err) == (0, "")
    assert "3 known items updated in 'city'" in out
    assert (there / "all.csv").read_text().count("Elsewhere") == 3
    assert read_groups(there / "all.csv") == read_groups(there / "known.csv")
    code, out, err = command(*words[:2], *words[2:4], "--update")
    assert (code, "--update goes with --existing only" in err) == (2, True)


def test_a_store_counts_names_and_takes_other_values(command, people):
    there = people[0]
    store, known = there / "people.db", there / "known.csv"
    assert command("store", store, "--create", "--items", known)[0] == 0
    code, out, err = command("store", store, "--items", known)
    assert (code, err) == (0, "")
    changed = with_moves(known, 2)
    code, out, err = command("store", store, "--items", changed)
    assert code == 0
    assert "0 items added" in out
    assert "2 known items have other values in 'city', which are not taken: --update" in err
    code, out, err = command("store", store, "--items", changed, "--update")
    assert (code, err) == (0, "")
    assert "2 items updated in 'city'" in out
    assert command("store", store, "--items", changed)[2] == ""
    assert command("store", store, "--update")[0] == 2


def test_confidence_is_written_beside_the_groups_of_new_items(predict, people, command):
    there, _, new = people
    code, out, _ = predict("--existing", there / "known.csv", "--confidence")
    assert code == 0
    printed = list(csv.DictReader(out.splitlines()))
    assert [row["id"] for row in printed] == new
    sure = {row["id"]: float(row["confidence"]) for row in printed}
    for name in ("all.csv", "all.jsonl"):
        assert predict("--existing", there / "known.csv", "--confidence", "--out", there / name)[0] == 0
    read = lambda name: list(csv.DictReader((there / name).read_text().splitlines()))  # noqa: E731
    rows = {row["id"]: row["confidence"] for row in read("all.csv")}
    assert {item: float(rows[item]) for item in new} == sure
    assert not any(text for item, text in rows.items() if item not in sure)
    told = json.loads(predict("--existing", there / "known.csv", "--confidence", "--json")[1])
    assert told["confidence"] == pytest.approx(sure, rel=1e-5)
    # What was written is known to the next run, which judges the items that it places anew.
    code, out, err = predict("--existing", there / "all.csv", "--confidence", "--out", there / "again.csv")
    assert (code, err) == (0, "")
    assert not any(row["confidence"] for row in read("again.csv"))
