"""``clustruct universum``: from files of rows to clusters, and what is wrong in one line."""

import csv
import json

import numpy as np
import pytest

from clustruct import load, save
from clustruct.cli.main import build_parser
from clustruct.papers.universum import UniversumClustering

WORDS = {
    "weather": ["storm", "coast", "wind", "rain", "flood", "valley", "river", "snow", "cloud", "thunder"],
    "money": ["bank", "rate", "loan", "credit", "market", "stock", "share", "bond", "cash", "fund"],
    "food": ["recipe", "soup", "bread", "butter", "oven", "sugar", "flour", "salt", "bake", "kitchen"],
}


def documents(kind, n, rng):
    own, other = WORDS[kind], WORDS["food" if kind != "food" else "money"]
    return [" ".join([*rng.choice(own, 9), *rng.choice(other, 2)]) for _ in range(n)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """docs.csv (two kinds), others.csv (Universum), all.csv (both), and rows of numbers in two forms."""
    there, rng = tmp_path_factory.mktemp("universum"), np.random.default_rng(0)
    kinds = [*["weather"] * 25, *["money"] * 25]
    texts = [text for kind in ("weather", "money") for text in documents(kind, 25, rng)]
    docs = [[f"d{i}", *row] for i, row in enumerate(zip(kinds, texts, strict=True))]
    write(there / "docs.csv", docs)
    others = [[f"o{i}", "food", text] for i, text in enumerate(documents("food", 12, rng))]
    write(there / "others.csv", others)
    write(there / "all.csv", [*docs, *others])
    X = np.round(rng.normal(size=(40, 3)) + np.repeat([[3.0, 0, 0], [0, 3.0, 0]], 20, axis=0), 3)
    named = ["id,a,b,c,kind", *(f"{i + 2},{a},{b},{c},{i // 20}" for i, (a, b, c) in enumerate(X))]
    (there / "rows.csv").write_text("\n".join(named) + "\n")
    lines = [f"{i // 20} 1:{a} 2:{b} 3:{c}" for i, (a, b, c) in enumerate(X)]
    (there / "rows.svm").write_text("# rows\n" + "\n".join(lines) + "\n")
    return there


def write(path, rows):
    with path.open("w", newline="") as f:
        csv.writer(f).writerows([["nr", "kind", "body"], *rows])


def test_documents_are_clustered_beside_others(command, files, tmp_path):
    words = ("--text", "body", "--id", "nr", "--clusters", 2)
    model = tmp_path / "m"
    code, out, err = command(
        "universum", "fit", files / "docs.csv", *words, "--universum", files / "others.csv", "--model", model
    )
    assert (code, err) == (0, "")
    assert "clustered 50 rows beside 12 rows of the Universum" in out
    assert "words that speak for it" in out
    assert any(word in out for word in ("storm", "wind", "rain", "snow"))
    code, out, err = command("universum", "predict", files / "docs.csv", "--model", model)
    answers = list(csv.DictReader(out.splitlines()))
    assert (code, err, [row["id"] for row in answers]) == (0, "", [f"d{i}" for i in range(50)])
    assert [int(row["cluster"]) for row in answers] == load(model)[-1].labels_.tolist()
    found = json.loads(
        command("universum", "evaluate", files / "docs.csv", "--label", "kind", "--model", model, "--json")[1]
    )
    assert found["accuracy"] == found["rand"] == 1.0
    assert found["normalized_mutual_information"] == pytest.approx(1.0)
    assert found["groups"].keys() == {"weather", "money"}


def test_a_label_names_the_universum(command, files, tmp_path):
    """As a second file does; rows of that label are not counted in an evaluation."""
    words = ("--text", "body", "--id", "nr", "--clusters", 2, "--quiet")
    outside = ("--label", "kind", "--universum-label", "food")
    assert command("universum", "fit", files / "all.csv", *words, *outside, "--model", tmp_path / "a")[0] == 0
    second = ("--universum", files / "others.csv")
    assert command("universum", "fit", files / "docs.csv", *words, *second, "--model", tmp_path / "b")[0] == 0
    np.testing.assert_allclose(load(tmp_path / "a")[-1].coef_, load(tmp_path / "b")[-1].coef_)
    code, out, err = command("universum", "evaluate", files / "all.csv", "--model", tmp_path / "a")
    assert (code, err.count("\n")) == (0, 1)
    assert "12 rows without a group, or of the Universum, not counted" in err
    assert "50 rows of 2 groups in 2 clusters" in out


def test_tables_and_svmlight_rows_give_one_model(command, files, tmp_path):
    for name, more in {"rows.csv": ("--label", "kind"), "rows.svm": ()}.items():
        words = ("universum", "fit", files / name, *more, "--clusters", 2, "--quiet")
        assert command(*words, "--model", tmp_path / name)[0] == 0
    one, other = (load(tmp_path / name) for name in ("rows.csv", "rows.svm"))
    order = [m.coef_[:, 0].argsort() for m in (one, other)]  # clusters are numbered by the search
    np.testing.assert_allclose(one.coef_[order[0]], other.coef_[order[1]], atol=1e-6)
    answers = {}
    for name in ("rows.csv", "rows.svm"):
        out = command("universum", "predict", files / name, "--model", tmp_path / name)[1]
        answers[name] = [(int(row["id"]), float(row["margin"])) for row in csv.DictReader(out.splitlines())]
    np.testing.assert_allclose(answers["rows.csv"], answers["rows.svm"], atol=1e-4)
    scores = json.loads(
        command("universum", "evaluate", files / "rows.svm", "--model", tmp_path / "rows.svm", "--json")[1]
    )
    assert scores["accuracy"] > 0.9


@pytest.mark.parametrize("name", ["g.csv", "g.tsv", "g.jsonl", "g.parquet"])
def test_answers_go_to_files(command, files, tmp_path, name):
    model = tmp_path / "m"
    command("universum", "fit", files / "rows.svm", "--clusters", 2, "--quiet", "--model", model)
    code, out, _ = command(
        "universum", "predict", files / "rows.svm", "--model", model, "--out", tmp_path / name
    )
    assert (code, out.splitlines()) == (0, ["40 rows in 2 clusters", f"written to {tmp_path / name}"])
    assert (tmp_path / name).stat().st_size > 0


def test_wider_rows_of_the_universum_widen_the_model(command, files, tmp_path):
    (tmp_path / "u.svm").write_text("0 5:1\n")
    words = ("universum", "fit", files / "rows.svm", "--clusters", 2, "--universum", tmp_path / "u.svm")
    assert command(*words, "--quiet", "--model", tmp_path / "m")[0] == 0
    assert load(tmp_path / "m").n_features_in_ == 5
    assert command("universum", "predict", files / "rows.svm", "--model", tmp_path / "m")[0] == 0
    (tmp_path / "w.svm").write_text("0 1:1\n0 6:1\n")
    code, out, err = command("universum", "predict", tmp_path / "w.svm", "--model", tmp_path / "m")
    assert (code, out) == (1, "")
    assert f"{tmp_path / 'w.svm'}:2: feature numbers count from 1 and rise to 5 at most" in err


def test_a_model_from_python_is_taken(command, files, tmp_path):
    X = np.loadtxt(files / "rows.csv", delimiter=",", skiprows=1)[:, 1:4]
    save(tmp_path / "m", UniversumClustering(2, random_state=0).fit(X))
    code, out, _ = command("universum", "predict", files / "rows.svm", "--model", tmp_path / "m")
    assert (code, len(out.splitlines())) == (0, 41)


BAD = {
    "no number": (("rows.csv", "--features", "a,kind2"), "rows.csv:1: there is no column 'kind2'"),
    "text for numbers": (("docs.csv",), "docs.csv:2: the column 'nr' holds 'd0', which is no number"),
    "too few rows": (("rows.svm", "--clusters", "41"), "rows.svm: 40 rows cannot be 41 clusters"),
    "label of no row": (("rows.svm", "--universum-label", "7"), "rows.svm: no row has the label 7"),
    "label of every row": (
        ("rows.svm", "--universum-label", "0,1"),
        "rows.svm: every row has the label 0, 1",
    ),
    "no file": (("none.svm",), "none.svm: cannot be read"),
    "columns of SVM^light": (("rows.svm", "--label", "kind"), "rows.svm: columns are named"),
    "over its input": (("rows.svm", "--model", "rows.svm"), "rows.svm would be written over"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(command, files, tmp_path, monkeypatch, name):
    monkeypatch.chdir(files)
    words, message = BAD[name]
    before = (files / "rows.svm").read_bytes()
    given = ["--clusters", 2, "--quiet", "--model", tmp_path / "m"]
    code, out, err = command("universum", "fit", words[0], *given, *words[1:])
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"clustruct: {message}")
    assert not (tmp_path / "m").exists()
    assert (files / "rows.svm").read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("fit", "rows.svm", "--model", "m"),
        ("fit", "rows.svm", "--clusters", "1", "--model", "m"),
        ("fit", "rows.svm", "--clusters", "2", "--balance", "-1", "--model", "m"),
        ("fit", "rows.csv", "--clusters", "2", "--text", "a", "--features", "b", "--model", "m"),
        ("fit", "all.csv", "--clusters", "2", "--text", "body", "--universum-label", "food", "--model", "m"),
        ("fit", "a", "--clusters", "2", "--universum", "b", "--universum-label", "c", "--model", "m"),
    ],
)
def test_wrong_use(command, files, monkeypatch, words):
    monkeypatch.chdir(files)
    code, out, err = command("universum", *words)
    assert (code, out) == (2, "")
    assert err.startswith(("usage: clustruct universum", "clustruct: "))
    assert "clustruct universum" in err


