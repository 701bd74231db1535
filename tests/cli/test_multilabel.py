"""``clustruct multilabel``: from files of labelled rows to labels, and what is wrong in one line."""

import csv
import json

import numpy as np
import pytest

from clustruct import load, save
from clustruct.cli import multilabel
from clustruct.core.storage import read
from clustruct.papers.multilabel import MultiLabelMRF, make_multilabel_count

NAMES = ["la", "lb", "lc", "ld"]


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_count(120, n_labels=4, random_state=1)
    Y = Y.copy()
    Y[::7] = 0
    Y[1::5, 2] = 1
    return X.round(3), Y


@pytest.fixture(scope="module")
def files(tmp_path_factory, data):
    """rows.svm and rows.csv with the same rows, and rows.model of the first 90."""
    there, (X, Y) = tmp_path_factory.mktemp("multilabel"), data
    lines = []
    for x, y in zip(X, Y, strict=True):
        entries = [f"{a + 1}:{v!r}" for a, v in enumerate(x.tolist()) if v]
        lines.append(" ".join([*filter(None, [",".join(map(str, np.flatnonzero(y) + 1))]), *entries]))
    (there / "train.svm").write_text("\n".join(lines[:90]) + "\n")
    (there / "test.svm").write_text("\n".join(lines[90:]) + "\n")
    header = [*(f"x{a}" for a in range(X.shape[1])), *NAMES]
    with (there / "train.csv").open("w", newline="") as f:
        csv.writer(f).writerows(
            [header, *([*x, *y] for x, y in zip(X[:90].tolist(), Y[:90].tolist(), strict=True))]
        )
    return there


FIT = ("--C", "1000", "--model")


def test_a_model_of_a_file_is_that_of_python(command, files, data, tmp_path):
    X, Y = data
    code, out, err = command("multilabel", "fit", files / "train.svm", *FIT, tmp_path / "m")
    assert (code, err) == (0, "")
    assert "learned 4 labels from 90 rows" in out
    assert "C = 1000, " in out
    expected = MultiLabelMRF(1000.0).fit(X[:90], Y[:90])
    model = load(tmp_path / "m")
    assert model.result_.objective == pytest.approx(expected.result_.objective, rel=2e-3)
    code, out, _ = command("multilabel", "predict", files / "test.svm", "--model", tmp_path / "m")
    rows = list(csv.DictReader(out.splitlines()))
    found = model.predict(X[90:])
    assert [row["labels"] for row in rows] == [",".join(map(str, np.flatnonzero(y) + 1)) for y in found]
    scores = np.array([[float(row[f"score {a}"]) for a in range(1, 5)] for row in rows])
    assert ((scores > 0) == found)[scores != 0].all()
    told = json.loads(
        command("multilabel", "evaluate", files / "test.svm", "--model", tmp_path / "m", "--json")[1]
    )
    assert told["hamming_loss"] == pytest.approx(100 * np.mean(found != Y[90:]))
    assert told["subset_accuracy"] == pytest.approx((found == Y[90:]).all(axis=1).mean())
    assert sum(label["rows"] for label in told["per_label"].values()) == Y[90:].sum()


def test_a_table_gives_the_same_model(command, files, tmp_path):
    assert command("multilabel", "fit", files / "train.svm", *FIT, tmp_path / "s")[0] == 0
    words = ("--labels", ",".join(NAMES))
    assert command("multilabel", "fit", files / "train.csv", *words, *FIT, tmp_path / "c")[0] == 0
    one, other = load(tmp_path / "s"), load(tmp_path / "c")
    assert one.result_.objective == pytest.approx(other.result_.objective, rel=2e-3)
    assert read(tmp_path / "c").about["rows"]["labels"] == NAMES
    told = json.loads(
        command("multilabel", "evaluate", files / "train.csv", "--model", tmp_path / "c", "--json")[1]
    )
    assert list(told["per_label"]) == NAMES
    code, _, _ = command(
        "multilabel", "predict", files / "train.csv", "--model", tmp_path / "c", "--out", tmp_path / "p.jsonl"
    )
    first = json.loads((tmp_path / "p.jsonl").read_text().splitlines()[0])
    assert (code, set(first["labels"]) <= set(NAMES), "score la" in first) == (0, True, True)


