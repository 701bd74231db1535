"""The tables of the 2011 paper, and what explains them.

defaults: beside k-means, with three ways to make vectors. tables: every method at default settings. grid:
settings of the paper's grids from the same k-means starts, best by the true classes, and chosen by rules that
see no labels. where: where Universum documents lie among the classes. uniform: Universum for other methods.
from-classes: what searches from the true classes end with. scale: what is active at which scale of X.
sensitivity: Figures 2 to 4. toy: Figure 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from studies.rendering import markdown
from studies.study import Study, Table
from studies.universum2011 import (
    corpora,
    defaults,
    from_classes,
    methods,
    plots,
    scale,
    shown,
    tables,
    uniform,
    where,
)

TITLES = {
    "20news": "20 Newsgroups",
    "webkb": "WebKB",
    "reutersv1": "ReutersV1",
    "reuters21578-1": "Reuters21578-1",
    "reuters21578-2": "Reuters21578-2",
}


def _by_corpus(
    key: str,
    title: str,
    compute: Callable[..., Any],
    render: Any = markdown,
    names: tuple[str, ...] = corpora.CORPORA,
    settings: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> list[Table]:
    """One table for each corpus, some with settings of their own."""
    return [
        Table(
            f"{key}-{name}",
            f"{title}: {TITLES[name]}",
            partial(compute, name=name, **settings.get(name, {})),
            render,
            data=corpora.FILES[name],
            sources=(corpora, methods),
        )
        for name in names
    ]


STUDY = Study(
    "universum2011",
    "Document clustering with Universum: the 2011 paper again",
    (
        Table(
            "defaults",
            "The defaults beside k-means",
            partial(defaults.defaults, collections=corpora.COLLECTIONS, pipelines=corpora.PIPELINES[:3]),
            defaults.render_defaults,
            data=tuple(dict.fromkeys(file for files in corpora.FILES.values() for file in files)),
            sources=(corpora,),
        ),
        *_by_corpus(
            "tables",
            "Tables 3 to 6 at default settings",
            tables.tables,
            shown.render_tables,
            corpora.COLLECTIONS,
            settings={name: {"fewer": False} for name in tables.FEWER},
        ),
        *_by_corpus(
            "grid",
            "The grid: best by the true classes, and chosen without labels",
            tables.grid,
            names=corpora.COLLECTIONS,
        ),
        *_by_corpus(
            "cpm3c", "CPM3C on its grid", tables.tuned_cpm3c, partial(markdown, digits=3), corpora.COLLECTIONS
        ),
        Table(
            "uniform",
            "Universum for k-means, GMM and NMF",
            partial(uniform.uniform, names=uniform.NAMES),
            partial(markdown, digits=1),
            data=tuple(dict.fromkeys(file for files in corpora.FILES.values() for file in files)),
            sources=(corpora,),
        ),
        Table(
            "from-classes",
            "What is minimised, found and from the true classes",
            partial(from_classes.from_classes, names=corpora.COLLECTIONS),
            partial(markdown, digits={"minimised": 3, "minimised, from the classes": 3, "accuracy": 1}),
            data=tuple(dict.fromkeys(file for files in corpora.FILES.values() for file in files)),
            sources=(corpora, methods),
        ),
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
    small="tables-reuters21578-2",  # "defaults" takes half a minute, and has a test of its own
)
