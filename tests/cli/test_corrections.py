"""``clustruct fit --corrections``, ``--start`` and ``explain --why-not``."""

import csv
import json
from pathlib import Path

import pytest

from clustruct.cli.main import main
from clustruct.datasets import make_records


def write(path: Path, n_sets: int, seed: int, cluster: bool = True) -> Path:
    """A table of several sets of people, one after another."""
    with path.open("w", newline="") as f:
        writer = None
        for s, raw in enumerate(make_records(n_sets=n_sets, n_people=6, random_state=seed)):
            for a, item in enumerate(raw.items):
                row = {"nr": f"{path.stem}{s}.{a}", "batch": str(s), **item}
                if cluster:
                    row["who"] = f"{s}.{list(raw.labels or ())[a]}"
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


def test_corrected_without_corrections_is_misuse(folder: Path) -> None:
    assert fit(folder, "--corrected", str(folder / "new.csv")) == 2


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
