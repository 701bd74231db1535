"""Bad input: exit code 1, one line on stderr that says what and where, nothing left behind."""

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from clustruct import load, save
from clustruct.data.datasets import make_records
from clustruct.data.io import write_sets


def lines(*sets):
    return "\n".join(json.dumps(s) for s in sets)


def a_set(labels, **more):
    return {
        "id": "s",
        "items": [{"t": f"word{i} same"} for i in range(len(labels))],
        "labels": labels,
        **more,
    }


TABLE = "set,id,who,name\n1,a,x,Ann\n1,b,x,Anne\n1,c,y,Bob\n2,a,z,Carl\n2,b,z,Karl\n2,c,v,Dora\n"
COLUMNS = ("--set", "set", "--cluster", "who")

BAD = {
    "empty file": ("a.jsonl", "", (), "a.jsonl: the file is empty"),
    "empty table": ("a.csv", "", COLUMNS, "a.csv: the file is empty"),
    "header alone": ("a.csv", "set,who\n", COLUMNS, "a.csv: there is a header but no row"),
    "one item": ("a.jsonl", lines(a_set([1])), (), "a.jsonl: nothing to learn from: no set has two items"),
    "one cluster": (
        "a.jsonl",
        lines(a_set([1, 1, 1])),
        (),
        "a.jsonl: nothing to learn from: all items of each set are in one",
    ),
    "all alone": (
        "a.jsonl",
        lines(a_set([1, 2, 3])),
        (),
        "a.jsonl: nothing to learn from: no two items share a cluster",
    ),
    "duplicate ids": (
        "a.csv",
        TABLE + "2,c,v,Dora\n",
        (*COLUMNS, "--id", "id"),
        "a.csv:8: the id 'c' appears twice in set 2 (first at a.csv:7)",
    ),
    "labels missing": ("a.csv", TABLE + "2,d,,Eve\n", COLUMNS, "a.csv:8: item 'd' of set 2 has no cluster"),
    "no labels": ("a.jsonl", '{"items": [{"t": "x"}]}', (), "a.jsonl:1: the set has no labels"),
    "label NaN": (
        "a.jsonl",
        lines(a_set([1, float("nan")])),
        (),
        "a.jsonl: nothing to learn from: no two items",
    ),
    "no cluster column": ("a.csv", TABLE, ("--set", "set"), "a.csv:1: name the column of the clusters"),
    "column not there": (
        "a.csv",
        TABLE,
        (*COLUMNS[:2], "--cluster", "whom"),
        "a.csv:1: there is no column 'whom'; there are",
    ),
    "field not there": ("a.csv", TABLE, (*COLUMNS, "--fields", "nam"), "a.csv:1: there is no column 'nam'"),
    "key not there": (
        "a.jsonl",
        lines(a_set([1, 1, 2])),
        ("--fields", "t,tt"),
        "a.jsonl: no item has the field 'tt'",
    ),
    "where not there": (
        "a.csv",
        TABLE,
        (*COLUMNS, "--where", "fold=1"),
        "a.csv:1: there is no column 'fold'",
    ),
    "nothing chosen": ("a.csv", TABLE, (*COLUMNS, "--where", "set=7"), "a.csv: no rows to use"),
    "not UTF-8": (
        "a.csv",
        TABLE.encode() + b"2,d,v,Andr\xe9\n",
        COLUMNS,
        "a.csv:8: byte 11 of the line (0xe9) is not UTF-8",
    ),
    "10 MB line": ("a.jsonl", "x" * 10_000_000, (), "a.jsonl:1: not JSON: Expecting value (column 1)"),
    "10 MB field": (
        "a.csv",
        TABLE + "2,d,v," + "x" * 10_000_000,
        COLUMNS,
        "a.csv:8: not CSV: a field is longer than 1 MiB",
    ),
    "open quote": (
        "a.csv",
        TABLE + '2,d,v,"x\n',
        COLUMNS,
        "a.csv:8: not CSV: a quote is opened and never closed",
    ),
    "not JSON": ("a.jsonl", lines(a_set([1, 1, 2])) + "\n{'a': 1}", (), "a.jsonl:2: not JSON"),
    "nothing to compare": (
        "a.jsonl",
        lines(a_set([1, 1, 2], items=[{}, {}, {}])),
        (),
        "a.jsonl: no field to compare items by",
    ),
    "no such file": (None, "", (), "none.csv: cannot be read (No such file or directory)"),
    "unknown kind": ("a.txt", "x", (), "a.txt: unknown kind of file"),
    "wrong predictor": (
        "a.csv",
        TABLE,
        (*COLUMNS, "--predictor", "magic"),
        "predictor must be one of components, exact, greedy, local_search, lp",
    ),
}


