"""Scores of groups, what a process takes, and the tools' files."""

import sys

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from benchmarks.tables import real
from benchmarks.tables.files import read_groups, write_groups
from benchmarks.tables.made import figures
from benchmarks.tables.measure import CommandFailed, Cost, measured
from benchmarks.tables.scores import PairCounts, known_labels, touching
from benchmarks.tables.tools import Job, Ran


def slow_counts(truth, found, rows):
    """Pair by pair."""
    pairs = [(a, b) for a in range(len(truth)) for b in range(a) if rows[a] or rows[b]]
    right, both = ([truth[a] == truth[b] for a, b in pairs], [found[a] == found[b] for a, b in pairs])
    return PairCounts(sum(right), sum(both), sum(x and y for x, y in zip(right, both, strict=True)))


@pytest.mark.parametrize("seed", range(5))
def test_counts_equal_those_of_every_pair(seed):
    rng = np.random.default_rng(seed)
    truth, found = rng.integers(0, 6, (2, 30))
    rows = rng.random(30) < 0.5
    assert touching(truth, found, rows) == slow_counts(truth, found, rows)
    assert PairCounts.of(truth, found) == slow_counts(truth, found, np.ones(30, bool))


def test_scores_agree_with_the_package():
    from clustruct.evaluate.metrics import pairwise_scores

    truth, found = np.random.default_rng(0).integers(0, 9, (2, 50))
    counts, expected = PairCounts.of(truth, found), pairwise_scores(truth, found)
    assert (counts.precision, counts.recall, counts.f1) == pytest.approx(
        tuple(100 * v for v in (expected.precision, expected.recall, expected.f1))
    )


def test_nothing_found_and_nothing_to_find():
    alone = PairCounts.of(np.arange(4), np.arange(4))
    assert (alone.precision, alone.recall, alone.f1) == (100.0, 100.0, 100.0)
    assert PairCounts.of([0, 0], [0, 1]).f1 == 0.0


def test_labelled_clusters_alone_give_the_right_scores_of_their_rows():
    rng = np.random.default_rng(1)
    entity, found = rng.integers(0, 20, (2, 100))
    labelled = entity < 7
    known = known_labels(np.where(labelled, entity, -1), labelled)
    assert touching(known, found, labelled) == touching(entity, found, labelled)


def test_figures_leave_out_pairs_within_the_labelled_part(tmp_path):
    entity, labelled = np.array([0, 0, 1, 1]), np.array([True, True, False, False])
    write_groups(tmp_path / "groups.csv", np.array([0, 1, 2, 2]))
    ran = Ran({"learn": Cost(1.0, 2.0, 0.5), "group": Cost(2.0, 2.0, 0.25)}, tmp_path / "groups.csv")
    row = figures(ran, entity, labelled)
    assert (row["P"], row["R"], row["F"]) == (100.0, 100.0, 100.0)
    assert (row["CPU s"], row["GB"], row["group CPU s"]) == (3.0, 0.5, 2.0)


def test_groups_must_have_every_row_once(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("id,cluster\n2,b\n0,a\n1,a\n")
    assert read_groups(path, 3).tolist() == [0, 0, 1]
    path.write_text("id,cluster\n0,a\n0,a\n1,a\n")
    with pytest.raises(ValueError, match="3 rows for a table of 3"):
        read_groups(path, 3)


def test_time_and_memory_of_a_process_and_its_children():
    work = "x = bytearray(200 * 2**20); sum(range(10**6))"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}])"
    cost = measured([sys.executable, "-c", outer])
    assert 0.2 < cost.gigabytes < 0.4
    assert min(cost.cpu, cost.wall) > 0.02
    assert not cost.over


def test_the_memory_of_the_benchmark_is_not_counted():
    held = np.ones(300 * 2**17)
    assert measured([sys.executable, "-c", "pass"]).gigabytes < 0.1
    del held


def test_a_command_out_of_time_is_stopped_and_a_failed_one_is_told():
    assert measured([sys.executable, "-c", "import time; time.sleep(60)"], seconds=0.3).over
    with pytest.raises(CommandFailed):
        measured([sys.executable, "-c", "raise SystemExit(3)"])


def test_halves_of_a_real_table_change_sides(tmp_path, monkeypatch):
    rows = [
        {
            "record_id": f"r{k}",
            "source": "",
            "cluster_id": str(k // 2),
            "fold": str(k // 2),
            "name": f"n, {k}",
        }
        for k in range(20)
    ]
    seen = []

    def no_tool(tool, job):
        seen.append(job.table.read_text().splitlines())
        write_groups(tmp_path / "groups.csv", np.arange(20) // 2 * (np.arange(20) < 10))
        return Ran({"learn": Cost(1.0, 1.0, 1.0)}, tmp_path / "groups.csv")

    monkeypatch.setattr(real, "read", lambda name: rows)
    monkeypatch.setattr(real, "run", no_tool)
    row = next(real.compare(["t"], ["none"], Job("", tmp_path, tmp_path)))
    assert [lines[0] for lines in seen] == ["id,entity,source,name"] * 2
    assert [[bool(line.split(",")[1]) for line in lines[1:]] for lines in seen] == [
        [True] * 10 + [False] * 10,
        [False] * 10 + [True] * 10,
    ]
    # Folds 0-4 are right but for one pair of groups; folds 5-9 are one heap with fold 0.
    assert row["folds 5-9"] > row["folds 0-4"]
    assert row["F"] == pytest.approx((row["folds 0-4"] + row["folds 5-9"]) / 2)
