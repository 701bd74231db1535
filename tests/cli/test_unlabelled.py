"""Rows without a cluster: background in one table, named in several sets, dropped where asked for."""

import csv
import json

import pytest

from clustruct import load
from clustruct.data.datasets import make_records


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """One table of 60 people, of whom 30 are labelled."""
    raw = make_records(n_sets=1, n_people=60)[0]
    path = tmp_path_factory.mktemp("unlabelled") / "people.csv"
    people = sorted(set(raw.labels))
    fields = raw.fields()
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["nr", "person", "batch", *fields])
        for nr, (item, label) in enumerate(zip(raw.items, raw.labels, strict=True)):
            known = people.index(label) < 30
            out.writerow([nr, label if known else "", nr % 2, *(item.get(f) for f in fields)])
    return path


WORDS = ("--id", "nr", "--cluster", "person", "--C", "10")


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def fields_of(path):
    return [name for name in rows_of(path)[0] if name not in ("nr", "person", "batch")]


def fitted(command, table, tmp_path, *words):
    fields = ",".join(fields_of(table))
    return command("fit", table, *WORDS, "--fields", fields, "--model", tmp_path / "m", *words)


def test_rows_without_a_cluster_are_background(command, table, tmp_path):
    code, out, _ = fitted(command, table, tmp_path)
    assert code == 0
    assert "rows without a cluster are taken as not belonging to any labelled cluster (--unlabelled" in out
    model = load(tmp_path / "m")[-1]
    assert model.unlabelled == "apart"
    assert str(model.loss).startswith("PairwiseFLoss")
    assert model.shown_.set_sizes[-1] == len(rows_of(table)) - 1
    code, out, err = command(
        "predict", table, "--model", tmp_path / "m", "--out", tmp_path / "p.csv", "--quiet"
    )
    assert (code, err) == (0, "")


def test_nothing_may_be_known_of_them(command, table, tmp_path):
    code, out, _ = fitted(command, table, tmp_path, "--unlabelled", "unknown")
    assert code == 0
    assert "rows without a cluster may belong to a labelled cluster (--unlabelled unknown)" in out
    assert load(tmp_path / "m")[-1].unlabelled == "unknown"


def test_they_can_be_left_out(command, table, tmp_path):
    code, out, _ = fitted(command, table, tmp_path, "--skip-unlabelled", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["items"] == found["labelled"] < len(rows_of(table)) - 1


def test_json_says_what_was_labelled(command, table, tmp_path):
    found = json.loads(fitted(command, table, tmp_path, "--json")[1])
    assert 0 < found["labelled"] < found["items"]
    assert found["unlabelled"] == "apart"


def test_in_several_sets_they_are_named(command, table, tmp_path):
    code, _, err = fitted(command, table, tmp_path, "--set", "batch")
    assert code == 1
    assert "has no cluster (--skip-unlabelled leaves such items out, --unlabelled apart" in err
    assert "people.csv:" in err
    assert fitted(command, table, tmp_path, "--set", "batch", "--unlabelled", "apart")[0] == 0


def test_one_cannot_have_both(command, table, tmp_path):
    code, _, err = fitted(command, table, tmp_path, "--skip-unlabelled", "--unlabelled", "apart")
    assert code == 2
    assert "give one of them" in err


def test_a_table_without_any_cluster_is_refused(command, table, tmp_path):
    empty = tmp_path / "empty.csv"
    rows = rows_of(table)
    with empty.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([rows[0], *([r[0], "", *r[2:]] for r in rows[1:])])
    code, _, err = fitted(command, empty, tmp_path)
    assert code == 1
    assert "no item has a label" in err
    assert "empty.csv" in err


def test_neighbours_that_look_like_members_are_named(command, table, tmp_path):
    """One row of a labelled person loses its label: a duplicate that is taught to be apart."""
    rows = rows_of(table)
    seen = {}
    for row in rows[1:]:
        seen.setdefault(row[1], []).append(row)
    person, copies = next((p, c) for p, c in seen.items() if p and len(c) > 2)
    lost = copies[0]
    lost[3:] = copies[1][3:]
    lost[1] = ""
    other = tmp_path / "lost.csv"
    with other.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    _, _, err = fitted(command, other, tmp_path)
    assert f"{lost[0]!r} beside cluster {person!r}" in err
    assert "--unlabelled unknown" in err


def test_a_larger_table_can_be_meant(command, table, tmp_path):
    code, _, _ = fitted(command, table, tmp_path, "--skip-unlabelled", "--for-size", "100000")
    assert code == 0
    model = load(tmp_path / "m")[-1]
    assert 0.0 < model.loss.beta < 0.1
