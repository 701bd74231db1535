"""A model knows which fields it needs, and predictions keep sets of different files and ids apart."""

import csv
import json
import os
from contextlib import redirect_stdout
from io import BytesIO, TextIOWrapper

import numpy as np
import pytest

from clustruct.core.storage import read, save
from clustruct.data import Table
from clustruct.data.datasets import make_records
from clustruct.data.io import write_sets

READ = ("--set", "set", "--cluster", "cluster")
SAID = "--allow-missing-fields"


def renamed(path, to, **names):
    """A copy of a table with other column names."""
    rows = list(csv.reader(path.read_text().splitlines()))
    rows[0] = [names.get(name, name) for name in rows[0]]
    with to.open("w", newline="") as f:
        csv.writer(f).writerows(rows)
    return to


COMMANDS = [("predict",), ("evaluate", "--cluster", "cluster"), ("explain",), ("report",)]


@pytest.mark.parametrize("command_words", COMMANDS, ids=lambda words: words[0])
def test_absent_fields_are_refused_by_name(command, folder, tmp_path, command_words):
    """DEFECTS 1: renamed columns, before any output."""
    name, *more = command_words
    path = renamed(folder / "test.csv", tmp_path / "up.csv", name="NAME", city="town")
    words = [name, path, *more, "--model", folder / "records.model", "--quiet"]
    words += ["--out", tmp_path / "r.html"] if name == "report" else []
    code, out, err = command(*words)
    assert (code, out) == (1, "")
    assert err.startswith(f"clustruct: {path}: no item has the fields 'name', 'city', which the model")
    assert "there are NAME, street, town, phone, born; is it 'NAME' for 'name'?" in err
    assert SAID in err
    assert not (tmp_path / "r.html").exists()
    code, out, err = command(*words, SAID)
    assert (code, err) == (0, "")


def test_fields_that_are_ignored_are_not_compared(command, folder, tmp_path):
    """The model remembers them: a table that has them, and one that has not, are grouped alike."""
    words = ["--model", tmp_path / "m", "--C", "1"]
    code, out, err = command("fit", folder / "train.csv", *READ, "--ignore", "born,phone", *words)
    assert (code, err) == (0, "")
    assert "compared: name, street, city (--ignore A,B leaves fields out)" in out
    assert not any(
        name.startswith(("born", "phone")) for name in read(tmp_path / "m").object[0].get_feature_names_out()
    )
    _, whole, _ = command(
        "predict", folder / "test.csv", "--set", "set", "--model", tmp_path / "m", "--quiet"
    )
    rows = list(csv.DictReader((folder / "test.csv").read_text().splitlines()))
    with (tmp_path / "less.csv").open("w", newline="") as f:
        less = csv.DictWriter(
            f, [name for name in rows[0] if name not in ("born", "phone")], extrasaction="ignore"
        )
        less.writeheader()
        less.writerows(rows)
    code, fewer, err = command(
        "predict", tmp_path / "less.csv", "--set", "set", "--model", tmp_path / "m", "--quiet"
    )
    assert (code, err) == (0, "")
    assert fewer == whole


def test_ignored_fields_must_be_there_and_be_no_fields(command, folder, tmp_path):
    words = ["fit", folder / "train.csv", *READ, "--model", tmp_path / "m", "--quiet"]
    code, _, err = command(*words, "--ignore", "bron")
    assert code == 1
    assert "there is no column 'bron'; there are" in err
    code, _, err = command(*words, "--ignore", "born", "--fields", "name,born")
    assert code == 2
    assert "--fields and --ignore both name 'born'" in err


def test_all_upper_case(command, folder, tmp_path):
    first, *rest = (folder / "test.csv").read_text().splitlines(keepends=True)
    (tmp_path / "up.csv").write_text(first.upper() + "".join(rest))
    for name in ("predict", "explain"):
        code, out, err = command(name, tmp_path / "up.csv", "--model", folder / "records.model", "--quiet")
        assert (code, out) == (1, "")
        assert "is it 'NAME' for 'name'" in err.splitlines()[-1]


