"""``clustruct link`` and ``fit --source``: two tables, their columns, and what is wrong with them."""

import csv
import json

import numpy as np
import pytest

from clustruct.data.datasets import make_records


def write(path, rows, names):
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(names)
        out.writerows(rows)


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """a.csv and b.csv: two rows of each person, one in each; b has another name for the surname and the id.

    both.csv has them under each other, with a column for the shop. new_a.csv and new_b.csv are of others.
    """
    there = tmp_path_factory.mktemp("link")
    raw = make_records(n_sets=1, n_people=240, random_state=3)[0]
    fields, first, rows = raw.fields(), {}, {"a": [], "b": [], "new_a": [], "new_b": []}
    both = []
    for k, (label, item) in enumerate(zip(raw.labels, raw.items, strict=True)):
        seen = first[label] = first.get(label, 0) + 1
        if seen > 2:
            continue
        side, old = "ab"[seen - 1], int(label[1:]) < 120
        row = [k if side == "a" else k + 5000, *([label] if old else []), *(item[f] for f in fields)]
        rows[side if old else f"new_{side}"].append(row)
        if old:
            both.append([*row, side])
    other = ["last_name" if f == fields[0] else f for f in fields]
    write(there / "a.csv", rows["a"], ["nr", "person", *fields])
    write(there / "b.csv", rows["b"], ["number", "person", *other])
    write(there / "new_a.csv", rows["new_a"], ["nr", *fields])
    write(there / "new_b.csv", rows["new_b"], ["number", *other])
    write(there / "both.csv", both, ["nr", "person", *fields, "shop"])
    truth = {}
    for side in "ab":
        names = [raw.labels[r[0] - (5000 if side == "b" else 0)] for r in rows[f"new_{side}"]]
        truth |= {str(r[0]): label for r, label in zip(rows[f"new_{side}"], names, strict=True)}
    return there, fields, truth


MAPPED = ("--map", "nr=number")


@pytest.fixture(scope="module")
def model(tables):
    from clustruct.cli.main import main

    there, fields, _ = tables
    words = ["fit", there / "a.csv", there / "b.csv", "--source", "file", "--id", "nr", "--cluster", "person"]
    words += ["--map", f"b:{fields[0]}=last_name", *MAPPED, "--C", "1", "--quiet"]
    assert main([*map(str, words), "--model", str(there / "ab.model")]) == 0
    return there / "ab.model"


@pytest.fixture
def link(command, tables, model):
    there, fields, _ = tables

    def run(*words, names=("--map", f"{fields[0]}=last_name", *MAPPED)):
        data = ["link", there / "new_a.csv", there / "new_b.csv", "--model", model]
        return command(*data, *names, *words)

    return run


def test_two_files_with_mapped_columns_are_linked(link, tables):
    there, fields, truth = tables
    code, out, err = link("--out", there / "pairs.csv")
    assert (code, err) == (0, "")
    found = rows_of((there / "pairs.csv").read_text())
    assert list(found[0])[:3] == ["id_a", "id_b", "score"]
    assert {f"{fields[0]}_a", "last_name_b"} <= set(found[0])
    right = sum(truth[row["id_a"]] == truth[row["id_b"]] for row in found)
    mates = {label for name, label in truth.items() if int(name) < 5000} & {
        label for name, label in truth.items() if int(name) >= 5000
    }
    assert right >= 0.9 * len(found)
    assert right >= 0.8 * len(mates) > 50
    assert all(float(row["score"]) > 0 for row in found)
    # The model has learned that no table has duplicates.
    assert "one to one" in out
    assert len({row["id_a"] for row in found}) == len({row["id_b"] for row in found}) == len(found)


