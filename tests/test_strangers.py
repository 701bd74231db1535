"""The gauntlet: its tables are what they say, its checks find what is wrong, a part of its cases passes."""

import csv
import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

from tests.strangers import forms
from tests.strangers.cases import Case, singles, suited_kinds, triples
from tests.strangers.checks import check, check_commands, equal_rows_apart
from tests.strangers.forms import check_forms
from tests.strangers.oddities import ODDITIES
from tests.strangers.oddities.numbers import grouped
from tests.strangers.public import PUBLIC, check_public
from tests.strangers.report import summary
from tests.strangers.runs import first_rows, pairwise_f
from tests.strangers.sheets import write_sheet
from tests.strangers.tables import KINDS, make_sheet

PLAIN = {kind: make_sheet(kind, 0) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_the_truth_of_a_table_is_known(kind):
    sheet = make_sheet(kind, 3)
    n = len(sheet)
    assert all(len(column.cells) == n for column in sheet.columns)
    assert len(sheet.labels) == len(sheet.ids) == len(set(sheet.ids)) == n
    assert 100 <= n <= 400
    named = {(label, group) for label, group in zip(sheet.labels, sheet.truth, strict=True) if label}
    assert all(label == f"g{group}" for label, group in named)
    assert 0.3 < sum(map(bool, sheet.labels)) / n < 0.7
    assert sheet == make_sheet.__wrapped__(kind, 3) != make_sheet(kind, 4)


def test_there_are_a_hundred_oddities_of_every_family():
    families = {oddity.family for oddity in ODDITIES.values()}
    assert len(ODDITIES) >= 100
    assert {
        "script",
        "numbers",
        "dates",
        "missing",
        "columns",
        "rows",
        "texts",
        "labels",
        "files",
    } <= families
    assert {"vectors", "sources"} <= families
    assert all(suited_kinds(oddity) for oddity in ODDITIES.values())


@pytest.mark.parametrize("name", ODDITIES)
def test_an_oddity_changes_what_it_says(name):
    oddity = ODDITIES[name]
    for kind in suited_kinds(oddity):
        plain = PLAIN[kind]
        odd = oddity.change(plain, np.random.default_rng(5))
        assert odd != plain
        assert odd == oddity.change(plain, np.random.default_rng(5))
        assert bool(odd.lost) == (oddity.effect == "loses")
        assert len(odd.ids) == len(set(odd.ids)) == len(odd.truth) == len(odd.origin)
        assert all(len(column.cells) == len(odd) for column in odd.columns)
        assert len({column.name for column in odd.columns}) == len(odd.columns)
        if oddity.effect != "changes":
            rows = first_rows(odd)
            assert sorted(odd.origin[a] for a in rows) == list(range(len(plain)))
            assert all(odd.truth[a] == plain.truth[odd.origin[a]] for a in rows)
        if oddity.effect == "loses":
            there = {c.key: c.cells for c in plain.columns}
            assert all(there[key][a] for a, key in odd.lost)
            emptied = {c.key: c.cells for c in plain.emptied(odd.lost).columns}
            assert all(not emptied[key][a] for a, key in odd.lost)
            untouched = [c for c in odd.columns if c.key and not any(key == c.key for _, key in odd.lost)]
            rewritten = oddity.name == "garbled accents"
            assert rewritten or all(c.cells == there[c.key] for c in untouched)


def test_cases_are_drawn_by_seed():
    assert len(singles(0)) == len(ODDITIES)
    assert triples(0, 40) == triples(0, 40) != triples(1, 40)
    assert len(set(triples(0, 40))) == 40
    assert not {case.draw for case in singles(0)} & {case.draw for case in singles(1)}
    case = triples(0, 1)[0]
    assert Case.of_word(case.word) == case
    assert len({oddity.family for oddity in case.parts}) == 3
    assert len(case.odd()) > 0


def test_sheets_are_written_in_their_form(tmp_path):
    sheet = make_sheet("papers", 0)
    rows = [sheet.header, *sheet.lines()]
    for name in (
        "file: semicolons",
        "file: bars",
        "file: tabs",
        "file: all quoted",
        "file: packed",
        "utf-16",
    ):
        odd = ODDITIES[name].change(sheet, np.random.default_rng(0))
        path = write_sheet(tmp_path / "a", odd)
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = data.decode(odd.form.encoding).splitlines()
        assert list(csv.reader(text, delimiter=odd.form.delimiter)) == rows
    path = write_sheet(tmp_path / "a", ODDITIES["file: JSONL"].change(sheet, np.random.default_rng(0)))
    held = json.loads(path.read_text())["items"]
    assert [list(item.values()) for item in held] == [[cell or None for cell in row] for row in rows[1:]]


def test_numbers_are_written_as_elsewhere():
    assert grouped("-1234.50", "'", ".") == "-1'234.50"
    assert grouped("12", ",", ".") == "12"


def test_pairwise_f_counts_pairs():
    assert pairwise_f("aabb", "aabb", range(4)) == 100.0
    assert pairwise_f("aaaa", "aabb", range(4)) == pytest.approx(100 * 2 * 2 / (6 + 2))
    assert pairwise_f("abcd", "aabb", range(4)) == 0.0
    assert pairwise_f("abcd", "abcd", range(4)) == 100.0


def test_equal_rows_apart_are_seen():
    sheet = PLAIN["persons"].picked([0, 1, 0, 2])
    together = [("", g) for g in "xyxz"]
    apart = [("", g) for g in "xywz"]
    assert not list(equal_rows_apart(sheet, together))
    assert list(equal_rows_apart(sheet, apart)) == [[sheet.ids[0], sheet.ids[2]]]
    labelled = replace(sheet, labels=["g1", "", "g2", ""])
    assert not list(equal_rows_apart(labelled, apart))


CHOSEN = [
    "persons/0 in arabic & labels: emoji & rows reversed",
    "places/0 number: blanks around & names: in emoji & file: tabs",
    "events/0 emoji behind some & twenty rows twice & file: CRLF",
    "events/0 each row twice",
    "mentions/0 in devanagari & column: random number & file: all quoted",
]


@pytest.mark.parametrize("word", CHOSEN)
def test_a_case_passes(word, tmp_path):
    verdict = check(Case.of_word(word), tmp_path, dear=word.startswith("places"))
    assert [f"{f.kind}, {f.command}: {f.text}" for f in verdict.findings] == []
    assert not verdict.refused
    assert {"cost (labels)", "cost (none)"} <= set(verdict.figures)
    assert " | 1 | 0 | 0 | 0 | 0 | 0 | 0 |" in summary([verdict])


@pytest.mark.parametrize(
    "word", ["papers/0 a row 300 times", "events/0 names: of our own features & text: NUL"]
)
def test_commands_end(word, tmp_path):
    verdict = check_commands(Case.of_word(word), tmp_path)
    assert [f"{f.kind}, {f.command}: {f.text}" for f in verdict.findings] == []
    assert not verdict.refused


def test_a_table_gives_the_same_groups_in_every_form(tmp_path):
    findings, tried = check_forms(make_sheet("mentions", 0), tmp_path, 0)
    assert [f"{f.kind}, {f.command}: {f.text}" for f in findings] == []
    assert tried == 9


def test_forms_that_differ_are_seen(tmp_path, monkeypatch):
    def shifted(sheet, kind):
        return [("", str(a // 2)) for a in range(len(sheet))]

    monkeypatch.setattr(forms, "grouped_by_recipe", shifted)
    monkeypatch.setattr(forms, "grouped_by_command", lambda sheet, *more: shifted(sheet, ""))
    findings, tried = check_forms(make_sheet("papers", 0), tmp_path, 0)
    assert tried == 9
    assert [f.command for f in findings] == ["rows in another order"]


@pytest.mark.parametrize("name", ["club", "zones", "febrl1"])
def test_a_public_table_is_gone_through(name, tmp_path):
    result = check_public(name, tmp_path)
    if result.line.startswith("skipped"):
        pytest.skip(result.line)
    assert [f"{f.kind}, {f.command}: {f.text}" for f in result.findings] == []
    assert len(PUBLIC[name][1]()) <= 500