def test_C_is_chosen_and_told(command, files, tmp_path):
    words = (
        "multilabel",
        "fit",
        files / "train.svm",
        "--folds",
        "2",
        "--oracle",
        "graph_cut",
        "--quiet",
        "--json",
    )
    told = json.loads(command(*words, "--model", tmp_path / "m")[1])
    model = load(tmp_path / "m")
    assert told["C"] == model.C_ in model.cv_results_["C"]
    at = model.cv_results_["C"].tolist().index(model.C_)
    assert told["held_out_loss"] == pytest.approx(model.cv_results_["losses"][at].mean())
    assert (told["oracle"], told["predictor"]) == ("graph_cut", "graph_cut")
    assert len(told["pairs"]) == 6


def test_texts_have_labels(command, tmp_path):
    rng = np.random.default_rng(0)
    words = {"sport": ["goal", "cup", "match"], "law": ["court", "judge", "trial"]}
    rows = [["text", *words]]
    for _ in range(40):
        has = rng.integers(0, 2, 2)
        own = [w for name, h in zip(words, has, strict=True) if h for w in rng.choice(words[name], 3)]
        rows.append([" ".join([*own, "today"]), *has])
    with (tmp_path / "t.csv").open("w", newline="") as f:
        csv.writer(f).writerows(rows)
    named = ("--text", "text", "--labels", "sport,law")
    assert command("multilabel", "fit", tmp_path / "t.csv", *named, *FIT, tmp_path / "m")[0] == 0
    out = command("multilabel", "evaluate", tmp_path / "t.csv", "--model", tmp_path / "m", "--json")[1]
    assert json.loads(out)["subset_accuracy"] == 1.0


def test_labels_not_seen_in_training_are_mentioned(command, files, tmp_path):
    command("multilabel", "fit", files / "train.svm", *FIT, tmp_path / "m")
    (tmp_path / "t.svm").write_text("1 1:1\n1,77 2:1\n")
    code, _, err = command("multilabel", "evaluate", tmp_path / "t.svm", "--model", tmp_path / "m")
    assert (code, err.count("\n")) == (0, 1)
    assert "t.svm:2: not among the labels of the training, and not counted: 77" in err


def test_the_cost_of_all_labelings_is_told(command, files, tmp_path, monkeypatch):
    monkeypatch.setattr(multilabel, "MANY", 1000)
    code, _, err = command("multilabel", "fit", files / "train.svm", *FIT, tmp_path / "m")
    assert (code, err.count("\n")) == (0, 1)
    assert "train.svm: each round looks at all 2^4 labelings of 90 rows: --oracle graph_cut" in err
    for more in (("--oracle", "graph_cut"), ("--edges", "tree")):
        assert command("multilabel", "fit", files / "train.svm", *more, *FIT, tmp_path / "m")[2] == ""


BAD = {
    "one label": ("1 1:1\n1 2:1\n", (), "a.svm: rows have 1 label in all, two are needed at least"),
    "no label": ("1:1\n2:1\n", (), "a.svm: rows have 0 labels in all"),
    "names of labels": ("a,b 1:1\n", (), "a.svm:1: labels are whole numbers, as in 1,3; not 'a,b'"),
    "empty": ("", (), "a.svm: there are no examples"),
    "too many for exact": (
        "\n".join(f"{a},{a + 1} 1:{a}" for a in range(1, 25)),
        ("--oracle", "exact"),
        "'exact' enumerates 2^25 labelings",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(command, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    text, more, message = BAD[name]
    (tmp_path / "a.svm").write_text(text)
    code, out, err = command("multilabel", "fit", "a.svm", *more, *FIT, "m")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"clustruct: {message}")
    assert not (tmp_path / "m").exists()


def test_a_table_needs_the_names_of_its_labels(command, files, tmp_path):
    code, out, err = command("multilabel", "fit", files / "train.csv", *FIT, tmp_path / "m")
    assert (code, out) == (1, "")
    assert "train.csv: name the columns of the labels (--labels A,B)" in err


def test_a_model_whose_labels_do_not_fit_is_refused(command, files, tmp_path):
    command("multilabel", "fit", files / "train.svm", *FIT, tmp_path / "m")
    for labels in (["a"], ["a", "a", "b", "c"], 7):
        save(tmp_path / "n", load(tmp_path / "m"), about={"rows": {"labels": labels}})
        code, _, err = command("multilabel", "predict", files / "test.svm", "--model", tmp_path / "n")
        assert (code, "n: damaged, its labels" in err) == (1, True)
