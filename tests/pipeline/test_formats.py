"""The groups depend on the data, not on how a file writes it."""

import datetime as dt
import random
import warnings
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from clustruct import Recipe, read_sets, sets_of
from clustruct.core.exceptions import DataWarning, LeakWarning
from clustruct.pipeline import fit_without_labels

pytestmark = pytest.mark.filterwarnings(
    "ignore::clustruct.core.exceptions.LeakWarning",
    "ignore::clustruct.core.exceptions.UnfamiliarDataWarning",
)
NAMES = [
    "anna",
    "bob",
    "carl",
    "dora",
    "emil",
    "fritz",
    "gina",
    "hans",
    "ida",
    "jan",
    "kim",
    "lea",
    "max",
    "nora",
    "otto",
    "paul",
    "rosa",
    "sven",
    "tina",
    "ute",
]
PEOPLE = 60


def people(seed=3):
    """Rows of persons, each once to three times, with slips and gaps; names alone are not enough."""
    rng, rows = random.Random(seed), []
    for who in range(PEOPLE):
        born = dt.date(1940, 1, 1) + dt.timedelta(days=rng.randrange(25_000))
        person = {
            "name": f"{rng.choice(NAMES)} {rng.choice(NAMES)}",
            "born": born,
            "zip": f"{rng.randrange(1000, 99_999):05d}",
            "income": 10 * rng.randrange(50, 900) / 4,
        }
        for _ in range(rng.choice([1, 2, 3])):
            row = dict(person)
            if rng.random() < 0.3:
                row["name"] = row["name"][:3] + row["name"][4:]
            for field in ("born", "zip", "income"):
                row[field] = None if rng.random() < 0.15 else row[field]
            rows.append({**row, "who": f"w{who}" if who < PEOPLE // 2 else None})
    rng.shuffle(rows)
    return [{"id": 100 + k, **row} for k, row in enumerate(rows)]


def written(**forms):
    """The rows with some columns written in a form of their own."""
    return pd.DataFrame(
        [
            {name: forms.get(name, str)(value) if value is not None else None for name, value in row.items()}
            for row in people()
        ]
    )


GERMAN = str.maketrans(",.", ".,")
FORMS = {
    "types": {"born": lambda d: d, "income": float},
    "decimals": {"income": lambda v: Decimal(f"{v:.2f}")},
    "ids and codes as floats": {"id": float, "zip": float},
    "lost zeros": {"zip": int},
    "European": {
        "born": lambda d: d.strftime("%d/%m/%Y"),
        "income": lambda v: f"{v:,.2f} \u20ac".translate(GERMAN),
    },
    "American": {"born": lambda d: d.strftime("%m/%d/%Y"), "income": lambda v: f"${v:,.2f}"},
    "timestamps": {"born": pd.Timestamp},
    "noon": {"born": lambda d: f"{d.isoformat()}T12:00:00.000"},
    "digits": {"born": lambda d: d.strftime("%Y%m%d")},
    "names of months": {"born": lambda d: d.strftime("%d %b %Y")},
    "serial days": {"born": lambda d: (d - dt.date(1899, 12, 30)).days},
    "marks of direction": {"born": lambda d: f"\u202b{d.isoformat()}\u202c", "name": lambda v: f"\u200f{v}"},
}


@pytest.fixture(scope="module")
def plain():
    (table,) = sets_of(written(), id="id", cluster="who")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakWarning)
        recipe = Recipe(C=1.0, calibrate=False).fit([table])
    return recipe, partition(recipe.predict([table])[0])


def partition(labels):
    return np.unique(labels, return_inverse=True)[1].tolist()


@pytest.mark.parametrize("form", FORMS)
def test_groups_are_those_of_the_plain_table_by_its_model(form, plain):
    recipe, expected = plain
    (table,) = sets_of(written(**FORMS[form]), id="id", cluster="who")
    assert list(map(str, table.item_ids)) == [str(100 + k) for k in range(len(table))]
    assert partition(recipe.predict([table])[0]) == expected


@pytest.mark.parametrize(
    "form", [f for f in FORMS if f not in ("serial days", "lost zeros", "ids and codes as floats")]
)
def test_groups_are_those_of_the_plain_table_by_a_model_of_their_own(form, plain):
    (table,) = sets_of(written(**FORMS[form]), id="id", cluster="who")
    recipe = Recipe(C=1.0, calibrate=False).fit([table])
    assert partition(recipe.predict([table])[0]) == plain[1]


def test_a_parquet_file_gives_the_groups_of_a_csv_file(tmp_path, plain):
    recipe, expected = plain
    written(**FORMS["types"], id=float).to_parquet(tmp_path / "a.parquet")
    written().to_csv(tmp_path / "a.csv", index=False)
    for name in ("a.parquet", "a.csv"):
        tables = list(read_sets(tmp_path / name, id="id", cluster="who", labels="partial"))
        assert partition(recipe.predict(tables)[0]) == expected


def test_placeholders_are_as_empty_cells(plain):
    filled = written()
    filled["born"] = filled["born"].fillna("1900-01-01")
    filled["zip"] = filled["zip"].fillna("unknown")
    filled["income"] = filled["income"].fillna("n/a")
    (table,) = sets_of(filled, id="id", cluster="who")
    recipe = Recipe(C=1.0, calibrate=False).fit([table])
    assert {n: r.placeholders for n, r in recipe.pipeline_[0].readings_.items() if r.placeholders} == {
        "born": ["1900-01-01"],
        "zip": ["unknown"],
        "income": ["n/a"],
    }
    assert partition(recipe.predict([table])[0]) == plain[1]


def test_dates_of_another_order_are_told():
    (american,) = sets_of(written(**FORMS["American"]), id="id", cluster="who")
    (european,) = sets_of(written(born=FORMS["European"]["born"]), id="id", cluster="who")
    recipe = Recipe(C=1.0, calibrate=False).fit([american])
    with pytest.warns(
        DataWarning, match=r"'born' are read month first.* can only be day first: .*--as born=day"
    ):
        recipe.predict([european])


def test_a_table_that_begins_with_equal_rows_is_understood():
    (table,) = sets_of(written(), id="id", cluster="who")
    many = replace(table, ids=None).take([0] * 3000 + list(range(len(table))))
    recipe = Recipe(kinds={"zip": "text"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit_without_labels(recipe, [many])
    kinds = recipe.pipeline_[0].readings_.kinds()
    assert kinds == {"name": "string", "born": "date", "zip": "string", "income": "number"}