@pytest.mark.parametrize("case", BAD, ids=str)
def test_fit_refuses_with_one_line(command, tmp_path, case, monkeypatch):
    name, content, options, message = BAD[case]
    monkeypatch.chdir(tmp_path)
    if name is not None:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    before = sorted(tmp_path.iterdir())
    code, out, err = command("fit", name or "none.csv", *options, "--model", "m", "--quiet")
    assert (code, out) == (1, "")
    assert err.startswith(f"clustruct: {message}")
    assert err.count("\n") == 1
    assert len(err) < 400
    assert sorted(tmp_path.iterdir()) == before


def test_mixed_types_and_missing_values_are_learned_from(command, tmp_path):
    """Numbers, texts, lists, nothing and NaN in one field are odd but no error."""
    kinds = ["12", 12, 12.5, None, float("nan"), True, "twelve", [1, "a"], {"x": 1}, ""]
    sets = [
        {
            "id": n,
            "items": [{"v": v, "t": f"word{i % 5}"} for i, v in enumerate(kinds)],
            "labels": [0, 1, 2, 3, 4] * 2,
        }
        for n in range(3)
    ]
    (tmp_path / "a.jsonl").write_text(lines(*sets))
    code, _, err = command("fit", tmp_path / "a.jsonl", "--C", "1", "--quiet", "--model", tmp_path / "m")
    assert (code, err) == (0, "")
    assert command("predict", tmp_path / "a.jsonl", "--model", tmp_path / "m", "--quiet")[0] == 0


def test_one_item_and_strange_words_are_grouped(command, folder, tmp_path):
    (tmp_path / "a.csv").write_text("set,id,name\n1,a,\u4e2d\u6587 \U0001f600\n2,a,Ann\n2,b,Ann\n")
    words = ("--model", folder / "records.model", "--quiet", "--allow-missing-fields")
    code, out, err = command("predict", tmp_path / "a.csv", *words)
    assert (code, err) == (0, "")
    assert out.splitlines()[1] == "1,a,0"


def test_a_fault_in_a_later_set_leaves_no_predictions(command, folder, tmp_path):
    good = json.dumps({"id": "one", "items": [{"name": "Ann"}, {"name": "Bob"}]})
    (tmp_path / "a.jsonl").write_text(good + "\nnot JSON\n")
    model = ("--model", folder / "records.model", "--quiet")
    for more in (("--out", tmp_path / "p.csv"), (), ("--json",)):
        code, out, err = command("predict", tmp_path / "a.jsonl", *model, *more)
        assert (code, out) == (1, "")
        assert err == f"clustruct: {tmp_path / 'a.jsonl'}:2: not JSON: Expecting value (column 1)\n"
    assert [p.name for p in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize("name", ["predict", "evaluate", "explain", "report", "show"])
def test_damaged_models_are_refused_with_one_line(command, folder, tmp_path, name):
    damaged = bytearray((folder / "records.model").read_bytes())
    damaged[-1000] ^= 1
    data = () if name == "show" else (folder / "test.csv",)
    for content, message in (
        (bytes(damaged), "the file is damaged (its checksum is wrong)"),
        (bytes(damaged[:-5]), "the file is cut short or damaged"),
        (b"\x80\x04K\x01.", "not a clustruct model"),
    ):
        (tmp_path / "m").write_bytes(content)
        code, out, err = command(name, *data, "--model", tmp_path / "m")
        assert (code, out) == (1, "")
        assert err.startswith(f"clustruct: {tmp_path / 'm'}: {message}")
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    "about",
    [
        {},
        {"columns": 3, "training": [1]},
        {"columns": {"set": 3}},
        {"columns": {"fields": "abc", "set": [1]}},
        {"columns": {"chosen_by": [None, 3]}},
        {"training": {"sets": "many"}},
    ],
)
def test_models_may_say_anything_about_themselves(command, folder, tmp_path, about):
    save(tmp_path / "m", load(folder / "records.model"), about=about)
    for words in (
        ("predict", folder / "test.csv"),
        ("evaluate", folder / "test.csv", "--set", "set", "--cluster", "cluster"),
        ("explain", folder / "test.csv"),
        ("show",),
    ):
        code, _, err = command(*words, "--model", tmp_path / "m", "--quiet")
        assert err.count("\n") == code
        assert code in (0, 1)


