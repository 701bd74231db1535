"""``clustruct fit --linkage``."""

import json
import warnings

import pytest

from clustruct import load
from clustruct.cli.main import main
from clustruct.core.exceptions import OrderWarning
from clustruct.data.datasets import make_mentions, make_records
from clustruct.data.io import write_sets


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("linkage")
    texts = make_mentions(n_sets=5)
    write_sets(folder / "train.jsonl", texts[:4])
    write_sets(folder / "test.jsonl", texts[4:])
    write_sets(folder / "people.jsonl", make_records(n_sets=3, n_people=4))
    with warnings.catch_warnings():
        warnings.simplefilter("error", OrderWarning)
        main(
            [
                "fit",
                str(folder / "train.jsonl"),
                "--linkage",
                "left",
                "--C",
                "1",
                "--model",
                str(folder / "m"),
                "--quiet",
            ]
        )
    return folder


def test_a_linkage_implies_its_learner(folder):
    model = load(folder / "m")[-1]
    assert (type(model).__name__, model.linkage) == ("SupervisedAgglomerative", "left")


@pytest.mark.parametrize(
    "line",
    [
        "predict test.jsonl --model m --confidence",
        "evaluate test.jsonl --model m",
        "show --model m",
        "explain test.jsonl --model m --pair 1 3",
        "report test.jsonl --model m --out page.html",
    ],
)
def test_commands_that_work(folder, line, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert main([*line.split(), "--quiet"]) in (0, None)


def test_json_names_the_learner(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    main(
        ["fit", "people.jsonl", "--learner", "agglomerative", "--C", "1", "--model", "p", "--json", "--quiet"]
    )
    assert json.loads(capsys.readouterr().out)["learner"] == "SupervisedAgglomerative"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "fit train.jsonl --learner kmeans --linkage left --model x",
            "--linkage goes with --learner agglomerative",
        ),
        ("fit train.jsonl --linkage single --oracle lp --model x", "searches by its --linkage"),
        ("fit train.jsonl --linkage single --checkpoint c --model x", "has no checkpoints"),
        (
            "fit train.jsonl --linkage single --calibrate --model x",
            "calibrate goes with learner='correlation'",
        ),
        ("predict test.jsonl --model m --threshold 0.5", "takes no threshold"),
    ],
)
def test_what_does_not_go_is_said_in_a_line(folder, line, said, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(line.split()) not in (0, None)
    assert said in capsys.readouterr().err


def test_records_in_an_order_are_asked_about(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    main(["fit", "people.jsonl", "--linkage", "left", "--C", "1", "--model", "q", "--quiet"])
    assert "in the order in which they stand" in capsys.readouterr().err