def test_unmatched_rows_and_other_formats(link, tables):
    there = tables[0]
    code, out, err = link("--unmatched")
    assert code == 0
    rows = rows_of(out)
    assert "without a mate" in err
    sides = [{row[name] for row in rows} - {""} for name in ("id_a", "id_b")]
    everything = set(tables[2])
    assert sides[0] | sides[1] == everything
    assert all(row["score"] == "" for row in rows if not (row["id_a"] and row["id_b"]))
    assert link("--unmatched", "--out", there / "p.jsonl")[0] == 0
    lines = [json.loads(line) for line in (there / "p.jsonl").read_text().splitlines()]
    assert len(lines) == len(rows)
    assert all((row["score"] is None) == (None in (row["id_a"], row["id_b"])) for row in lines)
    assert lines[-1]["score"] is None
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    assert link("--out", there / "p.parquet")[0] == 0
    table = parquet.read_table(there / "p.parquet")
    assert table.num_rows == sum(bool(row["score"]) for row in rows)
    code, out, _ = link("--json")
    told = json.loads(out)
    assert code == 0
    assert told["one_to_one"] is True
    assert len(told["pairs"]) == table.num_rows


def test_a_threshold_leaves_likely_pairs(command, link, tables, tmp_path):
    there, fields, _ = tables
    words = ["fit", there / "a.csv", there / "b.csv", "--source", "file", "--id", "nr", "--cluster", "person"]
    words += ["--map", f"b:{fields[0]}=last_name", *MAPPED, "--C", "1", "--calibrate", "--quiet"]
    assert command(*words, "--model", tmp_path / "sure.model")[0] == 0
    words = ["link", there / "new_a.csv", there / "new_b.csv", "--model", tmp_path / "sure.model"]
    words += ["--map", f"{fields[0]}=last_name", *MAPPED]
    usual = rows_of(command(*words)[1])
    assert list(usual[0])[:4] == ["id_a", "id_b", "score", "probability"]
    level = sorted(float(row["probability"]) for row in usual)[3]
    strict = rows_of(command(*words, "--threshold", str(level))[1])
    likely = [(row["id_a"], row["id_b"]) for row in usual if float(row["probability"]) > level]
    assert {(row["id_a"], row["id_b"]) for row in strict} >= set(likely)
    assert 0 < len(strict) < len(usual)
    # A probability is that of the model, whatever threshold was asked for.
    assert min(float(row["probability"]) for row in strict) >= level
    told = json.loads(command(*words, "--json")[1])
    assert len(told["probabilities"]) == len(told["pairs"])
    loud = [word for word in words if word != "--quiet"]
    _, out, err = command(*loud, "--threshold", "0.001", "--no-one-to-one")
    unlikely = sum(float(row["probability"]) < 0.5 for row in rows_of(out))
    assert unlikely > 0
    assert f"{unlikely} pair" in err
    assert "probability below 0.5): --threshold 0.5 leaves such pairs out" in err
    assert "--threshold 0.5" not in command(*loud, "--threshold", "0.5")[2]
    code, _, err = link("--threshold", "0.9")
    assert code == 1
    assert "ab.model: the model has no probabilities" in err


def test_files_that_are_sources_are_written_whole_and_live_on(command, tables, model, tmp_path):
    there, fields, _ = tables
    with (there / "new_b.csv").open(newline="") as file:
        _, *rows = csv.reader(file)
    write(tmp_path / "b.csv", rows, ["nr", *fields])
    predict = ["predict", "--model", model, "--quiet", "--out", tmp_path / "groups.csv"]
    code, _, err = command(*predict, there / "new_a.csv", tmp_path / "b.csv", "--wide", tmp_path / "wide.csv")
    assert (code, err) == (0, "")
    wide = rows_of((tmp_path / "wide.csv").read_text())
    assert {row["file"] for row in wide} == {"new_a.csv", "b.csv"}
    write(tmp_path / "later.csv", [["l1", *rows[0][1:]]], ["nr", *fields])
    predict.remove("--quiet")
    code, out, err = command(*predict, tmp_path / "later.csv", "--existing", tmp_path / "wide.csv")
    assert (code, err) == (0, "")
    assert "1 new item" in out


def test_many_to_many_has_more_pairs(link):
    code, out, err = link("--json", "--no-one-to-one")
    many = json.loads(out)
    assert code == 0
    assert "the model was trained for one-to-one pairs" in err
    one = json.loads(link("--json", "--one-to-one")[1])
    assert many["one_to_one"] is False
    assert len(many["pairs"]) >= len(one["pairs"])