def test_another_delimiter_or_fewer_fields_are_refused(command, folder, tmp_path):
    model = ("--model", folder / "records.model", "--quiet")
    content = (folder / "test.csv").read_text()
    (tmp_path / "comma.tsv").write_text(content)
    semicolon = tmp_path / "semicolon.csv"
    semicolon.write_text(content.replace(",", ";"))
    for words, message in (
        ((tmp_path / "comma.tsv",), "one column only; is there another delimiter?"),
        ((semicolon, "--delimiter", "|"), "one column only; is there another delimiter?"),
        ((folder / "test.csv", "--fields", "name,city"), "no item has the fields 'street', 'phone', 'born'"),
    ):
        for name in ("predict", "evaluate", "explain"):
            code, out, err = command(name, *words, *model)
            assert (code, out) == (1, "")
            assert message in err
            assert str(words[0]) in err


def test_remembered_fields_do_not_hide_what_is_absent(command, folder, tmp_path):
    """Trained with --fields: a remembered field that is not there is still needed."""
    options = (*READ, "--fields", "name,street", "--C", "1", "--quiet")
    assert command("fit", folder / "train.csv", *options, "--model", tmp_path / "m")[0] == 0
    path = renamed(folder / "test.csv", tmp_path / "a.csv", street="road")
    code, out, err = command("predict", path, "--model", tmp_path / "m", "--quiet")
    assert (code, out) == (1, "")
    assert "no item has the field 'street'" in err


def test_text_where_numbers_were_is_refused(command, folder, tmp_path):
    rows = list(csv.DictReader((folder / "test.csv").read_text().splitlines()))
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as f:
        writer = csv.DictWriter(f, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "born": f"in {row['born']}"} for row in rows)
    for name in ("predict", "evaluate", "explain"):
        code, out, err = command(name, path, "--model", folder / "records.model", "--quiet")
        assert (code, out) == (1, "")
        assert f"{path}: the field 'born' held numbers in training" in err


def test_a_set_of_a_ragged_file_may_lack_a_field(command, folder, tmp_path):
    sets = make_records(n_sets=6, n_people=6)[4:]
    bare = Table([{k: v for k, v in i.items() if k != "city"} for i in sets[1].items], name="bare")
    write_sets(tmp_path / "a.jsonl", [bare, sets[0]])
    model = ("--model", folder / "records.model", "--quiet")
    for name in ("predict", "explain"):
        code, _, err = command(name, tmp_path / "a.jsonl", *model)
        assert code == 0
        assert err.count("\n") == 1
        assert "warning" in err
        assert "a.jsonl: the field 'city' is missing in" in err
    write_sets(tmp_path / "b.jsonl", [bare])
    code, out, err = command("predict", tmp_path / "b.jsonl", *model, "--out", tmp_path / "p.csv")
    assert (code, out) == (1, "")
    assert "b.jsonl: no item has the field 'city'" in err
    assert not (tmp_path / "p.csv").exists()


def test_a_table_without_the_column_of_its_sets_is_one_set_with_a_warning(command, folder, tmp_path):
    path = renamed(folder / "test.csv", tmp_path / "a.csv", set="batch")
    words = ("predict", path, "--model", folder / "records.model", "--quiet", "--number-ids")
    code, out, err = command(*words)
    assert code == 0
    assert f"{path}: there is no column 'set', which named the sets in training; the table is one set" in err
    assert out.startswith("id,cluster\n")
    assert command(*words, "--set", "batch")[2] == ""


# ------------------------------------------------------------------------------ sets of different files


