"""predict with a threshold, a precision, bounds, and further files; evaluate --curve; explain's splits."""

import csv
import json

import pytest

from clustruct.data.datasets import make_records
from clustruct.data.io import write_sets


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """A model with probabilities, and one without."""
    from clustruct.cli.main import main

    folder = tmp_path_factory.mktemp("dials")
    sets = make_records(n_sets=7, n_people=10, errors=0.8)
    write_sets(folder / "train.csv", sets[:5])
    write_sets(folder / "test.csv", sets[5:])
    words = ["fit", folder / "train.csv", "--set", "set", "--cluster", "cluster", "--id", "id", "--quiet"]
    for name, more in (("cv", []), ("plain", ["--C", "1"])):
        assert main([*map(str, words), *more, "--model", str(folder / f"{name}.model")]) == 0
    return folder


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_bounds_and_doubt(there, command, tmp_path):
    words = ["predict", there / "test.csv", "--model", there / "cv.model", "--out", tmp_path / "g.csv"]
    code, _, err = command(*words, "--max-size", 2, "--reject-below", 0.97, "--confidence")
    assert code == 0
    assert "stay alone, being doubtful" in err
    found = rows(tmp_path / "g.csv")
    sizes = {}
    for row in found:
        sizes[row["set"], row["cluster"]] = sizes.get((row["set"], row["cluster"]), 0) + 1
        assert 0.0 <= float(row["confidence"]) <= 1.0
        assert row["rejected"] == "0" or float(row["confidence"]) < 0.97
    assert max(sizes.values()) <= 2
    assert all(sizes[row["set"], row["cluster"]] == 1 for row in found if row["rejected"] == "1")


def test_a_threshold_joins_less_and_a_precision_says_what_it_costs(there, command):
    words = ["predict", there / "test.csv", "--model", there / "cv.model", "--json", "--quiet"]
    groups = []
    for more in ([], ["--threshold", "0.999"]):
        code, out, _ = command(*words, *more)
        assert code == 0
        groups.append(sum(max(s["clusters"]) + 1 for s in json.loads(out)["sets"]))
    assert groups[1] > groups[0]
    code, out, err = command(*words[:-1], "--precision", "0.5")
    assert code == 0
    told = json.loads(out)["held_out"]
    assert told["reached"]
    assert told["lower"] >= 0.5
    assert f"% with 95 % confidence), recall {100 * told['recall']:.1f} %" in err


def test_constraints_hold_with_bounds(there, command, tmp_path):
    names = [row["id"] for row in rows(there / "test.csv")][:4]
    (tmp_path / "c.csv").write_text(f"a,b,answer\n{names[0]},{names[1]},yes\n{names[2]},{names[3]},no\n")
    words = ["predict", there / "test.csv", "--model", there / "cv.model", "--out", tmp_path / "g.csv"]
    more = ["--constraints", tmp_path / "c.csv", "--max-size", 2, "--reject-below", 0.999, "--quiet"]
    assert command(*words, *more)[0] == 0
    group = {row["id"]: row["cluster"] for row in rows(tmp_path / "g.csv")}
    assert group[names[0]] == group[names[1]]
    assert group[names[2]] != group[names[3]]


def test_further_files(there, command, tmp_path):
    words = ["predict", there / "test.csv", "--model", there / "cv.model", "--out", tmp_path / "g.csv"]
    files = {name: tmp_path / f"{name}.csv" for name in ("pairs", "groups", "wide")}
    files["graph"] = tmp_path / "graph.graphml"
    code, out, _ = command(*words, *(w for name, path in files.items() for w in (f"--{name}", path)))
    assert code == 0
    assert str(files["graph"]) in out
    items, groups, wide = rows(tmp_path / "g.csv"), rows(files["groups"]), rows(files["wide"])
    assert [row["cluster"] for row in wide] == [row["cluster"] for row in items]
    assert [row["street"] for row in wide] == [row["street"] for row in rows(there / "test.csv")]
    assert sum(int(row["items"]) for row in groups) == len(items)
    cluster = {(row["set"], row["id"]): row["cluster"] for row in items}
    for row in rows(files["pairs"]):
        same = cluster[row["set"], row["id_1"]] == cluster[row["set"], row["id_2"]]
        assert row["together"] == str(int(same))
        assert 0.0 <= float(row["probability"]) <= 1.0
    assert files["graph"].read_text().count("<node ") == len(items)


def test_a_model_without_probabilities_still_exports(there, command, tmp_path):
    words = ["predict", there / "test.csv", "--model", there / "plain.model", "--out", tmp_path / "g.csv"]
    assert command(*words, "--pairs", tmp_path / "p.csv", "--groups", tmp_path / "o.csv")[0] == 0
    assert "probability" not in rows(tmp_path / "p.csv")[0]
    assert "confidence" not in rows(tmp_path / "o.csv")[0]
    code, _, err = command(*words, "--threshold", 0.5)
    assert code == 1
    assert "plain.model: the model has no probabilities" in err


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (["--threshold", "1.5"], 2, "must be between 0 and 1"),
        (["--threshold", "0.5", "--precision", "0.9"], 2, "--threshold and --precision both"),
        (["--reject-below", "0.5", "--max-groups", "3"], 2, "--max-groups does not go with --reject-below"),
        (["--existing", "{0}/test.csv", "--max-size", "3"], 2, "does not go with --existing"),
        (["--existing", "{0}/test.csv", "--pairs", "{1}/p.csv"], 2, "do not go with --existing"),
        (["--pairs", "{0}/test.csv"], 1, "would be written over"),
        (["--wide", "{0}/cv.model"], 1, "would be written over"),
        (["--pairs", "{1}/p.xlsx"], 1, "clustruct: {1}/p.xlsx: tables are written as"),
        (["--graph", "{1}/g.csv"], 1, "graphs are written as"),
        (["--pairs", "{1}/p.csv", "--groups", "{1}/p.csv"], 2, "the same one"),
        (["--min-groups", "3", "--max-groups", "2"], 2, "--min-groups is 3, above --max-groups, 2"),
        (["--min-groups", "10000"], 1, "cannot make 10,000 groups"),
        (["--min-groups", "10000"], 1, "{0}/test.csv"),
    ],
)
def test_refusals(there, command, tmp_path, more, code, words):
    given = [word.format(there, tmp_path) for word in more]
    found, _, err = command("predict", there / "test.csv", "--model", there / "cv.model", *given)
    assert found == code
    assert words.format(there, tmp_path) in err
    assert not list(tmp_path.iterdir())


