"""How columns are read: European and American tables, spreadsheets, Parquet; whatever the order of rows."""

import random
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest

from clustruct.core.storage import read, save
from clustruct.data import ColumnReading, Readings, Table, learn_readings
from clustruct.data.dates import find_date, from_serial
from clustruct.data.item_ids import alike_ids
from clustruct.data.numerals import find_number

DAYS = [date(1950, 1, 1) + timedelta(days=401 * k) for k in range(60)]
PRICES = [7.25 + 311.5 * k for k in range(60)]


def reading(values, name="x", **more):
    return learn_readings([Table.from_columns({name: values, "other": list(range(len(values)))})], **more)[
        name
    ]


def read_all(values, name="x"):
    table = Table.from_columns({name: values})
    return learn_readings([table]).read(table).column(name)


DATE_FORMS = {
    "ISO": lambda d: d.isoformat(),
    "digits": lambda d: d.strftime("%Y%m%d"),
    "digits as numbers": lambda d: float(d.strftime("%Y%m%d")),
    "German": lambda d: f"{d.day}.{d.month}.{d.year}",
    "British": lambda d: d.strftime("%d/%m/%Y"),
    "American": lambda d: d.strftime("%m/%d/%Y"),
    "short American": lambda d: d.strftime("%m/%d/%y"),
    "dashes": lambda d: d.strftime("%d-%m-%Y"),
    "name": lambda d: d.strftime("%d %b %Y"),
    "name first": lambda d: d.strftime("%B %d, %Y"),
    "with a time of midnight": lambda d: f"{d.isoformat()} 00:00:00",
    "date": lambda d: d,
    "datetime": lambda d: datetime(d.year, d.month, d.day),
    "datetime with a zone": lambda d: datetime(d.year, d.month, d.day, tzinfo=UTC),
}


@pytest.mark.parametrize("form", DATE_FORMS)
def test_a_column_of_dates_is_the_same_however_it_is_written(form):
    values = [DATE_FORMS[form](day) for day in DAYS]
    assert read_all(values) == [day.isoformat() for day in DAYS]
    found = reading(values)
    assert (found.kind, found.form_is_sure, found.unread) == ("date", True, 0)


@pytest.mark.parametrize(
    ("values", "form", "sure"),
    [
        (["13/04/2020", "04/05/2020", "01/02/2020"], "day first", True),
        (["04/13/2020", "04/05/2020", "01/02/2020"], "month first", True),
        (["04/05/2020", "01/02/2020", "03/04/2021"], "month first", False),
        (["04-05-2020", "01-02-2020", "03-04-2021"], "day first", False),
        (["04.05.2020", "01.02.2020", "03.04.2021"], "day first", True),
        (["2020-05-04", "2020-02-01"], "", True),
    ],
)
def test_one_column_has_one_order_of_days_and_months(values, form, sure):
    found = reading(values)
    assert (found.kind, found.form, found.form_is_sure) == ("date", form, sure)


def test_the_next_table_follows_the_order_that_was_learned():
    found = reading(["13/04/2020", "25/12/2019", "04/05/2020"])
    assert [found.value(v) for v in ("04/05/2020", "4.5.20")] == ["2020-05-04", "2020-05-04"]
    # No day of the calendar in this order: a slip of the pen stays near what was meant, and is counted.
    assert (found.value("04/13/2020"), found.fits("2020-13-04")) == ("2020-13-04", False)
    assert found.contrary(["04/13/2020", "12/25/2019", "01/02/2020"]) == 2
    assert found.contrary(["13/04/2020", "04/05/2020"]) == 0


def test_seconds_and_zones_count():
    times = [
        "2014-03-11T12:00:30Z",
        "2014-03-11 13:00:30+01:00",
        "11 March 2014 12:00:30 UTC",
        "3/11/2014 12:00:30 PM",
    ]
    assert {find_date(text).canonical() for text in times} == {"2014-03-11T12:00:30"}
    zone = timezone(timedelta(hours=-5))
    assert find_date(datetime(2014, 3, 11, 7, 0, 30, tzinfo=zone)).canonical() == "2014-03-11T12:00:30"
    gap = find_date("2014-03-11T12:00:30").day_number() - find_date("2014-03-11T12:00:00").day_number()
    assert gap == pytest.approx(30 / 86_400)


def test_serial_days_of_spreadsheets_are_dates_in_a_column_of_dates():
    assert from_serial(43926).canonical() == "2020-04-05"
    found = reading([day.isoformat() for day in DAYS])
    assert [found.value(v) for v in (43926, 43926.0, "43926")] == ["2020-04-05"] * 3
    serials = [(day - date(1899, 12, 30)).days for day in DAYS]
    assert reading(serials, kinds={"x": "date"}).value(serials[3]) == DAYS[3].isoformat()


