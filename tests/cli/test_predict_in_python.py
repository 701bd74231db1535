"""What ``clustruct predict`` does, `Recipe.group` does, with options of the same names."""

import json
from pathlib import Path

import numpy as np
import pytest

import clustruct
from clustruct.data import Evidence
from clustruct.data.io import ColumnRoles, read_sets
from clustruct.features import check_tables

DATA = Path(__file__).parents[2] / "examples" / "data"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A recipe with probabilities, the file of its model, and sets to be grouped."""
    named = ColumnRoles(set="batch", id="nr", cluster="person")
    recipe = clustruct.Recipe().fit(read_sets(DATA / "people.csv", columns=named))
    assert recipe.pipeline_[-1].calibration_ is not None
    model = tmp_path_factory.mktemp("python") / "people.model"
    clustruct.save(model, recipe.pipeline_)
    return recipe, model, list(read_sets(DATA / "test.csv", columns=named, labels="ignored"))


@pytest.fixture
def printed(fitted, command):
    """The sets of the command's answer."""

    def run(*words):
        data = [DATA / "test.csv", "--set", "batch", "--id", "nr", "--cluster", "person"]
        code, out, err = command("predict", *data, "--model", fitted[1], *words, "--json", "--quiet")
        assert code == 0, err
        return json.loads(out)["sets"]

    return run


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"confidence": True},
        {"threshold": 0.95},
        {"precision": 0.6},
        {"max_size": 2},
        {"min_groups": 12},
        {"max_groups": 9},
        {"reject_below": 0.9},
        {"threshold": 0.8, "max_size": 3, "reject_below": 0.8, "confidence": True},
    ],
    ids=lambda options: ",".join(options) or "plain",
)
@pytest.mark.parametrize("constrained", [False, True], ids=["free", "constraints"])
def test_python_does_what_the_command_does(fitted, printed, tmp_path, options, constrained):
    recipe, _, sets = fitted
    words, known = [], None
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [value])
    if constrained:
        lines, known = ["a,b,answer"], []
        for table in sets:
            names, n = table.item_ids, len(table)
            lines += [f"{names[0]},{names[n - 1]},yes", f"{names[1]},{names[2]},no"]
            known.append(Evidence.of_pairs(n, same=[(0, n - 1)], different=[(1, 2)]))
        (tmp_path / "pairs.csv").write_text("\n".join(lines) + "\n")
        words += ["--constraints", tmp_path / "pairs.csv"]
    answers, found = printed(*words), recipe.group(sets, known, **options)
    assert [answer["set"] for answer in answers] == [table.name for table in sets]
    for answer, one in zip(answers, found, strict=True):
        assert answer["clusters"] == one.labels.tolist()
        if "confidence" in options:
            np.testing.assert_allclose(answer["confidence"], one.confidence, rtol=1e-9)
            assert one.is_probability
            assert len(one.group_confidence) == one.n_groups
        if "reject_below" in options:
            assert answer["rejected"] == one.rejected.astype(int).tolist()
        if constrained:
            assert one.labels[0] == one.labels[-1]
            assert one.labels[1] != one.labels[2]
    if options.keys() <= {"threshold", "precision", "max_size", "min_groups", "max_groups", "reject_below"}:
        predicted = recipe.predict(sets, **options)
        if not constrained:
            assert [y.tolist() for y in predicted] == [answer["clusters"] for answer in answers]


def test_pairs_of_a_table_are_those_of_the_file(fitted, printed, tmp_path):
    recipe, _, sets = fitted
    printed("--pairs", tmp_path / "pairs.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    found = recipe.group(sets[0], pairs=True)
    listed = found.scores.list_pairs()
    mine = [row for row in rows if row["set"] == sets[0].name]
    np.testing.assert_allclose([row["score"] for row in mine], listed.values, rtol=1e-4)
    np.testing.assert_allclose([row["probability"] for row in mine], found.pair_probabilities, rtol=1e-4)
    a, b = listed.index.T
    assert [bool(row["together"]) for row in mine] == (found.labels[a] == found.labels[b]).tolist()
    assert found.objective == pytest.approx(sum(row["score"] for row in mine if row["together"]), rel=1e-4)


def test_a_model_without_probabilities_has_the_score_lost(fitted):
    _, _, sets = fitted
    named = ColumnRoles(set="batch", id="nr", cluster="person")
    plain = clustruct.Recipe(C=1.0).fit(read_sets(DATA / "people.csv", columns=named))
    found = plain.group(sets[0], confidence=True)
    assert not found.is_probability
    assert found.group_confidence is None
    lost = clustruct.evaluate.explain.examine(check_tables(plain.pipeline_), sets[0]).items.confidence
    np.testing.assert_allclose(found.confidence, lost)
    with pytest.raises(ValueError, match="no probabilities"):
        plain.group(sets[0], reject_below=0.5)
    with pytest.raises(ValueError, match="evidence of 1"):
        plain.group(sets, [None])
    means = clustruct.Recipe(learner="kmeans", C=1.0)
    means.fit(read_sets(DATA / "people.csv", columns=named))
    same = Evidence.of_pairs(len(sets[0]), same=[(0, 1)])
    with pytest.raises(ValueError, match="fixed number of groups"):
        means.group(sets[0], same)