def test_targets_are_checked_before_the_work(command, folder, tmp_path):
    read = ("--set", "set", "--cluster", "cluster", "--C", "1")
    code, _, err = command("fit", folder / "train.csv", *read, "--model", tmp_path / "none" / "m")
    assert code == 1
    assert "there is no folder" in err
    code, _, err = command("fit", folder / "train.csv", *read, "--model", tmp_path)
    assert code == 1
    assert "is a folder" in err
    model = ("--model", folder / "records.model")
    code, _, err = command("predict", folder / "test.csv", *model, "--out", tmp_path / "p.xlsx")
    assert code == 1
    assert "predictions are written as .csv, .tsv, .jsonl" in err
    assert list(tmp_path.iterdir()) == []


def test_predictions_must_fit_the_data(command, folder, tmp_path):
    read = ("--set", "set", "--cluster", "cluster", "--quiet")
    (tmp_path / "p.csv").write_text("set,id,cluster\nbatch 4,r4-0,1\n")
    code, _, err = command("evaluate", folder / "test.csv", *read, "--predictions", tmp_path / "p.csv")
    assert code == 1
    assert "there is no prediction for item 'r4-1' of set batch 4" in err
    (tmp_path / "p.csv").write_text("set,id,cluster\nbatch 7,r4-0,1\n")
    code, _, err = command("evaluate", folder / "test.csv", *read, "--predictions", tmp_path / "p.csv")
    assert code == 1
    assert "there is no prediction for set batch 4" in err


def test_explain_knows_which_items_there_are(command, folder):
    model, path = ("--model", folder / "records.model", "--quiet"), folder / "test.csv"
    for words, message in (
        (("--pair", "r4-0", "zz"), "no item has the id 'zz'"),
        (("--pair", "r4-0", "r5-0"), "no set has both 'r4-0' and 'r5-0'"),
        (("--pair", "r4-0", "r4-0"), "a pair is two different items"),
        (("--in", "batch 9"), "there is no set 'batch 9'; there are batch 4, batch 5"),
    ):
        code, out, err = command("explain", folder / "test.csv", *model, *words)
        assert (code, out, err) == (1, "", f"clustruct: {path}: {message}\n")


def test_what_cannot_be_saved_leaves_the_file_alone(tmp_path):
    """Whatever cannot be kept leaves an earlier file as it was."""
    (tmp_path / "m").write_bytes(b"earlier")
    with pytest.raises(ValueError, match="no file for object"):
        save(tmp_path / "m", object())
    assert (tmp_path / "m").read_bytes() == b"earlier"


def test_random_tables_never_make_a_traceback(command, tmp_path):
    """Any bytes at all: a model, or one line."""
    rng = np.random.default_rng(0)
    write_sets(tmp_path / "a.csv", make_records(n_sets=1, n_people=4))
    good = (tmp_path / "a.csv").read_bytes()
    for _ in range(40):
        damaged = bytearray(good)
        for place in rng.integers(0, len(good), 3):
            damaged[place] = rng.choice([0, 10, 13, 34, 44, 200, 65])
        (tmp_path / "a.csv").write_bytes(bytes(damaged))
        options = ("--cluster", "cluster", "--C", "1", "--quiet", "--model", tmp_path / "m")
        code, _, err = command("fit", tmp_path / "a.csv", *options)
        assert code in (0, 1)
        assert err.count("\n") == code