@pytest.fixture
def days(tmp_path):
    """Two files with the same set name and the same ids, and their perfect predictions."""
    sets = make_records(n_sets=6, n_people=6)[4:]
    for day, table in zip(("mon", "tue"), sets, strict=True):
        same = Table(table.items, table.labels, "batch", ids=[f"r{a}" for a in range(len(table))])
        write_sets(tmp_path / f"{day}.csv", [same])
    return tmp_path / "mon.csv", tmp_path / "tue.csv"


def clusters(path):
    """Pairs of rows of the predictions that share a cluster."""
    rows = list(csv.DictReader(path.read_text().splitlines()))
    names = [(row.get("set"), row["cluster"]) for row in rows]
    return np.array([[a == b for a in names] for b in names]), rows


@pytest.mark.parametrize("columns", [(), ("--set", "none")])
def test_sets_of_different_files_are_different(command, folder, tmp_path, days, columns):
    """DEFECTS 2: with the same name, or without one."""
    mon, tue = days
    model = ["--model", folder / "records.model", "--quiet"]
    if columns:
        for path in days:
            renamed(path, path, set="batch")
        model += ["--fields", "name,street,city,phone,born"]
    parts = []
    for path in days:
        assert command("predict", path, *model, "--out", tmp_path / "p.csv")[0] == 0
        parts.append(clusters(tmp_path / "p.csv")[0])
    assert command("predict", *days, *model, "--out", tmp_path / "p.csv")[0] == 0
    together, _ = clusters(tmp_path / "p.csv")
    n = len(parts[0])
    assert (together[:n, :n] == parts[0]).all()
    assert (together[n:, n:] == parts[1]).all()
    assert not together[:n, n:].any()
    # And back: in either order, and one by one.
    read = (*(() if columns else READ[:2]), "--cluster", "cluster", "--quiet", "--json")
    scores = {}
    for given in (days, days[::-1], days[:1], days[1:]):
        code, out, _ = command("evaluate", *given, *read, "--predictions", tmp_path / "p.csv")
        assert code == 0
        for path, row in zip(given, json.loads(out)["per_set"], strict=True):
            scores.setdefault(path, []).append(row["b_cubed_f1"])
    assert all(len(values) == 3 and len(set(values)) == 1 for values in scores.values())
    found = json.loads(command("predict", mon, tue, *model, "--json")[1])["sets"]
    assert found[0]["set"] != found[1]["set"]


def test_one_prediction_is_not_taken_for_two_sets(command, folder, tmp_path, days):
    command("predict", days[0], "--model", folder / "records.model", "--quiet", "--out", tmp_path / "p.csv")
    code, _, err = command("evaluate", *days, *READ, "--predictions", tmp_path / "p.csv", "--quiet")
    assert code == 1
    assert "there is no prediction for set tue.csv: batch" in err


def test_a_file_given_twice_is_refused(command, folder, tmp_path):
    model = ("--model", folder / "records.model", "--quiet")
    path = folder / "test.csv"
    (tmp_path / "link.csv").symlink_to(path)
    os.link(path, tmp_path / "hard.csv")
    for other in (path, folder / "." / "x" / ".." / "test.csv", tmp_path / "link.csv", tmp_path / "hard.csv"):
        if ".." in other.parts:
            (folder / "x").mkdir(exist_ok=True)
        code, out, err = command("predict", path, other, *model)
        assert (code, out, err) == (1, "", f"clustruct: {other}: the file is given twice\n")


# ------------------------------------------------------------------------------------------------ ids


@pytest.mark.parametrize("end", ["jsonl", "csv"])
def test_ids_that_are_numbers_are_found_again(command, tmp_path, end):
    """DEFECTS 6."""
    items = [{"id": name, "t": "x"} for name in (1, 2, 10)]
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "s", "items": items, "labels": [0, 0, 1]}))
    write_sets(tmp_path / f"p.{end}", [Table([{}] * 3, [7, 7, 8], "s", ids=["1", "2", "10"])])
    words = ("evaluate", tmp_path / "a.jsonl", "--predictions", tmp_path / f"p.{end}", "--json", "--quiet")
    assert json.loads(command(*words)[1])["mean"]["pairwise_loss"] == 0.0


