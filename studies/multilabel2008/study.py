"""The tables of chapter 5: one for each set, as all oracles and predictors of a set share their trainings."""

from __future__ import annotations

from functools import partial
from typing import Any

from studies.multilabel2008 import data, draws, figures, render, tables
from studies.rendering import markdown
from studies.study import Study, Table

BELOW, ABOVE = "rho_below", "rho_above"
# The upper end of the grid: with all of it 30,000 was chosen on Reuters for every oracle.
REUTERS_GRID = (1000.0, 3000.0, 10000.0, 30000.0)
# What the rho table (5.5) takes: folds to choose C for each rho, 0 for the C of the exact oracle.
SETTINGS: dict[str, dict[str, Any]] = {
    "scene": {"rho_folds": 3, "rho_kinds": (BELOW, ABOVE)},
    "yeast": {"rho_kinds": (BELOW, ABOVE)},
    "yeast-constant": {"rho_folds": 3, "rho_kinds": (BELOW, ABOVE)},
    "reuters": {"rho_kinds": (BELOW,)},
    "synth1": {"rho_folds": 3, "rho_kinds": (BELOW, ABOVE)},
    "synth2": {"rho_kinds": (BELOW, ABOVE)},
    "synth2-constant": {"rho_folds": 3, "rho_kinds": (BELOW, ABOVE)},
    # In place of Mediamill; with the constant feature, which is the library's default.
    "emotions-constant": {},
    "enron-constant": {},
}


def _set(name: str, settings: dict[str, Any]) -> Table:
    return Table(
        name,
        f"Tables 5.1 to 5.5: {name}",
        partial(tables.by_set, name=name, **settings),
        render.one_set,
        data=data.files_of(name),
        sources=(data,),
    )


STUDY = Study(
    "multilabel2008",
    "Multi-label learning with approximate inference: dissertation chapter 5 again",
    (
        *(_set(name, settings) for name, settings in SETTINGS.items()),
        Table(
            "reuters-rho",
            "Table 5.5: reuters with the constant, C chosen for each rho",
            partial(
                tables.rho_by_set,
                name="reuters-constant",
                grid=REUTERS_GRID,
                folds=3,
                kinds=(BELOW, ABOVE),
            ),
            render.rho_tables,
            data=data.files_of("reuters"),
            sources=(data,),
        ),
        Table(
            "synth2-constant-at-100000",
            "Tables 5.2, 5.3: synth2-constant at C = 100,000, beyond the grid",
            partial(tables.at_C, name="synth2-constant", C=1e5),
            render.one_set,
            sources=(data,),
        ),
        Table(
            "draws", "Twenty draws of Synth1, exact training and prediction", draws.draws, sources=(tables,)
        ),
        Table(
            "figure-5.1",
            "Figure 5.1: CPU milliseconds of one inference",
            figures.times,
            partial(markdown, digits=3),
            figures.draw_times,
        ),
        Table("figure-5.2", "Figure 5.2: labelings better than the one found, 1000 problems", figures.ranks),
    ),
    small="synth2",
)
