"""The tables of the 2011 paper, and what explains them.

tables: every method at default settings. grid: settings of the paper's grids from the same k-means starts,
best by the true classes, and chosen by rules that see no labels. starts: what the Universum does when the
best of several starts is kept. sources: which Universum helps. where: where Universum documents lie among the
classes. scale: what is active at which scale of X. sensitivity: Figures 2 to 4. toy: Figure 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from studies.rendering import markdown
from studies.study import Study, Table
from studies.universum2011 import corpora, methods, plots, scale, sources, starts, tables, where

TITLES = {"20news": "20 Newsgroups", "webkb": "WebKB"}


def _by_corpus(
    key: str, title: str, compute: Callable[..., Any], render: Any = markdown, **settings: Any
) -> list[Table]:
    """One table for each corpus."""
    return [
        Table(
            f"{key}-{name}",
            f"{title}: {TITLES[name]}",
            partial(compute, name=name, **settings),
            render,
            data=corpora.FILES[name],
            sources=(corpora, methods),
        )
        for name in corpora.CORPORA
    ]


STUDY = Study(
    "universum2011",
    "Document clustering with Universum: the 2011 paper again",
    (
        *_by_corpus("tables", "Tables 3 to 6 at default settings", tables.tables, tables.render_tables),
        *_by_corpus("grid", "The grid: best by the true classes, and chosen without labels", tables.grid),
        *_by_corpus("starts", "The best of several starts by objective", starts.starts),
        *_by_corpus("sources", "Which Universum", sources.by_source, seeds=3),
        *_by_corpus("where", "Where the Universum lies among the classes", where.where),
        *_by_corpus("scale", "Scale", scale.scale),
        Table(
            "sensitivity",
            "Figures 2 to 4: accuracy as one parameter changes",
            plots.sensitivity,
            partial(markdown, digits={"value": 3}),
            draw=plots.draw_sensitivity,
            data=tuple(file for name in corpora.CORPORA for file in corpora.FILES[name]),
            sources=(corpora, methods, tables),
        ),
        Table("toy", "Figure 1: two long groups", plots.toy, draw=plots.draw_toy),
    ),
    small="tables-20news",
)