def test_a_column_that_looks_like_a_source_is_found_and_used(command, tables):
    there = tables[0]
    words = ["fit", there / "both.csv", "--id", "nr", "--cluster", "person", "--C", "1"]
    code, out, _ = command(*words, "--model", there / "both.model")
    assert code == 0
    assert "the column 'shop' looks like a source (a " in out
    assert "rows of one source are never grouped (--source none compares all rows)" in out
    code, out, _ = command("predict", there / "both.csv", "--model", there / "both.model")
    assert code == 0
    shop = {row["nr"]: row["shop"] for row in rows_of((there / "both.csv").read_text())}
    groups = rows_of(out)
    assert len({(row["cluster"], shop[row["id"]]) for row in groups}) == len(groups)
    code, out, _ = command("show", "--model", there / "both.model")
    assert "source: the column 'shop', rows of one source apart" in out
    code, out, _ = command(*words, "--source", "none", "--model", there / "none.model")
    assert code == 0
    assert "looks like" not in out
    # Known groups respect it, too: a new row never joins one of its own shop.
    known = {row["id"]: row["cluster"] for row in groups[:-20]}
    text = (there / "both.csv").read_text().splitlines()
    lines = [f"{line},{known[line.split(',')[0]]}" for line in text[1:] if line.split(",")[0] in known]
    (there / "known.csv").write_text("\n".join([text[0] + ",group", *lines]) + "\n")
    words = [
        "predict",
        there / "both.csv",
        "--model",
        there / "both.model",
        "--existing",
        there / "known.csv",
    ]
    code, out, err = command(*words, "--cluster", "group", "--out", there / "all.csv")
    assert code == 0, err
    groups = rows_of((there / "all.csv").read_text())
    assert len({(row["group"], row["shop"]) for row in groups}) == len(groups)


