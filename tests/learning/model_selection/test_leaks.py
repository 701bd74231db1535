"""DEFECTS 31: a field that gives the answer away is named."""

from dataclasses import replace

import numpy as np
import pytest

from clustruct import Recipe, Table
from clustruct.cli.main import main
from clustruct.core.exceptions import LeakWarning
from clustruct.data.datasets import make_news, make_records
from clustruct.data.io import write_sets
from clustruct.features import guess_blocks


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
    with pytest.warns(LeakWarning, match=r"the field 'entered' decides nearly alone.*--fields"):
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
    assert "warning: the field 'ticket' decides nearly alone" in capsys.readouterr().err


@pytest.mark.parametrize("values", [("m", "f"), (0, 1), ("yes", None), (True, False)])
def test_a_column_of_two_values_is_compared_once(values):
    """Its likenesses would all be the same column."""
    items = [{"name": f"name {k}", "kind": values[k % 2]} for k in range(40)]
    blocks = [b for b in guess_blocks([Table(items)], "records") if getattr(b, "field", "") == "kind"]
    blocks += [b for b in guess_blocks([Table(items)], "records") if getattr(b, "fields", 0) == ["kind"]]
    names = [name for b in blocks for name in b.fit([Table(items)]).get_feature_names_out()]
    assert names in ([], ["kind: same", "kind: missing in one", "kind: missing in both"])
    assert names or None in values
