"""The tables of chapter 4."""

from __future__ import annotations

from functools import partial

from studies import nested_cv, tasks
from studies.kmeans2008 import count, news, summary, synth, tables, timing, webkb, webkb_pages
from studies.kmeans2008.published import METHODS
from studies.rendering import markdown
from studies.study import Study, Table

# The tables that Tables 4.3 to 4.5 in short are put together from.
WEBKB = tuple(
    (f"webkb-{kind}-{method.lower()}", kind, method)
    for kind, methods in (("n", (*METHODS, "Presence")), ("l", METHODS))
    for method in methods
)
SYNTH = {f"synth-{noise}": noise for noise in (0.2, 0.6, 0.8)}
PAGES = ("webkb/webkb.jsonl.gz",)
NEWS = tuple(f"news/{source}.jsonl.gz" for source in news.SOURCES)

STUDY = Study(
    "kmeans2008",
    "Supervised k-means and spectral clustering: dissertation chapter 4 again",
    (
        Table(
            "data",
            "Tables 4.1 and 4.2: the data and the grids of C. Ours (published)",
            summary.data_sets,
            tables.data_sets,
            data=PAGES + NEWS,
            sources=(webkb_pages, tasks),
        ),
        Table(
            "wins",
            "Tables 4.3 to 4.5 in short",
            summary.wins,
            tables.wins,
            reads=(*(key for key, *_ in WEBKB), *SYNTH, *news.SOURCES),
        ),
        Table(
            "webkb-n-weightings",
            "WebKB-N, Spectral: losses on held-out training universities at C = 1, by weighting of words",
            summary.weightings,
            partial(markdown, digits=1),
        ),
        Table(
            "webkb-n-words",
            "Table 4.3: WebKB-N, Spectral; weighting of words, C and predictor chosen",
            summary.chosen_words,
            tables.webkb,
            reads=("webkb-n-weightings", "webkb-n-spectral"),
        ),
        *(
            Table(
                key,
                f"Table 4.3: WebKB-{kind.upper()}, {method}",
                partial(webkb.column, kind=kind, method=method),
                tables.webkb,
                data=PAGES,
                sources=(webkb_pages, nested_cv),
            )
            for key, kind, method in WEBKB
        ),
        *(
            Table(
                key,
                f"Table 4.3: Synth, noise {noise}",
                partial(synth.synth, noise=noise),
                tables.synth,
                sources=(nested_cv,),
            )
            for key, noise in SYNTH.items()
        ),
        *(
            Table(
                source,
                f"Table 4.4 on {source}",
                partial(news.by_source, source=source),
                tables.by_method,
                data=(f"news/{source}.jsonl.gz",),
                sources=(tasks, nested_cv),
            )
            for source in news.SOURCES
        ),
        Table(
            "timing",
            "Figures 4.1 to 4.4: CPU time of a training",
            partial(timing.curves, repeats=20),
            tables.timing,
            tables.draw_timing,
        ),
        Table("count", "Which rule finds k: Synth", count.synth_rules),
        Table(
            "count-news",
            "Which rule finds k: news",
            count.news_rules,
            data=NEWS,
            sources=(news, tasks),
        ),
    ),
    small="synth-0.2",
)
