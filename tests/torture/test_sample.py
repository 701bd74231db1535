"""A small sample of every part of the torture, and the workers themselves."""

import warnings

import pytest

from .bad_inputs import count_kinds
from .parts import PARTS
from .pool import run_part
from .selftest import SelfTest
from .tally import Tally, table, thinned
from .worker import attempt

# Modules of appendix A.5 leave the closing of files to Python.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


# Defects of the product that are known and not mended yet, by part. They excuse faults only: a part that does
# not run at all is an error.
KNOWN: dict[str, str] = {}


def faults(tally):
    return [f"{case}: {outcome.kind}: {outcome.detail}" for case, outcome in tally.faults]


def check(tally):
    """No faults, unless defects of the part are known."""
    if tally.faults and tally.name in KNOWN:
        pytest.xfail(f"DEFECTS {KNOWN[tally.name]}: {len(tally.faults)} of {tally.tried}: {faults(tally)[0]}")
    assert faults(tally) == []


def prepared(name, folder):
    part = PARTS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        part.prepare(folder, 0)
    return part


SHARES = {
    "models": 0.006,
    "checkpoints": 0.03,
    "hooks": 0.03,
    "stores": 0.03,
    "inputs": 0.014,
    "library": 0.05,
}


@pytest.mark.parametrize("name", SHARES)
def test_in_this_process(name, tmp_path):
    part, tally = prepared(name, tmp_path), Tally(name)
    for case in part.cases(SHARES[name], 0):
        tally.add(case, attempt(part, case, tmp_path, 0), 0.0)
    assert tally.tried > 20
    check(tally)


CHOSEN = {
    "kills": ["SIGKILL:fit:0", "SIGKILL:files:1", "SIGKILL:sets:5", "SIGTERM:link:3", "SIGKILL:existing:8"],
    "surroundings": [
        "disk full: predict --pairs",
        "size limit: classify",
        "read-only: fit",
        "stdout closed: link",
        "disk full: predict into a store",
    ],
    "large": ["10 MB cell: predict"],
    "container": ["HOME not there: imports"],
}


@pytest.mark.parametrize("name", CHOSEN)
def test_by_workers(name, tmp_path):
    tmp_path.parent.parent.chmod(0o755)
    part = prepared(name, tmp_path)
    tally = run_part(part, CHOSEN[name], tmp_path, 0)
    assert tally.counts.total() == len(CHOSEN[name])
    check(tally)


def test_workers_notice_what_must_not_happen(tmp_path):
    part = SelfTest()
    tally = run_part(part, part.cases(1.0, 0), tmp_path, 0)
    found = {case: outcome.kind for case, outcome in tally.faults}
    expected = {"traceback": "traceback", "leaves": "traceback", "dies": "died", "hangs": "hang"}
    assert found == expected | {"eats": "memory"}
    assert (tally.counts["fine"], tally.counts["refused"]) == (2, 1)
    assert "| selftest | 8 | 1 | 2 | 0 | 0 | traceback 2" in table([tally])


def test_there_are_enough_kinds():
    assert count_kinds() >= 300
    parts = {name: part() for name, part in PARTS.items()}
    counts = {name: len(part.cases(1.0, 0)) for name, part in parts.items()}
    assert counts["models"] == 10_000
    assert counts["checkpoints"] >= 2_000
    assert counts["hooks"] == 1_000
    assert counts["stores"] == 1_000
    assert counts["kills"] >= 100
    for name, part in parts.items():
        cases = part.cases(1.0, 0)
        assert len(set(cases)) == len(cases), name


def test_a_share_of_the_cases_is_spread_evenly():
    assert thinned("abcdef", 0.5) == ["a", "c", "e"]
    assert thinned("abc", 0.01) == ["a"]
    assert thinned("abc", 2.0) == ["a", "b", "c"]
