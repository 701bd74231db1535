"""Cost first, and data unlike the training: said on stderr, once, with what to do."""

from clustruct import Table
from clustruct.data.io import write_sets

READ = ("--set", "set", "--cluster", "cluster")


def rows(n, name="big"):
    fields = ("name", "street", "city", "phone", "born")
    items = [dict.fromkeys(fields, f"{1900 + k % 99}") for k in range(n)]
    return Table(items, ids=[f"{name} {k}" for k in range(n)], name=name)


def test_all_pairs_of_a_large_table_are_refused_before_the_work(command, folder, tmp_path):
    fit = (
        "fit",
        folder / "train.csv",
        *READ,
        "--C",
        "1",
        "--block",
        "0",
        "--quiet",
        "--model",
        tmp_path / "m",
    )
    assert command(*fit)[0] == 0
    write_sets(tmp_path / "big.csv", [rows(3000)])
    words = ("predict", tmp_path / "big.csv", "--set", "set", "--model", tmp_path / "m")
    code, out, err = command(*words, "--memory-limit", "100M")
    assert (code, out) == (1, "")
    assert "all 4,498,500 pairs of 3,000 items would take about" in err
    assert err.startswith(f"clustruct: {tmp_path / 'big.csv'}: ")
    assert "100.0 MB are allowed" in err
    assert "--block" in err


def test_a_fit_whose_pairs_do_not_fit_is_refused(command, folder, tmp_path):
    words = ("fit", folder / "train.csv", *READ, "--C", "1", "--quiet", "--model", tmp_path / "m")
    code, _, err = command(*words, "--memory-limit", "100K")
    assert code == 1
    assert "pairs of 4 sets would take about" in err
    assert not (tmp_path / "m").exists()


def test_a_size_that_is_none(command, folder, tmp_path):
    words = ("predict", folder / "test.csv", "--model", folder / "records.model", "--memory-limit", "much")
    code, _, err = command(*words)
    assert code == 2
    assert "such as 8G" in err


def test_sets_unlike_the_training_are_mentioned_once(command, folder, tmp_path):
    write_sets(tmp_path / "big.csv", [rows(120, "one"), rows(130, "two")])
    model = folder / "records.model"
    code, _, err = command("predict", tmp_path / "big.csv", "--model", model, "--set", "set", "--quiet")
    assert code == 0
    assert err.count("learn from sets as large as those to be grouped") == 1