def test_no_file_is_written_over_its_own_input(command, folder, tmp_path):
    content = (folder / "test.csv").read_bytes()
    data, model = tmp_path / "d.csv", tmp_path / "m"
    data.write_bytes(content)
    model.write_bytes((folder / "records.model").read_bytes())
    read = ("--set", "set", "--cluster", "cluster", "--quiet")
    for words in (
        ("fit", data, "--model", data, "--C", "1", *read),
        ("predict", data, "--model", model, "--out", data),
        ("predict", data, "--model", model, "--out", model),
        ("report", data, "--model", model, "--out", data),
    ):
        code, _, err = command(*words)
        assert code == 1
        assert "would be written over" in err
    assert data.read_bytes() == content
    assert model.read_bytes() == (folder / "records.model").read_bytes()


def test_report_without_labels(command, folder, tmp_path):
    bare = tmp_path / "bare.csv"
    header = (folder / "test.csv").read_text().splitlines()[0].split(",")
    place = header.index("cluster")
    with open(folder / "test.csv", newline="") as f, open(bare, "w", newline="") as g:
        writer = csv.writer(g)
        for row in csv.reader(f):
            writer.writerow([cell for i, cell in enumerate(row) if i != place])
    model = ("--model", folder / "records.model", "--quiet")
    code, _, err = command("report", bare, *model, "--out", tmp_path / "r.html")
    assert (code, err) == (0, "")
    assert "<html" in (tmp_path / "r.html").read_text()


def test_control_characters_do_not_reach_the_terminal(command, folder, tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    items = [{"id": f"\x1b[31m{i}", "name": "Ann"} for i in range(2)]
    path.write_text(json.dumps({"id": "s\x1b]0;x", "items": items}))
    words = ("--model", folder / "records.model", "--quiet", "--allow-missing-fields")
    code, out, err = command("explain", path, *words, "--id", "id")
    assert code == 0
    assert "\x1b" not in out + err
    assert "\\x1b[31m0" in out
    code, out, err = command("explain", path, *words, "--id", "id", "--pair", "\x1b[31m0", "\x1b[31m1")
    assert code == 0
    assert "\x1b" not in out + err
    assert "\\x1b[31m0" in out
    code, _, err = command("explain", path, *words, "--id", "id", "--pair", "\x1b", "b")
    assert code == 1
    assert "\x1b" not in err
    # Whoever reads predictions from a file or a pipe gets the ids as they are; a terminal does not.
    assert "\x1b[31m0" in command("predict", path, *words)[1]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    out = command("predict", path, *words)[1]
    assert "\x1b" not in out
    assert "\\x1b[31m0" in out


@pytest.mark.parametrize(
    ("name", "value"), [("stop_reason", [1]), ("seconds", None), ("C_", [2]), ("blocks", 5000)]
)
def test_records_of_training_are_checked(command, folder, tmp_path, name, value):
    """A model made by hand: right checksum, wrong types."""
    from clustruct.core.exceptions import ModelFileError
    from clustruct.features import Constant

    pipeline = load(folder / "records.model")
    model = pipeline[-1]
    if name == "C_":
        model.C_ = value
    elif name == "blocks":
        pipeline[0].blocks_ = [Constant()] * value
    else:
        object.__setattr__(model.result_, name, value)
    save(tmp_path / "m", pipeline)
    with pytest.raises(ModelFileError):
        load(tmp_path / "m")
    code, _, err = command("predict", folder / "test.csv", "--model", tmp_path / "m", "--quiet")
    assert code == 1
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("package", "extra", "words"),
    [
        ("rapidfuzz", "records", ("fit", "train.csv", "--set", "set", "--cluster", "cluster", "--C", "1")),
        ("snowballstemmer", "text", ("fit", "news.jsonl", "--kind", "text", "--C", "1")),
        ("matplotlib", "report", ("report", "test.csv")),
        ("jinja2", "report", ("report", "test.csv")),
    ],
)
def test_a_missing_extra_is_named(folder, tmp_path, package, extra, words):
    """In a process of its own, as modules that were imported before would be found."""
    (tmp_path / f"{package}.py").write_text("raise ModuleNotFoundError")
    model = tmp_path / "m" if words[0] == "fit" else folder / "records.model"
    found = subprocess.run(
        [sys.executable, "-m", "clustruct", *words, "--quiet", "--model", str(model)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 1
    assert f"clustruct[{extra}]" in found.stderr
    assert found.stderr.count("\n") == 1