def test_bad_input_is_one_line(command, link, tables, model, tmp_path):
    there, fields, _ = tables
    a, b = there / "new_a.csv", there / "new_b.csv"
    fit = ["fit", "--id", "nr", "--cluster", "person", "--C", "1", "--quiet", "--model", tmp_path / "m"]

    def said(*words):
        code, out, err = command(*words)
        assert out == ""
        lines = err.splitlines()
        assert len(lines) == 1, err
        return code, lines[0]

    code, line = said("link", a, a, "--model", model)
    assert (code, line) == (1, f"clustruct: {a}: the file is given twice")
    code, line = said("link", a, b, "--model", model, *MAPPED)
    assert code == 1
    assert f"{b}: no item has the field '{fields[0]}'" in line
    assert "--map NAME=COLUMN" in line
    code, line = said("link", a, b, "--model", model, *MAPPED, "--map", "nothing=last_name")
    assert code == 1
    assert "--map nothing=last_name: the model has no field 'nothing'" in line
    code, line = said("link", a, b, "--model", model, *MAPPED, "--map", f"{fields[0]}=lastname")
    assert code == 1
    assert "there is no column 'lastname'" in line
    assert "is it 'last_name'?" in line
    twice = ["--map", f"{fields[0]}=last_name", "--map", f"{fields[0]}={fields[1]}"]
    code, _, err = command("link", a, b, "--model", model, *MAPPED, *twice)
    assert code == 2
    assert f"--map: '{fields[0]}' cannot be two columns, 'last_name' and '{fields[1]}'" in err
    write(tmp_path / "c.csv", [["1", "2", "x"]] * 2, ["nr", "person", "else"])
    code, line = said(*fit, there / "a.csv", tmp_path / "c.csv", "--source", "file", "--number-ids")
    assert code == 1
    assert "no column in common" in line
    code, line = said(*fit, there / "a.csv", there / "b.csv", "--number-ids", "--id", "person")
    assert code == 1
    assert "no two items share a cluster within a set" in line
    assert "--source file" in line
    code, line = said(*fit, there / "a.csv", "--source", "file")
    assert code == 1
    assert "each file is a source, and there is one file" in line
    write(
        tmp_path / "one.csv",
        [[k, k // 2, f"n{k // 2}", "x"] for k in range(40)],
        ["nr", "person", "n", "shop"],
    )
    code, line = said(*fit, tmp_path / "one.csv", "--source", "shop")
    assert code == 1
    assert "all items have one source, 'x' (the field 'shop')" in line
    code, line = said(*fit, tmp_path / "one.csv", "--source", "store")
    assert code == 1
    assert "no item has the field 'store' of the sources; there are n, shop" in line
    assert command(*fit, there / "both.csv", "--map", "x=y")[0] == 2
    assert command(*fit, there / "both.csv", "--map", "x")[0] == 2
    assert command(*fit, there / "both.csv", "--source", "none", "--within-source", "apart")[0] == 2
    assert link("--out", tmp_path / "pairs.docx")[0] == 1


def test_three_files_are_three_sources(command, tmp_path):
    raw = make_records(n_sets=1, n_people=150, most=3, random_state=5)[0]
    fields, seen, rows = raw.fields(), {}, ([], [], [])
    for k, (label, item) in enumerate(zip(raw.labels, raw.items, strict=True)):
        seen[label] = seen.get(label, -1) + 1
        if seen[label] < 3:
            rows[seen[label]].append([k, label, *(item[f] for f in fields)])
    for name, part in zip("abc", rows, strict=True):
        write(tmp_path / f"{name}.csv", part, ["nr", "person", *fields])
    files = [tmp_path / f"{name}.csv" for name in "abc"]
    words = ["--source", "file", "--id", "nr", "--cluster", "person", "--C", "1"]
    code, out, err = command("fit", *files, *words, "--model", tmp_path / "m")
    assert code == 0, err
    assert "(a.csv " in out
    code, out, err = command("predict", *files, "--model", tmp_path / "m")
    assert code == 0, err
    groups = rows_of(out)
    owner = {str(row[0]): k for k, part in enumerate(rows) for row in part}
    assert len({(row["cluster"], owner[row["id"]]) for row in groups}) == len(groups)
    truth = {str(row[0]): row[1] for part in rows for row in part}
    found = {}
    for row in groups:
        found.setdefault(row["cluster"], []).append(truth[row["id"]])
    assert np.mean([len(set(labels)) == 1 for labels in found.values()]) > 0.9


@pytest.mark.parametrize("place", [0, 1])
def test_what_is_wrong_with_a_table_names_its_line_and_links_may_go_round(command, tables, model, place):
    there = tables[0]
    head, row, *rest = (there / "new_a.csv").read_text().splitlines()
    (there / "bad.csv").write_text("\n".join([head, *rest, f"{row},more", ""]))
    (there / "loop.csv").unlink(missing_ok=True)
    (there / "loop.csv").symlink_to("loop.csv")
    for name, where in (
        ("bad.csv", f"bad.csv:{len(rest) + 2}: "),
        ("loop.csv", "loop.csv: cannot be read"),
    ):
        data = [there / "a.csv", there / "a.csv"]
        data[place] = there / name
        code, out, err = command("link", *data, "--model", model, "--id", "nr")
        assert (code, out) == (1, "")
        assert f"{there}/{where}" in err
        assert len(err.splitlines()) == 1


def test_explain_proposes_no_merge_that_sources_forbid(command, tables):
    there = tables[0]
    words = ["--id", "nr", "--cluster", "person", "--C", "1", "--quiet", "--source", "shop"]
    words += ["--within-source", "apart", "--model", there / "both.model"]
    assert command("fit", there / "both.csv", *words)[0] == 0
    code, out, _ = command("explain", there / "both.csv", "--model", there / "both.model", "--json")
    assert code == 0
    found = json.loads(out)["least_confident_clusters"]
    whole = [entry for entry in found if entry["size"] == 2]
    assert whole
    assert not any("merge" in entry["alternative"] for entry in whole)