def test_other_models_are_refused(command, files, tmp_path):
    command("universum", "fit", files / "rows.svm", "--clusters", 2, "--quiet", "--model", tmp_path / "m")
    refused = [
        ("multilabel", "predict", files / "rows.svm", "--model", tmp_path / "m"),
        ("predict", files / "rows.csv", "--model", tmp_path / "m"),
    ]
    for words in refused:
        code, out, err = command(*words)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert f"{tmp_path / 'm'}: holds no " in err
        assert "but a model of UniversumClustering; see clustruct universum --help" in err
    damaged = dict.fromkeys(["id", "features", "text"], 5)
    save(tmp_path / "n", load(tmp_path / "m"), about={"rows": damaged})
    code, _, err = command("universum", "predict", files / "rows.svm", "--model", tmp_path / "n")
    assert (code, "damaged, its columns are no names" in err) == (1, True)


def test_the_defaults_are_those_of_the_estimator():
    parser = build_parser("universum")
    given = parser.parse_args(["universum", "fit", "a.csv", "--clusters", "2", "--model", "m"])
    defaults = UniversumClustering(2).get_params()
    told = {"C": given.C, "C_universum": given.C_universum, "balance": given.balance, "n_init": given.starts}
    assert told == {name: defaults[name] for name in told}


def test_words_are_shown_as_they_are_written(command, tmp_path):
    money, animals = "the money of banks and monies of companies", "ponies and puppies are happy animals"
    write(tmp_path / "docs.csv", [[i, "", text] for i, text in enumerate([money, animals] * 4)])
    words = ("--text", "body", "--id", "nr", "--clusters", 2, "--model", tmp_path / "m")
    out = command("universum", "fit", tmp_path / "docs.csv", *words)[1]
    assert "companies" in out
    assert "puppies" in out
    assert "puppi," not in out