NUMBER_FORMS = {
    "as they are": lambda v: v,
    "text": str,
    "Decimal": lambda v: Decimal(f"{v:.2f}"),
    "two digits": lambda v: f"{v:.2f}",
    "American": lambda v: f"${v:,.2f}",
    "German": lambda v: f"{v:,.2f} \u20ac".translate(str.maketrans(",.", ".,")),
    "Swiss": lambda v: f"CHF {v:,.2f}".replace(",", "'"),
    "French": lambda v: f"{v:,.2f}".replace(",", "\u202f").replace(".", ","),
}


@pytest.mark.parametrize("form", NUMBER_FORMS)
def test_a_column_of_numbers_is_the_same_however_it_is_written(form):
    assert read_all([NUMBER_FORMS[form](v) for v in PRICES]) == PRICES


def test_thousands_and_decimals_are_told_apart_by_the_column():
    assert read_all(["1.299", "0,5", "12,25"]) == [1299, 0.5, 12.25]
    assert read_all(["1,299", "0.5", "12.25"]) == [1299, 0.5, 12.25]
    assert (reading(["1,299", "2,500"]).form, reading(["1,299", "2,500"]).form_is_sure) == (".", False)


def test_parentheses_are_minus_but_not_around_years():
    assert [find_number(v) for v in ("(7)", "(1,250.50)", "(1988)", "(1988).", "5-", ".5")] == [
        *(-7.0, -1250.5, 1988.0, 1988.0, -5.0, 0.5)
    ]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([f"{10_000 + 797 * k}" for k in range(60)], "code"),  # postcodes
        ([10_000 + 797 * k for k in range(60)], "code"),
        ([float(10_000 + 797 * k) for k in range(60)], "code"),
        ([f"{k * 131:05d}" for k in range(1, 60)], "code"),  # with leading zeros
        ([str(2000 + 97 * k) for k in range(60)], "code"),  # of four digits, no years
        ([f"0{30 + k}{100_000 + 37 * k}" for k in range(60)], "code"),  # telephone
        ([str(1940 + k) for k in range(60)], "number"),  # years
        ([str(100_000 + 2500 * k) for k in range(60)], "number"),  # rounded: prices of houses
        ([str(7 * k) for k in range(60)], "number"),
        ([str(k / 4) for k in range(60)], "number"),
        (["12", "7a", "3", "15"] * 20, "string"),
    ],
)
def test_codes_are_not_numbers(values, kind):
    assert reading(values).kind == kind


def test_a_typed_letter_does_not_matter():
    codes = [str(2101 + 97 * k) for k in range(60)]
    for odd in ("2e859", "2l01", "inf", "1e400"):
        found = reading([*codes, odd])
        assert (found.kind, found.value(odd)) == ("code", odd)


def test_zeros_that_a_spreadsheet_has_lost_are_put_back():
    found = reading([f"{k * 131:05d}" for k in range(1, 60)])
    assert [found.value(v) for v in (2138, 2138.0, "2138", "'02138", "02138", "2138.0")] == ["02138"] * 6
    lost = reading([k * 131 + 1001 for k in range(60)])
    assert lost.value("02138") == lost.value(2138) == "2138"


@pytest.mark.parametrize(
    "word", ["unknown", "N/A", "-", "?", "#N/A", "null", "None", "n.a.", "Unbekannt", "--"]
)
def test_placeholders_are_missing(word):
    names = [f"name {k % 40}" for k in range(90)]
    found = reading(names + [word] * 10)
    assert (found.value(word), found.value(f" {word.upper()} ")) == (None, None)
    assert (found.rows - found.filled, found.held_by_placeholders, found.distinct) == (10, 10, 40)
    assert reading([*names * 3, word]).value(word) == word  # once is a name


def test_days_and_runs_of_digits_that_are_far_too_frequent_are_missing():
    days = [day.isoformat() for day in DAYS]
    assert reading(days + ["1900-01-01"] * 8).placeholders == ["1900-01-01"]
    assert reading([*days, "1900-01-01"]).placeholders == []
    codes = [f"{k * 131:05d}" for k in range(1, 60)]
    assert reading(codes + ["00000"] * 8).value(0) is None
    ages = [str(20 + k % 70) for k in range(200)]
    assert reading(ages + ["999"] * 8).placeholders == ["999"]
    assert reading(ages + ["99"] * 8).placeholders == []
    assert reading([str(k % 5) for k in range(200)]).placeholders == []  # none is a number


