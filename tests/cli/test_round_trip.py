"""``predict --wide``, ``predict --existing`` and ``diff``: what one writes the next one reads."""

import csv

import pytest

from clustruct.data.datasets import make_records


def rows(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """papers.csv (ids record_id, labels paper), more.csv, and a model of the first."""
    from clustruct.cli.main import main

    folder = tmp_path_factory.mktemp("trip")
    people = make_records(n_sets=2, n_people=12)
    for name, table in zip(("papers", "more"), people, strict=True):
        fields = table.fields()
        with open(folder / f"{name}.csv", "w", newline="") as f:
            writer = csv.writer(f)
            writer.writerow(["record_id", "paper", *fields])
            for a, item in enumerate(table.items):
                writer.writerow([f"{name}-{a}", f"{name}{table.labels[a]}", *map(item.get, fields)])
    words = ["fit", folder / "papers.csv", "--id", "record_id", "--cluster", "paper", "--calibrate"]
    words += ["--C", "1", "--parts", "4", "--quiet", "--model", folder / "papers.model"]
    assert main([str(word) for word in words]) == 0
    return folder


def test_there_and_back_without_further_options(there, command, tmp_path):
    model = ["--model", there / "papers.model"]
    wide, plain, g3 = tmp_path / "g2.csv", tmp_path / "plain.csv", tmp_path / "g3.csv"
    assert command("predict", there / "papers.csv", *model, "--wide", wide, "--out", plain)[0] == 0
    head = list(rows(wide)[0])
    given = list(rows(there / "papers.csv")[0])
    assert head[:3] == ["record_id", "cluster", "confidence"]
    assert set(head) == {*given, "cluster", "confidence"}
    for name in given:
        assert [row[name] for row in rows(wide)] == [row[name] for row in rows(there / "papers.csv")]
    # Labels that are written again are not looked at.
    bare = tmp_path / "bare.csv"
    assert command("predict", there / "papers.csv", *model, "--out", bare)[0] == 0
    assert bare.read_text() == plain.read_text()

    code, out, err = command("predict", there / "more.csv", *model, "--existing", wide, "--out", g3)
    assert (code, err) == (0, "")
    head = list(rows(g3)[0])
    assert set(head) == {*given, "cluster"}
    assert head[:2] == ["record_id", "cluster"]
    before = {row["record_id"]: row["cluster"] for row in rows(wide)}
    after = rows(g3)
    assert {row["record_id"]: row["cluster"] for row in after if row["record_id"] in before} == before
    given = [row for name in ("papers", "more") for row in rows(there / f"{name}.csv")]
    labels = {row["record_id"]: row["paper"] for row in given}
    assert {row["record_id"]: row["paper"] for row in after} == labels

    code, out, err = command("diff", wide, g3)
    assert (code, err) == (0, "")
    new = len(after) - len(before)
    assert f"{new} items added" in out or f"{new} added" in out
    assert "0 items moved" in out or "moved" not in out
    assert command("diff", wide, g3, "--id", "record_id")[1] == out
    assert command("diff", plain, g3)[1] == out  # whose ids are in a column "id"


def test_confidence_that_is_a_column_of_the_data_stays(there, command, tmp_path):
    model = ["--model", there / "papers.model"]
    for name, source in (("known", "papers"), ("new", "more")):
        with open(tmp_path / f"{name}.csv", "w", newline="") as f:
            writer = csv.DictWriter(f, [*rows(there / f"{source}.csv")[0], "confidence"])
            writer.writeheader()
            writer.writerows({**row, "confidence": "7"} for row in rows(there / f"{source}.csv"))
    words = ["predict", tmp_path / "new.csv", *model, "--existing", tmp_path / "known.csv"]
    assert command(*words, "--out", tmp_path / "all.csv")[0] == 0
    assert {row["confidence"] for row in rows(tmp_path / "all.csv")} == {"7"}


def test_labels_called_like_the_groups_are_kept_beside_them(folder, command, tmp_path):
    wide = tmp_path / "w.csv"
    assert (
        command("predict", folder / "test.csv", "--model", folder / "records.model", "--wide", wide)[0] == 0
    )
    assert [r["cluster (field)"] for r in rows(wide)] == [r["cluster"] for r in rows(folder / "test.csv")]


def test_rows_without_ids_are_known_by_their_lines(there, command, tmp_path):
    held = rows(there / "papers.csv")[:5]
    with open(tmp_path / "bare.csv", "w", newline="") as f:
        writer = csv.DictWriter(f, [name for name in held[0] if name != "record_id"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(held)
    words = [
        "predict",
        tmp_path / "bare.csv",
        "--model",
        there / "papers.model",
        "--wide",
        tmp_path / "w.csv",
    ]
    assert command(*words)[0] == 0
    assert [row["id"] for row in rows(tmp_path / "w.csv")] == ["2", "3", "4", "5", "6"]


def test_a_file_of_groups_alone_is_no_start(there, command, tmp_path):
    model = ["--model", there / "papers.model"]
    groups = tmp_path / "groups.csv"
    assert command("predict", there / "papers.csv", *model, "--out", groups)[0] == 0
    code, out, err = command("predict", there / "more.csv", *model, "--existing", groups)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"clustruct: {groups}: no item has the fields ")
    assert "--existing needs the items with their fields, as predict --wide FILE writes them" in err
    assert "--allow-missing-fields" not in err


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("id,cluster", "id,cluster", ("id", "id")),
        ("nr,cluster", "nr,cluster,title", ("nr", "nr")),
        ("set,nr,cluster", "cluster,nr", ("nr", "nr")),
        ("title,nr,cluster", "nr,cluster,title", ("title", "title")),
        ("x,nr,cluster", "nr,cluster", ("nr", "nr")),
        ("id,cluster,title", "nr,cluster,title", ("id", "nr")),
        ("id,nr,cluster", "nr,cluster", ("nr", "nr")),
    ],
)
def test_which_column_names_the_items(old, new, wanted, tmp_path):
    from clustruct.groups.files import id_columns

    for name, header in (("a.csv", old), ("b.csv", new)):
        (tmp_path / name).write_text(f"{header}\n{','.join('1' * len(header.split(',')))}\n")
    assert id_columns(tmp_path / "a.csv", tmp_path / "b.csv") == wanted
