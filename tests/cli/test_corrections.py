"""``clustruct fit --corrections``, ``--start`` and ``explain --why-not``."""

import csv
import json
from pathlib import Path

import pytest

from clustruct.cli.main import main
from clustruct.data.datasets import make_records


def write(path: Path, n_sets: int, seed: int, cluster: bool = True) -> Path:
    """A table of several sets of people, one after another."""
    with path.open("w", newline="") as f:
        writer = None
        for s, table in enumerate(make_records(n_sets=n_sets, n_people=6, random_state=seed)):
            for a, item in enumerate(table.items):
                row = {"nr": f"{path.stem}{s}.{a}", "batch": str(s), **item}
                if cluster:
                    row["who"] = f"{s}.{list(table.labels or ())[a]}"
                if writer is None:
                    writer = csv.DictWriter(f, row)
                    writer.writeheader()
                writer.writerow(row)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("corrections")
    write(made / "train.csv", 4, 1)
    write(made / "new.csv", 1, 2, cluster=False)
    model = ["--set", "batch", "--id", "nr", "--cluster", "who", "--C", "1", "--quiet"]
    assert main(["fit", str(made / "train.csv"), *model, "--model", str(made / "first.model")]) == 0
    return made


def fit(folder: Path, *more: str) -> int:
    data = ["--set", "batch", "--id", "nr", "--cluster", "who", "--C", "1"]
    return main(["fit", str(folder / "train.csv"), *data, "--model", str(folder / "out.model"), *more])


def test_corrections_are_learned_from_and_told_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "fix.csv").write_text("a,b,answer\nnew0.0,new0.1,no\nnew0.2,new0.3,unsure\n")
    said = ["--corrections", str(folder / "fix.csv"), "--corrected", str(folder / "new.csv")]
    assert fit(folder, *said, "--start", str(folder / "first.model")) == 0
    out = capsys.readouterr()
    assert "corrections name 4 items; pairs: 1 different, 1 unsure" in out.err
    assert "model written" in out.out
    assert main(["predict", str(folder / "new.csv"), "--model", str(folder / "out.model")]) == 0


def test_faults_are_one_line_and_leave_no_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "out.model").unlink(missing_ok=True)
    (folder / "bad.csv").write_text("a,b,answer\nnew0.0,nobody,no\n")
    said = ["--corrections", str(folder / "bad.csv"), "--corrected", str(folder / "new.csv")]
    assert fit(folder, *said) == 1
    err = capsys.readouterr().err
    assert "line 2 of" in err
    assert "'nobody'" in err
    assert len(err.strip().splitlines()) == 1
    assert not (folder / "out.model").exists()


def test_start_needs_the_data_of_before(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "fix.csv").write_text("a,b,answer\nnew0.0,new0.1,no\n")
    said = ["--corrections", str(folder / "fix.csv"), "--start", str(folder / "first.model")]
    assert main(["fit", str(folder / "new.csv"), *said, "--model", str(folder / "out.model")]) == 1
    assert "--start needs the data that the model was trained on" in capsys.readouterr().err


def test_options_that_start_leaves_without_effect_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fit(folder, "--start", str(folder / "first.model"), "--quiet") == 0
    assert capsys.readouterr().err == ""  # the C that was given is that of the model
    assert fit(folder, "--start", str(folder / "first.model"), "--quiet", "--nonnegative", "--C", "5") == 0
    told = f"--C, --nonnegative not used: with --start they are those of {folder}/first.model"
    assert capsys.readouterr().err == f"clustruct: warning: {told}\n"


def test_corrected_without_corrections_is_misuse(folder: Path) -> None:
    assert fit(folder, "--corrected", str(folder / "new.csv")) == 2
    assert fit(folder, "--disagreement", "majority") == 2


def test_why_not_tells_fields_and_a_change(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["explain", str(folder / "train.csv"), "--model", str(folder / "first.model"), "--in", "0"]
    assert main([*asked, "--why-not", "train0.0", "train0.1"]) == 0
    told = capsys.readouterr().out
    assert "by field the sum of" in told
    assert "change" in told
    assert main([*asked, "--why-not", "train0.0", "train0.1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    total = sum(one["contribution"] for one in found["by_field"])
    assert total == pytest.approx(found["similarity"])
    assert "changes" in found["change"]


def test_a_pair_that_was_not_compared_is_explained_too(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--id", "nr", "--cluster", "who", "--quiet", "--C", "1", "--block", "1", "--neighbours", "1"]
    model = str(folder / "listed.model")
    assert main(["fit", str(folder / "train.csv"), *words, "--model", model]) == 0
    capsys.readouterr()
    with (folder / "train.csv").open(newline="") as f:
        names = [row["nr"] for row in csv.DictReader(f)]
    asked, found = ["explain", str(folder / "train.csv"), "--model", model], []
    for name in names[1::4]:
        assert main([*asked, "--pair", names[0], name, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    other = next(one for one in found if not one["compared"] and not one["together"])
    assert other["similarity"] == pytest.approx(sum(one["contribution"] for one in other["by_field"]))
    assert other["similarity"] < 0.0
    assert main([*asked, "--pair", *other["items"]]) == 0
    assert "not compared, being no likely pair" in capsys.readouterr().out


def test_pairs_that_are_not_compared_teach_nothing_and_it_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "far.csv").write_text("a,b,answer\ntrain0.0,train0.1,no\n")
    words = ["--id", "nr", "--fields", "phone", "--corrections", str(folder / "far.csv"), "--quiet"]
    words += ["--block", "1", "--neighbours", "1", "--model", str(folder / "no.model")]
    assert main(["fit", str(folder / "train.csv"), *words]) == 1
    assert "--block 0" in capsys.readouterr().err


def test_two_who_say_the_opposite_say_nothing_together(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "tie.csv").write_text(
        "a,b,answer,author\ntrain0.0,train0.1,yes,ann\ntrain0.0,train0.1,no,bob\n"
    )
    said = ["--corrections", str(folder / "tie.csv"), "--disagreement", "majority"]
    assert fit(folder, *said) == 0
    capsys.readouterr()


def test_pairs_alone_are_learned_from_and_so_by_a_model_without_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write(tmp_path / "p.csv", 1, 5, cluster=False)
    (table,) = make_records(n_sets=1, n_people=6, random_state=5)
    labels, names = list(table.labels or ()), [f"p0.{a}" for a in range(len(table))]
    rows = [
        f"{names[a]},{names[b]},{int(labels[a] == labels[b])}"
        for a in range(len(names))
        for b in range(a)
        if a % 2 == b % 2
    ]
    (tmp_path / "pairs.csv").write_text("\n".join(["id1,id2,label", *rows]))
    words = ["fit", str(data), "--id", "nr", "--ignore", "batch"]
    said = ["--corrections", str(tmp_path / "pairs.csv")]
    model = ["--model", str(tmp_path / "m")]
    assert main([*words, "--labels", "none", "--model", str(tmp_path / "none.model"), "--quiet"]) == 0
    start = ["--start", str(tmp_path / "none.model")]
    capsys.readouterr()
    for more in ([], start):
        assert main([*words, *said, *more, *model]) == 0
        out = capsys.readouterr().out
        assert f"{len(rows)} judged pairs compared" in out
        assert "on held-out pairs pairwise F" in out
    assert main([*words, *start, *model]) == 2
    assert "it goes on from --corrections" in capsys.readouterr().err