def test_the_ids_1_and_one_as_text_are_two(command, tmp_path):
    """DEFECTS 6: perfect predictions had a loss of 66.7."""
    items = [{"id": name, "t": "x"} for name in (1, "1", 2)]
    given = {"id": "s", "items": items, "labels": [0, 1, 0]}
    (tmp_path / "a.jsonl").write_text(json.dumps(given))
    (tmp_path / "p.jsonl").write_text(json.dumps({**given, "items": items[::-1], "labels": [0, 1, 0]}))
    words = ("evaluate", tmp_path / "a.jsonl", "--json", "--quiet", "--predictions")
    assert json.loads(command(*words, tmp_path / "p.jsonl")[1])["mean"]["pairwise_loss"] == 0.0
    (tmp_path / "p.csv").write_text("set,id,cluster\ns,1,0\ns,2,0\n")
    code, _, err = command(*words, tmp_path / "p.csv")
    assert code == 1
    assert "there is no prediction for item 1 of set s" in err


def test_explain_does_not_choose_between_ids_written_alike(command, folder, tmp_path):
    given = make_records(n_sets=1)[0].items[:3]
    items = [{"id": name, **item} for name, item in zip((1, "1", 2), given, strict=True)]
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "s", "items": items}))
    model = ("--model", folder / "records.model", "--quiet")
    code, _, err = command("explain", tmp_path / "a.jsonl", *model, "--pair", "1", "2")
    assert code == 1
    assert "two items have an id that is written '1'" in err


def test_what_is_no_text_is_shown_all_the_same(command, folder, tmp_path):
    """DEFECTS 27: half a pair of surrogates in an id, escapes in a model file."""
    items = [{"id": f"\ud800{a}", **item} for a, item in enumerate(make_records(n_sets=1)[0].items)]
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "s", "items": items}))
    saved = read(folder / "records.model")
    about = {**saved.about, "training": {"stop\x1b_reason": "a\x1b[31m\ud800"}}
    save(tmp_path / "m", saved.object, about=about)
    for words in (("predict", tmp_path / "a.jsonl"), ("predict", tmp_path / "a.jsonl", "--json"), ("show",)):
        with redirect_stdout(TextIOWrapper(BytesIO(), "utf-8")) as out:
            assert command(*words, "--model", tmp_path / "m", "--quiet")[0] == 0
            out.flush()
        assert b"\x1b" not in out.buffer.getvalue()


# ------------------------------------------------------------------------------- groups in comparisons


def test_models_are_compared_over_independent_groups(command, tmp_path):
    """DEFECTS 13: 33 sets of 4 groups are 4 values, not 33."""
    rng = np.random.default_rng(0)
    truth, first, second = [], [], []
    for n in range(33):
        labels = rng.integers(0, 3, 6).tolist()
        items = [{"id": a, "t": "x"} for a in range(6)]
        one = {"id": n, "items": items, "group": n % 4}
        worse = [*labels[:-1], 9] if n % 3 else labels
        for held, values in ((truth, labels), (first, labels), (second, worse)):
            held.append({**one, "labels": values})
    for name, held in (("t", truth), ("p", first), ("q", second)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, held)))
    words = ["evaluate", tmp_path / "t.jsonl", "--predictions", tmp_path / "p.jsonl"]
    words += ["--against", tmp_path / "q.jsonl", "--quiet"]
    code, out, err = command(*words, "--json")
    test = json.loads(out)["comparison"]["pairwise_loss"]
    assert code == 0
    assert test["n_groups"] == 4 == test["wins"] + test["ties"] + test["losses"]
    assert test["p_wilcoxon"] >= 0.125
    assert "compared over 4 independent groups of sets: too few" in err
    assert "lost means of the 4 groups of sets" in command(*words)[1]
