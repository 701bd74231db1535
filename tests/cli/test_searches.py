"""fit --oracle, --formulation, --loss-in-oracle, --surrogates, --rounding; predict, evaluate --rounding."""

import json

import pytest

import clustruct
from clustruct.cli.fit import similarity_line
from clustruct.data.datasets import make_records
from clustruct.data.io import write_sets


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    folder = tmp_path_factory.mktemp("searches")
    sets = make_records(n_sets=5, n_people=5)
    write_sets(folder / "train.jsonl", sets[:3])
    write_sets(folder / "test.jsonl", sets[3:])
    return folder


def fitted(there, command, *more):
    """The clusterer of a model that is fitted with these words, and its file."""
    file = there / "a.model"
    code, _, err = command("fit", there / "train.jsonl", "--C", "1", "--quiet", "--model", file, *more)
    assert code == 0, err
    return clustruct.load(file)[-1], file


def test_fit_trains_as_the_options_say(there, command):
    options = ["--oracle", "lp", "--formulation", "one_slack", "--no-loss-in-oracle", "--rounding", "ball"]
    model, _ = fitted(there, command, *options)
    assert (model.oracle, model.formulation, model.loss_in_oracle) == ("lp", "one_slack", False)
    assert model.predictor == "lp_ball"
    plain, _ = fitted(there, command)
    usual = clustruct.SupervisedCorrelationClustering()
    for name in ("oracle", "formulation", "loss_in_oracle", "predictor"):
        assert getattr(plain, name) == getattr(usual, name)


def test_surrogates_are_trained_for_too(there, command):
    words = ["--loss", "lea", "--surrogates", "b_cubed,variation_of_information"]
    model, _ = fitted(there, command, *words)
    assert (model.loss, list(model.surrogates)) == ("lea", ["b_cubed", "variation_of_information"])
    alone, _ = fitted(there, command, "--loss", "lea")
    assert not alone.surrogates
    for more, told in [
        (["--surrogates", "b_cubed,nothing"], "unknown loss 'nothing'"),
        (["--surrogates", "b_cubed", "--learner", "kmeans"], "surrogates does not go with learner='kmeans'"),
        (["--surrogates", "b_cubed", "--checkpoint", there / "c"], "does not go with surrogates"),
    ]:
        code, _, err = command("fit", there / "train.jsonl", "--model", there / "c.model", *more)
        assert code != 0
        assert told in err


def test_rounding_of_a_model_that_was_trained_without(there, command, monkeypatch):
    """Each rule is the predictor of its name; the file stays as it was."""
    _, file = fitted(there, command)
    before, asked = file.read_bytes(), []
    rounded = clustruct.search.correlation.round_edges
    monkeypatch.setattr(
        clustruct.search.correlation, "round_edges", lambda e, rule: asked.append(rule) or rounded(e, rule)
    )
    for rule in ("algorithm5", "ball"):
        words = ["--model", file, "--rounding", rule, "--json", "--quiet"]
        code, out, _ = command("predict", there / "test.jsonl", *words)
        assert code == 0
        assert len(json.loads(out)["sets"]) == 2
        assert command("evaluate", there / "test.jsonl", *words)[0] == 0
    assert asked == ["algorithm5"] * 4 + ["ball"] * 4
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--oracle", "spectral"], "--oracle must be one of exact, greedy, local_search, lp, not 'spectral'"),
        (["--formulation", "two_slack"], "--formulation must be one of auto, n_slack, one_slack, smoothed"),
        (["--rounding", "ball", "--predictor", "greedy"], "give one of them"),
        (["--rounding", "ball", "--learner", "kmeans"], "--rounding does not go with --learner kmeans"),
    ],
)
def test_what_cannot_be_is_misuse(there, command, words, said):
    code, _, err = command("fit", there / "train.jsonl", "--model", there / "b.model", *words)
    assert code == 2
    assert said in err
    assert not (there / "b.model").exists()


def test_a_learner_without_search_refuses_one(there, command):
    words = ["--learner", "pairs", "--no-loss-in-oracle", "--model", there / "b.model"]
    code, _, err = command("fit", there / "train.jsonl", *words)
    assert code == 1
    assert "loss_in_oracle does not go with learner='pairs' (--learner)" in err


def test_predictions_and_known_groups_are_not_rounded(there, command):
    _, file = fitted(there, command)
    assert command("predict", there / "test.jsonl", "--model", file, "--out", there / "g.csv")[0] == 0
    words = ["--predictions", there / "g.csv", "--rounding", "ball"]
    assert command("evaluate", there / "test.jsonl", *words)[0] == 2
    words = ["--model", file, "--existing", there / "g.csv", "--rounding", "ball"]
    assert command("predict", there / "test.jsonl", *words)[0] == 2


def test_auto_says_which_similarity_it_took_and_why(there, command):
    code, out, err = command(
        "fit", there / "train.jsonl", "--similarity", "auto", "--model", there / "auto.model"
    )
    assert code == 0, err
    line = next(line for line in out.splitlines() if line.startswith("similarity: "))
    assert line.startswith(
        ("similarity: linear (chosen; held-out loss", "similarity: trees (chosen; held-out")
    )
    assert "standard error" in line


@pytest.mark.parametrize(
    ("costs", "error", "said"),
    [
        ({"linear": 5.0, "trees": 4.0}, 2.0, "linear 5, trees 4: the difference could be chance"),
        ({"linear": 5.0, "trees": 6.0}, 0.5, "linear 5, trees 6, standard error of the difference 0.5"),
        ({"linear": 5.0, "trees": None}, None, "nothing could be held out to try trees"),
    ],
)
def test_what_is_said_of_a_similarity_that_stays_linear(costs, error, said):
    found = {"similarity": "linear", "similarities": costs, "similarity_error": error, "held_out": "sets"}
    assert said in similarity_line(found)