def test_evaluate_draws_the_curve(there, command, tmp_path):
    words = ["evaluate", there / "test.csv", "--model", there / "cv.model", "--quiet"]
    code, out, _ = command(*words, "--curve", tmp_path / "c.svg")
    assert code == 0
    assert "precision here" in out
    assert "calibration error" in out
    assert "<svg" in (tmp_path / "c.svg").read_text()
    code, out, _ = command(*words, "--curve", "--json")
    assert code == 0
    assert len(json.loads(out)["curve"]["here"]["precision"]) == len(json.loads(out)["curve"]["thresholds"])
    assert command(*words, "--curve", tmp_path / "c.txt")[0] == 2
    assert command(*words[:3], there / "plain.model", "--curve")[0] == 1


def test_explain_suggests_splits(there, command):
    code, out, _ = command("explain", there / "test.csv", "--model", there / "cv.model", "--quiet")
    assert code == 0
    assert "probability that the place is right" in out
    assert "splits to look at first" in out
    code, out, _ = command("explain", there / "test.csv", "--model", there / "plain.model", "--quiet")
    assert "score lost by the best other place" in out
    assert "splits to look at first" not in out


def test_fields_that_are_named_are_the_fields_of_a_wide_table_too(there, command, tmp_path):
    words = ["predict", there / "test.csv", "--model", there / "cv.model", "--wide", tmp_path / "w.csv"]
    for name in ("street", "nothing"):
        code, out, err = command(*words, "--fields", name)
        assert (code, out) == (1, "")
        assert f"{there}/test.csv" in err
        assert not list(tmp_path.iterdir())


def test_a_curve_is_drawn_with_json_too(there, command, tmp_path):
    words = ["evaluate", there / "test.csv", "--model", there / "cv.model", "--json", "--quiet"]
    code, out, _ = command(*words, "--curve", tmp_path / "c.svg")
    assert code == 0
    assert json.loads(out)["curve"]["doubtful"] >= 0
    assert "<svg" in (tmp_path / "c.svg").read_text()


def test_probabilities_that_cannot_be_learned_are_told(command, tmp_path):
    names = ("Ann", "Bob", "Carl", "Dora")
    rows = [f"{n // 4},{n},{n // 2},{names[n // 2]} {'Lee'[: 2 + n % 2]}" for n in range(8)]
    (tmp_path / "two.csv").write_text("\n".join(["set,id,cluster,name", *rows, ""]))
    words = ["--set", "set", "--cluster", "cluster", "--id", "id", "--C", "1", "--quiet", "--calibrate"]
    code, _, err = command("fit", tmp_path / "two.csv", *words, "--model", tmp_path / "m")
    assert code == 0
    assert "warning: the model has no probabilities" in err


def test_all_files_are_there_or_none(there, command, tmp_path):
    (tmp_path / "full.csv").symlink_to("/dev/full")
    (tmp_path / "pairs.csv").write_text("old")
    words = ["predict", there / "test.csv", "--model", there / "cv.model", "--out", tmp_path / "g.csv"]
    words += ["--pairs", tmp_path / "pairs.csv", "--groups", tmp_path / "full.csv"]
    code, out, err = command(*words, "--wide", tmp_path / "w.csv", "--graph", tmp_path / "g.graphml")
    assert (code, out) == (1, "")
    assert f"{tmp_path}/full.csv: No space left" in err
    assert {path.name for path in tmp_path.iterdir()} == {"full.csv", "pairs.csv"}
    assert (tmp_path / "pairs.csv").read_text() == "old"


def test_sets_whose_fields_differ_in_a_wide_table(there, command, tmp_path):
    first = {"name": "Ann Lee", "street": "1 Road", "city": "Ulm", "phone": "1", "born": "1950"}
    sets = [{"id": "s1", "items": [first, first]}, {"id": "s2", "items": [{**first, "town": "x"}]}]
    words = ["predict", tmp_path / "w.jsonl", "--model", there / "cv.model", "--id", "nr", "--wide"]
    for order in (sets, sets[::-1]):
        named = [{**one, "items": [{"nr": k, **i} for k, i in enumerate(one["items"])]} for one in order]
        (tmp_path / "w.jsonl").write_text("".join(json.dumps(one) + "\n" for one in named))
        assert command(*words, tmp_path / "wide.jsonl", "--quiet")[0] == 0
        lines = [json.loads(line) for line in (tmp_path / "wide.jsonl").read_text().splitlines()]
        assert sorted(line.get("town", "-") for line in lines) == ["-", "-", "x"]
        for end in ("csv", "parquet"):
            target = tmp_path / f"wide.{end}"
            code, _, err = command(*words, target, "--quiet")
            if order is sets:  # the first rows are written when the column turns up
                assert code == 1
                assert f"clustruct: {target}: the first rows have no column 'town'" in err
                assert not target.exists()
            else:
                assert code == 0
        assert (
            [row["town"] for row in rows(tmp_path / "wide.csv")] == ["x", "", ""]
            if order is not sets
            else True
        )
