"""DEFECTS 31: a field that gives the answer away is named."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from clustruct import Recipe, Table
from clustruct.cli.main import main
from clustruct.core.exceptions import LeakWarning
from clustruct.core.partitions import partial_labels
from clustruct.data.datasets import make_news, make_records
from clustruct.data.io import write_sets
from clustruct.features import guess_blocks
from clustruct.pipeline.leaks import field_texts


def with_field(table, name, value):
    items = [{**item, name: value(table.labels[k], k)} for k, item in enumerate(table.items)]
    return replace(table, items=items)


@pytest.fixture(scope="module")
def records():
    return make_records(n_sets=6, n_people=8, errors=0.6)


def test_a_stamp_of_the_group_is_named(records):
    """A time at which all records of one person were entered."""
    rng = np.random.default_rng(0)
    days = {}

    def day(label, k):
        return str(days.setdefault(label, 700_000 + int(rng.integers(0, 90_000))))

    stamped = [with_field(table, "entered", day) for table in records]
    with pytest.warns(LeakWarning, match=r"'entered' gives the groups away: a code such as '7\d+'.*--ignore"):
        Recipe(C=1.0).fit(stamped)


def test_a_missing_value_that_tells_is_named():
    """Pages of one kind have a link, others have none."""
    sets = []
    for table in make_records(n_sets=10, n_people=2, most=6, errors=0.8):
        first = table.labels[0]
        site = lambda label, k, first=first: f"s{k}" if label == first else None  # noqa: E731
        sets.append(with_field(table, "site", site))
    with pytest.warns(LeakWarning, match=r"'site' decides.*site: missing in one") as said:
        Recipe(C=1.0, kind="records").fit(sets)
    assert len(said) == 1


def test_honest_fields_are_not_named(records):
    Recipe(C=1.0).fit(records)
    Recipe(C=1.0).fit(make_news(n_sets=6, n_stories=3, most=4))


def test_one_field_alone_has_no_rival(records):
    Recipe(C=1.0, fields=["name"]).fit(records)


def test_the_command_says_it(records, tmp_path, capsys):
    tickets = [with_field(table, "ticket", lambda label, k: f"T {label}") for table in records]
    write_sets(tmp_path / "a.csv", tickets)
    words = ["fit", str(tmp_path / "a.csv"), "--set", "set", "--cluster", "cluster", "--C", "1", "--quiet"]
    assert main([*words, "--model", str(tmp_path / "m")]) == 0
    assert "warning: the column 'ticket' gives the groups away" in capsys.readouterr().err


@pytest.mark.parametrize("values", [("m", "f"), (0, 1), ("yes", None), (True, False)])
def test_a_column_of_two_values_is_compared_once(values):
    """Its likenesses would all be the same column."""
    items = [{"name": f"name {k}", "kind": values[k % 2]} for k in range(40)]
    blocks = [b for b in guess_blocks([Table(items)], "records") if getattr(b, "field", "") == "kind"]
    blocks += [b for b in guess_blocks([Table(items)], "records") if getattr(b, "fields", 0) == ["kind"]]
    names = [name for b in blocks for name in b.fit([Table(items)]).get_feature_names_out()]
    assert names in ([], ["kind: same", "kind: missing in one", "kind: missing in both"])
    assert names or None in values


def groups_of_records(n=40, errors=0.5, seed=0):
    """One table of many persons, so that codes of persons can be told from chance."""
    (table,) = make_records(n_sets=1, n_people=n, errors=errors, random_state=seed)
    return table


def hashed(text):
    return hashlib.sha256(str(text).encode()).hexdigest()[:10]


LEAKS = {
    "number": lambda label, k, rng: str(100 + int(label[1:])),
    "number of a number": lambda label, k, rng: 100 + int(label[1:]),
    "joined": lambda label, k, rng: f"b{rng.integers(9)}-{label}",
    "joined, renamed": lambda label, k, rng: f"b{rng.integers(9)}-{3 * int(label[1:]) + 7}",
    "joined from the left": lambda label, k, rng: f"{int(label[1:]) + 7}/{rng.integers(1000, 9999)}",
    "hashed": lambda label, k, rng: hashed(label),
    "joined and hashed": lambda label, k, rng: f"b{rng.integers(9)}-{hashed(label)}",
    "prefix": lambda label, k, rng: f"person_{label[1:]}",
    "label": lambda label, k, rng: label,
    "with a slip": lambda label, k, rng: f"x-{label}" if k != 3 else "x-unknown",
}


@pytest.mark.parametrize("kind", LEAKS)
@pytest.mark.parametrize("errors", [0.1, 0.8])
def test_a_code_of_the_group_is_named_whatever_else_tells_it(kind, errors):
    """Defect 12: a column of batch and person joined passed, as the other fields tell nearly as much."""
    rng, table = np.random.default_rng(0), groups_of_records(errors=errors)
    leaking = with_field(table, "ref", lambda label, k: LEAKS[kind](label, k, rng))
    with pytest.warns(LeakWarning, match=r"the column 'ref' gives the groups away: ") as found:
        Recipe(C=1.0).fit([leaking])
    assert len(found) == 1
    assert "leave it out (--ignore, Recipe(fields=...))" in str(found[0].message)


HONEST = {
    "unique names": lambda label, k, rng: f"{NAMES[int(label[1:]) % 7]} {NAMES[int(label[1:]) // 7]}son",
    "a name with slips": lambda label, k, rng: NAMES[int(label[1:]) % 7] + "xyz"[: rng.integers(4)],
    "a year": lambda label, k, rng: str(1940 + int(hashed(label), 16) % 60),
    "its own number": lambda label, k, rng: str(1000 + k),
    "a product": lambda label, k, rng: f"Camera EOS {NAMES[int(label[1:]) % 7]} {50 * (int(label[1:]) % 9)}D",
    "a number with gaps": lambda label, k, rng: (
        str(20_000_000 + int(label[1:])) if rng.random() < 0.9 else ""
    ),
    "chance": lambda label, k, rng: str(rng.integers(10)),
}
NAMES = ["Anna", "Boris", "Carla", "Dmitri", "Elena", "Farid", "Greta"]


@pytest.mark.parametrize("kind", HONEST)
def test_honest_columns_are_not_taken_for_codes(kind):
    rng, table = np.random.default_rng(0), groups_of_records()
    honest = with_field(table, "ref", lambda label, k: HONEST[kind](label, k, rng))
    held = field_texts([honest], [partial_labels(honest.labels)], "ref")
    assert not held.holds_labels()
    assert held.code() is None


@pytest.mark.parametrize("seed", range(3))
def test_a_name_that_is_the_task_is_not_named(seed):
    """Defect 12: where the spelling of names differs in groups, it is what there is to learn from."""
    rng, table = np.random.default_rng(seed), groups_of_records(errors=0.0)
    names = [
        f"{NAMES[k % 7]} {NAMES[k // 7]}son of {k:b}".replace("1", "ka").replace("0", "lo") for k in range(40)
    ]

    def name(label, k):
        text, at = names[int(label[1:])], int(rng.integers(2, 8))
        return text[:at] + text[at + 1 :] if rng.random() < 0.6 else text

    items = [{"name": name(y, k), "noise": str(rng.integers(99))} for k, y in enumerate(table.labels)]
    Recipe(C=1.0, kind="records").fit([replace(table, items=items)])