def test_columns_that_say_nothing_are_named_with_the_reason():
    n = 60
    rng = random.Random(0)
    columns = {
        "constant": ["yes"] * n,
        "nearly constant": [*["yes"] * (n - 4), "unknown", "unknown", "unknown", None],
        "empty": [None] * n,
        "row": list(range(n)),
        "code": [f"rec-{k:04d}" for k in range(n)],
        "token": [f"{rng.getrandbits(128):032x}" for _ in range(n)],
        "name": [f"name {'abcdefghij'[k % 10]}{'klmnop'[k // 10]}" for k in range(n)],
        "pier": [f"Pier {k}" for k in range(n)],
        "city": ["Rom", "Ulm", "Bern"] * 20,
    }
    found = learn_readings([Table.from_columns(columns)])
    reasons = {name: one.reason for name, one in found.items()}
    assert reasons["constant"] == reasons["nearly constant"] == "all values are the same"
    assert reasons["empty"] == "no row has a value"
    assert reasons["row"] == reasons["code"] == "row numbers: each once, without gaps"
    assert reasons["token"] == "keys: no value twice, and none is like another"
    assert (reasons["name"], reasons["pier"], reasons["city"]) == ("", "", "")  # names may be unique
    assert found["city"].bits == pytest.approx(np.log2(3))


def test_what_was_asked_for_overrules():
    values = [str(1940 + k) for k in range(30)]
    assert reading(values, kinds={"x": "code"}).kind == "code"
    assert reading(["4/5/2020", "6/7/2020"], kinds={"x": "day-first"}).value("4/5/2020") == "2020-05-04"
    assert reading(["1.299", "2.500"], kinds={"x": "decimal-comma"}).value("1.299") == 1299
    assert reading(values, kinds={"x": "id"}).reason
    with pytest.raises(ValueError, match=r"'x' cannot be 'postcode': choose from text, number"):
        reading(values, kinds={"x": "postcode"})
    with pytest.raises(ValueError, match="no item has the field 'y'"):
        reading(values, kinds={"y": "code"})


def mixed_table(rows=5000, seed=0):
    rng = random.Random(seed)
    words = ["unknown", "Anna", "Bob"] + [f"w{k}" for k in range(4000)]
    return {
        "born": [rng.choice(DAYS).strftime("%d/%m/%Y") for _ in range(rows)],
        "name": [rng.choice(words[:3]) if rng.random() < 0.5 else rng.choice(words) for _ in range(rows)],
        "zip": [f"{rng.randrange(100_000):05d}" for _ in range(rows)],
        "price": [f"{rng.random() * 1000:.2f}".replace(".", ",") for _ in range(rows)],
    }


def test_the_order_of_rows_does_not_matter():
    columns = mixed_table()
    found = learn_readings([Table.from_columns(columns)])
    order = list(range(5000))
    random.Random(1).shuffle(order)
    turned = {name: [values[k] for k in order] for name, values in columns.items()}
    assert learn_readings([Table.from_columns(turned)]) == found
    assert [one.kind for one in found.columns] == ["date", "string", "code", "number"]


def test_reading_twice_is_reading_once():
    table = Table.from_columns(mixed_table(300))
    readings = learn_readings([table])
    once = readings.read(table)
    twice = readings.read(once)
    for name in readings:
        assert once.column(name) == twice.column(name)
    assert learn_readings([once]).kinds() == readings.kinds()


def test_sets_are_read_like_the_table_that_they_make():
    columns = mixed_table(400)
    whole = learn_readings([Table.from_columns(columns)])
    parts = [
        Table([{n: v[k] for n, v in columns.items()} for k in range(low, low + 100)])
        for low in (0, 100, 200, 300)
    ]
    assert learn_readings(parts) == whole
    assert [v for part in parts for v in whole.read(part).column("born")] == whole.read(
        Table.from_columns(columns)
    ).column("born")


def test_readings_are_kept_in_files(tmp_path):
    found = reading(["13/04/2020", "25/12/2019", "unknown", "unknown"])
    save(tmp_path / "m", found)
    assert read(tmp_path / "m").object == found
    for wrong in ({"width": 10**6}, {"form": "day last"}, {"placeholders": [1]}, {"rows": -1}):
        with pytest.raises(ValueError, match=r"cannot be|must be"):
            ColumnReading.from_state(found.state() | wrong)
    assert Readings([found]).key != Readings([reading(["2020-05-04", "2020-02-01"])]).key


def test_ids_that_are_written_otherwise_are_found():
    assert alike_ids([131.0, "7", "007", " 8"]) == [("7", "007")]
    assert alike_ids(["131.0", " 8", "0009", "x"], {"131", "8", "9", "x"}) == [
        *(("131.0", "131"), (" 8", "8"), ("0009", "9"))
    ]
